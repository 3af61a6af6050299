package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/web/client"
)

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
	inputs := several(f, "input", "`file` with an input, - for standard input; may be repeated")
	args := several(f, "arg", "argument of the program; may be repeated")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) (err error) {
		if *expect != "" && len(*inputs) != 1 || *samples && (*problem == "" || len(*inputs) > 0) {
			return command.ErrUsage
		}
		n := client.NewRun{
			Language: *language, Problem: *problem, Samples: *samples, Args: *args,
			Limits: judge.RunLimits{CPUMillis: *millis, MemoryKiB: *kib},
		}
		if n.Sources, err = readSources(c.Args); err != nil {
			return err
		}
		if n.Tests, err = readInputs(*inputs, *expect); err != nil {
			return err
		}
		if n.Language == "" {
			if n.Language, err = guessLanguage(ctx, s, n.Sources[0].Name); err != nil {
				return err
			}
		}
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
func readInputs(inputs []string, expect string) (tests []client.RunTest, err error) {
	for _, name := range inputs {
		text, err := readSource(name)
		if err != nil {
			return nil, err
		}
		tests = append(tests, client.RunTest{Stdin: text})
	}
	if expect != "" {
		text, err := readSource(expect)
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
			fmt.Fprintf(c.Out, "%s  %s  %d ms  %d KiB  %s\n", t.Name, t.Verdict, t.Usage.CPUMillis, t.Usage.MemoryKiB, t.Message)
			continue
		}
		stdout, stderr := t.Outputs()
		_, _ = c.Out.Write(stdout) // as with every other command: nobody to tell
		_, _ = c.Err.Write(stderr)
		if t.StdoutCut || t.StderrCut {
			c.Warn("the output was longer; its end is missing")
		}
	}
	fmt.Fprintf(c.Err, "%s  %d ms  %d KiB  %s\n", res.Verdict, res.Usage.CPUMillis, res.Usage.MemoryKiB, res.Message)
}
