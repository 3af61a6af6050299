package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakePostgres makes a folder with programs that claim to be a version.
func fakePostgres(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + " (Debian)'\n"
	for _, name := range []string{initdbName, postgresName} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPostgresIsFoundByFolderAndVersion(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		version string
		major   int
		want    int
		wrong   string // part of the error
	}{
		"any version will do for a new cluster":    {"16.4", 0, 16, ""},
		"the version that made a cluster will do":  {"15.18", 15, 15, ""},
		"another version than the cluster's won't": {"16.4", 15, 0, "was made by PostgreSQL 15"},
		"an old version won't":                     {"12.1", 0, 0, "too old"},
		"a beta is a version":                      {"18beta1", 0, 18, ""},
		"something else is none":                   {"fifteen", 0, 0, "gives no version"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := FindPostgres(t.Context(), fakePostgres(t, tt.version), tt.major)
			if tt.wrong == "" && (err != nil || b.Major != tt.want) {
				t.Errorf("found %+v (%v), want major %d", b, err, tt.want)
			}
			if tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
				t.Errorf("error %v, want one with %q", err, tt.wrong)
			}
		})
	}
}

func TestAMissingProgramComesWithItsRemedy(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := FindPostgres(t.Context(), t.TempDir(), 0); err == nil {
		t.Error("PostgreSQL was found in an empty folder")
	}
	if _, err := FindRedis(filepath.Join(t.TempDir(), "redis-server")); err == nil {
		t.Error("redis-server was found where it is not")
	}
	for _, err := range []error{ErrNoPostgres, ErrNoRedis} {
		if !strings.Contains(err.Error(), "apt-get install") {
			t.Errorf("%v names no remedy", err)
		}
	}
	if _, err := FindPostgres(t.Context(), "", 9); err == nil || !errors.Is(err, ErrNoPostgres) {
		t.Errorf("a version that is not installed: %v, want ErrNoPostgres", err)
	}
}
