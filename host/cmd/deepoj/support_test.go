package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/doctor"
	"deepoj/host/roles"
	"deepoj/host/settings"
	"deepoj/host/support"
	"deepoj/host/support/supporttest"
	"deepoj/sql/sqltest"
)

// TestNoSecretOfAnySettingIsInABundle sets every secret in each way that there
// is, has everything that a bundle collects tell all of them, and looks for them
// in the archive.
func TestNoSecretOfAnySettingIsInABundle(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	address, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	const password = `pw"<%$zq/`
	address.User = url.UserPassword(address.User.Username(), password)
	none, err := settings.Load("none.yaml", false, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	rows := none.Rows
	values := map[string]string{"DATABASE_URL": address.String(), "REDIS_URL": "redis+sentinel://u:redis-zq-word@h1:1,h2:2/m"}
	words := []string{password, "redis-zq-word", url.QueryEscape(password)}
	for _, s := range rows {
		if s.Secret && values[s.Name] == "" {
			values[s.Name] = strings.ToLower(s.Name) + "-zq-\\value"
		}
	}
	for _, v := range values {
		words = append(words, v)
	}
	for _, origin := range []string{"env", "files", "yaml"} {
		t.Run(origin, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := func(name, content string) string {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			env := map[string]string{}
			var doc strings.Builder
			for _, s := range rows {
				v := values[s.Name]
				switch {
				case !s.Secret:
				case origin == "env":
					env[s.Name] = v
				case origin == "files":
					env[s.Name+"_FILE"] = file(s.Name, v+"\n")
				default:
					section, key, _ := strings.Cut(s.YAML, ".")
					quoted, err := json.Marshal(v)
					if err != nil {
						t.Fatal(err)
					}
					if !strings.Contains(doc.String(), section+":\n") {
						fmt.Fprintf(&doc, "%s:\n", section)
					}
					fmt.Fprintf(&doc, "  %s: %s\n", key, quoted)
				}
			}
			c, err := settings.Load(file("config.yaml", doc.String()), true, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
			if err != nil {
				t.Fatal(err)
			}
			var leak strings.Builder
			for _, w := range words {
				asJSON, err := json.Marshal(w)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&leak, "it is %s or %q or %s or %s\n", w, w, asJSON, url.QueryEscape(w))
			}
			fmt.Fprintln(&leak, "The first account is admin with the password first-zq-word (shown only now).")
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintln(w, leak.String(), "the end")
			}))
			defer server.Close()
			b := &bundled{
				settings: c, data: dir, urls: []string{server.URL}, logs: []string{file("own.log", leak.String()+"the end\n"), "/nonexistent/" + values["S3_SECRET_KEY"]},
				examine: func() doctor.Report {
					return doctor.Report{Checks: []doctor.Check{{Name: "leak", Detail: leak.String()}}}
				},
			}
			defer b.close()
			var out bytes.Buffer
			if _, err := support.Write(t.Context(), &out, "bundle", time.Now(), support.NewMask(c.Secrets(), roles.FirstPassword), b.parts()...); err != nil {
				t.Fatal(err)
			}
			files, err := supporttest.Files(&out)
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range files {
				if strings.Contains(text, "zq") {
					t.Errorf("%s tells a secret:\n%s", name, text)
				}
				for _, w := range words {
					if strings.Contains(text, w) {
						t.Errorf("%s has %q", name, w)
					}
				}
			}
			for name, want := range map[string]string{
				"about.json": `"kernel"`, "config.json": `"name": "DATABASE_URL",` + "\n    \"value\": \"(secret)\"", "doctor.txt": "MISSING   leak", "doctor.json": `"name": "leak"`,
				"schema.json": `"min_binary"`, "workers.json": "[]", "queue.json": `"queues"`, "audit.json": "queue_row_mismatch",
				"metrics.txt": "the end", "readyz.txt": "the end", "log/1-own.log": "the end", "errors.txt": "(secret)",
			} {
				if !strings.Contains(files[name], want) {
					t.Errorf("%s lacks %q:\n%s", name, want, files[name])
				}
			}
		})
	}
}
