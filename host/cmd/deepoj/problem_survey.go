package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deepoj/host/command"
	"deepoj/host/survey"
	"deepoj/host/workbench"
)

// surveyProblems reads many packages, proves them, and prints what came of each, without a server.
func surveyProblems(f *command.Flags) command.Run {
	noProof := f.Bool("no-proof", false, "only read the packages: run no program")
	asCSV := f.Bool("csv", false, "print a line for each package as CSV")
	parallel := f.Int("parallel", 0, "packages at once; the number of cores when 0")
	limit := f.Duration("limit", 15*time.Minute, "how long one package may take on the clock")
	return func(ctx context.Context, c *command.Call) error {
		if c.JSON && *asCSV || *parallel < 0 || *limit <= 0 {
			return command.ErrUsage
		}
		all, err := surveyed(ctx, c, survey.Config{Parallel: *parallel, Patience: *limit}, !*noProof)
		write := survey.WriteTable
		switch {
		case c.JSON:
			write = survey.WriteJSON
		case *asCSV:
			write = survey.WriteCSV
		}
		if len(all) > 0 {
			err = errors.Join(err, write(c.Out, all))
		}
		if err != nil {
			return err
		}
		for _, p := range all {
			if p.State != survey.Proved && p.State != survey.Imports {
				return command.Exit(3)
			}
		}
		return nil
	}
}

// surveyed opens packages with the rights of the caller and surveys them without.
func surveyed(ctx context.Context, c *command.Call, cfg survey.Config, prove bool) (all []survey.Package, err error) {
	paths, err := survey.Find(c.Args)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	defer func() {
		for _, f := range files {
			_ = f.Close() // it was only read
		}
	}()
	for _, p := range paths {
		f, err := os.Open(filepath.Clean(p))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	bench := benchConfig(c)
	bench.Sandbox = prove
	b, noAgent, err := workbench.Open(ctx, bench)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if noAgent != nil {
		return nil, fmt.Errorf("programs cannot be run: %w (see deepoj doctor, or use --no-proof)", noAgent)
	}
	if prove {
		if cfg.Judge, cfg.Blobs, err = b.NewJudge(); err != nil {
			return nil, err
		}
	}
	bar := newBar(c.Err, "survey", int64(len(files)), packagesText)
	defer bar.clear()
	cfg.Told = func(p survey.Package, done, total int) {
		bar.clear()
		fmt.Fprintf(c.Err, "%d/%d %s: %s %s\n", done, total, p.Path, p.State, p.Why())
		bar.add(1)
	}
	return survey.Run(ctx, cfg, files)
}

// packagesText counts packages.
func packagesText(done, total int64) string { return fmt.Sprintf("%d of %d packages", done, total) }
