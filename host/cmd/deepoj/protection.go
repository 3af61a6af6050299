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

	"deepoj/host/doctor"
	"deepoj/host/embedded"
	"deepoj/host/launch"
	"deepoj/host/roles"
	"deepoj/host/settings"
	"deepoj/sandbox/landlock"
	"deepoj/sql"
)

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
	store, err := sql.Open(ctx, sql.Config{DSN: dsn, MaxConns: 1})
	if err != nil {
		return "", nil, err
	}
	defer store.Close()
	return store.Rights(ctx)
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
