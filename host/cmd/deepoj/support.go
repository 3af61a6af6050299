package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"deepoj/host/command"
	"deepoj/host/doctor"
	"deepoj/host/launch"
	"deepoj/host/roles"
	"deepoj/host/settings"
	"deepoj/host/shortcut"
	"deepoj/host/support"
	"deepoj/host/telemetry"
	"deepoj/sql"
)

const (
	// logTail is how much of the end of a log a bundle has.
	logTail = 4 << 20

	// journalLines is how many lines of systemd's journal it has.
	journalLines = "10000"

	// workerAge is how long ago a worker was seen that it lists.
	workerAge = 7 * 24 * time.Hour
)

// supportBundle writes one archive with what whoever helps will ask for. What
// cannot be collected is listed and keeps nothing else out.
func supportBundle(f *command.Flags) command.Run {
	load, data := settingsFlag(f), dataFlag(f)
	output := f.String("output", "", "`file` to write, which must not exist (default deepoj-support-TIME.tar.gz)")
	urls := several(f, "url", "`address` of a process whose metrics are wanted, such as http://10.0.0.7:9180, which gets METRICS_TOKEN; may be repeated (default: the one on this machine)")
	logs := several(f, "log", "log `file` of Deep-OJ; may be repeated (those of the data folder and of systemd are found without)")
	return func(ctx context.Context, c *command.Call) error {
		l, err := load(c)
		if err != nil {
			return err
		}
		now := time.Now().UTC()
		folder := "deepoj-support-" + now.Format("20060102-150405")
		name := cmp.Or(*output, folder+".tar.gz")
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		b := &bundled{settings: l, data: *data, urls: *urls, logs: *logs, examine: func() doctor.Report { return examineMachine(ctx, l, *data) }}
		defer b.close()
		parts := b.parts()
		failed, err := support.Write(ctx, file, folder, now, support.NewMask(l.Secrets(), roles.FirstPassword), parts...)
		if err := errors.Join(err, file.Close()); err != nil {
			return errors.Join(err, os.Remove(name))
		}
		for _, why := range failed {
			c.Warn("not collected: %v", why)
		}
		return c.Say(map[string]any{"file": name, "parts": len(parts), "missing": len(failed)},
			"%s has %d of %d parts. It holds names of machines, workers and languages, and logs, but no programs and no secrets of settings.", name, len(parts)-len(failed), len(parts))
	}
}

// bundled is what one bundle is made of.
type bundled struct {
	settings *settings.Loaded
	data     string // the data folder, which need not be there
	urls     []string
	logs     []string
	examine  func() doctor.Report

	once sync.Once
	db   *sql.DB
	err  error
}

func (b *bundled) parts() []support.Part {
	return slices.Concat(b.machine(), b.database(), b.figures(), b.tails())
}

// open opens the database for all parts that need it.
func (b *bundled) open(ctx context.Context) (*sql.DB, error) {
	b.once.Do(func() { b.db, b.err = roles.OpenDatabase(ctx, &b.settings.Settings, b.data) })
	return b.db, b.err
}

func (b *bundled) close() {
	if b.db != nil {
		b.db.Close()
	}
}

// asJSON is a part whose content is a value.
func asJSON(name string, value func(ctx context.Context) (any, error)) support.Part {
	return support.Part{Name: name, Collect: func(ctx context.Context, w io.Writer) error {
		v, err := value(ctx)
		if err != nil {
			return err
		}
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}}
}

// machine says which program this is, on what, with which settings, and what doctor finds.
func (b *bundled) machine() []support.Part {
	report := sync.OnceValue(b.examine)
	return []support.Part{
		asJSON("about.json", func(context.Context) (any, error) {
			first := func(path, prefix string) string {
				data, _ := os.ReadFile(filepath.Clean(path)) // another system has it elsewhere
				for line := range strings.Lines(string(data)) {
					if rest, ok := strings.CutPrefix(line, prefix); ok {
						return strings.Trim(rest, " \t\n\":")
					}
				}
				return ""
			}
			return map[string]any{
				"version": shortcut.Version, "build": telemetry.Build(), "time": time.Now().UTC(), "uid": os.Geteuid(), "cores": runtime.NumCPU(),
				"system": first("/etc/os-release", "PRETTY_NAME="), "kernel": first("/proc/sys/kernel/osrelease", ""),
				"cpu": first("/proc/cpuinfo", "model name"), "memory": first("/proc/meminfo", "MemTotal:"), "load": first("/proc/loadavg", ""),
			}, nil
		}),
		asJSON("config.json", func(context.Context) (any, error) { return b.settings.Rows, nil }),
		{Name: "doctor.txt", Collect: func(_ context.Context, w io.Writer) error { return report().WriteText(w) }},
		{Name: "doctor.json", Collect: func(_ context.Context, w io.Writer) error { return report().WriteJSON(w) }},
	}
}

