package judging_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/judging/runner"
	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// fallback is a Fallback with what it tells.
type fallback struct {
	*judging.Fallback
	reg     *prometheus.Registry
	log     *words
	changed chan struct{}
}

// words collects a log.
type words struct {
	mu sync.Mutex
	b  strings.Builder
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *words) count(s string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.b.String(), s)
}

// fall returns a Fallback on a keeper of its own, whose one-shot runs are the
// command oneShot, or with none the program deepoj-judge.
func fall(t *testing.T, mode string, cfg sandbox.Config, oneShot ...string) *fallback {
	t.Helper()
	m := judgingtest.Get(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if len(oneShot) == 0 {
		program, err := buildJudge(m.Dir)
		if err != nil {
			t.Fatal(err)
		}
		oneShot = []string{program}
	}
	k := oneshot.KeeperConfig{Sandbox: cfg, OneShot: oneShot}
	if mode != judging.AgentOff {
		k.Agent = []string{exe, judgingtest.AgentCommand}
	}
	keeper, err := oneshot.Keep(k)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(keeper.Close)
	f := &fallback{reg: prometheus.NewRegistry(), log: &words{}, changed: make(chan struct{}, 100)}
	f.Fallback, err = judging.NewFallback(t.Context(), keeper.Conn(), judging.FallbackConfig{
		Mode: mode, Registerer: f.reg, Log: slog.New(slog.NewTextHandler(f.log, nil)), Changed: func() { f.changed <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// metric returns the value of a metric, with a label value where it has one.
func (f *fallback) metric(t *testing.T, name, label string) float64 {
	t.Helper()
	families, err := f.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() != name || label != "" && (len(m.GetLabel()) != 1 || m.GetLabel()[0].GetValue() != label) {
				continue
			}
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no metric %s for %q", name, label)
	return 0
}

// awaitChange waits until programs are run in another way.
func (f *fallback) awaitChange(t *testing.T) {
	t.Helper()
	select {
	case <-f.changed:
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing changed")
	}
}

// judgeWith returns a Judge with a cache of its own that runs programs with s.
func judgeWith(t *testing.T, s runner.Sandbox) *judging.Judge {
	t.Helper()
	j, err := judgingtest.Get(t).Open(func(c *judging.Config) { c.Sandbox, c.CacheDir = s, t.TempDir() })
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestWithoutAnAgentResultsAreTheSame(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	f := fall(t, judging.AgentOff, sandbox.Config{CgroupRoot: "deepoj-judging-off"})
	with, without := judgeWith(t, m.Agent), judgeWith(t, f)
	pkg := echo(t, nil)
	program := func(language, name, text string) judge.Payload {
		return judge.Payload{Problem: "echo", Language: language, Sources: []judge.Source{{Name: name, Text: text}}}
	}
	for name, p := range map[string]judge.Payload{
		"a right answer":              python(cat),
		"a wrong answer":              python("print(1)\n"),
		"an endless loop":             python("while True: pass\n"),
		"an exception":                python("print(1)\nraise ValueError('x' * 10)\n"),
		"too much memory":             python("x = bytearray(1 << 30)\n"),
		"too much output":             python("while True: print('y' * 1000)\n"),
		"a program that is none":      python("def\n"),
		"C++":                         program("cpp", "a.cpp", "#include <iostream>\nint main() { int a; std::cin >> a; std::cout << a << \"\\n\"; }\n"),
		"C++ that does not compile":   program("cpp", "a.cpp", "int main() {\n  return undeclared;\n}\n"),
		"Java, with several classes":  program("java", "Main.java", "import java.util.*;\npublic class Main {\n  static class In { int a; }\n  public static void main(String[] s) { In i = new In(); i.a = new Scanner(System.in).nextInt(); Runnable r = () -> System.out.println(i.a); r.run(); }\n}\n"),
		"Java that does not compile":  program("java", "Main.java", "class Main {\n  int x = y;\n}\n"),
		"an import of something else": python("import ctypes, os\nos.kill(os.getpid(), 11)\n"),
	} {
		t.Run(name, func(t *testing.T) {
			a, b := judged(t, with, p, pkg), judged(t, without, p, pkg)
			if a.Verdict != b.Verdict || verdicts(a) != verdicts(b) || a.Compile.OK != b.Compile.OK || a.Compile.Output != b.Compile.Output {
				t.Errorf("with an agent it is %s (%s) %q, without %s (%s) %q",
					a.Verdict, verdicts(a), a.Compile.Output, b.Verdict, verdicts(b), b.Compile.Output)
			}
			for i := range a.Tests {
				x, y := a.Tests[i], b.Tests[i]
				if x.ExitCode != y.ExitCode || x.ExitSignal != y.ExitSignal || x.Output != y.Output || x.JudgeNote != y.JudgeNote {
					t.Errorf("test %d: with an agent %+v, without %+v", i+1, x, y)
				}
			}
		})
	}
	t.Run("a conversation", func(t *testing.T) {
		talk := guessing(t, "icpc/1", "")
		for name, j := range map[string]*judging.Judge{"with": with, "without": without} {
			r := judged(t, j, python(bisecting), talk)
			if r.Verdict != judge.AC || !strings.HasPrefix(r.Tests[0].Output, "> 500\n< more\n") {
				t.Errorf("%s an agent it is %s: %+v", name, r.Verdict, r.Tests)
			}
		}
	})
	t.Run("a conversation with a native", func(t *testing.T) {
		talk := echo(t, map[string]string{
			"problem.yaml": "name: Echo\nvalidation: custom interactive\n", "output_validators/oracle.py": oracle,
			"data/sample/1.ans": "5\n", "data/secret/1.ans": "5\n", "data/secret/2.in": "3\n", "data/secret/2.ans": "5\n",
		})
		if r := judged(t, without, python("print('! 5', flush=True)\n"), talk); verdicts(r) != "AC AC AC" || r.Tests[0].Output != "> ! 5" {
			t.Errorf("%s\n%s", told(r), r.JudgeNote)
		}
	})
	if got := f.metric(t, "deepoj_sandbox_agent", ""); got != 0 {
		t.Errorf("the metric says %g", got)
	}
	line, err := f.Status(t.Context())
	if err != nil || !strings.Contains(line, "cgroup driver") || !strings.Contains(line, "one-shot command: JUDGE_AGENT is off") {
		t.Errorf("Status = %q, %v", line, err)
	}
}

func TestACorruptLineIsCountedAndNoVerdict(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "judge")
	text := "#!/bin/sh\necho '{\"schema_version\":1,\"verdict\":\"AC\",\"note\":\"s3cr3t\"}'\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	f := fall(t, judging.AgentOff, sandbox.Config{CgroupRoot: "deepoj-judging-corrupt"}, script)
	r, err := judgeWith(t, f).Judge(t.Context(), python(cat), echo(t, nil).Version, nil)
	if err == nil || r.Verdict != "" || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("Judge = %+v, %v", r, err)
	}
	if _, ok := errors.AsType[*blame.UnavailableError](err); ok {
		t.Errorf("%v would not count as a try", err)
	}
	if n := f.metric(t, "judge_protocol_errors_total", sandbox.ReasonJob); n < 1 {
		t.Errorf("%g lines are counted for %s", n, sandbox.ReasonJob)
	}
	if n := f.metric(t, "judge_protocol_errors_total", sandbox.ReasonNotJSON); n != 0 {
		t.Errorf("%g lines are counted for another reason", n)
	}
	if f.log.count("s3cr3t") != 0 {
		t.Error("the log has what the line said")
	}
	if _, err := f.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "neither") {
		t.Errorf("Status = %v, though nothing can be run", err)
	}
}

// agentsOf returns the pids of the agents whose user ids begin at first, and of
// what they are about to execute.
func agentsOf(t *testing.T, first string) []int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, path := range dirs {
		b, err := os.ReadFile(path)
		status, statusErr := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		ours := strings.Contains(string(status), "\nPPid:\t"+strconv.Itoa(os.Getpid())+"\n")
		if err == nil && statusErr == nil && ours && strings.Contains(string(b), `"first_uid":`+first) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestProgramsAreRunWithoutAnAgentWhileItIsGone(t *testing.T) {
	t.Parallel()
	f := fall(t, judging.AgentAuto, sandbox.Config{CgroupRoot: "deepoj-judging-auto", FirstUID: 64000})
	if f.Agent() != nil || f.metric(t, "deepoj_sandbox_agent", "") != 1 {
		t.Fatalf("in the beginning there is no agent: %v", f.Agent())
	}
	f.awaitChange(t)
	j, pkg := judgeWith(t, f), echo(t, nil)
	if r := judged(t, j, python(cat), pkg); r.Verdict != judge.AC {
		t.Errorf("with the agent it is %s", r.Verdict)
	}
	for _, pid := range agentsOf(t, "64000") {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
		for syscall.Kill(pid, 0) == nil { // until the keeper has seen it
			<-time.After(10 * time.Millisecond)
		}
	}
	// Nobody looks, and the next box notices.
	if r := judged(t, j, python(cat), pkg); r.Verdict != judge.AC {
		t.Errorf("without the agent it is %s", r.Verdict)
	}
	f.awaitChange(t)
	if got := f.metric(t, "deepoj_sandbox_agent", ""); got != 0 {
		t.Errorf("without the agent the metric says %g", got)
	}
	if n := f.log.count("run by the one-shot command"); n != 1 {
		t.Errorf("the log says %d times that there is no agent", n)
	}
	// Now somebody looks, and the keeper has started another one.
	go func() { _ = f.Run(t.Context()) }() // never fails
	f.awaitChange(t)
	if f.Agent() != nil || f.metric(t, "deepoj_sandbox_agent", "") != 1 {
		t.Errorf("after the agent came back: %v", f.Agent())
	}
	for reason, want := range map[string]float64{sandbox.ReplacedEnded: 1, sandbox.ReplacedRoom: 0, sandbox.ReplacedSilent: 0} {
		if got := f.metric(t, "deepoj_sandbox_agent_replaced_total", reason); got != want {
			t.Errorf("the metric says that %g agents were replaced for the reason %s, want %g", got, reason, want)
		}
	}
	if r := judged(t, j, python(cat), pkg); r.Verdict != judge.AC {
		t.Errorf("with the next agent it is %s", r.Verdict)
	}
}

func TestAnAgentThatFailsItsSelfTestIsNotUsed(t *testing.T) {
	t.Parallel()
	const root = "deepoj-judging-sick"
	f := fall(t, judging.AgentAuto, sandbox.Config{CgroupRoot: root, FirstUID: 64400})
	f.awaitChange(t)
	var limits []string
	for _, pattern := range []string{"/sys/fs/cgroup/pids/", "/sys/fs/cgroup/"} {
		found, err := filepath.Glob(pattern + root + "/agent-*/pids.max")
		if err != nil {
			t.Fatal(err)
		}
		limits = append(limits, found...)
	}
	if len(limits) != 1 {
		t.Fatalf("the agent's groups are %q", limits)
	}
	allow := func(processes string) {
		if err := os.WriteFile(limits[0], []byte(processes), 0); err != nil {
			t.Fatal(err)
		}
		for len(f.changed) == 0 { // a test that passed a moment ago is believed
			f.Look(t.Context(), time.Minute)
			<-time.After(200 * time.Millisecond)
		}
		<-f.changed
	}
	allow("0")
	if err := f.Agent(); err == nil || !strings.Contains(err.Error(), "self-test failed") {
		t.Errorf("Agent = %v", err)
	}
	if r := judged(t, judgeWith(t, f), python(cat), echo(t, nil)); r.Verdict != judge.AC {
		t.Errorf("without the agent it is %s", r.Verdict)
	}
	allow("max")
	if err := f.Agent(); err != nil {
		t.Errorf("an agent that is well again is not used: %v", err)
	}
}

func TestAnAgentThatCannotStartIsNotUsed(t *testing.T) {
	t.Parallel()
	// A driver that this machine has not: neither agent nor one-shot runs can work,
	// and both say so.
	cfg := sandbox.Config{CgroupRoot: "deepoj-judging-fail", FirstUID: 64100, Driver: sandbox.DriverNone}
	f := fall(t, judging.AgentAuto, cfg)
	if err := f.Agent(); err == nil || !strings.Contains(err.Error(), "must be allowed") {
		t.Errorf("Agent = %v", err)
	}
	if _, err := f.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "neither") {
		t.Errorf("Status = %v", err)
	}
	if n := f.log.count("must be allowed"); n == 0 {
		t.Error("the log does not say why there is no agent")
	}
}

func TestARequiredAgentThatIsGoneMakesJobsWait(t *testing.T) {
	t.Parallel()
	cfg := sandbox.Config{CgroupRoot: "deepoj-judging-require", FirstUID: 64200, Driver: sandbox.DriverNone}
	f := fall(t, judging.AgentRequire, cfg)
	for name, err := range map[string]error{
		"a judging": func() error {
			_, err := judgeWith(t, f).Judge(t.Context(), python(cat), echo(t, nil).Version, nil)
			return err
		}(),
		"a box":    func() error { _, err := f.Box(t.Context()); return err }(),
		"a tool":   func() error { _, err := f.Tool(t.Context(), "python3"); return err }(),
		"a status": func() error { _, err := f.Status(t.Context()); return err }(),
	} {
		if missing, ok := errors.AsType[*blame.UnavailableError](err); !ok || !missing.NotHere() {
			t.Errorf("%s: %v, want what does not count as a try", name, err)
		}
	}
	if got := f.metric(t, "deepoj_sandbox_agent", ""); got != 0 {
		t.Errorf("the metric says %g", got)
	}
}

// runs reports whether some thread of a process is not stopped.
func runs(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return true
	}
	return slices.ContainsFunc(threads, func(path string) bool {
		b, err := os.ReadFile(path)
		if err != nil {
			return false // it ended
		}
		_, state, _ := bytes.Cut(b, []byte(") "))
		return !bytes.HasPrefix(state, []byte("T"))
	})
}

func TestAHungAgentIsGivenUp(t *testing.T) {
	t.Parallel()
	f := fall(t, judging.AgentAuto, sandbox.Config{CgroupRoot: "deepoj-judging-hung", FirstUID: 64300, Slots: 1})
	f.awaitChange(t)
	held, err := f.Box(t.Context()) // the only one
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		b, err := f.Box(t.Context())
		if err == nil {
			err = b.Close()
		}
		opened <- err
	}()
	pids := agentsOf(t, "64300")
	if len(pids) == 0 {
		t.Fatal("no agent runs")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	// One thread takes the signal and tells the others, of which one may answer
	// meanwhile.
	for deadline := time.Now().Add(2 * time.Minute); slices.ContainsFunc(pids, runs); {
		if time.Now().After(deadline) {
			t.Fatal("the agent does not stop")
		}
		<-time.After(time.Millisecond)
	}
	defer func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}()
	f.Look(t.Context(), time.Second)
	if err := <-opened; err != nil {
		t.Errorf("who waited for a box got %v", err)
	}
	if f.Agent() == nil {
		t.Error("the agent is used, though it does not answer")
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
}
