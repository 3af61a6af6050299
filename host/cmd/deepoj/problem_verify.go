package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/host/survey"
	"deepoj/host/verify"
	"deepoj/host/workbench"
)

// benchConfig is how a command makes its bench.
func benchConfig(c *command.Call) workbench.Config {
	return workbench.Config{CacheDir: c.Variable("CACHE_DIR"), TimeFactors: c.Variable("TIME_FACTORS"), Told: c.Err}
}

// verifyProblem judges the submissions that a package brings, without a server.
func verifyProblem(f *command.Flags) command.Run {
	only := f.String("only", "", "judge only submissions that match, such as 'accepted/*'")
	given := givenFlags(f)
	return func(ctx context.Context, c *command.Call) error {
		if err := checkGiven(*given); err != nil {
			return err
		}
		report, err := proveProblem(ctx, c, *only, *given)
		if err != nil {
			return err
		}
		if err := c.Write(report, func(w io.Writer) error { return verify.Write(w, report) }); err != nil {
			return err
		}
		if len(report.Rows) == 0 {
			return fmt.Errorf("nothing is proved: no submission below submissions/ matches %q", cmp.Or(*only, "*"))
		}
		if !report.OK() {
			return command.Exit(3)
		}
		return nil
	}
}

func proveProblem(ctx context.Context, c *command.Call, only string, given judge.Given) (r judge.Proof, err error) {
	told := newSteps(c.Err)
	defer told.clear()
	d, err := workbench.OpenDesk(ctx, workbench.DeskConfig{Config: benchConfig(c), Path: c.Args[0], Given: given, Stage: told.stage})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	cfg := verify.Config{Judge: d.Judge, Only: only, Stage: told.stage, Done: told.row}
	pkg, err := verify.Infer(ctx, cfg, d.Problem)
	if err != nil {
		return r, err
	}
	return verify.Run(ctx, cfg, pkg)
}

// runProblem judges one program on a package.
func runProblem(f *command.Flags) command.Run {
	language := f.String("language", "", "language id such as cpp; guessed from the first file's name when empty")
	tests := f.String("test", "", "judge only tests that match, such as 'sample/*'")
	given := givenFlags(f)
	return func(ctx context.Context, c *command.Call) error {
		sources, err := readSources(c, c.Args[1:])
		if err != nil {
			return err
		}
		if err := checkGiven(*given); err != nil {
			return err
		}
		r, err := judgeOne(ctx, c, *tests, *language, sources, *given)
		if err != nil {
			return err
		}
		if err := c.Write(r, func(w io.Writer) error { return printResult(w, r) }); err != nil {
			return err
		}
		return accepted(r.Verdict)
	}
}

func judgeOne(ctx context.Context, c *command.Call, tests, language string, sources []judge.Source, given judge.Given) (r judge.Result, err error) {
	told := newSteps(c.Err)
	defer told.clear()
	d, err := workbench.OpenDesk(ctx, workbench.DeskConfig{Config: benchConfig(c), Path: c.Args[0], Tests: tests, Given: given, Stage: told.stage})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if language == "" {
		var names []string
		for _, s := range sources {
			names = append(names, s.Name)
		}
		l, ok := verify.Language(d.Judge.Languages(ctx), names)
		if !ok {
			return r, fmt.Errorf("no language has the extension of %s: name one with --language", sources[0].Name)
		}
		language = l.ID
	}
	if err := d.Limit(ctx); err != nil {
		return r, err
	}
	return d.Judge.Judge(ctx, judge.Payload{
		SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: d.Problem.Slug, Language: language, Sources: sources,
	}, d.Problem.Version, nil)
}

// printResult prints each test, and the verdict as the last line.
func printResult(w io.Writer, r judge.Result) error {
	var t command.Table
	for _, test := range r.Tests {
		t.Add(test.Name, test.Verdict, points(test.Score), judge.TimeText(test.Usage.CPU()), fmt.Sprint(test.Usage.MemoryKiB, " KiB"),
			strings.Join(strings.Fields(cmp.Or(test.JudgeNote, test.Message)), " "))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if r.Compile != nil && r.Verdict == judge.CE {
		fmt.Fprintln(w, strings.TrimRight(r.Compile.Output, "\n"))
	}
	for _, g := range slices.Backward(r.Groups) {
		if g.Formula != "" {
			fmt.Fprintf(w, "%s: %s = %s\n", cmp.Or(g.Name, "all"), g.Formula, points(g.Score))
		}
	}
	line := withPoints(r.Verdict, r.Score)
	if r.Score != nil && r.MaxScore != nil {
		line += "/" + points(r.MaxScore)
	}
	line += fmt.Sprintf("  %s  %d KiB", judge.TimeText(r.Usage.CPU()), r.Usage.MemoryKiB)
	if note := cmp.Or(r.JudgeNote, r.Message); note != "" {
		line += "  " + strings.ReplaceAll(note, "\n", " ")
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

func points(score *float64) string {
	if score == nil {
		return ""
	}
	return fmt.Sprintf("%g", *score)
}

// withPoints is a verdict, and behind it the score, if there is one.
func withPoints(v judge.Verdict, score *float64) string {
	return strings.TrimSpace(string(v) + " " + points(score))
}

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