// database says how far the schema is, what the queue holds and who works.
func (b *bundled) database() []support.Part {
	ask := func(name string, value func(ctx context.Context, db *sql.DB) (any, error)) support.Part {
		return asJSON(name, func(ctx context.Context) (any, error) {
			db, err := b.open(ctx)
			if err != nil {
				return nil, err
			}
			return value(ctx, db)
		})
	}
	return []support.Part{
		ask("schema.json", func(ctx context.Context, db *sql.DB) (any, error) { return db.Schema(ctx) }),
		ask("workers.json", func(ctx context.Context, db *sql.DB) (any, error) { return db.Queue.Workers(ctx, workerAge) }),
		ask("queue.json", func(ctx context.Context, db *sql.DB) (any, error) {
			stats, err := db.Queue.QueueStats(ctx)
			if err != nil {
				return nil, err
			}
			queues, err := db.Site.Queues(ctx)
			return map[string]any{"figures": stats, "queues": queues}, err
		}),
		ask("audit.json", func(ctx context.Context, db *sql.DB) (any, error) {
			a, err := db.Queue.Audit(ctx)
			return a.Rows(), err
		}),
	}
}

// figures are the metrics, and what is ready, of processes that serve HTTP.
func (b *bundled) figures() (parts []support.Part) {
	urls, token := b.urls, b.settings.MetricsToken
	if len(urls) == 0 {
		urls = []string{"http://" + cmp.Or(b.settings.MetricsListen, b.settings.Listen)}
		if i, err := launch.FindInstance(b.data); err == nil {
			urls, token = []string{cmp.Or(i.Metrics, i.URL)}, i.MetricsToken
		}
	}
	for i, url := range urls {
		for _, what := range []string{"metrics", "readyz"} {
			name := what + ".txt"
			if len(urls) > 1 {
				name = fmt.Sprintf("%s-%d.txt", what, i+1)
			}
			parts = append(parts, support.Part{Name: name, Collect: func(ctx context.Context, w io.Writer) error {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+"/"+what, nil)
				if err != nil {
					return err
				}
				if token != "" {
					r.Header.Set("Authorization", "Bearer "+token)
				}
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					return err
				}
				defer answer.Body.Close()
				fmt.Fprintf(w, "# GET %s: %s\n", r.URL.Redacted(), answer.Status)
				_, err = io.Copy(w, answer.Body)
				return err
			}})
		}
	}
	return parts
}

// logs are the ends of the logs that are there.
func (b *bundled) tails() (parts []support.Part) {
	data := b.data
	if i, err := launch.FindInstance(b.data); err == nil {
		data = i.Data
	}
	for _, path := range []string{filepath.Join(data, "postgres", "postgres.log"), filepath.Join(data, "redis", "redis.log")} {
		if _, err := os.Stat(path); err == nil {
			parts = append(parts, support.Tail("log/"+filepath.Base(path), path, logTail))
		}
	}
	for i, path := range b.logs {
		parts = append(parts, support.Tail(fmt.Sprintf("log/%d-%s", i+1, filepath.Base(path)), path, logTail))
	}
	if journalctl, err := exec.LookPath("journalctl"); err == nil {
		parts = append(parts, support.Part{Name: "log/journal.txt", Collect: func(ctx context.Context, w io.Writer) error {
			cmd := exec.CommandContext(ctx, journalctl, "--unit", "deepoj*", "--lines", journalLines, "--no-pager", "--quiet", "--output", "short-iso")
			cmd.Stdout, cmd.Stderr = w, w
			return cmd.Run()
		}})
	}
	return parts
}
