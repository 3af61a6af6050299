package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"deepoj/host/command"
	"deepoj/host/doctor"
	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/host/launch"
	"deepoj/host/liveness"
	"deepoj/host/plugin/walls"
	"deepoj/host/roles"
	"deepoj/host/settings"
	"deepoj/host/workbench"
	"deepoj/sandbox"
	"deepoj/sandbox/landlock"
	"deepoj/sandbox/oneshot"
	"deepoj/sql"
)

// toolChains are what the shipped languages and checkers need, by logical name.
var toolChains = []doctor.Tool{
	{Name: "gcc", Remedy: "apt-get install gcc"},
	{Name: "g++", Remedy: "apt-get install g++"},
	{Name: "python3", Remedy: "apt-get install python3"},
	{Name: "go", Remedy: "apt-get install golang-go"},
	{Name: "javac", Remedy: "apt-get install default-jdk-headless"},
	{Name: "node", Remedy: "apt-get install nodejs"},
	{Name: "rustc", Remedy: "apt-get install rustc"},
	{Name: "clang", Remedy: "apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32"},
}

// drawingExtras are what pictures and documents of statements need, by logical name.
var drawingExtras = []doctor.Extra{
	{Name: "pdftocairo", Without: "pictures in PDF are not shown in statements", Remedy: "apt-get install poppler-utils"},
	{Name: "pdftotext", Without: "statements that are PDF are not searched", Remedy: "apt-get install poppler-utils"},
	{Name: "gs", Without: "pictures in EPS are not shown in statements", Remedy: "apt-get install ghostscript"},
}

// printingExtras are what printing needs.
var printingExtras = []doctor.Extra{
	{Name: "chromium", Without: "`deepoj problem print` makes no PDF; browsers print the same pages", Remedy: browserRemedy},
}

// leastDisk is the free space below which the machine is about to stop.
const leastDisk = 1 << 30

// diagnose examines the machine.
func diagnose(f *command.Flags) command.Run {
	load, data := settingsFlag(f), dataFlag(f)
	security := f.Bool("security", false, "say what protects this machine and the Deep-OJ that runs on it")
	return func(ctx context.Context, c *command.Call) error {
		l, err := load(c)
		if err != nil {
			return err
		}
		examine, write := examineMachine, doctor.Report.WriteText
		if *security {
			examine, write = examineProtection, doctor.Report.WriteProtection
		}
		if c.JSON {
			write = doctor.Report.WriteJSON
		}
		report := examine(ctx, l, *data)
		if err := write(report, c.Out); err != nil {
			return err
		}
		if !report.Healthy() {
			return command.Exit(1)
		}
		return nil
	}
}

// examineMachine looks at this machine and at what is configured.
func examineMachine(ctx context.Context, l *settings.Loaded, data string) doctor.Report {
	var layers []doctor.Layer
	for _, w := range walls.All() {
		layers = append(layers, doctor.Layer{Name: w.Name, Missing: w.Missing})
	}
	exams := []doctor.Exam{doctor.Kernel(os.DirFS("/"), os.Geteuid()), doctor.Plugins(layers...)}
	boxes, stop := examineSandbox(ctx, true)
	defer stop()
	exams = append(exams, boxes...)
	exams = append(exams, doctor.Extras(func(context.Context, string) (string, error) { return findBrowser() }, printingExtras...))
	exams = append(exams, doctor.Services(roles.Services(&l.Settings)...), doctor.Disk(roles.Existing(data), leastDisk))
	asking, cancel := context.WithTimeout(ctx, roles.AskTime)
	defer cancel()
	if db, err := roles.OpenDatabase(asking, &l.Settings, data); err == nil { // otherwise nothing runs, or it was named above
		defer db.Close()
		exams = append(exams, doctor.Workers(func(ctx context.Context) ([]judge.WorkerInfo, error) {
			return db.Site.Workers(ctx, liveness.DefaultAge)
		}, roles.NeedRemedies))
	}
	return doctor.Examine(ctx, exams...)
}

// examineSandbox looks at a sandbox agent that runs until stop is called, and if wanted at the tools that it finds.
func examineSandbox(ctx context.Context, tools bool) (exams []doctor.Exam, stop func()) {
	stop = func() {}
	var rootless error
	if os.Geteuid() != 0 {
		rootless = oneshot.Rootless()
	}
	if rootless != nil {
		return []doctor.Exam{doctor.Rootless(rootless)}, stop
	}
	agent, stop, err := workbench.StartAgent(ctx, sandbox.Config{Slots: 1})
	exams = append(exams, doctor.Sandbox(func(ctx context.Context) (sandbox.Status, error) {
		if err != nil {
			return sandbox.Status{}, err
		}
		return agent.Status(ctx)
	}))
	if err == nil && tools {
		exams = append(exams, doctor.Tools(agent.Tool, toolChains...), doctor.Compilers(func(ctx context.Context) ([]judge.Language, error) {
			return workbench.Compilers(ctx, agent)
		}), doctor.Extras(func(ctx context.Context, name string) (string, error) {
			found, err := agent.Tool(ctx, name)
			return found.Path, err
		}, drawingExtras...))
	}
	return exams, stop
}

const proc = "/proc"

