package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/host/problem/importing"
	"deepoj/host/problem/samples"
	"deepoj/host/problem/source"
)

// newly runs `deepoj problem new`.
func newly(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return call(t, nil, append([]string{"problem", "new"}, args...)...)
}

func TestANewProblemIsACompletePackage(t *testing.T) {
	t.Parallel()
	for _, template := range samples.Slugs() {
		to := filepath.Join(t.TempDir(), "below", template)
		if status, out, errs := newly(t, "my-first", "--from", template, "-o", to); status != 0 || !strings.Contains(out, "deepoj problem verify "+to) {
			t.Fatalf("%s: status %d, %q, %q", template, status, out, errs)
		}
		fsys, _, closer, err := source.Open(to)
		if err != nil {
			t.Fatal(err)
		}
		got, report, err := importing.Read(fsys)
		if err != nil || len(report.Warnings) > 0 {
			t.Fatalf("%s: %v, %v", template, err, report.Warnings)
		}
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
		whole, err := samples.FS(template)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := importing.Read(whole)
		if err != nil {
			t.Fatal(err)
		}
		if got.Title != "my-first" || got.Author != "" || got.Source != "" {
			t.Errorf("%s: title %q, author %q, source %q", template, got.Title, got.Author, got.Source)
		}
		if len(got.Tests()) != len(want.Tests()) || len(got.Submissions) != len(want.Submissions) || got.Statement != want.Statement || got.Scoring != want.Scoring || got.Limits != want.Limits {
			t.Errorf("%s: %d tests, %d submissions, limits %+v", template, len(got.Tests()), len(got.Submissions), got.Limits)
		}
	}
}

func TestANewProblemOverwritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept := filepath.Join(dir, "full", "mine")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"a folder with files":   {[]string{"a", "-o", filepath.Dir(kept)}, "is there and not empty"},
		"a file":                {[]string{"a", "-o", kept}, "write a package"},
		"no template":           {[]string{"a", "--from", "none", "-o", filepath.Join(dir, "new")}, `no template "none": there are aplusb, ferry`},
		"a name that is no one": {[]string{"a/b", "-o", filepath.Join(dir, "new")}, "no short name"},
	} {
		if status, _, errs := newly(t, tt.args...); status != 1 || !strings.Contains(errs, tt.want) {
			t.Errorf("%s: status %d, %q, want %q", name, status, errs, tt.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if status, out, _ := newly(t, "--list"); status != 0 || strings.Count(out, "\n") != len(samples.Slugs()) || !strings.Contains(out, "pairs      Fair pairs (points by groups") {
		t.Errorf("the list is %d %q", status, out)
	}
}
