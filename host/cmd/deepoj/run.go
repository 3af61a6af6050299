package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// tryOut runs a program on inputs at the server, which counts for nothing. With one
// input the program's output is this command's. Its exit status is 0 for AC, 3 for
// any other verdict, and 1 when something went wrong.
func tryOut(ctx context.Context, e *env) int {
	f, _ := newFlags(e, "run", "FILE...")
	language := f.String("language", "", "language id such as cpp; guessed from the file name when empty")
	problem := f.String("problem", "", "problem whose limits count; with --samples its samples are run")
	samples := f.Bool("samples", false, "run the samples of the problem")
	expect := f.String("expect", "", "file with the output that is expected, compared word by word")
	millis := f.Int64("time-ms", 0, "CPU time in milliseconds; the server's own limit when 0")
	kib := f.Int64("memory-kb", 0, "memory in KiB; the server's own limit when 0")
	asJSON := f.Bool("json", false, "print the run as the API shows it")
	var inputs, args []string
	each := func(list *[]string) func(string) error {
		return func(v string) error {
			*list = append(*list, v)
			return nil
		}
	}
	f.Func("input", "file with an input, - for standard input; may be repeated", each(&inputs))
	f.Func("arg", "argument of the program; may be repeated", each(&args))
	server := f.String("server", "", "address of the server; DEEPOJ_URL or "+defaultServer+" when empty")
	token := f.String("token", "", "key, or token of a login; DEEPOJ_TOKEN when empty")
	files, status, ok := filesOf(f, e.args)
	if !ok {
		return status
	}
	if len(files) == 0 || *expect != "" && len(inputs) != 1 || *samples && (*problem == "" || len(inputs) > 0) {
		f.Usage()
		return 2
	}
	n := client.NewRun{
		Language: *language, Problem: *problem, Samples: *samples, Args: args,
		Limits: judge.RunLimits{CPUMillis: *millis, MemoryKiB: *kib},
	}
	var err error
	if n.Sources, err = readSources(files); err != nil {
		return e.fail(err)
	}
	if n.Tests, err = readInputs(inputs, *expect); err != nil {
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
	r, err := runAndWait(ctx, c, n)
	if err != nil {
		return e.fail(err)
	}
	if *asJSON {
		out := json.NewEncoder(e.stdout)
		out.SetIndent("", "  ")
		if err := out.Encode(r); err != nil {
			return e.fail(err)
		}
	}
	return printRun(e, r, *asJSON)
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
func runAndWait(ctx context.Context, c *client.Client, n client.NewRun) (*client.Run, error) {
	receipt, err := c.StartRun(ctx, n)
	if err != nil {
		return nil, err
	}
	r, err := c.WaitRun(ctx, receipt.JobID)
	if err != nil && ctx.Err() != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		err = errors.Join(err, c.CancelRun(ctx, receipt.JobID))
	}
	return r, err
}

// printRun prints what a run came to: the outputs of an only test as they are, a
// line of each of several, and the verdict as the last line of the errors.
func printRun(e *env, r *client.Run, quiet bool) int {
	if r.Result == nil {
		why := ""
		if r.Error != nil {
			why = ": " + *r.Error
		}
		return e.fail(fmt.Errorf("run %d is %s%s", r.JobID, r.Status, why))
	}
	res := r.Result
	if !quiet {
		printOutputs(e, res)
	}
	if res.Verdict != judge.AC {
		return 3
	}
	return 0
}

func printOutputs(e *env, res *client.RunResult) {
	if res.Verdict == judge.CE && res.Compile != nil {
		fmt.Fprintln(e.stderr, res.Compile.Output)
	}
	for _, t := range res.Tests {
		if len(res.Tests) > 1 {
			fmt.Fprintf(e.stdout, "%s  %s  %d ms  %d KiB  %s\n", t.Name, t.Verdict, t.Usage.CPUMillis, t.Usage.MemoryKiB, t.Message)
			continue
		}
		stdout, stderr := t.Outputs()
		_, _ = e.stdout.Write(stdout) // as with every other command: nobody to tell
		_, _ = e.stderr.Write(stderr)
		if t.StdoutCut || t.StderrCut {
			fmt.Fprintln(e.stderr, "deepoj: the output was longer; its end is missing")
		}
	}
	fmt.Fprintf(e.stderr, "%s  %d ms  %d KiB  %s\n", res.Verdict, res.Usage.CPUMillis, res.Usage.MemoryKiB, res.Message)
}
