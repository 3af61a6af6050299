package settings

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := env[name]; return v, ok }
}

// split are variables by their names.
func split(variables []string) map[string]string {
	all := map[string]string{}
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		all[name] = value
	}
	return all
}

// probe holds two allowed values for every setting that is not free text.
var probe = map[string][2]string{
	"DELIVERY": {"streams", "postgres"}, "JUDGE_AGENT": {"require", "off"}, "LOG_LEVEL": {"debug", "error"}, "LOG_FORMAT": {"json", "text"},
	"WORKER_SLOTS": {"3", "4"}, "JOB_STREAM_MAXLEN": {"10", "20"}, "JOB_LEASE_SEC": {"90", "120"}, "JOB_HEARTBEAT_SEC": {"5", "6"},
	"JOB_RECLAIM_INTERVAL_SEC": {"7", "8"}, "JOB_RECLAIM_COUNT": {"9", "10"}, "JOB_RECLAIM_GRACE_SEC": {"11", "12"}, "JOB_MAX_LOST_WORKERS": {"3", "4"},
	"JUDGE_STDOUT_LIMIT_BYTES": {"13", "14"}, "JUDGE_STDERR_LIMIT_BYTES": {"15", "16"}, "OUTBOX_SHARDS": {"2", "4"},
	"TRUSTED_PROXIES": {"127.0.0.1", "10.2.0.0/16"},
	"CALLBACK_ALLOW":  {"10.1.0.0/16", "10.2.0.0/16"}, "S3_USE_TLS": {"false", "true"}, "CHANGE_FEED": {"true", "false"}, "BLOB_CACHE_BYTES": {"1000", "2000"},
	"SETTER_QUOTA_MIB": {"5", "0"}, "BLOB_TIMEOUT": {"2s", "3s"}, "METRICS_LISTEN": {"127.0.0.1:9180", "127.0.0.1:9181"},
	"METRICS_TOKEN":    {"0123456789abcdef-file", "0123456789abcdef-env"},
	"RATE_PER_ADDRESS": {"100", "0"}, "RATE_PER_USER": {"101", "0"}, "RATE_PER_KEY": {"102", "0"},
	"FEED_STATUS_URL": {"http://127.0.0.1:9182", "https://feed.example.org"},
	"PUBLIC_URL":      {"https://judge.example.org", "http://127.0.0.1:8080"}, "REGISTRATION": {"invitation", "off"},
	"SMTP_ADDR": {"mail.example.org:587", "127.0.0.1:25"}, "SMTP_TLS": {"tls", "none"}, "SMTP_FROM": {"judge@example.org", "Deep-OJ <judge@example.org>"},
	"TIME_FACTORS":  {"python=2 java=1.5", "python=3"},
	"JUDGE0_TOKENS": {"own", "open"}, "CORS_ORIGINS": {"https://ide.example.org", "*"},
	"POLL_INTERVAL": {"2s", "3s"}, "DRAIN_GRACE": {"4s", "5s"},
	"OTEL_TRACES_SAMPLER_ARG": {"0.5", "0.25"},
	"RETAIN_EVENTS":           {"1h", "2h"}, "RETAIN_JOBS": {"3h", "0"}, "RETAIN_SUBMISSIONS": {"0", "4h"},
}