// examineProtection looks at what protects this machine: what its kernel offers,
// and what the Deep-OJ that runs on the data folder makes of it.
func examineProtection(ctx context.Context, l *settings.Loaded, data string) doctor.Report {
	exams := []doctor.Exam{doctor.Layers(os.DirFS("/"), landlock.Version())}
	boxes, stop := examineSandbox(ctx, false)
	defer stop()
	exams = append(exams, boxes...)
	i, err := launch.FindInstance(data)
	if err != nil {
		exams = append(exams, notRunning(err))
		if l.DatabaseURL != "" {
			exams = append(exams, databaseRole(l.DatabaseURL, false))
		}
		return doctor.Examine(ctx, exams...)
	}
	ps, err := findSettled(ctx, i.PID)
	if err != nil {
		exams = append(exams, notRunning(fmt.Errorf("look at the processes: %w", err)))
	} else {
		exams = append(exams, doctor.Protection(running(i, ps)))
	}
	return doctor.Examine(ctx, append(exams, databaseRole(i.DSN, strings.Contains(i.DSN, "/postgres/run") || strings.Contains(i.DSN, url.QueryEscape("/postgres/run"))))...)
}

// settleTime is how long a plugin worker may take, on a busy machine, from its start until it has locked itself in.
const settleTime = 5 * time.Second

// findSettled finds the processes of the Deep-OJ whose program is pid. While a plugin worker has not locked itself in
// it looks again, for at most settleTime: one that starts at this moment is about to.
func findSettled(ctx context.Context, pid int) ([]doctor.Process, error) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ps, err := doctor.FindProcesses(proc, pid)
		if err != nil || !slices.ContainsFunc(ps, func(p doctor.Process) bool {
			return p.Role == doctor.RolePlugin && (!p.Filtered || !p.Hidden)
		}) {
			return ps, err
		}
		select {
		case <-ctx.Done():
			return ps, nil
		case <-tick.C:
		}
	}
}

// notRunning says why nothing is known of a running Deep-OJ.
func notRunning(why error) doctor.Exam {
	return func(context.Context) []doctor.Check {
		return []doctor.Check{{
			Name: "instance", OK: true, Degraded: true, Detail: "not looked at: " + why.Error(),
			Remedy: "start it, or name its folder with --data, and run this as root",
		}}
	}
}

// running is what is known of a running Deep-OJ beside what its processes say.
func running(i launch.Instance, ps []doctor.Process) doctor.Running {
	r := doctor.Running{Processes: ps, Guests: i.Guests}
	for _, p := range ps {
		if p.PID == i.PID {
			r.Account = launch.OwnerName(p.UID)
			r.Shared, r.Others = launch.SharedAccount(p.UID), doctor.Others(proc, ps, p.UID)
		}
	}
	// The launcher hands every setting down in the environment.
	environment, _ := os.ReadFile(fmt.Sprintf("%s/%d/environ", proc, i.PID)) // nothing is known of what cannot be read
	r.Proxied = slices.ContainsFunc(strings.Split(string(environment), "\x00"), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return value != "" && slices.Contains([]string{"PUBLIC_HOSTS", "TRUSTED_PROXIES", "OIDC_ISSUER"}, name)
	})
	return r
}

// databaseRole looks at what the program may do in the database, and, in the one
// that `deepoj up` brings, whether anybody can be more.
func databaseRole(dsn string, ours bool) doctor.Exam {
	return func(ctx context.Context) []doctor.Check {
		c := doctor.Check{Name: "database role"}
		role, beyond, err := rights(ctx, dsn)
		switch {
		case err != nil:
			c.OK, c.Degraded, c.Detail, c.Remedy = true, true, "not looked at: "+err.Error(), roles.PostgresRemedy(err)
			return []doctor.Check{c}
		case len(beyond) > 0:
			c.Detail = role + " may do more than own its database: " + strings.Join(beyond, ", ")
			c.Remedy = "make a role for Deep-OJ that owns its database and nothing else, and name it in DATABASE_URL; the one of `deepoj up` mends itself at the next start"
			return []doctor.Check{c}
		case ours:
			if err := superuserReachable(ctx, dsn); err != nil {
				c.Detail, c.Remedy = err.Error(), "remove what lets it in from pg_hba.conf in the data folder's postgres/cluster, and start deepoj anew"
				return []doctor.Check{c}
			}
		}
		c.OK, c.Detail = true, role+", which owns its database and may do nothing else"
		return []doctor.Check{c}
	}
}

func rights(ctx context.Context, dsn string) (string, []string, error) {
	db, err := sql.Open(ctx, sql.Config{DSN: dsn, MaxConns: 1})
	if err != nil {
		return "", nil, err
	}
	defer db.Close()
	return db.Rights(ctx)
}

// superuserReachable is an error if somebody who can open the socket can log in as the superuser.
func superuserReachable(ctx context.Context, dsn string) error {
	u, err := url.Parse(dsn)
	if err != nil {
		return errors.New("the address of the database cannot be read")
	}
	u.User = url.User(embedded.Superuser)
	if _, _, err := rights(ctx, u.String()); err == nil {
		return fmt.Errorf("whoever reaches the socket can log in as %s", embedded.Superuser)
	}
	return nil
}
