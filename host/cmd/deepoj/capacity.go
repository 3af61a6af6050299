package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"deepoj/host/capacity"
	"deepoj/host/command"
	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/launch"
	"deepoj/host/telemetry"
	"deepoj/host/workbench"
	"deepoj/plugins"
	"deepoj/sql"
)

const (
	// measureTime is how long one figure is measured.
	measureTime = 2 * time.Second

	// capacityJobs is how many jobs go through the queue.
	capacityJobs = 2000
)

// measureMachine says what this machine can judge. It uses a sandbox and a
// PostgreSQL of its own, in a folder that it removes.
func measureMachine(f *command.Flags) command.Run {
	dir := f.String("dir", os.TempDir(), "`folder` on the disk that is measured; what is made there is removed")
	return func(ctx context.Context, c *command.Call) error {
		report, err := measure(ctx, c, *dir)
		switch {
		case err != nil:
		case c.JSON:
			err = report.WriteJSON(c.Out)
		default:
			err = report.WriteText(c.Out)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && len(report.Missing) > 0 {
			return command.Exit(3)
		}
		return err
	}
}

func measure(ctx context.Context, c *command.Call, parent string) (r capacity.Report, err error) {
	// Made by who calls, and used by the account that it becomes.
	who, err := launch.FindAccount(ctx, "", telemetry.Logger(c.Err, slog.LevelInfo, false))
	if err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp(parent, "deepoj-bench-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, emptied(dir)) }()
	if who != nil {
		if err := os.Chown(dir, int(who.UID), int(who.GID)); err != nil {
			return r, err
		}
	}
	cfg := benchConfig(c)
	cfg.Sandbox = true
	b, noAgent, err := workbench.Open(ctx, cfg)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r.Add("processor", func() ([]capacity.Figure, error) { return capacity.Processor(measureTime / 2) })
	r.Add("disk", func() ([]capacity.Figure, error) { return capacity.Disk(ctx, dir, measureTime) })
	r.Add("queue", func() ([]capacity.Figure, error) { return measureQueue(ctx, filepath.Join(dir, "postgres")) })
	if noAgent != nil {
		r.Missing = append(r.Missing, fmt.Sprintf("sandbox and languages: %v (see deepoj doctor)", noAgent))
		return r, nil
	}
	r.Add("sandbox", func() ([]capacity.Figure, error) { return capacity.Sandbox(ctx, b.Agent, measureTime) })
	r.Add("languages", func() ([]capacity.Figure, error) { return measureLanguages(ctx, b) })
	return r, nil
}

// emptied removes a folder, or, where only root may remove it and this process is no longer root, what is in it.
func emptied(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	inside, err := os.ReadDir(dir)
	if err == nil && len(inside) > 0 {
		err = fmt.Errorf("%s is left over: remove it", dir)
	}
	return err
}

func measureQueue(ctx context.Context, dir string) (figures []capacity.Figure, err error) {
	pg, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pg.Close()) }()
	db, err := sql.Open(ctx, sql.Config{DSN: pg.DSN()})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := db.Migrate(ctx); err != nil {
		return nil, err
	}
	if figures, err = capacity.Commits(ctx, db.Queue, measureTime); err != nil {
		return figures, err
	}
	jobs, err := capacity.Jobs(ctx, db, capacityJobs)
	return append(figures, jobs...), err
}

// measureLanguages runs each language's own example: what compiling it takes, and what one run takes.
func measureLanguages(ctx context.Context, b *workbench.Bench) (figures []capacity.Figure, err error) {
	j, err := b.NewColdJudge()
	if err != nil {
		return nil, err
	}
	adapters, err := plugins.Languages()
	if err != nil {
		return nil, err
	}
	var failed error
	for _, l := range j.Languages(ctx) {
		if !l.Available {
			continue
		}
		m, err := b.Plugins.LoadDigest(ctx, adapters.Digest(l.ID), func() ([]byte, error) { return adapters.Read(l.ID) }, nil)
		if err != nil {
			return figures, err
		}
		var sources []judge.Source
		for _, s := range m.Manifest.Language.Hello {
			sources = append(sources, judge.Source{Name: s.Name, Text: s.Text})
		}
		got, err := runHello(ctx, j, l.ID, sources)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", l.ID, err))
			continue
		}
		figures = append(figures, got...)
	}
	return figures, failed
}

// helloRuns is how many runs make the mean.
const helloRuns = 10

// runHello runs a language's example twice: the first time fills what its compiler keeps for all programs.
func runHello(ctx context.Context, j *judging.Judge, language string, sources []judge.Source) ([]capacity.Figure, error) {
	var compile, run time.Duration
	for range 2 {
		sources[0].Text += "\n" // another program
		payload, err := json.Marshal(judge.RunPayload{
			SchemaVersion: judge.PayloadVersion, ContentType: judge.RunType, Language: language, Sources: sources,
			Limits: judge.DefaultRunLimits, Tests: make([]judge.RunTest, helloRuns),
		})
		if err != nil {
			return nil, err
		}
		began := time.Now()
		r, err := j.Run(ctx, judge.Claim{Kind: judge.KindRun, Payload: payload}, func(p judge.Progress) {
			if p.Kind == judge.EventCompiled {
				compile = time.Since(began)
			}
		})
		if err != nil {
			return nil, err
		}
		run = (time.Since(began) - compile) / helloRuns
		var report judge.RunReport
		if len(r.Report) > 0 {
			if err := json.Unmarshal(r.Report, &report); err != nil {
				return nil, err
			}
		}
		if r.Verdict != judge.AC || len(report.Outputs) != helloRuns || !bytes.Equal(bytes.TrimSpace(report.Outputs[0].Stdout), []byte("hello")) {
			return nil, fmt.Errorf("its example got %s: %s", r.Verdict, r.Message)
		}
	}
	return []capacity.Figure{{
		Name: "hello in " + language, Value: float64(run.Microseconds()) / 1000, Unit: "ms",
		Detail: fmt.Sprintf("a run with all around it, mean of %d; %d ms to compile it", helloRuns, compile.Milliseconds()),
	}}, nil
}
