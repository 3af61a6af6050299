package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/problem"
	"deepoj/host/verify"
)

// verifyProblem is `deepoj problem verify`: it judges the submissions that a package
// brings, without a server. Its status is 0 when each got a verdict that its place
// allows, 3 when one did not, and 1 when that cannot be told.
func verifyProblem(ctx context.Context, e *env) int {
	f := bareFlags(e, "problem verify", "DIR|ZIP")
	only := f.String("only", "", "judge only submissions that match, such as 'accepted/*'")
	given := givenFlags(f)
	asJSON := f.Bool("json", false, "print the report as JSON")
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if len(args) != 1 {
		f.Usage()
		return 2
	}
	var report verify.Report
	err := checkGiven(*given)
	if err == nil {
		report, err = proveProblem(ctx, e, args[0], *only, *given)
	}
	switch {
	case err != nil:
	case *asJSON:
		err = printJSON(e, report)
	default:
		err = report.Write(e.stdout)
	}
	if err == nil && len(report.Rows) == 0 {
		err = fmt.Errorf("nothing is proved: no submission below submissions/ matches %q", firstOf(*only, "*"))
	}
	if err != nil {
		return e.fail(err)
	}
	if !report.OK() {
		return 3
	}
	return 0
}

func proveProblem(ctx context.Context, e *env, path, only string, given judge.Given) (r verify.Report, err error) {
	d, err := openDesk(ctx, e, path, "", given)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	b := newSteps(e)
	defer b.clear()
	cfg := verify.Config{Judge: d.judge, Only: only, Stage: b.stage, Done: func(row verify.Row) { b.row(e, row) }}
	if d.problem, err = verify.Infer(ctx, cfg, d.problem); err != nil {
		return r, err
	}
	return verify.Run(ctx, cfg, d.problem)
}

// runProblem is `deepoj problem run`: it judges one program on a package. Its status
// is 0 for AC and 3 for any other verdict.
func runProblem(ctx context.Context, e *env) int {
	f := bareFlags(e, "problem run", "DIR|ZIP FILE...")
	language := f.String("language", "", "language id such as cpp; guessed from the first file's name when empty")
	tests := f.String("test", "", "judge only tests that match, such as 'sample/*'")
	given := givenFlags(f)
	asJSON := f.Bool("json", false, "print the result as JSON")
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if len(args) < 2 {
		f.Usage()
		return 2
	}
	var sources []judge.Source
	for _, name := range args[1:] {
		text, err := readSource(name)
		if err != nil {
			return e.fail(err)
		}
		sources = append(sources, judge.Source{Name: filepath.Base(name), Text: text})
	}
	var r judge.Result
	err := checkGiven(*given)
	if err == nil {
		r, err = judgeOne(ctx, e, args[0], *tests, *language, sources, *given)
	}
	switch {
	case err != nil:
	case *asJSON:
		err = printJSON(e, r)
	default:
		err = printResult(e, r)
	}
	if err != nil {
		return e.fail(err)
	}
	if r.Verdict != judge.AC {
		return 3
	}
	return 0
}

func judgeOne(ctx context.Context, e *env, path, tests, language string, sources []judge.Source, given judge.Given) (r judge.Result, err error) {
	d, err := openDesk(ctx, e, path, tests, given)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if language == "" {
		var names []string
		for _, s := range sources {
			names = append(names, s.Name)
		}
		l, ok := verify.Language(d.judge.Languages(ctx), names)
		if !ok {
			return r, fmt.Errorf("no language has the extension of %s: name one with --language", sources[0].Name)
		}
		language = l.ID
	}
	if err := d.limit(ctx, e); err != nil {
		return r, err
	}
	return d.judge.Judge(ctx, judge.Payload{
		SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: d.problem.Slug, Language: language, Sources: sources,
	}, d.problem.Version, nil)
}

// desk is a bench with a problem on it, and a judge.
type desk struct {
	*bench
	judge   *judging.Judge
	problem *problem.Package
}

// openDesk reads a package with the rights of the caller, and stores it for the
// time of one command, with the tests that match. Those that the package does not
// hold are made.
func openDesk(ctx context.Context, e *env, path, tests string, given judge.Given) (d *desk, err error) {
	files, slug, closer, err := problem.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = closer.Close() }() // it was only read
	b, noAgent, err := openBench(ctx, e, true)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if noAgent != nil {
		return nil, fmt.Errorf("programs cannot be run: %w (see deepoj doctor)", noAgent)
	}
	d = &desk{bench: b}
	var report problem.Report
	if d.problem, report, err = problem.Read(files); err != nil {
		return nil, fmt.Errorf("package %s: %w", path, err)
	}
	report.Warnings = append(report.Warnings, d.problem.Give(slug, given)...)
	for _, w := range report.Warnings {
		fmt.Fprintf(e.stderr, "%s: warning: %s\n", slug, w)
	}
	if err := d.problem.Only(tests); err != nil {
		return nil, err
	}
	cfg, err := b.judging()
	if err != nil {
		return nil, err
	}
	if cfg.Blobs, err = blob.OpenDir(filepath.Join(b.dir, "blobs")); err != nil {
		return nil, err
	}
	if _, err := d.problem.Save(ctx, cfg.Blobs); err != nil {
		return nil, err
	}
	if d.judge, err = judging.New(cfg); err != nil {
		return nil, err
	}
	steps := newSteps(e)
	defer steps.clear()
	d.problem, err = verify.Make(ctx, verify.Config{Judge: d.judge, Stage: steps.stage}, d.problem)
	return d, err
}

// limit finds the time limit of a package that states none. A package that shows none
// keeps the default.
func (d *desk) limit(ctx context.Context, e *env) error {
	b := newSteps(e)
	defer b.clear()
	limited, err := verify.Infer(ctx, verify.Config{Judge: d.judge, Stage: b.stage}, d.problem)
	if verify.AtFault(err) {
		fmt.Fprintf(e.stderr, "%s: warning: %v: %s are taken\n", d.problem.Slug, err, d.problem.Limits.CPU)
		return nil
	}
	if err != nil {
		return err
	}
	d.problem = limited
	return nil
}

func printJSON(e *env, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(e.stdout, "%s\n", b)
	}
	return err
}

// printResult prints each test, and the verdict as the last line.
func printResult(e *env, r judge.Result) error {
	t := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, test := range r.Tests {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d ms\t%d KiB\t%s\n", test.Name, test.Verdict, points(test.Score), test.Usage.CPUMillis, test.Usage.MemoryKiB,
			strings.Join(strings.Fields(firstOf(test.JudgeNote, test.Message)), " "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Compile != nil && r.Verdict == judge.CE {
		fmt.Fprintln(e.stdout, strings.TrimRight(r.Compile.Output, "\n"))
	}
	for _, g := range slices.Backward(r.Groups) {
		if g.Formula != "" {
			fmt.Fprintf(e.stdout, "%s: %s = %s\n", firstOf(g.Name, "all"), g.Formula, points(g.Score))
		}
	}
	line := withPoints(r.Verdict, r.Score)
	if r.Score != nil && r.MaxScore != nil {
		line += "/" + points(r.MaxScore)
	}
	line += fmt.Sprintf("  %d ms  %d KiB", r.Usage.CPUMillis, r.Usage.MemoryKiB)
	if note := firstOf(r.JudgeNote, r.Message); note != "" {
		line += "  " + strings.ReplaceAll(note, "\n", " ")
	}
	_, err := fmt.Fprintln(e.stdout, line)
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
