package verify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/samples"
	"deepoj/host/verify"
)

// The samples are proved as a setter has them, from their folders, where generators
// make what is large.
func TestEverySampleProvesItselfFromItsFolder(t *testing.T) {
	m := judgingtest.Get(t)
	for _, slug := range samples.Slugs() {
		t.Run(slug, func(t *testing.T) {
			pkg, report, err := importing.Read(os.DirFS(filepath.Join("..", "problem", "samples", "testdata", slug)))
			if err != nil || len(report.Warnings) > 0 {
				t.Fatalf("%v, warnings %v", err, report.Warnings)
			}
			pkg.Slug = slug
			if _, err := pkg.Save(t.Context(), m.Blobs); err != nil {
				t.Fatal(err)
			}
			finished, err := verify.Finish(t.Context(), verify.Config{Judge: m.Judge}, pkg)
			if err != nil {
				t.Fatal(err)
			}
			sameTests(t, finished, slug)
			r, err := verify.Run(t.Context(), verify.Config{Judge: m.Judge}, finished)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Rows {
				switch {
				case row.Problem == "" && row.Skipped == "":
				case strings.Contains(row.Problem+row.Skipped, "not available"):
					judgingtest.Missing(t, row.Problem+row.Skipped)
				default:
					t.Errorf("%s: %s%s", row.Path, row.Problem, row.Skipped)
				}
			}
			if len(r.Faults) > 0 || len(r.Rows) < 8 {
				t.Errorf("%d rows, faults %q", len(r.Rows), r.Faults)
			}
		})
	}
}

// sameTests compares the tests with those that the server's first start imports.
func sameTests(t *testing.T, pkg *problem.Package, slug string) {
	t.Helper()
	fsys, err := samples.FS(slug)
	if err != nil {
		t.Fatal(err)
	}
	own, _, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	own.Slug = slug
	if _, err := own.Save(t.Context(), judgingtest.Get(t).Blobs); err != nil {
		t.Fatal(err)
	}
	want, got := own.Tests(), pkg.Tests()
	if len(got) != len(want) {
		t.Errorf("%d tests, the server's import has %d", len(got), len(want))
		return
	}
	for i := range want {
		decided := len(pkg.Checkers) == 1 && pkg.Checkers[0].Standard != "" // there is one answer
		if got[i].Name != want[i].Name || got[i].Input.Digest != want[i].Input.Digest || decided && got[i].Answer.Digest != want[i].Answer.Digest {
			t.Errorf("test %s: not as the server's import has it (%s)", got[i].Name, want[i].Name)
		}
	}
}
