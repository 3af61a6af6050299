package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judging"
	"deepoj/host/survey"
)

// surveyProblems is `deepoj problem survey`: it reads many packages, proves them, and
// prints what came of each, without a server. Its status is 0 when all import and are
// proved, 3 when one is not, and 1 when it was ended before or there is nothing to look
// at.
func surveyProblems(ctx context.Context, e *env) int {
	f := bareFlags(e, "problem survey", "DIR|ZIP...")
	noProof := f.Bool("no-proof", false, "only read the packages: run no program")
	asJSON := f.Bool("json", false, "print everything as JSON")
	asCSV := f.Bool("csv", false, "print a line for each package as CSV")
	parallel := f.Int("parallel", 0, "packages at once; the number of cores when 0")
	limit := f.Duration("limit", 15*time.Minute, "how long one package may take on the clock")
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if len(args) == 0 || *asJSON && *asCSV || *parallel < 0 || *limit <= 0 {
		f.Usage()
		return 2
	}
	cfg := survey.Config{Parallel: *parallel, Patience: *limit}
	all, err := surveyed(ctx, e, args, cfg, !*noProof)
	write := survey.WriteTable
	if *asJSON {
		write = survey.WriteJSON
	} else if *asCSV {
		write = survey.WriteCSV
	}
	if len(all) > 0 {
		err = errors.Join(err, write(e.stdout, all))
	}
	if err != nil {
		return e.fail(err)
	}
	for _, p := range all {
		if p.State != survey.Proved && p.State != survey.Imports {
			return 3
		}
	}
	return 0
}

// surveyed opens packages with the rights of the caller and surveys them without.
func surveyed(ctx context.Context, e *env, args []string, cfg survey.Config, prove bool) (all []survey.Package, err error) {
	paths, err := survey.Find(args)
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
	b, noAgent, err := openBench(ctx, e, prove)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if noAgent != nil {
		return nil, fmt.Errorf("programs cannot be run: %w (see deepoj doctor, or use --no-proof)", noAgent)
	}
	if prove {
		j, err := b.judging()
		if err != nil {
			return nil, err
		}
		if cfg.Blobs, err = blob.OpenDir(filepath.Join(b.dir, "blobs")); err != nil {
			return nil, err
		}
		j.Blobs = cfg.Blobs
		if cfg.Judge, err = judging.New(j); err != nil {
			return nil, err
		}
	}
	bar := newBar(e.stderr, "survey", int64(len(files)), packagesText)
	defer bar.clear()
	cfg.Told = func(p survey.Package, done, total int) {
		bar.clear()
		fmt.Fprintf(e.stderr, "%d/%d %s: %s %s\n", done, total, p.Path, p.State, p.Why())
		bar.add(1)
	}
	return survey.Run(ctx, cfg, files)
}

// packagesText counts packages.
func packagesText(done, total int64) string { return fmt.Sprintf("%d of %d packages", done, total) }
