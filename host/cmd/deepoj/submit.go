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
	"time"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/web/client"
)

// submit hands in a program.
func submit(f *command.Flags) command.Run {
	problem := f.String("problem", "", "the problem's short name (required)")
	space := f.String("space", "", "the course or contest to hand it in to; none when empty")
	language := f.String("language", "", "language id such as cpp; guessed from the file name when empty")
	wait := f.Bool("wait", false, "wait for the verdict and print it; else only the number of the submission is printed")
	once := f.Bool("once", false, "give the same program that still waits or runs instead of handing it in twice")
	longest := timeoutFlag(f)
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) (err error) {
		if *problem == "" {
			return command.ErrUsage
		}
		n := client.NewSubmission{Problem: *problem, Space: *space, Language: *language, Once: *once}
		if n.Sources, err = readSources(c, c.Args); err != nil {
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
		ctx, cancel := atMost(ctx, *longest)
		defer cancel()
		done, err := s.Wait(ctx, r.JobID)
		switch {
		case errors.Is(err, errPatience):
			c.Warn("submission %d is stored and not judged yet: deepoj watch %d goes on waiting", r.JobID, r.JobID)
			return command.Exit(statusNotYet)
		case err != nil:
			return fmt.Errorf("submission %d is stored; waiting for it failed: %w", r.JobID, err)
		}
		return printVerdict(c, done)
	})
}

// What statuses mean besides 0 for success, 1 for failure and 2 for wrong usage.
const (
	statusOther  = 3 // a verdict, and not the one that was hoped for
	statusNotYet = 4 // no verdict yet
)

// errPatience is why a wait ends that was bounded.
var errPatience = errors.New("it took longer than --timeout")

// timeoutFlag bounds how long a command waits for a job.
func timeoutFlag(f *command.Flags) *time.Duration {
	return f.Duration("timeout", time.Hour, "longest wait for the end; 0 = as long as it takes")
}

// atMost bounds a wait, unless longest is 0.
func atMost(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc) {
	if longest <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, longest, errPatience)
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
		return command.Exit(statusOther)
	}
	return nil
}

// printVerdict prints the line of a submission that is done.
func printVerdict(c *command.Call, s *client.Submission) error {
	if s.Result == nil {
		return unfinished("submission", s.JobID, s.Status, s.Error)
	}
	if err := c.Say(s, "%s", verdictLine(s)); err != nil {
		return err
	}
	return accepted(s.Result.Verdict)
}

// verdictLine is one line: verdict, CPU time, memory, and why; below it what the compiler said.
func verdictLine(s *client.Submission) string {
	r := s.Result
	line := withPoints(r.Verdict, r.Score)
	if r.Score != nil && r.MaxScore != nil {
		line += "/" + points(r.MaxScore)
	}
	line += fmt.Sprintf("  %s  %d KiB  submission %d", judge.TimeText(r.Usage.CPU()), r.Usage.MemoryKiB, s.JobID)
	if r.Message != "" {
		line += "  " + strings.ReplaceAll(r.Message, "\n", " ")
	}
	if r.Verdict == judge.CE && r.Compile != nil {
		line += "\n" + strings.TrimRight(r.Compile.Output, "\n")
	}
	return line
}

// readSources reads the files of a program. What comes from standard input has no name: the server makes one of the
// language.
func readSources(c *command.Call, files []string) (sources []judge.Source, err error) {
	for _, name := range files {
		text, err := readSource(c, name)
		if err != nil {
			return nil, err
		}
		source := judge.Source{Name: filepath.Base(name), Text: text}
		if name == stdinName {
			source.Name = ""
			if len(files) > 1 {
				return nil, errors.New("a program of several files has none on standard input: each needs its name")
			}
		}
		sources = append(sources, source)
	}
	return sources, nil
}

// stdinName stands for standard input where a file is named.
const stdinName = "-"

// maxInput bounds what is read of standard input, in bytes: more than any server takes.
const maxInput = 64 << 20

func readSource(c *command.Call, name string) (string, error) {
	if name != stdinName {
		data, err := os.ReadFile(filepath.Clean(name))
		return string(data), err
	}
	if c.In == nil {
		return "", errors.New("there is no standard input")
	}
	data, err := io.ReadAll(io.LimitReader(c.In, maxInput+1))
	if err == nil && len(data) > maxInput {
		err = fmt.Errorf("standard input has more than %d MiB", maxInput>>20)
	}
	return string(data), err
}

