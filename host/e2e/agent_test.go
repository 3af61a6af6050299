package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// agents returns the pids of the sandbox agents below a launcher.
func agents(p *process) []int {
	var pids []int
	for _, pid := range children(p.cmd.Process.Pid) {
		if strings.Contains(cmdline(pid), "sandbox agent") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// suppressAgents kills every sandbox agent as soon as it appears, until the
// returned function is called or the test ends.
func suppressAgents(t *testing.T, p *process) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			for _, pid := range agents(p) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-done }
}

// get returns the body of a page, whatever its status.
func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// sandboxCheck is what /readyz says of the sandbox.
type sandboxCheck struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func readSandboxCheck(t *testing.T, url string) (sandboxCheck, bool) {
	t.Helper()
	var answer struct {
		Status string         `json:"status"`
		Checks []sandboxCheck `json:"checks"`
	}
	body := get(t, url+"/readyz")
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, c := range answer.Checks {
		if c.Name == "sandbox" {
			return c, answer.Status == "ready"
		}
	}
	t.Fatalf("/readyz does not name the sandbox: %s", body)
	return sandboxCheck{}, false
}

// awaitSandbox waits until /readyz says of the sandbox ok and something that
// matches detail, and the metric says whether the agent runs programs.
func awaitSandbox(t *testing.T, url string, ok bool, detail, metric string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	re := regexp.MustCompile(detail)
	for {
		c, ready := readSandboxCheck(t, url)
		line := regexp.MustCompile(`(?m)^deepoj_sandbox_agent (.*)$`).FindStringSubmatch(get(t, url+"/metrics"))
		if c.OK == ok && re.MatchString(c.Detail) && line != nil && line[1] == metric {
			if takes := !strings.HasPrefix(c.Detail, "No jobs are taken"); ready != takes {
				t.Errorf("ready %t, and the worker takes jobs %t", ready, takes)
			}
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("never %t %q with metric %s; now it is %+v, %q", ok, detail, metric, c, line)
		}
		pause(t.Context(), t, 50*time.Millisecond)
	}
}

// judgeAFew hands in programs of several verdicts, and in a language that is
// compiled with state from step to step, and expects each to get its own.
func judgeAFew(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	want := map[int64]program{}
	for _, p := range append(verdictPrograms, languagePrograms...) {
		if p.language != "cpp" && p.language != "python" && p.language != "java" && p.language != "go" {
			continue
		}
		r, err := c.Submit(ctx, client.NewSubmission{Problem: "aplusb", Language: p.language, Sources: []judge.Source{{Name: p.file, Text: p.text}}})
		if err != nil {
			t.Fatal(err)
		}
		want[r.JobID] = p
	}
	for id, p := range want {
		s, err := c.Wait(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if s.Result == nil || s.Result.Verdict != p.want {
			t.Errorf("submission %d (%s): %s, want %s", id, p.name, describe(s), p.want)
		}
	}
}

func submitOne(t *testing.T, c *client.Client, want judge.Verdict) {
	t.Helper()
	if s := submitAndWait(t.Context(), t, c, "aplusb", verdictPrograms[0]); s.Result == nil || s.Result.Verdict != want {
		t.Errorf("a right answer got %s", describe(s))
	}
}

// TestEverythingIsJudgedWithoutAnAgent runs with JUDGE_AGENT=off.
func TestEverythingIsJudgedWithoutAnAgent(t *testing.T) {
	needRoot(t)
	p, url, c := up(t, filepath.Join(folder(t), "data"), []string{"JUDGE_AGENT=off"})
	awaitSandbox(t, url, true, "one-shot command runs programs", "0")
	judgeAFew(t, c)
	if found := agents(p); len(found) > 0 {
		t.Errorf("there are agents %v that nobody wanted", found)
	}
	if n := strings.Count(p.log.String(), "programs are run by the one-shot command"); n != 1 {
		t.Errorf("the log says %d times how programs are run", n)
	}
}

// TestAWorkerGoesOnWhileItsAgentCannotLive kills the agent again and again, and
// then lets it live.
func TestAWorkerGoesOnWhileItsAgentCannotLive(t *testing.T) {
	needRoot(t)
	p, url, c := up(t, filepath.Join(folder(t), "data"), nil)
	awaitSandbox(t, url, true, "the agent runs programs", "1")
	submitOne(t, c, judge.AC)
	inner := p.inner()

	stop := suppressAgents(t, p)
	defer stop()
	awaitSandbox(t, url, false, "one-shot command runs programs.*the sandbox agent", "0")
	judgeAFew(t, c)

	stop()
	awaitSandbox(t, url, true, "the agent runs programs", "1")
	submitOne(t, c, judge.AC)

	if p.inner() != inner {
		t.Error("the rest of Deep-OJ did not live on")
	}
	before := ""
	how := regexp.MustCompile(`programs are run by the (sandbox agent|one-shot command)`)
	var changes []string
	for range 600 { // what is logged may be read a little later than what is measured
		if changes = how.FindAllString(p.log.String(), -1); len(changes) >= 3 {
			break
		}
		pause(t.Context(), t, 50*time.Millisecond)
	}
	for _, change := range changes {
		if change == before {
			t.Errorf("the log says twice that %s", change)
		}
		before = change
	}
	if len(changes) < 3 {
		t.Errorf("the log has only the changes %q", changes)
	}
	if m := get(t, url+"/metrics"); !strings.Contains(m, `judge_protocol_errors_total{reason="not_json"} 0`) {
		t.Error("the metrics do not count lines that are refused")
	}
}

// TestNoJobIsTakenWithoutTheAgentThatIsRequired kills the agent again and again:
// what is handed in waits until it may live.
func TestNoJobIsTakenWithoutTheAgentThatIsRequired(t *testing.T) {
	needRoot(t)
	p, url, c := up(t, filepath.Join(folder(t), "data"), []string{"JUDGE_AGENT=require", "LOG_LEVEL=debug"})
	awaitSandbox(t, url, true, "the agent runs programs", "1")
	submitOne(t, c, judge.AC)

	stop := suppressAgents(t, p)
	defer stop()
	awaitSandbox(t, url, false, "No jobs are taken: the sandbox agent is not available", "0")
	var ids []int64
	for range 3 {
		r, err := c.Submit(t.Context(), client.NewSubmission{Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "a.cpp", Text: verdictPrograms[0].text}}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.JobID)
	}
	// A worker that took jobs would have taken each several times by now. The
	// question for work that was under way may have got one, and gave it back.
	pause(t.Context(), t, 5*time.Second)
	waiting := 0
	for _, id := range ids {
		s, err := c.Get(t.Context(), id)
		if err != nil || s.Result != nil || s.Tries != 0 || s.AttemptID > 1 {
			t.Errorf("submission %d is %+v, %v: want it to wait", id, s, err)
		} else if s.AttemptID == 0 {
			waiting++
		}
	}
	if waiting == 0 {
		t.Error("every submission was taken once")
	}

	stop()
	for _, id := range ids {
		s, err := c.Wait(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if s.Result == nil || s.Result.Verdict != judge.AC {
			t.Errorf("submission %d: %s", id, describe(s))
		}
	}
	awaitSandbox(t, url, true, "the agent runs programs", "1")
}

// gone reports whether a process has ended, waited for or not.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, state, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(state, "Z")
}

