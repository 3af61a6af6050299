package verify_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/source"
	"deepoj/host/verify"
)

// reimported exports a package and imports what came out.
func reimported(t *testing.T, pkg *problem.Package) *problem.Package {
	t.Helper()
	var b bytes.Buffer
	if err := pkg.Export(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	files, err := source.Unzip(z)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := importing.Read(files)
	if err != nil {
		t.Fatal(err)
	}
	again.Slug = pkg.Slug
	if _, err := again.Save(t.Context(), judgingtest.Get(t).Blobs); err != nil {
		t.Fatal(err)
	}
	return again
}

func TestAnExportGivesTheSameVersionWhenItIsImported(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	cfg := verify.Config{Judge: m.Judge}
	finish := func(pkg *problem.Package) *problem.Package {
		t.Helper()
		done, err := verify.Finish(t.Context(), cfg, pkg)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	bound := double(t, nil).WithChecker(problem.Checker{Digest: "sha256:" + strings.Repeat("5a", 32), Protocol: "testlib/1"})
	if _, err := bound.Save(t.Context(), m.Blobs); err != nil {
		t.Fatal(err)
	}
	inferred := finish(stored(t, versioned("2025-09", "", map[string]string{
		"problem.yaml": "problem_format_version: 2025-09\nname: Double\nuuid: 1\nconstants: {factor: 2}\n", "submissions/accepted/right.py": right, "data/secret/1.in": "50\n", "data/secret/1.ans": "100\n",
	})))
	generated := finish(stored(t, polygon("", `<tests><test method="manual" sample="true"/><test method="generated" cmd="gen 5"/></tests>`, words+mainOnly, map[string]string{"tests/01": "1\n"})))
	for name, pkg := range map[string]*problem.Package{
		"as it came":                       double(t, nil),
		"with a time limit that was found": inferred,
		"with tests that were made":        generated,
		"with an uploaded checker":         bound,
	} {
		if again := reimported(t, pkg); again.Version != pkg.Version || !verify.Finished(again) {
			t.Errorf("%s: version %s became %s (limit %s from %q, then %s from %q)", name, pkg.Version, again.Version,
				pkg.Limits.CPU, pkg.Limits.CPUFrom, again.Limits.CPU, again.Limits.CPUFrom)
		}
	}
}
