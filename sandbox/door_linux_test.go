package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// keep starts a keeper whose one-shot runs are the command judge, or with none this
// program's own, and opens its door.
func keep(t testing.TB, cfg sandbox.Config, agent bool, judge ...string) *sandbox.KeeperClient {
	t.Helper()
	needRoot(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := oneshot.KeeperConfig{Sandbox: cfg, OneShot: judge}
	if len(judge) == 0 {
		if c.OneShot, err = judgeProgram(); err != nil {
			t.Fatal(err)
		}
	}
	if agent {
		c.Agent = []string{exe, agentCommand}
	}
	k, err := oneshot.Keep(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	d, err := sandbox.DialKeeper(t.Context(), k.Conn(), sandbox.KeeperClientConfig{StdoutLimit: 4096, StderrLimit: 4096})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestABoxWithoutAnAgentKeepsFilesFromRunToRun(t *testing.T) {
	d := keep(t, sandbox.Config{}, false)
	b, err := d.OpenBox(t.Context(), sandbox.BoxOptions{Writable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, f := range []sandbox.File{
		{Path: "one.c", Data: []byte("#include <stdio.h>\nextern const char *word;\nint main(void) { puts(word); return 3; }\n")},
		{Path: "deep/er/two.c", Data: []byte("const char *word = \"first\";\n")},
		{Path: "deep/er/two.c", Data: []byte("const char *word = \"kept\";\n")},
	} {
		if err := b.Put(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"-c", "-o", "one.o", "one.c"}, {"-c", "-o", "deep/er/two.o", "deep/er/two.c"}, {"-o", "main", "one.o", "deep/er/two.o"},
	} {
		if o := run(t, b, sandbox.Cmd{Tool: "gcc", Args: args, Limits: compiling}); o.Verdict != sandbox.OK {
			t.Fatalf("gcc %q ended %v", args, o)
		}
	}
	if o := run(t, b, sandbox.Cmd{Program: "main"}); o.Verdict != sandbox.RE || o.ExitCode != 3 || o.stdout != "kept\n" {
		t.Errorf("the program ended %v", o)
	}
	files, err := b.Collect(t.Context(), []string{"**/*.o", "main"}, 1<<20)
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	if want := []string{"deep/er/two.o", "main", "one.o"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("collected %q, %v, want %q", names, err, want)
	}
	if i := slices.Index(names, "main"); i >= 0 && files[i].Mode != 0o755 {
		t.Errorf("the program has mode %v", files[i].Mode)
	}
	if _, err := b.Collect(t.Context(), []string{"main"}, 10); err == nil {
		t.Error("more bytes were collected than are allowed")
	}
}

// compiling are limits for a compiler.
var compiling = sandbox.Limits{CPU: 20 * time.Second, MemoryBytes: 1 << 30}

func TestABoxWithoutAnAgentTakesEverythingThatACommandSays(t *testing.T) {
	d := keep(t, sandbox.Config{}, false)
	b, err := d.Box(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	in, out := memory([]byte("hello")), memory(nil)
	defer in.Close()
	defer out.Close()
	script := `cat; echo "$1 $WORD" >&2; command -v gcc >/dev/null || exit 9; ulimit -n`
	r, err := b.Run(t.Context(), sandbox.Cmd{
		Tool: "sh", Args: []string{"-c", script, "sh", "--writable"}, Env: []string{"WORD=--env=x y"}, ExtraTools: []string{"gcc"},
		Stdin: in, Stdout: out, StdoutLimit: 7, Limits: sandbox.Limits{OpenFiles: 77},
	})
	if err != nil || r.Verdict != sandbox.OK || r.StdoutBytes != 8 || !r.StdoutTruncated || r.StderrBytes != 21 || r.StderrTruncated {
		t.Errorf("ended %+v, %v", r, err)
	}
	if got := text(out); got != "hello77" {
		t.Errorf("wrote %q", got)
	}
	if o := run(t, b, sandbox.Cmd{Tool: "sh", Args: []string{"-c", "echo x >file"}}); o.Verdict != sandbox.RE {
		t.Errorf("a box that is not writable was written to: %v", o)
	}
	for name, c := range map[string]sandbox.Cmd{
		"no program":          {},
		"a tool that is none": {Tool: "no-such-tool"},
		"a path as a tool":    {Tool: "/bin/sh"},
		"a negative limit":    {Tool: "sh", Limits: sandbox.Limits{MemoryBytes: -1}},
	} {
		r, err := b.Run(t.Context(), c)
		if err == nil && (r.Verdict != sandbox.SE || r.Error == "") {
			t.Errorf("%s: ended %+v", name, r)
		}
	}
}

func TestTwoProgramsTalkWithoutAnAgent(t *testing.T) {
	d := keep(t, sandbox.Config{Slots: 2}, false)
	var boxes [2]*sandbox.Box
	for i := range boxes {
		var err error
		if boxes[i], err = d.Box(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer boxes[i].Close()
	}
	limits := sandbox.Limits{CPU: 5 * time.Second, Wall: time.Minute}
	p, err := sandbox.RunPair(t.Context(),
		boxes[0], sandbox.Cmd{Tool: "python3", Args: []string{"-uc", "print(20)\nx = int(input())\nraise SystemExit(x)"}, Limits: limits},
		boxes[1], sandbox.Cmd{Tool: "python3", Args: []string{"-uc", "print(int(input()) + 2)\nassert input() == ''"}, Limits: limits})
	// The second waits for the end of the first, which closes its output.
	if err != nil || p.A.ExitCode != 22 || p.B.ExitCode != 1 || !p.FirstA {
		t.Errorf("RunPair = %+v, %v", p, err)
	}
}

func TestARunWithoutAnAgentIsKilledWhenNobodyWaitsForIt(t *testing.T) {
	d := keep(t, sandbox.Config{FirstUID: 63000, Slots: 1}, false)
	b, err := d.Box(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Put(t.Context(), hostile(t, "process")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := b.Run(ctx, sandbox.Cmd{Program: "./process", Args: []string{"fork-bomb"}, Limits: sandbox.Limits{CPU: time.Minute}})
		ended <- err
	}()
	eventually(t, "the program runs", func() bool { return len(strangers(t, 63000)) > 5 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want context.Canceled", err)
	}
	if left := strangers(t, 63000); len(left) != 0 {
		t.Errorf("when the run has ended there are %v", left)
	}
	if o := run(t, b, sandbox.Cmd{Program: "./process", Args: []string{"nothing"}}); o.Verdict != sandbox.OK {
		t.Errorf("the next run ended %v", o)
	}
}

func TestALineThatIsNotProtocolV1IsRefusedAndGoesNowhere(t *testing.T) {
	const secret = "bc6f21"
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "judge")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	line := `{"schema_version":1,"job_id":41,"attempt_id":7,"verdict":"OK","time_ms":1,"mem_kb":1,"exit_signal":0,"sandbox_error":""`
	for name, tt := range map[string]struct{ script, reason string }{
		"nothing":                      {"exit 0", sandbox.ReasonNoLine},
		"a crash":                      {"kill -SEGV $$", sandbox.ReasonNoLine},
		"words":                        {"echo panic: " + secret, sandbox.ReasonNotJSON},
		"half a line":                  {"printf '{\"schema_version\":1,\"verdict\":\"" + secret + "'", sandbox.ReasonNotJSON},
		"a good line and another":      {"echo '" + line + "}'; echo '{\"x\":\"" + secret + "\"}'", sandbox.ReasonNotJSON},
		"a good line and a flood":      {"echo '" + line + "}'; head -c 300000 /dev/zero | tr '\\0' ' '", sandbox.ReasonNotJSON},
		"a flood":                      {"head -c 30000000 /dev/zero | tr '\\0' " + secret, sandbox.ReasonNotJSON},
		"another job's line":           {"echo '" + strings.Replace(line, ":41,", ":42,", 1) + "}'", sandbox.ReasonJob},
		"another attempt's line":       {"echo '" + strings.Replace(line, ":7,", ":6,", 1) + "}'", sandbox.ReasonAttempt},
		"a verdict of the contestants": {"echo '" + strings.Replace(line, `"OK"`, `"AC`+secret+`"`, 1) + "}'", sandbox.ReasonVerdict},
		"a driver that is made up":     {"echo '" + line + `,"driver":"` + secret + `"}'`, sandbox.ReasonRange},
	} {
		t.Run(name, func(t *testing.T) {
			d := keep(t, sandbox.Config{}, false, script(tt.script))
			b, err := d.Box(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			r, err := b.Run(sandbox.WithJob(t.Context(), 41, 7), sandbox.Cmd{Tool: "true"})
			refusal, ok := errors.AsType[*sandbox.ProtocolError](err)
			if !ok || refusal.Reason != tt.reason || strings.Contains(err.Error(), secret) || r.Verdict != "" {
				t.Errorf("Run = %+v, %v, want a refusal for %s", r, err, tt.reason)
			}
		})
	}
	t.Run("a good line, and a flood on standard error at the same time", func(t *testing.T) {
		d := keep(t, sandbox.Config{}, false, script("head -c 3000000 /dev/zero >&2; echo '"+line+"}'; head -c 3000000 /dev/zero >&2"))
		b, err := d.Box(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if r, err := b.Run(sandbox.WithJob(t.Context(), 41, 7), sandbox.Cmd{Tool: "true"}); err != nil || r.Verdict != sandbox.OK {
			t.Errorf("Run = %+v, %v", r, err)
		}
	})
}

func TestAKeeperStartsAnotherAgent(t *testing.T) {
	d := keep(t, sandbox.Config{Slots: 1, FirstUID: 62100}, true)
	a, err := d.Agent(t.Context())
	if err != nil || !a.Alive() {
		t.Fatalf("Agent = %v, alive %t", err, a != nil && a.Alive())
	}
	defer a.Close()
	ours := slices.DeleteFunc(processes(t), func(p process) bool { // the agent with our configuration
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "environ"))
		return err != nil || p.parent != os.Getpid() || !strings.Contains(string(b), `"first_uid":62100`)
	})
	if len(ours) != 1 {
		t.Fatalf("our agents are %v", ours)
	}
	if err := unix.Kill(ours[0].pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the death is noticed", func() bool { return !a.Alive() })
	if _, err := a.Box(t.Context()); !errors.Is(err, sandbox.ErrAgentGone) {
		t.Errorf("a dead agent opened a box: %v", err)
	}
	if _, err := a.Status(t.Context()); !errors.Is(err, sandbox.ErrAgentGone) {
		t.Errorf("a dead agent said its status: %v", err)
	}
	// Meanwhile there are runs without it.
	if s, err := d.Status(t.Context()); err != nil || s.SelfTest != "" || s.Slots != 1 || s.Driver == "" {
		t.Errorf("Status = %+v, %v", s, err)
	}
	var next *sandbox.Client
	eventually(t, "another agent is there", func() bool {
		next, err = d.Agent(t.Context())
		return err == nil
	})
	defer next.Close()
	if o := run(t, open(t, next, sandbox.BoxOptions{}), sandbox.Cmd{Tool: "true"}); o.Verdict != sandbox.OK {
		t.Errorf("with the next agent it ended %v", o)
	}
}

func TestAnAgentThatCannotStartSaysWhy(t *testing.T) {
	d := keep(t, sandbox.Config{Slots: 1, FirstUID: 62000, Driver: sandbox.DriverNone}, true)
	_, err := d.Agent(t.Context())
	if err == nil || !strings.Contains(err.Error(), "running without control groups must be allowed") {
		t.Errorf("Agent = %v", err)
	}
}

func TestADoorFindsTools(t *testing.T) {
	d := keep(t, sandbox.Config{}, false)
	if tool, err := d.Tool(t.Context(), "sh"); err != nil || !filepath.IsAbs(tool.Path) {
		t.Errorf("Tool = %+v, %v", tool, err)
	}
	if _, err := d.Tool(t.Context(), "no-such-tool"); !errors.Is(err, sandbox.ErrNoTool) {
		t.Errorf("Tool = %v, want ErrNoTool", err)
	}
	if _, err := d.Agent(t.Context()); err == nil {
		t.Error("there is an agent that nobody wanted")
	}
}
