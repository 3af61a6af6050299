package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Layers looks at what this machine's kernel offers to contain programs with: root
// is its file system, and landlockVersion that of the interface, 0 for none.
func Layers(root fs.FS, landlockVersion int) Exam {
	return func(context.Context) []Check {
		return []Check{namespaces(root), seccomp(root), landlockLayer(landlockVersion), cgroups(root)}
	}
}

// Versions of Landlock's interface that this program uses what is new in.
const (
	landlockTCP     = 4
	landlockSignals = 6
)

func landlockLayer(version int) Check {
	c := Check{Name: "landlock", OK: true, Detail: fmt.Sprintf("version %d", version)}
	switch {
	case version == 0:
		c.Degraded, c.Detail = true, "none: the second layer around files is missing, and plugin workers reach the files of their account"
		c.Remedy = "Linux 6.12 or later, booted with landlock in the lsm= list of the kernel command line"
	case version < landlockTCP:
		c.Degraded, c.Detail = true, c.Detail+": files alone"
		c.Remedy = "Linux 6.12 or later, which can deny TCP and signals as well"
	case version < landlockSignals:
		c.Degraded, c.Detail = true, c.Detail+": files and TCP"
		c.Remedy = "Linux 6.12 or later, which can deny signals as well"
	}
	return c
}

// Running is a running Deep-OJ.
type Running struct {
	Processes []Process
	Account   string // of the program
	Shared    string // why the account is not Deep-OJ's alone, "" if it is
	Others    int    // processes of the account that are not Deep-OJ's
	Guests    bool   // whether people without an account may submit
	Proxied   bool   // whether it is set up to be behind a proxy or to have people from elsewhere
}

// Protection looks at what protects a running Deep-OJ.
func Protection(r Running) Exam {
	return func(context.Context) []Check {
		checks := []Check{r.account(), r.guests()}
		checks = append(checks, r.addresses()...)
		for _, role := range []string{RoleLauncher, RoleAgent, RoleProgram, RolePostgres, RoleRedis, RolePlugin, RoleBox, RoleOther} {
			ps := r.of(role)
			if len(ps) > 0 {
				checks = append(checks, r.role(role, ps))
			}
		}
		return checks
	}
}

func (r Running) of(role string) (ps []Process) {
	for _, p := range r.Processes {
		if p.Role == role {
			ps = append(ps, p)
		}
	}
	return ps
}

func (r Running) account() Check {
	c := Check{Name: "account", OK: true, Detail: r.Account + ", which is Deep-OJ's alone"}
	switch {
	case len(r.of(RoleLauncher)) == 0:
		c.Degraded, c.Detail = true, r.Account+" has everything: who takes over the web side has the sandbox, the database and the tests, too"
		c.Remedy = "start deepoj as root, which it keeps in the launcher and the sandbox agent alone"
	case r.Shared != "":
		c.Degraded, c.Detail = true, r.Account+": "+r.Shared
		c.Remedy = "start without --user: deepoj then makes an account of its own, and takes the data folder over"
	case r.Others > 0:
		c.Degraded, c.Detail = true, fmt.Sprintf("%s, as which %d other processes run", r.Account, r.Others)
		c.Remedy = "run nothing else as " + r.Account + ": ps -u " + r.Account
	}
	return c
}

func (r Running) guests() Check {
	switch {
	case !r.Guests:
		return Check{Name: "guests", OK: true, Detail: "off: only accounts submit"}
	case r.Proxied:
		return Check{
			Name: "guests", Detail: "on, and others come through a proxy: anybody submits, and reads what guests submitted",
			Remedy: "--auth required",
		}
	}
	return Check{
		Name: "guests", OK: true, Degraded: true, Detail: "on: whoever can connect from this machine submits without an account, as would all who come through a proxy that adds no header",
		Remedy: "--auth required, unless nobody but you uses this machine",
	}
}

// addresses says where which process listens.
func (r Running) addresses() (checks []Check) {
	for _, p := range r.Processes {
		for _, at := range p.Ports {
			c := Check{Name: "address " + at.String(), OK: true, Detail: p.Role + ", for this machine alone"}
			switch {
			case p.Role != RoleProgram:
				c.OK, c.Detail = false, p.Role+" listens on the network"
				c.Remedy = "see which setting makes it do so: nothing of Deep-OJ but its web side does"
			case !at.Addr().IsLoopback():
				c.Degraded, c.Detail = true, "others can reach it, and it speaks HTTP: passwords travel as they are"
				c.Remedy = "--listen 127.0.0.1:PORT behind a proxy with TLS (see host/docs/operations.md)"
			}
			checks = append(checks, c)
		}
	}
	if slices.ContainsFunc(r.Processes, func(p Process) bool { return p.Closed }) {
		return append(checks, Check{Name: "address", OK: true, Degraded: true, Detail: "not every process shows where it listens", Remedy: "run deepoj doctor --security as root"})
	}
	if len(checks) == 0 {
		checks = append(checks, Check{Name: "address", OK: true, Detail: "none is open"})
	}
	return checks
}

// role says what the processes of a role may do.
func (r Running) role(role string, ps []Process) Check {
	c := Check{Name: "process " + role, OK: true}
	var uids []string
	var caps uint64
	newPrivs, unfiltered, readable := false, false, false
	for _, p := range ps {
		uids = append(uids, fmt.Sprint(p.UID))
		caps |= p.Capabilities
		newPrivs, unfiltered, readable = newPrivs || !p.NoNewPrivs, unfiltered || !p.Filtered, readable || !p.Hidden
	}
	slices.Sort(uids)
	c.Detail = fmt.Sprintf("%d as user %s, capabilities %x", len(ps), strings.Join(slices.Compact(uids), " "), caps)
	root := slices.Contains(uids, "0")
	for _, has := range []struct {
		what string
		it   bool
	}{{"no new privileges", !newPrivs}, {"system calls filtered", !unfiltered}, {"memory hidden", !readable && !root}} {
		if has.it {
			c.Detail += ", " + has.what
		}
	}
	switch {
	case role == RoleLauncher:
		c.Detail += ": it starts the others and listens nowhere"
	case role == RoleAgent:
		c.Detail += ": it makes boxes and listens nowhere"
	case root || caps != 0 && role != RoleBox:
		c.OK = false
		c.Remedy = "only the launcher and the sandbox agent may have privileges: start deepoj anew, and report this if it stays"
	case role == RolePlugin && unfiltered:
		c.OK = false
		c.Remedy = "use a kernel with CONFIG_SECCOMP_FILTER, as every distribution builds it"
	case (role == RoleProgram || role == RolePlugin) && readable:
		c.Degraded = true
		c.Remedy = "start deepoj anew: others of its account can read its memory and take its descriptors"
	case role == RoleProgram && newPrivs:
		c.Degraded = true
		c.Remedy = "start deepoj as root, which renounces new privileges for it"
	}
	return c
}
