package e2e

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deepoj/host/embedded/servicetest"
)

// TestNoSecretIsToldByAProcessThatReachesItsServicesOverTLS has everything that
// Deep-OJ writes while it judges through a PostgreSQL and a Redis of others,
// whose passwords are in files that only root may read.
func TestNoSecretIsToldByAProcessThatReachesItsServicesOverTLS(t *testing.T) {
	needRoot(t)
	a := servicetest.NewAuthority(t)
	pg := servicetest.StartPostgres(t, a)
	port := servicetest.FreePort(t)
	servicetest.StartRedis(t, port, append(servicetest.RedisTLS(t, a, port), servicetest.RedisACL(t)...)...)
	certificate, key := a.Issue(t, "judge")
	dir := folder(t)
	redis := url.URL{Scheme: "rediss", User: url.UserPassword(servicetest.RedisUser, servicetest.RedisPassword), Host: servicetest.Address(port)}
	env := []string{"LOG_LEVEL=debug", "DELIVERY=streams", "REDIS_TLS_CA=" + a.CA, "REDIS_TLS_CERT=" + certificate, "REDIS_TLS_KEY=" + key}
	for name, secret := range map[string]string{"DATABASE_URL": pg.URL(), "REDIS_URL": redis.String()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"_FILE="+path)
	}
	data := filepath.Join(folder(t), "data")
	p, address, c := up(t, data, env)
	good := mixed()[0]
	if s := submitAndWait(t.Context(), t, c, "aplusb", good); s.Result == nil || s.Result.Verdict != good.want {
		t.Errorf("judged %s, want %s", describe(s), good.want)
	}
	told := map[string]string{"/readyz": get(t, address+"/readyz"), "/metrics": get(t, address+"/metrics")}
	if !strings.Contains(told["/readyz"], `"name":"redis","ok":true`) {
		t.Errorf("/readyz does not say that Redis answers: %s", told["/readyz"])
	}
	archive := filepath.Join(dir, "bundle.tar.gz")
	for _, args := range [][]string{{"config"}, {"config", "--json"}, {"doctor", "--data", data}, {"support-bundle", "--data", data, "--output", archive}, {"audit", "--data", data}} {
		out, errs, _ := deepoj(t, env, args...)
		told[strings.Join(args, " ")] = out + errs
	}
	if n := strings.Count(told["config --json"], `"origin": "secret file"`); n != 2 {
		t.Errorf("%d settings come from secret files, want 2:\n%s", n, told["config --json"])
	}
	for name, text := range unpack(t, archive) {
		told["bundle: "+name] = text
	}

	// A password that is wrong is told neither, and what to do is.
	wrong := append(slices.Clip(env), "DATABASE_URL_FILE=", "DATABASE_URL="+strings.Replace(pg.URL(), "pq-zq", "other-zq", 1))
	out, errs, status := deepoj(t, wrong, "api", "--listen", "127.0.0.1:0")
	told["api with a wrong password"] = out + errs
	if status == 0 || !strings.Contains(errs, "correct them in DATABASE_URL") {
		t.Errorf("a wrong password: status %d: %s", status, errs)
	}
	p.stop()
	told["log"] = p.log.String()
	for what, text := range told {
		for _, password := range []string{"pq-zq", "rq-zq", "other-zq"} { // the first password of admin may hold "zq" by chance
			if strings.Contains(text, password) {
				t.Errorf("%s tells a password:\n%s", what, text)
			}
		}
	}
	if !strings.Contains(told["log"], "level=DEBUG") {
		t.Error("the log has no line for debugging")
	}
}
