package sandbox_test

import (
	"fmt"
	"testing"

	"deepoj/sandbox"
)

func TestOutputIsBoundedAndDrained(t *testing.T) { onEveryDriver(t, outputIsBoundedAndDrained) }

func outputIsBoundedAndDrained(t *testing.T, a *sandbox.Client) {
	const outputs, files, tmp = 4 * mib, 8 * mib, 48 * mib
	b := newBench(t, a, "output", sandbox.BoxOptions{TmpBytes: tmp})
	limits := generous
	limits.OutputBytes, limits.FileBytes = outputs, files
	tests := map[string]struct {
		args   []string
		limits sandbox.Limits
		want   sandbox.Verdict
		check  func(o outcome) bool
	}{
		"a flood of stdout is OLE": {[]string{"stdout"}, limits, sandbox.OLE, func(o outcome) bool {
			return o.StdoutTruncated && len(o.stdout) == 256<<10
		}},
		"a flood of stderr is OLE": {[]string{"stderr"}, limits, sandbox.OLE, func(o outcome) bool {
			return o.StderrTruncated && len(o.stderr) == 1<<20
		}},
		"as much on stderr as is allowed is cut and no offence": {[]string{"stderr-bytes", fmt.Sprint(outputs)}, limits, sandbox.OK, func(o outcome) bool {
			return o.StderrTruncated && len(o.stderr) == 1<<20 && o.StderrBytes == outputs
		}},
		"one byte more on stderr is OLE": {[]string{"stderr-bytes", fmt.Sprint(outputs + 1)}, limits, sandbox.OLE, func(o outcome) bool {
			return o.StderrBytes == outputs+1
		}},
		"as much on stdout as is allowed is OK": {[]string{"stdout-bytes", fmt.Sprint(outputs)}, limits, sandbox.OK, func(o outcome) bool {
			return o.StdoutBytes == outputs && o.StdoutTruncated
		}},
		"one byte less on stdout is OK": {[]string{"stdout-bytes", fmt.Sprint(outputs - 1)}, limits, sandbox.OK, func(o outcome) bool {
			return o.StdoutBytes == outputs-1
		}},
		"one byte more on stdout is OLE": {[]string{"stdout-bytes", fmt.Sprint(outputs + 1)}, limits, sandbox.OLE, func(o outcome) bool {
			return o.StdoutBytes == outputs+1
		}},
		"as much on stdout as is kept is not cut": {[]string{"stdout-bytes", fmt.Sprint(256 << 10)}, limits, sandbox.OK, func(o outcome) bool {
			return !o.StdoutTruncated && len(o.stdout) == 256<<10
		}},
		"one byte more than is kept is cut": {[]string{"stdout-bytes", fmt.Sprint(256<<10 + 1)}, limits, sandbox.OK, func(o outcome) bool {
			return o.StdoutTruncated && len(o.stdout) == 256<<10 && o.StdoutBytes == 256<<10+1
		}},
		"a flood of a file is OLE":                      {[]string{"file"}, limits, sandbox.OLE, nil},
		"a file as large as is allowed is OK":           {[]string{"file-bytes", fmt.Sprint(files)}, limits, sandbox.OK, nil},
		"a file that is one byte larger is OLE":         {[]string{"file-bytes", fmt.Sprint(files + 1)}, limits, sandbox.OLE, nil},
		"a flood of files ends when /tmp is full":       {[]string{"files", fmt.Sprint(mib)}, limits, sandbox.OK, prints("1\n")},
		"a sparse file beyond the limit cannot be made": {[]string{"sparse"}, limits, sandbox.OK, prints("-1 1\n")},
		"a flood of inodes ends at a bound":             {[]string{"inodes"}, limits, sandbox.OK, prints("1\n")},
	}
	if insideVM() {
		delete(tests, "a flood of inodes ends at a bound") // control groups make no difference to that, and it takes a minute
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if o := b.run(t, tt.limits, tt.args...); o.Verdict != tt.want || tt.check != nil && !tt.check(o) {
				t.Errorf("ended %.300v", o)
			}
		})
	}
	t.Run("all that is allowed is kept where that is asked for", func(t *testing.T) {
		out := memory(nil)
		defer out.Close()
		r, err := b.box.Run(t.Context(), sandbox.Cmd{
			Program: "./output", Args: []string{"stdout-bytes", fmt.Sprint(outputs)}, Stdout: out, StdoutLimit: -1, Limits: limits,
		})
		if err != nil || r.Verdict != sandbox.OK || r.StdoutBytes != outputs || r.StdoutTruncated || int64(len(text(out))) != outputs {
			t.Errorf("ended %+v, %v with %d bytes kept", r, err, len(text(out)))
		}
	})
	t.Run("standard streams can be opened by name", func(t *testing.T) {
		o := b.runCmd(t, sandbox.Cmd{Program: "./output", Args: []string{"reopen"}, Stdin: memory([]byte("echo\n")), Limits: generous})
		if o.Verdict != sandbox.OK || o.stdout != "echo\n" {
			t.Errorf("ended %v", o)
		}
	})
	t.Run("an empty input can be opened by name too", func(t *testing.T) {
		o := b.runCmd(t, sandbox.Cmd{Program: "./output", Args: []string{"reopen"}, Limits: generous})
		if o.Verdict != sandbox.OK || o.stdout != "" {
			t.Errorf("ended %v", o)
		}
	})
	t.Run("the input cannot be spoiled", func(t *testing.T) {
		in := memory([]byte("input\n"))
		defer in.Close()
		o := b.runCmd(t, sandbox.Cmd{Program: "./output", Args: []string{"spoil-input"}, Stdin: in, Limits: generous})
		if o.Verdict != sandbox.OK || o.stdout != "-1 -1\n" || text(in) != "input\n" {
			t.Errorf("ended %v and left %q", o, text(in))
		}
	})
}

// prints reports whether a run printed text.
func prints(text string) func(outcome) bool {
	return func(o outcome) bool { return o.stdout == text }
}