func guessLanguage(ctx context.Context, s *client.Client, name string) (string, error) {
	if name == "" {
		return "", errors.New("standard input has no name that tells the language: name it with --language, such as --language cpp")
	}
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

// several is a flag that may be given several times.
func several(f *command.Flags, name, usage string) *[]string {
	all := &[]string{}
	f.Func(name, usage, func(v string) error { *all = append(*all, v); return nil })
	return all
}

// tryOut runs a program on inputs at the server, which counts for nothing.
func tryOut(f *command.Flags) command.Run {
	language := f.String("language", "", "language id such as cpp; guessed from the file name when empty")
	problem := f.String("problem", "", "problem whose limits count; with --samples its samples are run")
	samples := f.Bool("samples", false, "run the samples of the problem")
	expect := f.String("expect", "", "`file` with the output that is expected, compared word by word")
	millis := f.Int64("time-ms", 0, "CPU time in milliseconds; the server's own limit when 0")
	kib := f.Int64("memory-kb", 0, "memory in KiB; the server's own limit when 0")
	inputs := several(f, "input", "`file` with an input, - for standard input; may be repeated; without one, standard input if it is a file or a pipe")
	args := several(f, "arg", "argument of the program; may be repeated")
	longest := timeoutFlag(f)
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) (err error) {
		program := slices.Contains(c.Args, stdinName)
		if len(*inputs) == 0 && !*samples && !program && piped(c.In) {
			*inputs = []string{stdinName}
		}
		switch {
		case *expect != "" && len(*inputs) != 1, *samples && (*problem == "" || len(*inputs) > 0):
			return command.ErrUsage
		case program && slices.Contains(*inputs, stdinName):
			return errors.New("standard input is the program, so it cannot be its input: give a file by --input")
		}
		n := client.NewRun{
			Language: *language, Problem: *problem, Samples: *samples, Args: *args,
			Limits: judge.RunLimits{CPUMillis: *millis, MemoryKiB: *kib},
		}
		if n.Sources, err = readSources(c, c.Args); err != nil {
			return err
		}
		if n.Tests, err = readInputs(c, *inputs, *expect); err != nil {
			return err
		}
		if n.Language == "" {
			if n.Language, err = guessLanguage(ctx, s, n.Sources[0].Name); err != nil {
				return err
			}
		}
		ctx, cancel := atMost(ctx, *longest)
		defer cancel()
		r, err := runAndWait(ctx, s, n)
		if err != nil {
			return err
		}
		err = c.Write(r, func(io.Writer) error {
			if r.Result != nil {
				printOutputs(c, r.Result)
			}
			return nil
		})
		switch {
		case err != nil:
			return err
		case r.Result == nil:
			return unfinished("run", r.JobID, r.Status, r.Error)
		}
		return accepted(r.Result.Verdict)
	})
}

// readInputs reads the inputs, and what is expected of the only one.
func readInputs(c *command.Call, inputs []string, expect string) (tests []client.RunTest, err error) {
	for _, name := range inputs {
		text, err := readSource(c, name)
		if err != nil {
			return nil, err
		}
		tests = append(tests, client.RunTest{Stdin: text})
	}
	if expect != "" {
		text, err := readSource(c, expect)
		if err != nil {
			return nil, err
		}
		tests[0].Expected = &text
	}
	return tests, nil
}

// patience is how long cancelling a run may take when the command is told to end.
const patience = 5 * time.Second

// runAndWait asks for a run and waits for it. When ctx ends first, so does the run.
func runAndWait(ctx context.Context, s *client.Client, n client.NewRun) (*client.Run, error) {
	receipt, err := s.StartRun(ctx, n)
	if err != nil {
		return nil, err
	}
	r, err := s.WaitRun(ctx, receipt.JobID)
	if err != nil && ctx.Err() != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		_, cancelErr := s.PostRunCancel(ctx, receipt.JobID, client.Reason{})
		err = errors.Join(err, cancelErr)
	}
	return r, err
}

// printOutputs prints what a run came to: the outputs of an only test as they are, a
// line of each of several, and the verdict as the last line of the errors.
func printOutputs(c *command.Call, res *client.RunResult) {
	if res.Verdict == judge.CE && res.Compile != nil {
		fmt.Fprintln(c.Err, res.Compile.Output)
	}
	for _, t := range res.Tests {
		if len(res.Tests) > 1 {
			fmt.Fprintf(c.Out, "%s  %s  %s  %d KiB  %s\n", t.Name, t.Verdict, judge.TimeText(t.Usage.CPU()), t.Usage.MemoryKiB, t.Message)
			continue
		}
		stdout, stderr := t.Outputs()
		_, _ = c.Out.Write(stdout) // as with every other command: nobody to tell
		_, _ = c.Err.Write(stderr)
		if t.StdoutCut || t.StderrCut {
			c.Warn("the output was longer; its end is missing")
		}
	}
	fmt.Fprintf(c.Err, "%s  %s  %d KiB  %s\n", res.Verdict, judge.TimeText(res.Usage.CPU()), res.Usage.MemoryKiB, res.Message)
}
