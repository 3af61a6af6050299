package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// described is what a running Deep-OJ says of itself in instance.json.
type described struct {
	Guests  bool   `json:"guests"`
	Metrics string `json:"metrics"`
}

func describedIn(t *testing.T, data string) (d described) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "instance.json"))
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// send sends a request as a client with these headers does, and returns the status
// and the body.
func send(t *testing.T, method, url, body string, headers map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// TestAProxyMakesNoGuests starts a Deep-OJ as people do, and comes to it as an
// Internet client whose requests a proxy on this machine hands on.
func TestAProxyMakesNoGuests(t *testing.T) {
	needRoot(t)
	const program = `{"problem": "aplusb", "language": "c", "source": "int main() {}"}`
	through := map[string]string{"X-Forwarded-For": "198.51.100.77", "X-Forwarded-Proto": "https"}
	t.Run("by default", func(t *testing.T) {
		data := filepath.Join(folder(t), "data")
		p, url, _ := up(t, data, nil)
		p.await(`guests are on`)
		if !describedIn(t, data).Guests {
			t.Error("instance.json says that there are no guests")
		}
		if status, body := send(t, "POST", url+"/api/v1/submissions", program, through); status != http.StatusUnauthorized {
			t.Errorf("through the proxy: %d %s", status, body)
		}
		if status, body := send(t, "POST", url+"/api/v1/submissions", program, nil); status != http.StatusCreated {
			t.Errorf("on the machine: %d %s", status, body)
		}
		if status, body := send(t, "GET", url+"/api/v1/submissions/1", "", through); status != http.StatusUnauthorized || strings.Contains(body, "int main") {
			t.Errorf("reading through the proxy: %d %s", status, body)
		}
	})
	t.Run("set up for others, with metrics at an address of their own", func(t *testing.T) {
		data := filepath.Join(folder(t), "data")
		p, url, _ := up(t, data, []string{"PUBLIC_HOSTS=judge.example.org", "TRUSTED_PROXIES=127.0.0.1", "METRICS_LISTEN=127.0.0.1:0"})
		p.await(`guests are off`)
		d := describedIn(t, data)
		if d.Guests {
			t.Error("instance.json says that there are guests")
		}
		for what, headers := range map[string]map[string]string{
			"through the proxy": {"Host": "judge.example.org", "X-Forwarded-For": "198.51.100.77"}, "through one that adds nothing": {"Host": "judge.example.org"}, "through one that rewrites Host": nil,
		} {
			if status, body := send(t, "POST", url+"/api/v1/submissions", program, headers); status != http.StatusUnauthorized {
				t.Errorf("%s: %d %s", what, status, body)
			}
		}
		if status, _ := send(t, "GET", url+"/metrics", "", nil); status != http.StatusForbidden {
			t.Errorf("metrics at the site's own address: %d", status)
		}
		for path, want := range map[string]string{"/metrics": "worker_unfit", "/readyz": `"checks"`} {
			if status, body := send(t, "GET", d.Metrics+path, "", nil); status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s at its address: %d %s", path, status, tail(body, 5))
			}
			if status, _ := send(t, "GET", d.Metrics+path, "", map[string]string{"Host": "evil.example"}); status != http.StatusMisdirectedRequest {
				t.Errorf("%s under a foreign name: %d", path, status)
			}
		}
		bundle := filepath.Join(folder(t), "bundle.tar.gz")
		if out, errs, status := deepoj(t, nil, "support-bundle", "--data", data, "--output", bundle); status != 0 {
			t.Fatalf("status %d: %s%s", status, out, errs)
		}
		files := unpack(t, bundle)
		if !strings.Contains(files["metrics.txt"], "worker_unfit") || !strings.Contains(files["readyz.txt"], `"checks"`) {
			t.Errorf("the bundle does not find the metrics: %s\n%s", tail(files["metrics.txt"], 3), files["readyz.txt"])
		}
	})
}

// TestTheSecretPathOfACallbackIsToldNowhere has callbacks and a webhook fail for good,
// and reads everything that is printed, logged and bundled.
func TestTheSecretPathOfACallbackIsToldNowhere(t *testing.T) {
	needRoot(t)
	const secret = "zq-secret-word"
	dir := folder(t)
	data := filepath.Join(dir, "data")
	p, url, _ := up(t, data, []string{"LOG_LEVEL=debug", "CALLBACK_ALLOW=127.0.0.0/8"})
	_, token, _ := firstAdmin(t, p, url)
	bearer := map[string]string{"Authorization": "Bearer " + token}
	closed := "http://" + freeAddress(t) + "/" + secret
	for _, address := range []string{closed, "http://10.0.0.1/" + secret, "http://nosuch.invalid/" + secret + "?" + secret} {
		status, body := send(t, "POST", url+"/judge0/submissions", `{"source_code": "int main() {}", "language_id": 50, "callback_url": "`+address+`"}`, nil)
		if status != http.StatusCreated {
			t.Fatalf("a run with a callback: %d %s", status, body)
		}
	}
	if status, body := send(t, "POST", url+"/api/v1/webhooks", `{"url": "`+closed+`", "kinds": ["submission.finished"]}`, bearer); status != http.StatusCreated {
		t.Fatalf("a webhook: %d %s", status, body)
	}
	if status, body := send(t, "POST", url+"/api/v1/webhooks/1/test", "{}", bearer); status != http.StatusAccepted {
		t.Fatalf("its test: %d %s", status, body)
	}
	for deadline := time.Now().Add(3 * time.Minute); strings.Count(p.log.String(), "callback failed for good") < 3 || !strings.Contains(p.log.String(), "webhook told"); {
		if time.Now().After(deadline) {
			t.Fatalf("the callbacks have not ended: %s", tail(p.log.String(), 20))
		}
		<-time.After(100 * time.Millisecond)
	}
	said := p.log.String()
	log := filepath.Join(dir, "deepoj.log")
	before := said + "level=WARN msg=\"callback failed for good\" err=\"call back: Put \\\"" + closed + "\\\": dial\"\n" // of a version that told it
	if err := os.WriteFile(log, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(dir, "bundle.tar.gz")
	out, errs, status := deepoj(t, nil, "support-bundle", "--data", data, "--log", log, "--output", bundle)
	if status != 0 {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	all := map[string]string{"the log": said, "what was printed": out + errs}
	for name, text := range unpack(t, bundle) {
		all["bundle: "+name] = text
	}
	if !strings.Contains(all["bundle: log/1-deepoj.log"], "callback failed for good") {
		t.Error("the bundle lacks the log")
	}
	for where, text := range all {
		for line := range strings.Lines(text) {
			if strings.Contains(line, secret) {
				t.Errorf("%s tells a secret path: %s", where, line)
			}
		}
	}
}
