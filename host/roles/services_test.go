package roles

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/host/doctor"
	"deepoj/host/embedded/servicetest"
	"deepoj/host/judge"
	"deepoj/host/settings"
	"deepoj/sql"
)

// TestServicesAreReachedOverTLSAndSayWhatIsWrong asks PostgreSQL, Redis and etcd that
// speak TLS only, the first two with passwords, with good settings and bad ones.
func TestServicesAreReachedOverTLSAndSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	ours, theirs := servicetest.NewAuthority(t), servicetest.NewAuthority(t)
	pg := servicetest.StartPostgres(t, ours)
	port := servicetest.FreePort(t)
	servicetest.StartRedis(t, port, append(servicetest.RedisTLS(t, ours, port), servicetest.RedisACL(t)...)...)
	etcd := servicetest.StartEtcd(t, ours)
	certificate, key := ours.Issue(t, "judge")
	redis := url.URL{Scheme: "rediss", User: url.UserPassword(servicetest.RedisUser, servicetest.RedisPassword), Host: servicetest.Address(port)}
	good := map[string]string{
		"DATABASE_URL": pg.URL(), "REDIS_URL": redis.String(),
		"REDIS_TLS_CA": ours.CA, "REDIS_TLS_CERT": certificate, "REDIS_TLS_KEY": key,
		"ETCD_ENDPOINTS": etcd.URL, "ETCD_TLS_CA": ours.CA, "ETCD_TLS_CERT": certificate, "ETCD_TLS_KEY": key,
	}
	examine := func(t *testing.T, change map[string]string) map[string]doctor.Check {
		t.Helper()
		env := map[string]string{"DELIVERY": "streams"}
		for name, v := range good {
			env[name] = v
			if other, ok := change[name]; ok {
				env[name] = other
			}
		}
		c, err := settings.Load("none.yaml", false, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
		if err != nil {
			t.Fatal(err)
		}
		checks := map[string]doctor.Check{}
		for _, check := range doctor.Examine(t.Context(), doctor.Services(Services(&c.Settings)...)).Checks {
			checks[check.Name] = check
			if strings.Contains(check.Detail+check.Remedy, "zq") {
				t.Errorf("a password is told: %+v", check)
			}
		}
		return checks
	}
	servicetest.Await(t, "all to answer", func() bool {
		for _, check := range examine(t, nil) {
			if !check.OK || check.Degraded {
				return false
			}
		}
		return true
	})

	store, err := sql.Open(t.Context(), sql.Config{DSN: pg.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = store.Site.SaveProblem(t.Context(), judge.Problem{Slug: "sum", Title: "Sum", Version: "sha256:" + strings.Repeat("a", 64)}, "test")
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := store.Site.Submit(t.Context(), sql.NewJob{Problem: "sum", Language: "cpp", Sources: []judge.Source{{Name: "a.cpp", Text: "int main() {}"}}})
	if err != nil || receipt.JobID == 0 {
		t.Errorf("submit: %+v, %v", receipt, err)
	}

	none := filepath.Join(t.TempDir(), "none.pem")
	if err := os.WriteFile(none, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	change := func(name, old, with string) map[string]string {
		return map[string]string{name: strings.Replace(good[name], old, with, 1)}
	}
	tests := map[string]struct {
		change         map[string]string
		service        string // whose check is meant
		detail, remedy string // what they say
	}{
		"PostgreSQL of another authority":          {change("DATABASE_URL", url.QueryEscape(ours.CA), url.QueryEscape(theirs.CA)), "postgresql", "unknown authority", "sslrootcert=FILE in DATABASE_URL"},
		"PostgreSQL by a name that is not its own": {change("DATABASE_URL", "127.0.0.1", "localhost"), "postgresql", "localhost", "use a name in DATABASE_URL"},
		"PostgreSQL with another password":         {change("DATABASE_URL", "pq-zq", "other-zq"), "postgresql", "password authentication failed", "the password or what the user may do: correct them in DATABASE_URL"},
		"PostgreSQL without TLS":                   {change("DATABASE_URL", "verify-full", "disable"), "postgresql", "no encryption", "DATABASE_URL"},
		"PostgreSQL where nobody is":               {change("DATABASE_URL", servicetest.Address(pg.Port), "127.0.0.1:1"), "postgresql", "refused", "look whether PostgreSQL runs, and at DATABASE_URL"},
		"a PostgreSQL address that cannot be read": {map[string]string{"DATABASE_URL": "postgres://u:%zq@h/d"}, "postgresql", "parse", "DATABASE_URL"},
		"Redis of another authority":               {map[string]string{"REDIS_TLS_CA": theirs.CA}, "redis", "unknown authority", "REDIS_TLS_CA"},
		"Redis with another password":              {change("REDIS_URL", "rq-zq", "other-zq"), "redis", "WRONGPASS", "the password or what the user may do: correct them in REDIS_URL"},
		"Redis without a certificate of one's own": {map[string]string{"REDIS_TLS_CERT": "", "REDIS_TLS_KEY": ""}, "redis", "certificate required", "REDIS_TLS_CERT"},
		"certificates and an address without TLS":  {change("REDIS_URL", "rediss", "redis"), "redis", "write rediss://", "REDIS_URL"},
		"a certificate without its key":            {map[string]string{"REDIS_TLS_KEY": ""}, "redis", "REDIS_TLS_CERT and REDIS_TLS_KEY: set both", ""},
		"a file that holds no certificate":         {map[string]string{"REDIS_TLS_CA": none}, "redis", "none.pem holds no certificate in PEM", ""},
		"etcd of another authority":                {map[string]string{"ETCD_TLS_CA": theirs.CA}, "etcd", "unknown authority", "ETCD_TLS_CA"},
		"etcd where nobody is":                     {map[string]string{"ETCD_ENDPOINTS": "https://127.0.0.1:1"}, "etcd", "refused", "look whether etcd runs, and at ETCD_ENDPOINTS"},
		"an etcd address without its scheme":       {map[string]string{"ETCD_ENDPOINTS": "127.0.0.1:2379"}, "etcd", "https://h1:2379", "ETCD_ENDPOINTS"},
		"a file that is not there":                 {map[string]string{"REDIS_TLS_CA": none + ".pem"}, "redis", "REDIS_TLS_CA: open", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := examine(t, tt.change)
			bad := all[tt.service]
			for name, check := range all {
				if well := check.OK && !check.Degraded; well != (name != tt.service) {
					t.Errorf("%+v", check)
				}
			}
			if !strings.Contains(bad.Detail, tt.detail) || !strings.Contains(bad.Remedy, tt.remedy) {
				t.Errorf("%+v does not say %q and %q", bad, tt.detail, tt.remedy)
			}
		})
	}
}