// hang stops the agent of a launcher in the middle of a program that does not end, and
// returns its pid: it answers nobody, and hears nothing.
func hang(t *testing.T, p *process, c *client.Client) int {
	t.Helper()
	_, err := c.Submit(t.Context(), client.NewSubmission{
		Problem: "aplusb", Language: "python", Sources: []judge.Source{{Name: "main.py", Text: "import time\nwhile True: time.sleep(1)\n"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	agent := agents(p)[0]
	for range 1200 {
		for _, pid := range children(agent) {
			if strings.Contains(cmdline(pid), "main.py") {
				if err := syscall.Kill(agent, syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				return agent
			}
		}
		pause(t.Context(), t, 50*time.Millisecond)
	}
	t.Fatal("the program never ran")
	return 0
}

// TestUpEndsThoughItsAgentHangs tells it to end while the agent cannot hear of it.
func TestUpEndsThoughItsAgentHangs(t *testing.T) {
	needRoot(t)
	p, url, c := up(t, filepath.Join(folder(t), "data"), []string{"DRAIN_GRACE=1s"})
	awaitSandbox(t, url, true, "the agent runs programs", "1")
	agent := hang(t, p, c)
	defer syscall.Kill(agent, syscall.SIGKILL)
	p.stop() // which fails the test when it takes too long
	if !gone(agent) {
		t.Error("its agent outlived it")
	}
}

// TestWhatOutlivesTheLauncherIsEndedByTheNextStart kills the launcher while its agent
// cannot hear of it.
func TestWhatOutlivesTheLauncherIsEndedByTheNextStart(t *testing.T) {
	needRoot(t)
	data := filepath.Join(folder(t), "data")
	p, url, c := up(t, data, []string{"DRAIN_GRACE=1s"})
	awaitSandbox(t, url, true, "the agent runs programs", "1")
	agent, inner := hang(t, p, c), p.inner()
	defer syscall.Kill(agent, syscall.SIGKILL)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.done
	eventually(t, "the program ends", func() bool { return gone(inner) })
	// A start of another Deep-OJ on this machine may have ended the agent already.
	if state := status(agent, "State:"); !gone(agent) && !strings.HasPrefix(state, "T") {
		t.Fatalf("the agent was not stopped: %s", state)
	}
	_, url, c = up(t, data, nil)
	awaitSandbox(t, url, true, "the agent runs programs", "1")
	if !gone(agent) {
		t.Error("an agent outlived the start of the next one")
	}
	left, err := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/deepoj/agent-%d*", agent))
	if err != nil || len(left) > 0 {
		t.Errorf("it left %q, %v", left, err)
	}
	submitOne(t, c, judge.AC)
}