func TestTheEnvironmentDecidesOverYAMLAndYAMLOverTheDefault(t *testing.T) {
	t.Parallel()
	for _, s := range table(&Settings{}) {
		t.Run(s.env, func(t *testing.T) {
			t.Parallel()
			values, ok := probe[s.env]
			if !ok {
				values = [2]string{"from-file", "from-env"}
			}
			path := filepath.Join(t.TempDir(), "config.yaml")
			parts := strings.Split(s.yaml, ".")
			var doc strings.Builder
			for i, p := range parts {
				doc.WriteString(strings.Repeat("  ", i) + p + ":")
				if i == len(parts)-1 {
					doc.WriteString(" " + values[0])
				}
				doc.WriteString("\n")
			}
			if err := os.WriteFile(path, []byte(doc.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			check := func(file string, env map[string]string, value, origin string) {
				t.Helper()
				c, err := Load(file, false, lookup(env))
				if err != nil {
					t.Fatal(err)
				}
				at := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Name == s.env })
				if got := c.Rows[at]; got.given != value || got.Origin != origin || s.secret && value != "" && got.Value != "(secret)" {
					t.Errorf("got %q, shown as %q, from %s, want %q from %s", got.given, got.Value, got.Origin, value, origin)
				}
				again, err := Load("none.yaml", false, lookup(split(c.Environment())))
				if err != nil || !reflect.DeepEqual(again.Settings, c.Settings) {
					t.Errorf("handed down they are %+v, %v, want %+v", again, err, c.Settings)
				}
			}
			none := filepath.Join(t.TempDir(), "none.yaml")
			check(none, nil, s.def, "default")
			check(path, nil, values[0], "file")
			check(path, map[string]string{s.env: values[1]}, values[1], "env")
			if s.secret {
				file := filepath.Join(t.TempDir(), "secret")
				if err := os.WriteFile(file, []byte("hidden-and-long-enough\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				check(path, map[string]string{s.env + "_FILE": file}, "hidden-and-long-enough", "secret file")
				check(path, map[string]string{s.env + "_FILE": file, s.env: ""}, "hidden-and-long-enough", "secret file")
				check(path, map[string]string{s.env + "_FILE": "", s.env: "plain-and-long-enough"}, "plain-and-long-enough", "env")
				empty := filepath.Join(t.TempDir(), "empty")
				if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				for want, env := range map[string]map[string]string{
					s.env + " and " + s.env + "_FILE are both set": {s.env: "plain", s.env + "_FILE": file},
					s.env + "_FILE: " + empty + " is empty":        {s.env + "_FILE": empty},
					s.env + "_FILE: open " + empty + ".not/no":     {s.env + "_FILE": empty + ".not/no"},
				} {
					if _, err := Load(none, false, lookup(env)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
						t.Errorf("%v, want %q", err, want)
					}
				}
			}
		})
	}
}

func TestABadSettingIsRefusedWithItsName(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		env  map[string]string
		yaml string
		want []string
	}{
		"an unknown delivery":            {env: map[string]string{"DELIVERY": "pigeon"}, want: []string{"DELIVERY=pigeon", "streams, postgres, auto"}},
		"a lease that is not a number":   {env: map[string]string{"JOB_LEASE_SEC": "long"}, want: []string{"JOB_LEASE_SEC=long", "whole number"}},
		"a lease below three heartbeats": {env: map[string]string{"JOB_LEASE_SEC": "20"}, want: []string{"JOB_LEASE_SEC=20", "three heartbeats"}},
		"a negative poll interval":       {env: map[string]string{"POLL_INTERVAL": "-1s"}, want: []string{"POLL_INTERVAL=-1s"}},
		"two at once, both named":        {env: map[string]string{"DELIVERY": "x", "JUDGE_AGENT": "y"}, want: []string{"DELIVERY=x", "JUDGE_AGENT=y"}},
		"an unknown key in the file":     {yaml: "api:\n  speed: 9\n", want: []string{"unknown key api.speed"}},
		"a factor without a language":    {env: map[string]string{"TIME_FACTORS": "python=2 1.5"}, want: []string{`"1.5" must be a language and a number`}},
		"a factor of nothing":            {env: map[string]string{"TIME_FACTORS": "python=0"}, want: []string{"TIME_FACTORS=python=0"}},
		"a share above all":              {env: map[string]string{"OTEL_TRACES_SAMPLER_ARG": "2"}, want: []string{"OTEL_TRACES_SAMPLER_ARG=2"}},
		"an origin with a path":          {env: map[string]string{"CORS_ORIGINS": "https://a.example https://b.example/x"}, want: []string{"CORS_ORIGINS=", `"https://b.example/x" must be an origin`}},
		"an origin without a scheme":     {env: map[string]string{"CORS_ORIGINS": "a.example"}, want: []string{`"a.example" must be an origin`}},
		"a name with a star inside":      {env: map[string]string{"CORS_ORIGINS": "https://a*.example"}, want: []string{`"https://a*.example" must be an origin`}},
		"an origin that is none":         {env: map[string]string{"CORS_ORIGINS": "null"}, want: []string{`"null" must be an origin`}},
		"every origin and one more":      {env: map[string]string{"CORS_ORIGINS": "* https://a.example"}, want: []string{"CORS_ORIGINS=", "must stand alone"}},
		"tokens for nobody":              {env: map[string]string{"JUDGE0_TOKENS": "closed"}, want: []string{"JUDGE0_TOKENS=closed", "own, open"}},
		"no outbox":                      {env: map[string]string{"OUTBOX_ENABLED": "false"}, want: []string{"DELIVERY=postgres"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(tt.yaml), 0o600); err != nil {
				t.Fatal(err)
			}
			env := map[string]string{}
			maps.Copy(env, tt.env)
			_, err := Load(path, true, lookup(env))
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

func TestOriginsAreKeptAsBrowsersSendThem(t *testing.T) {
	t.Parallel()
	s := &Settings{}
	if err := origins(&s.CORSOrigins).set("https://IDE.example:443 http://localhost:80 https://*.a.example:8443 http://[::1]:3000"); err != nil ||
		strings.Join(s.CORSOrigins, " ") != "https://ide.example http://localhost https://*.a.example:8443 http://[::1]:3000" {
		t.Errorf("%q, %v", s.CORSOrigins, err)
	}
}

func TestAnObsoleteSettingIsAcceptedWithAWarning(t *testing.T) {
	t.Parallel()
	c, err := Load("none.yaml", false, lookup(map[string]string{"JOB_PAYLOAD_TTL_SEC": "5"}))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "JOB_PAYLOAD_TTL_SEC") {
		t.Errorf("warnings = %q", c.Warnings)
	}
}
