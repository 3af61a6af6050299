package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// submit hands in a program. With --wait its exit status is 0 for AC, 3 for any
// other verdict, and 1 when something went wrong.
func submit(ctx context.Context, e *env) int {
	f, _ := newFlags(e, "submit", "FILE...")
	problem := f.String("problem", "", "the problem's short name (required)")
	space := f.String("space", "", "the course or contest to hand it in to; none when empty")
	language := f.String("language", "", "language id such as cpp; guessed from the file name when empty")
	wait := f.Bool("wait", false, "wait for the verdict and print it")
	once := f.Bool("once", false, "give the same program that still waits or runs instead of handing it in twice")
	server := f.String("server", "", "address of the server; DEEPOJ_URL or "+defaultServer+" when empty")
	token := f.String("token", "", "key, or token of a login; DEEPOJ_TOKEN when empty")
	files, status, ok := filesOf(f, e.args)
	if !ok {
		return status
	}
	if *problem == "" || len(files) == 0 {
		f.Usage()
		return 2
	}
	n := client.NewSubmission{Problem: *problem, Space: *space, Language: *language, Once: *once}
	var err error
	if n.Sources, err = readSources(files); err != nil {
		return e.fail(err)
	}
	c, err := client.New(firstOf(*server, e.variable("DEEPOJ_URL"), defaultServer), client.WithToken(firstOf(*token, e.variable("DEEPOJ_TOKEN"))))
	if err != nil {
		return e.fail(err)
	}
	if n.Language == "" {
		if n.Language, err = guessLanguage(ctx, c, n.Sources[0].Name); err != nil {
			return e.fail(err)
		}
	}
	r, err := c.Submit(ctx, n)
	if err != nil {
		return e.fail(err)
	}
	if !*wait {
		fmt.Fprintf(e.stdout, "submitted as %d\n", r.JobID)
		return 0
	}
	s, err := c.Wait(ctx, r.JobID)
	if err != nil {
		return e.fail(fmt.Errorf("submission %d is stored; waiting for it failed: %w", r.JobID, err))
	}
	return printVerdict(e, s)
}

const defaultServer = "http://127.0.0.1:8080"

// printVerdict prints one line: verdict, CPU time, memory, and why.
func printVerdict(e *env, s *client.Submission) int {
	if s.Result == nil {
		why := ""
		if s.Error != nil {
			why = ": " + *s.Error
		}
		return e.fail(fmt.Errorf("submission %d is %s%s", s.JobID, s.Status, why))
	}
	r := s.Result
	line := string(r.Verdict)
	if r.Score != nil {
		line += fmt.Sprintf(" %g", *r.Score)
		if r.MaxScore != nil {
			line += fmt.Sprintf("/%g", *r.MaxScore)
		}
	}
	line += fmt.Sprintf("  %d ms  %d KiB  submission %d", r.Usage.CPUMillis, r.Usage.MemoryKiB, s.JobID)
	if r.Message != "" {
		line += "  " + strings.ReplaceAll(r.Message, "\n", " ")
	}
	fmt.Fprintln(e.stdout, line)
	if r.Verdict == judge.CE && r.Compile != nil {
		fmt.Fprintln(e.stdout, strings.TrimRight(r.Compile.Output, "\n"))
	}
	if r.Verdict != judge.AC {
		return 3
	}
	return 0
}

// filesOf parses flags and files. Flags may also follow the files, as in
// `submit FILE --wait`.
func filesOf(f *flag.FlagSet, args []string) (files []string, status int, ok bool) {
	for rest := args; ; {
		if status, ok := parse(f, rest); !ok {
			return nil, status, false
		}
		if f.NArg() == 0 {
			return files, 0, true
		}
		files = append(files, f.Arg(0))
		rest = f.Args()[1:]
	}
}

// readSources reads the files of a program.
func readSources(files []string) (sources []judge.Source, err error) {
	for _, name := range files {
		text, err := readSource(name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, judge.Source{Name: filepath.Base(name), Text: text})
	}
	return sources, nil
}

func readSource(name string) (string, error) {
	if name == "-" {
		data, err := io.ReadAll(os.Stdin)
		return string(data), err
	}
	data, err := os.ReadFile(filepath.Clean(name))
	return string(data), err
}

func guessLanguage(ctx context.Context, c *client.Client, name string) (string, error) {
	ls, err := c.Languages(ctx)
	if err != nil {
		return "", err
	}
	ext := strings.TrimPrefix(filepath.Ext(name), ".")
	for _, l := range ls {
		if slices.Contains(l.Extensions, ext) {
			return l.ID, nil
		}
	}
	return "", errors.New("the language cannot be told from the name " + name + ": name it with --language")
}

func firstOf(ss ...string) string {
	for _, s := range ss {
		if s != "" {
			return s
		}
	}
	return ""
}

func (e *env) variable(name string) string {
	v, _ := e.getenv(name)
	return v
}
