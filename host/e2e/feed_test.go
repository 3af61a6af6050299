package e2e

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// buildFeed puts the program of the change feed beside deepoj, where that looks for it.
func buildFeed(t *testing.T) {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", filepath.Join(filepath.Dir(binary), "deepoj-feed"), "../cmd/deepoj-feed")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build deepoj-feed: %v\n%s", err, out)
	}
}

// topic is what a foreign client finds in a topic.
func topic(t *testing.T, broker, name string) (events []map[string]any, all string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "kcat", "-b", broker, "-t", name, "-C", "-e", "-q", "-X", "isolation.level=read_committed").Output()
	if err != nil {
		t.Fatalf("kcat: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		events = append(events, e)
	}
	return events, string(out)
}

// TestADemonstrationOfTheChangeFeedShowsWhatIsHandedIn starts `deepoj feed --demo` in an empty folder, hands a program in
// and finds its events in the topic by a client that is not ours; then it does so again, on the same folder.
func TestADemonstrationOfTheChangeFeedShowsWhatIsHandedIn(t *testing.T) {
	needRoot(t)
	if _, err := exec.LookPath("kcat"); err != nil {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	buildFeed(t)
	data := filepath.Join(folder(t), "data")
	p := start(t, nil, "feed", "--demo", "--data", data)
	url := p.await(`Deep-OJ is ready: (http://\S+)`)[1]
	kafka := p.await(`kcat -b (\S+) -t (\S+) -C`)
	p.await(`"event_type":"snapshot_end"`)
	staff, _, _ := firstAdmin(t, p, url)
	const program = "print(sum(map(int, input().split())))  # nobody else reads this"
	handIn := func(c *client.Client) int64 {
		t.Helper()
		r, err := c.Submit(t.Context(), client.NewSubmission{Problem: "aplusb", Language: "python", Sources: []judge.Source{{Name: "main.py", Text: program}}})
		if err != nil {
			t.Fatal(err)
		}
		if s, err := c.Wait(t.Context(), r.JobID); err != nil || s.Result == nil || s.Result.Verdict != judge.AC {
			t.Fatalf("the program gets %+v, %v", s, err)
		}
		return r.JobID
	}
	id := handIn(staff)
	p.await(`"event_type":"finished","event_id":"[0-9A-F/]+:\d+","submission":1,.*"verdict":"AC"`)
	events, all := topic(t, kafka[1], kafka[2])
	var kinds []string
	for _, e := range events {
		if e["event_type"] != "dispatched" && (e["submission"] == nil || e["submission"] == float64(id)) { // without Redis nothing is
			kinds = append(kinds, e["event_type"].(string))
		}
	}
	if kinds = slices.Compact(kinds); !slices.Equal(kinds, []string{"snapshot_begin", "snapshot_end", "submitted", "claimed", "compiled", "test", "finished"}) {
		t.Errorf("the topic tells of %v:\n%s", kinds, all)
	}
	if strings.Contains(all, "nobody else") || strings.Contains(p.log.String(), "nobody else") {
		t.Error("the topic has the program")
	}

	// It is told at the command line and to staff, and is not begun anew while it runs.
	call := func(args ...string) (string, error) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), binary, append(append([]string{"feed"}, args...), "--data", data)...).CombinedOutput()
		return string(out), err
	}
	if out, err := call("status"); err != nil || !strings.Contains(out, "streaming") {
		t.Errorf("status: %v\n%s", err, out)
	}
	if out, err := call("verify-wal"); err != nil || !strings.Contains(out, "nothing is damaged") {
		t.Errorf("verify-wal: %v\n%s", err, out)
	}
	if out, err := call("reset", "--yes"); err == nil || !strings.Contains(out, "runs: stop it before its files are removed") {
		t.Errorf("reset: %v\n%s", err, out)
	}
	seen, err := staff.GetFeed(t.Context())
	if err != nil || len(seen.Slots) != 1 || !seen.Slots[0].Active || len(seen.Feeds) != 1 || seen.Feeds[0].State != judge.FeedStreaming || !seen.Feeds[0].Well() || seen.Problem != "" {
		t.Errorf("staff see %+v, %v", seen, err)
	}
	figures(t, p, url)

	// The next start goes on where this one was.
	p.stop()
	if p.err != nil {
		t.Errorf("it ends with %v", p.err)
	}
	if left, _ := filepath.Glob(filepath.Join(data, "feed", "*.sock")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if out, err := call("status"); err == nil || !strings.Contains(out, "stopped") {
		t.Errorf("status of one that was stopped: %v\n%s", err, out)
	}
	p = start(t, nil, "feed", "--demo", "--data", data)
	url = p.await(`Deep-OJ is ready: (http://\S+)`)[1]
	kafka = p.await(`kcat -b (\S+) -t (\S+) -C`)
	guest, err := client.New(url)
	if err != nil {
		t.Fatal(err)
	}
	handIn(guest)
	p.await(`"event_type":"finished","event_id":"[0-9A-F/]+:\d+","submission":2,`)
	_, all = topic(t, kafka[1], kafka[2])
	for _, once := range []string{`"event_type":"snapshot_begin"`, `"event_type":"finished"[^\n]*"submission":1,`, `"event_type":"finished"[^\n]*"submission":2,`} {
		if n := len(regexp.MustCompile(once).FindAllString(all, -1)); n != 1 {
			t.Errorf("%s is there %d times:\n%s", once, n, all)
		}
	}
}

// figures compares what alerts and dashboard ask of a feed with what there is. Those of slots come with the scheduler's
// next look at the database.
func figures(t *testing.T, p *process, url string) {
	t.Helper()
	asked := map[string]string{} // the file that asks, by figure
	for _, file := range []string{"../deploy/prometheus/deepoj.rules.yml", "../deploy/grafana/deepoj.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\bfeed_[a-z_]+`).FindAllString(string(text), -1) {
			asked[name] = file
		}
	}
	if len(asked) < 5 {
		t.Errorf("only %d figures are asked for", len(asked))
	}
	addresses := []string{"http://" + p.await(`msg="metrics and status" address=(\S+)`)[1], url}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		there := scraped(t, addresses)
		maps.DeleteFunc(asked, func(name, _ string) bool { return regexp.MustCompile(`(?m)^` + name + `[ {]`).MatchString(there) })
		switch {
		case len(asked) == 0:
			return
		case time.Now().After(deadline):
			t.Errorf("what is asked for in these files is not there: %v", asked)
			return
		}
	}
}

// scraped is what all of the addresses tell Prometheus.
func scraped(t *testing.T, addresses []string) string {
	t.Helper()
	var there strings.Builder
	for _, address := range addresses {
		res, err := http.Get(address + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", address, res.Status, err)
		}
		_ = res.Body.Close()
		there.Write(body)
	}
	return there.String()
}
