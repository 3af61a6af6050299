package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/web/client"
)

// submit hands in a program.
func submit(f *command.Flags) command.Run {
	problem := f.String("problem", "", "the problem's short name (required)")
	space := f.String("space", "", "the course or contest to hand it in to; none when empty")
	language := f.String("language", "", "language id such as cpp; guessed from the file name when empty")
	wait := f.Bool("wait", false, "wait for the verdict and print it")
	once := f.Bool("once", false, "give the same program that still waits or runs instead of handing it in twice")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) (err error) {
		if *problem == "" {
			return command.ErrUsage
		}
		n := client.NewSubmission{Problem: *problem, Space: *space, Language: *language, Once: *once}
		if n.Sources, err = readSources(c.Args); err != nil {
			return err
		}
		if n.Language == "" {
			if n.Language, err = guessLanguage(ctx, s, n.Sources[0].Name); err != nil {
				return err
			}
		}
		r, err := s.Submit(ctx, n)
		if err != nil {
			return err
		}
		if !*wait {
			return c.Say(r, "submitted as %d", r.JobID)
		}
		done, err := s.Wait(ctx, r.JobID)
		if err != nil {
			return fmt.Errorf("submission %d is stored; waiting for it failed: %w", r.JobID, err)
		}
		return printVerdict(c, done)
	})
}

// unfinished says how a job stands that has no result.
func unfinished(what string, id int64, status string, why *string) error {
	if why != nil {
		return fmt.Errorf("%s %d is %s: %s", what, id, status, *why)
	}
	return fmt.Errorf("%s %d is %s", what, id, status)
}

// accepted is the status of a verdict: 0 for AC, else 3.
func accepted(v judge.Verdict) error {
	if v != judge.AC {
		return command.Exit(3)
	}
	return nil
}

// printVerdict prints one line: verdict, CPU time, memory, and why.
func printVerdict(c *command.Call, s *client.Submission) error {
	if s.Result == nil {
		return unfinished("submission", s.JobID, s.Status, s.Error)
	}
	r := s.Result
	line := withPoints(r.Verdict, r.Score)
	if r.Score != nil && r.MaxScore != nil {
		line += "/" + points(r.MaxScore)
	}
	line += fmt.Sprintf("  %d ms  %d KiB  submission %d", r.Usage.CPUMillis, r.Usage.MemoryKiB, s.JobID)
	if r.Message != "" {
		line += "  " + strings.ReplaceAll(r.Message, "\n", " ")
	}
	if r.Verdict == judge.CE && r.Compile != nil {
		line += "\n" + strings.TrimRight(r.Compile.Output, "\n")
	}
	if err := c.Say(s, "%s", line); err != nil {
		return err
	}
	return accepted(r.Verdict)
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

func guessLanguage(ctx context.Context, s *client.Client, name string) (string, error) {
	ls, err := s.Languages(ctx)
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
