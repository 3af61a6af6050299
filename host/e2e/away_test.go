package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"deepoj/host/blob/blobtest"
	"deepoj/host/judge"
	"deepoj/web/client"
)

// readiness is what /readyz says.
type readiness struct {
	code    int
	Status  string
	Missing []string
	Checks  []struct {
		Name, Detail, Remedy string
		OK                   bool
	}
}

func askReady(t *testing.T, url string) (r readiness) {
	t.Helper()
	res, err := http.Get(url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	r.code = res.StatusCode
	if err := json.NewDecoder(res.Body).Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

// worker is what it says of the worker of the process.
func (r readiness) worker() string {
	for _, c := range r.Checks {
		if c.Name == "worker" && !c.OK {
			return c.Detail
		}
	}
	return ""
}

// eventually waits until is.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for !is() {
		if ctx.Err() != nil {
			t.Fatalf("waited in vain: %s", what)
		}
		pause(t.Context(), t, 50*time.Millisecond)
	}
}

// handIn hands in n right answers, each in a text of its own.
func handIn(t *testing.T, c *client.Client, n int) (ids []int64) {
	t.Helper()
	for i := range n {
		text := fmt.Sprintf("%s# %d of %s at %d\n", languagePrograms[3].text, i, t.Name(), time.Now().UnixNano())
		r, err := c.Submit(t.Context(), client.NewSubmission{Problem: "aplusb", Language: "python", Sources: []judge.Source{{Name: "a.py", Text: text}}})
		if err != nil {
			t.Fatalf("a submission was refused: %v", err)
		}
		ids = append(ids, r.JobID)
	}
	return ids
}

// rightAndUncounted expects each to be accepted without a try that counted.
func rightAndUncounted(t *testing.T, c *client.Client, ids []int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for _, id := range ids {
		s, err := c.Wait(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if s.Result == nil || s.Result.Verdict != judge.AC || s.Tries != 0 {
			t.Errorf("submission %d: %s after %d tries in %d attempts, want AC and no try", id, describe(s), s.Tries, s.AttemptID)
		}
	}
}

// outage takes something away from a running Deep-OJ while six submissions come in,
// until /readyz, the metrics and doctor say that it is lacking; then it brings it
// back. None of the six may suffer.
func outage(t *testing.T, url, data string, env []string, c *client.Client, need, detail string, away, back func()) {
	t.Helper()
	rightAndUncounted(t, c, handIn(t, c, 1))
	if r := askReady(t, url); r.code != http.StatusOK || r.worker() != "" {
		t.Fatalf("before the outage /readyz says %+v", r)
	}
	away()
	ids := handIn(t, c, 6)
	said := regexp.MustCompile(`^No jobs are taken: ` + need + `: .*` + detail)
	eventually(t, "/readyz says that "+need+" is lacking", func() bool {
		r := askReady(t, url)
		return r.code == http.StatusServiceUnavailable && r.Status == "not ready" && said.MatchString(r.worker())
	})
	if m := get(t, url+"/metrics"); !strings.Contains(m, fmt.Sprintf("worker_unfit{reason=%q} 1", need)) {
		t.Error("the metrics do not say what is lacking")
	}
	eventually(t, "the page of the queue says it", func() bool {
		return strings.Contains(get(t, url+"/queue"), "takes no jobs: "+need)
	})
	out, errs, _ := deepoj(t, env, "doctor", "--data", data)
	if !strings.Contains(out, "takes no jobs: "+need) {
		t.Errorf("doctor does not say it:\n%s%s", out, errs)
	}
	for _, id := range ids {
		if s, err := c.Get(t.Context(), id); err != nil || s.Status == "DEAD" || s.Tries != 0 {
			t.Errorf("submission %d is %+v, %v in the outage; want it to wait", id, s, err)
		}
	}
	back()
	rightAndUncounted(t, c, ids)
	eventually(t, "/readyz says that all is well", func() bool {
		r := askReady(t, url)
		return r.code == http.StatusOK && r.worker() == ""
	})
	if out, errs, status := deepoj(t, env, "audit", "--data", data); status != 0 {
		t.Errorf("audit: status %d\n%s%s", status, out, errs)
	}
}

// TestNoSubmissionSuffersWhileTheBlobFolderIsAway moves the folder of packages away.
func TestNoSubmissionSuffersWhileTheBlobFolderIsAway(t *testing.T) {
	needRoot(t)
	data := filepath.Join(folder(t), "data")
	_, url, c := up(t, data, nil)
	move := func(from, to string) {
		if err := os.Rename(filepath.Join(data, from), filepath.Join(data, to)); err != nil {
			t.Fatal(err)
		}
	}
	outage(t, url, data, nil, c, "blob_store", "the blob folder", func() { move("blobs", "elsewhere") }, func() { move("elsewhere", "blobs") })
}

// TestNoSubmissionSuffersWhileTheBucketIsSilentOrAway stops the S3 server, which
// keeps its connections open, and then kills it. Nothing of it is near.
func TestNoSubmissionSuffersWhileTheBucketIsSilentOrAway(t *testing.T) {
	needRoot(t)
	server := blobtest.Start(t, "../..")
	env := []string{
		"S3_ENDPOINT=" + server.Endpoint, "S3_BUCKET=" + server.Bucket, "S3_USE_TLS=false",
		"S3_ACCESS_KEY=" + server.AccessKey, "S3_SECRET_KEY=" + server.SecretKey, "BLOB_TIMEOUT=2s",
	}
	data := filepath.Join(folder(t), "data")
	_, url, c := up(t, data, env)
	far := func() {
		if err := os.RemoveAll(filepath.Join(cache, "blobs")); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(cache, "blobs", "incoming"), 0o755); err != nil {
			t.Fatal(err)
		}
		give(t, filepath.Join(cache, "blobs"))
	}
	t.Run("silent", func(t *testing.T) {
		outage(t, url, data, env, c, "blob_store", "the bucket deepoj cannot be used", func() { server.Stall(t); far() }, func() { server.Resume(t) })
	})
	t.Run("killed", func(t *testing.T) {
		outage(t, url, data, env, c, "blob_store", "the bucket deepoj cannot be used", func() { server.Kill(t); far() }, func() { server.Restart(t) })
	})
}

