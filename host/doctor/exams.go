package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"deepoj/host/judge"
	"deepoj/sandbox"
)

// Sandbox looks at a running sandbox agent, by its status.
func Sandbox(status func(context.Context) (sandbox.Status, error)) Exam {
	return func(ctx context.Context) []Check {
		c := Check{Name: "sandbox"}
		s, err := status(ctx)
		switch {
		case err != nil:
			c.Detail = err.Error()
			c.Remedy = "start deepoj as root; what the kernel lacks is named above"
			return []Check{c}
		case s.SelfTest != "":
			c.Detail = "the self-test failed: " + s.SelfTest
			c.Remedy = "mend what it names; until then nothing is judged here"
			return []Check{c}
		}
		c.OK = true
		c.Detail = fmt.Sprintf("driver %s, %d slots, kernel %s", s.Driver, s.Slots, s.Kernel)
		if s.Rootless {
			c.Detail += ", without root"
		}
		if len(s.Degraded) > 0 {
			c.Degraded = true
			c.Detail += ": " + strings.Join(s.Degraded, "; ")
			c.Remedy = "the checks above name how to mend each"
		}
		return []Check{c}
	}
}

// Rootless tells why an ordinary user cannot start the sandbox by itself: why is what [oneshot.Rootless] returned.
func Rootless(why error) Exam {
	return func(context.Context) []Check {
		return []Check{{
			Name: "sandbox", OK: true, Degraded: true, Detail: "not looked at, because this user cannot start it: " + why.Error(),
			Remedy: "run deepoj doctor as root, or mend what is named",
		}}
	}
}

// Layer is one that contains plugins, and why it is missing; "" = it is there.
type Layer struct{ Name, Missing string }

// Plugins looks at the layers around the processes that run plugins. Without one of them the others hold alone.
func Plugins(layers ...Layer) Exam {
	return func(context.Context) []Check {
		c := Check{Name: "plugins", OK: true}
		var there, missing []string
		for _, l := range layers {
			if l.Missing == "" {
				there = append(there, l.Name)
			} else {
				missing = append(missing, l.Name+": "+l.Missing)
			}
		}
		c.Detail = "contained by " + strings.Join(there, ", ")
		if len(missing) > 0 {
			c.Degraded = true
			c.Detail += "; not by " + strings.Join(missing, "; ")
			c.Remedy = "Linux 5.13 or later with Landlock and seccomp, and a program that is built without cgo, as it is released"
		}
		return []Check{c}
	}
}

// Tool is a program of a tool chain, and how to get it.
type Tool struct {
	Name   string // as the sandbox looks it up, such as "g++"
	Remedy string // such as "apt-get install g++"
}

// Tools looks for tool chains as the sandbox does. A machine without one of them
// still judges the other languages; without any it judges nothing.
func Tools(find func(ctx context.Context, name string) (sandbox.Tool, error), tools ...Tool) Exam {
	return func(ctx context.Context) []Check {
		var checks []Check
		for _, t := range tools {
			c := Check{Name: "tool " + t.Name, OK: true}
			found, err := find(ctx, t.Name)
			switch {
			case err == nil:
				c.Detail = found.Path
			case errors.Is(err, sandbox.ErrNoTool):
				c.Degraded, c.Detail, c.Remedy = true, "not found", t.Remedy
			default:
				c.Degraded, c.Detail, c.Remedy = true, err.Error(), t.Remedy
			}
			checks = append(checks, c)
		}
		return orNone(checks, "tools", "no tool chain was found: nothing can be judged")
	}
}

// Extra is a program that something optional needs.
type Extra struct {
	Name    string // as it is looked up, such as "pdftocairo"
	Without string // what there is not without it, such as "pictures in PDF are not shown"
	Remedy  string // such as "apt-get install poppler-utils"
}

// Extras looks for programs that this machine can do without. Find returns where one is.
func Extras(find func(ctx context.Context, name string) (string, error), extras ...Extra) Exam {
	return func(ctx context.Context) []Check {
		checks := make([]Check, len(extras))
		for i, x := range extras {
			at, err := find(ctx, x.Name)
			checks[i] = Check{Name: "extra " + x.Name, OK: true, Detail: at}
			if err != nil {
				checks[i] = Check{Name: "extra " + x.Name, OK: true, Degraded: true, Detail: "not found: " + x.Without, Remedy: x.Remedy}
			}
		}
		return checks
	}
}

