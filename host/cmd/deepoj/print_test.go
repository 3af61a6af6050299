package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pressed is a server that shows a page with a picture to who has the key.
func pressed(t *testing.T) (at *url.URL, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.URL.String())
		mu.Unlock()
		switch {
		case r.Header.Get("Authorization") != "Bearer key":
			http.Redirect(w, r, "/login", http.StatusSeeOther)
		case r.URL.Path == "/rounds/course/print":
			http.Redirect(w, r, "/spaces/course/print", http.StatusSeeOther)
		case r.URL.Path == "/rounds/early/certificates":
			w.WriteHeader(http.StatusConflict)
		case r.URL.Path == "/problems/none":
			http.NotFound(w, r)
		case strings.HasSuffix(r.URL.Path, ".svg"):
			w.Header().Set("Content-Type", "image/svg+xml")
			fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><rect width="20" height="20"/></svg>`)
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, `<!doctype html><title>P</title><style>article{break-before:page}</style><h1>Cover</h1><article>A <img src="/a.svg" alt=""></article><article>B</article>`)
		}
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return at, func() []string { mu.Lock(); defer mu.Unlock(); return append([]string{}, paths...) }
}

func TestProblemsArePrintedByABrowserThatKnowsNoKey(t *testing.T) {
	if _, err := findBrowser(); err != nil {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	at, asked := pressed(t)
	out := filepath.Join(t.TempDir(), "set.pdf")
	if status, _, said := call(t, nil, "problem", "print", "--space", "final", "--lang", "sv", "--server", at.String(), "--token", "key", "-o", out); status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	pdf, err := os.ReadFile(out)
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) || bytes.Count(pdf, []byte("/Type /Page\n")) != 3 {
		t.Errorf("%d bytes, %d sheets, %v", len(pdf), bytes.Count(pdf, []byte("/Type /Page\n")), err)
	}
	if status, _, said := call(t, nil, "contest", "print", "final", "--certificates", "--after", "red", "--server", at.String(), "--token", "key", "-o", out); status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	if status, _, said := call(t, nil, "contest", "print", "course", "--server", at.String(), "--token", "key", "-o", out); status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	for _, want := range []string{"/rounds/final/certificates?after=red", "/rounds/course/print", "/spaces/course/print"} {
		if !slices.Contains(asked(), want) {
			t.Errorf("the server was not asked for %s, but for %s", want, asked())
		}
	}
	if paths := strings.Join(asked(), " "); !strings.Contains(paths, "/spaces/final/print?lang=sv") || !strings.Contains(paths, "/a.svg") || strings.Contains(paths, "door") {
		t.Errorf("the server was asked for %s", paths)
	}
}

func TestPrintingSaysWhatIsWrong(t *testing.T) {
	at, _ := pressed(t)
	if status, _, said := call(t, nil, "contest", "print", "early", "--certificates", "--server", at.String(), "--token", "key"); status == 0 || !strings.Contains(said, "before the result stands") {
		t.Errorf("certificates before the end: status %d: %s", status, said)
	}
	if status, _, said := call(t, nil, "contest", "print", "early", "--after", "red", "--server", at.String(), "--token", "key"); status == 0 || !strings.Contains(said, "is for --certificates") {
		t.Errorf("problems behind a participant: status %d: %s", status, said)
	}
	for _, one := range []struct {
		args []string
		want string
	}{
		{[]string{"aplusb", "--server", at.String()}, "give a key with --token"},
		{[]string{"none", "--server", at.String(), "--token", "key"}, "there is no page /problems/none"},
		{[]string{"aplusb", "--server", "http://127.0.0.1:1", "--token", "key"}, "start one with `deepoj up`"},
		{[]string{"aplusb", "--server", "ftp://nonsense"}, "want http://host:port"},
		{[]string{"aplusb", "--space", "final"}, "usage"},
		{nil, "usage"},
	} {
		args := append([]string{"problem", "print"}, append(one.args, "-o", filepath.Join(t.TempDir(), "x.pdf"))...)
		if status, out, said := call(t, nil, args...); status == 0 || !strings.Contains(strings.ToLower(said+out), one.want) {
			t.Errorf("%v: status %d: %s", one.args, status, said)
		}
	}
}

func TestTheDoorOfAPrinterIsForItsBrowser(t *testing.T) {
	at, asked := pressed(t)
	door := httptest.NewServer(printDoor(at, "key", "secret"))
	defer door.Close()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	try := func(method, path, cookie string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, door.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if cookie != "" {
			req.Header.Set("Cookie", "deepoj-print="+cookie)
		}
		r, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		return r.StatusCode
	}
	for _, one := range []struct {
		method, path, cookie string
		status               int
	}{
		{"GET", "/problems/a", "", 403},
		{"GET", "/problems/a", "guess", 403},
		{"GET", "/?door=guess&to=/problems/a", "", 403},
		{"POST", "/problems/a", "secret", 403},
		{"GET", "/?door=secret&to=http://elsewhere/", "", 403},
		{"GET", "/?door=secret&to=/problems/a", "", 303},
		{"GET", "/problems/a", "secret", 200},
	} {
		if status := try(one.method, one.path, one.cookie); status != one.status {
			t.Errorf("%+v: %d", one, status)
		}
	}
	if paths := asked(); len(paths) != 1 || paths[0] != "/problems/a" {
		t.Errorf("the server was asked for %v", paths)
	}
}