// TestNoSubmissionSuffersWhileADiskIsFull fills the disk on which judging writes.
func TestNoSubmissionSuffersWhileADiskIsFull(t *testing.T) {
	needRoot(t)
	small := filepath.Join(folder(t), "small")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=1g,mode=755"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if out, err := exec.Command("cp", "-a", cache+"/.", small).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	give(t, small)
	data, env := filepath.Join(folder(t), "data"), []string{"CACHE_DIR=" + small}
	_, url, c := up(t, data, env)
	fill := filepath.Join(small, "fill")
	outage(t, url, data, env, c, "disk", "no space left on device", func() {
		f, err := os.Create(fill)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for block := make([]byte, 1<<16); len(block) > 0; { // to the last byte
			if _, err := f.Write(block); err != nil {
				block = block[:len(block)/2]
			}
		}
	}, func() {
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
	})
}

// TestNoSubmissionSuffersWhileTheSandboxIsGone kills every run before it can answer,
// where there is no agent.
func TestNoSubmissionSuffersWhileTheSandboxIsGone(t *testing.T) {
	needRoot(t)
	data := filepath.Join(folder(t), "data")
	p, url, c := up(t, data, []string{"JUDGE_AGENT=off"})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	outage(t, url, data, nil, c, "sandbox", "one-shot command", func() {
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				for _, pid := range children(p.cmd.Process.Pid) {
					if strings.Contains(cmdline(pid), "--attempt-id=") {
						_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
					}
				}
			}
		}()
	}, func() { stop(); <-done })
}

// slowPython takes some seconds for all tests together, each within its limit.
const slowPython = "import time\na, b = map(int, input().split())\nend = time.process_time() + 0.6\nwhile time.process_time() < end:\n    pass\nprint(a + b)\n"

