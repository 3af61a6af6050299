package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/platform"
	"deepoj/web/client"
)

// TestPrometheusFindsWhatAlertsAndDashboardAskFor lets a real Prometheus read a
// Deep-OJ that judged something, and asks it every question of the alerts and of
// the dashboard: metrics and labels must be those that there are.
func TestPrometheusFindsWhatAlertsAndDashboardAskFor(t *testing.T) {
	needRoot(t)
	program, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	const token = "of-the-test-16-or-more"
	_, address, c := up(t, filepath.Join(folder(t), "data"), []string{"METRICS_TOKEN=" + token})
	good := mixed()[0]
	r, err := c.Submit(t.Context(), client.NewSubmission{Problem: "aplusb", Language: good.language, Sources: []judge.Source{{Name: good.file, Text: good.text}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(t.Context(), r.JobID); err != nil {
		t.Fatal(err)
	}

	const deploy = "../deploy/prometheus/"
	dir := t.TempDir()
	target := strings.TrimPrefix(address, "http://")
	shipped, err := os.ReadFile(deploy + "prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := string(shipped) // as it is, but for where the server is and how long a test takes
	for from, to := range map[string]string{"127.0.0.1:8080": target, "scrape_interval: 15s": "scrape_interval: 1s", "rule_files:\n  - deepoj.rules.yml\n": ""} {
		if !strings.Contains(config, from) {
			t.Fatalf("prometheus.yml lacks %q", from)
		}
		config = strings.ReplaceAll(config, from, to)
	}
	for name, text := range map[string]string{"prometheus.yml": config, "deepoj.token": token + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	res, err := http.Get(address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", res.Status)
	}
	listen := freeAddress(t)
	var log lockedBuffer
	prometheus := exec.Command(program, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	prometheus.Stdout, prometheus.Stderr = &log, &log
	prometheus.SysProcAttr = &syscall.SysProcAttr{}
	platform.DieWithParent(prometheus.SysProcAttr, syscall.SIGKILL)
	runtime.LockOSThread() // the end of the thread would be the child's
	defer runtime.UnlockOSThread()
	if err := prometheus.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = prometheus.Process.Kill()
		_ = prometheus.Wait()
		if t.Failed() {
			t.Logf("output of prometheus:\n%s", tail(log.String(), 50))
		}
	})

	// What there is: the labels of each metric, after two readings with the job.
	type series struct {
		Metric map[string]string
		Value  [2]any
	}
	ask := func(query string) []series {
		res, err := http.Get("http://" + listen + "/api/v1/query?query=" + url.QueryEscape(query))
		if err != nil {
			return nil // it is still starting
		}
		defer res.Body.Close()
		var said struct {
			Status, Error string
			Data          struct{ Result []series }
		}
		if err := json.NewDecoder(res.Body).Decode(&said); err != nil || said.Status != "success" {
			if res.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s: %s %s %v", query, said.Status, said.Error, err)
			}
			return nil
		}
		return said.Data.Result
	}
	for deadline := time.Now().Add(2 * time.Minute); len(ask(`judge_verdict_total{verdict="AC"} offset 2s`)) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("Prometheus never read the metrics")
		}
		pause(t.Context(), t, 200*time.Millisecond)
	}
	labels := map[string]map[string]bool{}
	for _, s := range ask(`{job="deepoj"}`) {
		name := s.Metric["__name__"]
		if labels[name] == nil {
			labels[name] = map[string]bool{}
		}
		for l := range s.Metric {
			labels[name][l] = true
		}
	}

	questions := map[string]string{} // by where they come from
	rules, err := os.ReadFile(deploy + "deepoj.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range regexp.MustCompile(`(?m)^ +expr: (.+)$`).FindAllStringSubmatch(string(rules), -1) {
		questions[fmt.Sprint("alert ", i+1)] = m[1]
	}
	dashboard, err := os.ReadFile("../deploy/grafana/deepoj.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(dashboard, &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for i, target := range p.Targets {
			questions[fmt.Sprintf("panel %q, %d", p.Title, i+1)] = target.Expr
		}
	}
	if len(questions) < 30 {
		t.Fatalf("only %d questions were found", len(questions))
	}
	// Counters that nothing has counted yet are not there.
	rare := []string{"judging_checker_faults_total", "worker_stale_attempt_total"}
	metric := regexp.MustCompile(`\b([a-z]+(?:_[a-z]+)+)\b(?:\{([^}]*)\})?`)
	for _, from := range slices.Sorted(maps.Keys(questions)) {
		q := questions[from]
		ask(q) // an error is one of the test
		var named []string
		for _, m := range metric.FindAllStringSubmatch(q, -1) {
			if m[1] == "histogram_quantile" || strings.HasPrefix(m[1], "feed_") { // of change feeds, which this one has none of
				continue
			}
			if labels[m[1]] == nil {
				if !slices.Contains(rare, m[1]) {
					t.Errorf("%s asks for %s, which is not there", from, m[1])
				}
				continue
			}
			named = append(named, m[1])
			for _, l := range regexp.MustCompile(`([a-z]+)=`).FindAllStringSubmatch(m[2], -1) {
				if !labels[m[1]][l[1]] {
					t.Errorf("%s asks for the label %s of %s, which has %v", from, l[1], m[1], slices.Sorted(maps.Keys(labels[m[1]])))
				}
			}
		}
		for _, by := range regexp.MustCompile(`by \(([^)]*)\)`).FindAllStringSubmatch(q, -1) {
			for l := range strings.SplitSeq(by[1], ", ") {
				if l == "reason" { // empty where all is well, which is none for Prometheus
					continue
				}
				if len(named) > 0 && !slices.ContainsFunc(named, func(n string) bool { return labels[n][l] }) {
					t.Errorf("%s groups by %s, which %v do not have", from, l, named)
				}
			}
		}
	}
}