// Languages looks at what a worker says about its languages.
func Languages(ask func(context.Context) []judge.Language) Exam {
	return func(ctx context.Context) []Check {
		var checks []Check
		for _, l := range ask(ctx) {
			c := Check{Name: "language " + l.ID, OK: true, Detail: l.Version}
			if !l.Available {
				c.Degraded, c.Detail, c.Remedy = true, "unavailable", l.Unavailable
			}
			checks = append(checks, c)
		}
		return orNone(checks, "languages", "no language is available: nothing can be judged")
	}
}

// Compilers looks at whether sources of checkers can be compiled to plugins. A machine
// without still judges, with the modules that there are.
func Compilers(ask func(context.Context) ([]judge.Language, error)) Exam {
	return func(ctx context.Context) []Check {
		all, err := ask(ctx)
		if err != nil {
			return []Check{{Name: "checkers from source", OK: true, Degraded: true, Detail: err.Error()}}
		}
		checks := make([]Check, len(all))
		for i, l := range all {
			checks[i] = Check{Name: "checkers in " + l.Name, OK: true, Detail: l.Version}
			if !l.Available {
				detail, remedy, told := strings.Cut(l.Unavailable, ": apt-get ")
				checks[i].Degraded, checks[i].Detail = true, "cannot be compiled: "+detail
				if told {
					checks[i].Remedy = "apt-get " + remedy
				}
			}
		}
		return checks
	}
}

// Workers looks at the workers that live: one that lacks something takes no jobs.
// Remedies say how to mend what it lacks.
func Workers(live func(context.Context) ([]judge.WorkerInfo, error), remedies map[string]string) Exam {
	return func(ctx context.Context) []Check {
		workers, err := live(ctx)
		if err != nil {
			return []Check{{Name: "workers", Detail: err.Error(), Remedy: "look at the database"}}
		}
		checks := make([]Check, len(workers))
		for i, w := range workers {
			checks[i] = Check{Name: "worker " + w.Name, OK: true, Detail: fmt.Sprintf("takes jobs, %d of %d slots busy", w.Busy, w.Slots)}
			if w.Unfit != "" {
				checks[i] = Check{Name: "worker " + w.Name, Detail: "takes no jobs: " + w.Unfit + ": " + w.UnfitWhy, Remedy: remedies[w.Unfit]}
			}
		}
		return checks
	}
}

// orNone adds a failed check when every one of checks is degraded.
func orNone(checks []Check, name, detail string) []Check {
	if slices.ContainsFunc(checks, func(c Check) bool { return !c.Degraded }) {
		return checks
	}
	return append(checks, Check{Name: name, Detail: detail, Remedy: "make build installs the tool chains that are needed"})
}

// Service is something that this program needs to reach.
type Service struct {
	Name     string                                // such as "postgresql"
	Optional bool                                  // whether there is another way without it
	Remedy   string                                // what to do when it does not answer
	Mend     func(error) string                    // what to do about an error; nil = Remedy
	Ask      func(context.Context) (string, error) // returns what was found, such as a version
}

// Services asks each service.
func Services(services ...Service) Exam {
	return func(ctx context.Context) []Check {
		checks := make([]Check, len(services))
		for i, s := range services {
			detail, err := s.Ask(ctx)
			checks[i] = Check{Name: s.Name, OK: true, Detail: detail}
			if err != nil {
				checks[i] = Check{Name: s.Name, OK: s.Optional, Degraded: s.Optional, Detail: err.Error(), Remedy: s.Remedy}
				if s.Mend != nil {
					checks[i].Remedy = s.Mend(err)
				}
			}
		}
		return checks
	}
}

// Disk looks at the free space of the file system that holds path. Below least
// bytes the machine is about to stop, below four times as much it is degraded.
func Disk(path string, least uint64) Exam {
	return func(context.Context) []Check {
		c := Check{Name: "disk"}
		remedy := "free space on the file system of " + path + ", or choose another data folder"
		var st syscall.Statfs_t
		if err := syscall.Statfs(path, &st); err != nil {
			c.Detail, c.Remedy = fmt.Sprintf("%s: %v", path, err), "make the folder, or choose another data folder"
			return []Check{c}
		}
		free := st.Bavail * uint64(st.Bsize)
		c.Detail = fmt.Sprintf("%d MiB free at %s", free>>20, path)
		c.OK = free >= least
		c.Degraded = c.OK && free < 4*least
		if !c.OK || c.Degraded {
			c.Remedy = remedy
		}
		return []Check{c}
	}
}