// handInSlow hands in a program that runs for a while, and waits until it does.
func handInSlow(t *testing.T, c *client.Client) int64 {
	t.Helper()
	r, err := c.Submit(t.Context(), client.NewSubmission{Problem: "aplusb", Language: "python", Sources: []judge.Source{{Name: "a.py", Text: slowPython}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	seen := errors.New("it runs")
	err = c.Events(ctx, r.JobID, 0, func(e judge.Event) error {
		if e.Kind == judge.EventCompiled {
			return seen
		}
		return nil
	})
	if !errors.Is(err, seen) {
		t.Fatalf("the program never ran: %v", err)
	}
	return r.JobID
}

// TestAKilledAgentIsNoTryAndNoWait kills the sandbox agent in mid-run: the same
// attempt goes on, once.
func TestAKilledAgentIsNoTryAndNoWait(t *testing.T) {
	needRoot(t)
	p, url, c := up(t, filepath.Join(folder(t), "data"), nil)
	awaitSandbox(t, url, true, "the agent runs programs", "1")
	id := handInSlow(t, c)
	for _, pid := range agents(p) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	rightAndUncounted(t, c, []int64{id})
	if s, err := c.Get(t.Context(), id); err != nil || s.AttemptID != 1 {
		t.Errorf("it took %d attempts, want one", s.AttemptID)
	}
	if m := get(t, url+"/metrics"); !strings.Contains(m, "worker_judged_again_total 1") {
		t.Error("the metrics do not say that it was judged again")
	}
}

// TestASilentDatabaseCostsNoTry stops PostgreSQL in mid-run, for longer than a lease.
func TestASilentDatabaseCostsNoTry(t *testing.T) {
	needRoot(t)
	p, _, c := up(t, filepath.Join(folder(t), "data"), []string{"JOB_LEASE_SEC=3", "JOB_HEARTBEAT_SEC=1"})
	id := handInSlow(t, c)
	var stopped []int
	for _, pid := range descendants(p.cmd.Process.Pid) {
		if strings.HasPrefix(status(pid, "Name:"), "postgres") {
			if err := syscall.Kill(pid, syscall.SIGSTOP); err == nil {
				stopped = append(stopped, pid)
			}
		}
	}
	resume := func() {
		for _, pid := range stopped {
			_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
		}
	}
	t.Cleanup(resume)
	if len(stopped) < 2 {
		t.Fatalf("only %d processes of PostgreSQL were found", len(stopped))
	}
	p.await("judging was abandoned")
	resume()
	rightAndUncounted(t, c, []int64{id})
	if s, err := c.Get(t.Context(), id); err != nil || s.AttemptID < 2 {
		t.Errorf("it took %d attempts, want the first to have been stopped", s.AttemptID)
	}
}

// TestReadyMeansThatTheOwnWorkerTakesJobs looks at /readyz from the first answer on.
func TestReadyMeansThatTheOwnWorkerTakesJobs(t *testing.T) {
	needRoot(t)
	listen := freeAddress(t)
	p := start(t, nil, "up", "--data", filepath.Join(folder(t), "data"), "--listen", listen)
	c, err := client.New("http://" + listen)
	if err != nil {
		t.Fatal(err)
	}
	waited := false
	eventually(t, "/readyz says that it is ready", func() bool {
		res, err := http.Get("http://" + listen + "/readyz")
		if err != nil {
			return false // it does not listen yet
		}
		defer res.Body.Close()
		waited = waited || res.StatusCode == http.StatusServiceUnavailable
		return res.StatusCode == http.StatusOK
	})
	if !waited {
		t.Log("the worker was as fast as the pages")
	}
	rightAndUncounted(t, c, handIn(t, c, 1)) // at once: nothing is refused
	p.await("Deep-OJ is ready")
	if !strings.Contains(p.log.String(), "jobs are taken") {
		t.Error("it said that it is ready before its worker took jobs")
	}
}

// TestARestartOfTheWorkerRefusesNobody hands in while the only worker is away, and
// to an api that was started after it had gone.
func TestARestartOfTheWorkerRefusesNobody(t *testing.T) {
	cl := newCluster(t)
	if _, err := cl.client.Submit(t.Context(), client.NewSubmission{Problem: "aplusb", Language: "python", Sources: []judge.Source{{Name: "a.py", Text: "x"}}}); err == nil || !strings.Contains(err.Error(), "No worker has said yet") {
		t.Errorf("before the first worker ever: %v", err)
	}
	w := cl.worker(1)
	rightAndUncounted(t, cl.client, handIn(t, cl.client, 1))
	w.stop()
	for _, r := range cl.roles {
		r.stop()
	}
	url, c, _ := cl.start(binary)
	ids := handIn(t, c, 3)
	if page := get(t, fmt.Sprintf("%s/submissions/%d", url, ids[0])); !strings.Contains(page, "no worker is running that has Python") {
		t.Error("the page does not say what it waits for")
	}
	cl.worker(2)
	rightAndUncounted(t, c, ids)
}

// TestARoleThatCannotStartSaysWhyLastAndAlone starts a worker whose BLOB_DIR cannot
// be made while its sandbox is starting.
func TestARoleThatCannotStartSaysWhyLastAndAlone(t *testing.T) {
	cl := newCluster(t)
	file := filepath.Join(cl.dir, "no-folder")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(append([]string{}, cl.env...), "BLOB_DIR="+filepath.Join(file, "blobs"), "CACHE_DIR="+cache)
	for range 3 { // what is cancelled ends a little earlier or later
		out, errs, status := deepoj(t, env, "worker", "--data", filepath.Join(cl.dir, "refused"))
		lines := strings.Split(strings.TrimSpace(errs), "\n")
		var causes []string
		for _, line := range lines {
			if !strings.HasPrefix(line, "time=") {
				causes = append(causes, line)
			}
		}
		if status != 1 || len(causes) != 1 || !strings.Contains(causes[0], "open blob folder") || lines[len(lines)-1] != causes[0] {
			t.Errorf("status %d, want one line of the cause, the last:\n%s%s", status, out, errs)
		}
	}
}
