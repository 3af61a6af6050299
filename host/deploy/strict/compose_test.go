package strict_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

const composeFile = "../compose/compose.yaml"

// compose reads the compose file as a compose program does: against the schema, with
// variables, and with every reference resolved.
func compose(t *testing.T, env types.Mapping) *types.Project {
	t.Helper()
	path, err := filepath.Abs(composeFile)
	if err != nil {
		t.Fatal(err)
	}
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: filepath.Dir(path), ConfigFiles: []types.ConfigFile{{Filename: path}}, Environment: env,
	})
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestTheComposeFileIsUnderstoodAndNamesWhatThereIs(t *testing.T) {
	project := compose(t, nil)
	for name, s := range project.Services {
		if _, ours := s.Environment["DATABASE_URL_FILE"]; !ours {
			hostless(t, name, s.Image)
			continue
		}
		p := process{where: name, image: s.Image, args: s.Command, env: map[string]string{}}
		for key, value := range s.Environment {
			if value == nil {
				t.Errorf("%s: %s comes from outside", name, key)
				continue
			}
			p.env[key] = *value
		}
		for _, secret := range s.Secrets {
			p.mounts = append(p.mounts, "/run/secrets/"+secret.Source)
		}
		p.check(t)
		if name != "worker" {
			if s.User != "10001:10001" || !s.ReadOnly || s.Privileged || !slices.Equal(s.CapDrop, []string{"ALL"}) {
				t.Errorf("%s has more rights than it needs", name)
			}
			continue
		}
		if s.StopGracePeriod == nil {
			t.Fatal("the worker has no time to stop")
		}
		drains(t, name, p.env["DRAIN_GRACE"], time.Duration(*s.StopGracePeriod))
		if !s.Privileged || s.Cgroup != "private" {
			t.Error("the worker cannot make boxes")
		}
	}
	for _, name := range []string{"api", "scheduler", "worker"} {
		if _, there := project.Services[name]; !there {
			t.Errorf("no service %s", name)
		}
	}
	api := project.Services["api"]
	if api.HealthCheck == nil || !strings.Contains(strings.Join(api.HealthCheck.Test, " "), "GET /readyz HTTP/1.0\\r\\nHost: localhost") {
		t.Error("nobody asks whether the api is well, or under a name that it does not know")
	}
	if !strings.Contains(strings.Join(api.Command, " ")+" ", " --auth required ") {
		t.Error("the api may take guests")
	}
	if api.Environment["METRICS_TOKEN_FILE"] == nil || api.Environment["METRICS_LISTEN"] != nil {
		t.Error("nobody but the api itself can read its metrics, or everybody in its network")
	}
	if image := compose(t, types.Mapping{"DEEPOJ_IMAGE": "other:1"}).Services["worker"].Image; image != "other:1" {
		t.Errorf("the image cannot be named from outside: %q", image)
	}
}

// drains complains when a stopping worker would be killed before it has given back
// what it cannot finish: the launcher ends it after a minute at the latest.
func drains(t *testing.T, where, grace string, killed time.Duration) {
	t.Helper()
	g, err := time.ParseDuration(grace)
	if err != nil {
		t.Fatalf("%s: DRAIN_GRACE: %v", where, err)
	}
	if g >= time.Minute || killed <= time.Minute {
		t.Errorf("%s drains for %s, is ended by the launcher after a minute, and killed after %s", where, g, killed)
	}
}

// TestTheSecretsOfTheComposeFileAreMade runs what makes them, twice: what is there
// stays.
func TestTheSecretsOfTheComposeFileAreMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	made := func() (all []string) {
		t.Helper()
		if said, err := exec.Command("../compose/secrets.sh", dir).CombinedOutput(); err != nil || len(said) > 0 {
			t.Fatalf("%v: %s", err, said)
		}
		for name, secret := range compose(t, nil).Secrets {
			if filepath.Base(filepath.Dir(secret.File)) != "secrets" || filepath.Base(secret.File) != name {
				t.Errorf("the secret %s is in %s", name, secret.File)
			}
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || len(text) < 24 {
				t.Errorf("%s: %d bytes, %v", name, len(text), err)
			}
			all = append(all, name+"="+string(text))
		}
		slices.Sort(all)
		return all
	}
	first := made()
	if second := made(); !slices.Equal(first, second) {
		t.Error("passwords changed under a database that has the old ones")
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	values := map[string]string{}
	for _, s := range first {
		name, value, _ := strings.Cut(s, "=")
		values[name] = value
	}
	if !strings.Contains(values["database_url"], ":"+values["postgres_password"]+"@postgres:5432/") ||
		!strings.Contains(values["redis_url"], ":"+values["redis_password"]+"@redis:6379/") {
		t.Error("addresses and passwords do not agree")
	}
}
