package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deepoj/web/client"
)

// tagProblem is `deepoj problem tag`: it prints what setters say of a problem of a
// server beside its versions, and changes it.
func tagProblem(ctx context.Context, e *env) int {
	f := bareFlags(e, "problem tag", "NAME [TAG...]")
	none := f.Bool("none", false, "it has no tags")
	plain := f.Bool("as-package", false, "forget what was said: tags, difficulty, source and author are as the package says")
	difficulty := f.Int("difficulty", 0, "1 to 10,000; 0 leaves it")
	source := f.String("source", "", "where the problem comes from; empty leaves it")
	author := f.String("author", "", "who wrote it; empty leaves it")
	open := serverFlags(e, f)
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if len(args) == 0 || *none && len(args) > 1 {
		f.Usage()
		return 2
	}
	c, err := open()
	if err != nil {
		return e.fail(err)
	}
	l, err := c.ProblemLabels(ctx, args[0])
	if err != nil {
		return e.fail(err)
	}
	if *plain {
		l = client.Labels{}
	}
	if tags := args[1:]; len(tags) > 0 || *none {
		l.Tags = &tags
	}
	if *difficulty != 0 {
		l.Difficulty = difficulty
	}
	if *source != "" {
		l.Source = source
	}
	if *author != "" {
		l.Author = author
	}
	if *plain || *none || len(args) > 1 || *difficulty != 0 || *source != "" || *author != "" {
		if l, err = c.SetProblemLabels(ctx, args[0], l); err != nil {
			return e.fail(err)
		}
	}
	say := func(name string, text *string) {
		if text != nil {
			fmt.Fprintf(e.stdout, "%s: %s\n", name, *text)
		}
	}
	if l.Tags != nil {
		fmt.Fprintf(e.stdout, "tags: %s\n", strings.Join(*l.Tags, ", "))
	}
	if l.Difficulty != nil {
		fmt.Fprintf(e.stdout, "difficulty: %d\n", *l.Difficulty)
	}
	say("source", l.Source)
	say("author", l.Author)
	return 0
}

// diffProblem is `deepoj problem diff`: it says how one version of a problem of a
// server differs from another. Its status is 1 if it does.
func diffProblem(ctx context.Context, e *env) int {
	f := bareFlags(e, "problem diff", "NAME FROM TO")
	open := serverFlags(e, f)
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if len(args) != 3 {
		f.Usage()
		return 2
	}
	c, err := open()
	if err != nil {
		return e.fail(err)
	}
	versions, err := c.ProblemVersions(ctx, args[0])
	if err != nil {
		return e.fail(err)
	}
	full := make([]string, 2)
	for i, wanted := range args[1:] {
		var fits []string
		for _, v := range versions {
			if strings.HasPrefix(strings.TrimPrefix(v.Version, "sha256:"), strings.TrimPrefix(wanted, "sha256:")) {
				fits = append(fits, v.Version)
			}
		}
		if len(fits) != 1 {
			return e.fail(fmt.Errorf("%d versions of %s begin with %q: name one by more of its digits", len(fits), args[0], wanted))
		}
		full[i] = fits[0]
	}
	d, err := c.DiffProblem(ctx, args[0], full[0], full[1])
	if err != nil {
		return e.fail(err)
	}
	printDifference(e, d)
	if len(d.Files) > 0 || len(d.Values) > 0 {
		return 1
	}
	return 0
}

func printDifference(e *env, d client.Difference) {
	for _, v := range d.Values {
		fmt.Fprintf(e.stdout, "%s: %s -> %s\n", v.Name, v.From, v.To)
	}
	for _, list := range []struct {
		name  string
		tests []string
	}{{"added", d.Tests.Added}, {"removed", d.Tests.Removed}, {"changed", d.Tests.Changed}} {
		if len(list.tests) > 0 {
			fmt.Fprintf(e.stdout, "tests %s: %s\n", list.name, strings.Join(list.tests, " "))
		}
	}
	for _, file := range d.Files {
		why := ""
		if file.Why != "" && slices.Contains([]string{"binary", "long", "many", "time"}, file.Why) {
			why = " (" + file.Why + ")"
		}
		fmt.Fprintf(e.stdout, "%s %s%s\n", file.Change, file.Path, why)
		fmt.Fprint(e.stdout, file.Lines)
	}
	if d.More {
		fmt.Fprintln(e.stdout, "and more")
	}
}

// cloneProblem is `deepoj problem clone`: it makes a problem of one's own of another
// of a server.
func cloneProblem(ctx context.Context, e *env) int {
	f := bareFlags(e, "problem clone", "NAME NEW")
	version := f.String("version", "", "digest of the version; the live one when empty, or else the newest")
	wait := f.Bool("wait", false, "wait until it is proved")
	open := serverFlags(e, f)
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if len(args) != 2 {
		f.Usage()
		return 2
	}
	c, err := open()
	if err != nil {
		return e.fail(err)
	}
	r, err := c.CloneProblem(ctx, args[0], *version, args[1])
	if err != nil {
		return e.fail(err)
	}
	fmt.Fprintf(e.stdout, "job %d takes in %s\n", r.JobID, args[1])
	if !*wait {
		return 0
	}
	job, err := c.WaitJob(ctx, r.JobID)
	if err != nil {
		return e.fail(err)
	}
	if job.Result == nil || job.Result.Verdict != "AC" {
		fmt.Fprintln(e.stderr, "it is not proved")
		return 3
	}
	fmt.Fprintln(e.stdout, "it is proved, and goes live when somebody activates it")
	return 0
}
