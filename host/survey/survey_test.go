package survey_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/survey"
)

// good is a package that is proved.
var good = map[string]string{
	"problem.yaml": "name: Double\n", ".timelimit": "1", "problem_statement/problem.md": "Double it.\n",
	"data/sample/1.in": "1\n", "data/sample/1.ans": "2\n", "data/secret/2.in": "2\n", "data/secret/2.ans": "4\n",
	"submissions/accepted/a.py": "print(2 * int(input()))\n",
}

// folders writes packages below a folder.
func folders(t *testing.T, packages map[string]map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for slug, files := range packages {
		all := map[string]string{}
		maps.Copy(all, good)
		maps.Copy(all, files)
		for name, text := range all {
			full := filepath.Join(dir, slug, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// opened finds and opens the packages below a folder.
func opened(t *testing.T, dir string) []*os.File {
	t.Helper()
	paths, err := survey.Find([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var files []*os.File
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		files = append(files, f)
	}
	return files
}

// byslug surveys the packages below a folder.
func bySlug(t *testing.T, cfg survey.Config, dir string) ([]survey.Package, map[string]survey.Package) {
	t.Helper()
	all, err := survey.Run(t.Context(), cfg, opened(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]survey.Package{}
	for _, p := range all {
		m[p.Slug] = p
	}
	return all, m
}

func TestPackagesAreFoundWhereTheyAre(t *testing.T) {
	t.Parallel()
	dir := folders(t, map[string]map[string]string{"round1/a": nil, "round1/b": nil, "b": {"data/problem.yaml": "x"}, ".git/c": nil})
	for _, name := range []string{"z.zip", "round1/q.ZIP", "b/attachments.zip", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	empty := filepath.Join(dir, "round2")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	found, err := survey.Find([]string{dir, filepath.Join(dir, "b"), empty})
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		found[i], _ = filepath.Rel(dir, found[i])
	}
	if got := strings.Join(found, " "); got != "b round1/a round1/b round1/q.ZIP z.zip round2" {
		t.Errorf("found %s", got)
	}
	if _, err := survey.Find([]string{filepath.Join(dir, "nothing")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a path that is not there: %v", err)
	}
}

func TestABrokenPackageDoesNotEndASurvey(t *testing.T) {
	t.Parallel()
	dir := folders(t, map[string]map[string]string{
		"a": nil, "b": {"problem.yaml": "name: [\n"}, "c": {"problem.yaml": "name: Double\nlimits: {memory: lots, output: much}\nvalidation: none\n"}, "d": nil,
		"e": {"problem.yaml": "name: Double\nlimits: {memory: lots}\nstrange: 1\n"},
	})
	if err := os.WriteFile(filepath.Join(dir, "f.zip"), []byte("PK and no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	var told []string
	all, m := bySlug(t, survey.Config{Told: func(p survey.Package, done, total int) { told = append(told, p.Slug) }}, dir)
	for slug, want := range map[string]survey.State{"a": survey.Imports, "b": survey.Refused, "c": survey.Refused, "d": survey.Imports, "e": survey.Refused, "f": survey.Refused} {
		if m[slug].State != want {
			t.Errorf("%s is %s: %+v", slug, m[slug].State, m[slug])
		}
	}
	if slices.Sort(told); !slices.Equal(told, []string{"a", "b", "c", "d", "e", "f"}) {
		t.Errorf("told of %q", told)
	}
	s := survey.Sum(all)
	if s.Packages != 6 || s.States[survey.Refused] != 4 || s.States[survey.Imports] != 2 || s.Refused[0].Packages != 2 || !strings.Contains(s.Refused[0].Text, "limits.memory") {
		t.Errorf("the sums are %+v", s)
	}
}

func TestASurveyProvesPackages(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	dir := folders(t, map[string]map[string]string{
		"good":  nil,
		"wrong": {"submissions/wrong_answer/b.py": "print(2 * int(input()))\n"},
		"alone": {"submissions/accepted/a.py": "print(0)\n"},
		// Equal tests are run once, so that it keeps one slot busy and leaves the other for the rest.
		"slow": {".timelimit": "60", "submissions/accepted/a.py": "import time\ntime.sleep(1000)\n", "data/secret/2.in": "1\n", "data/secret/2.ans": "2\n"},
	})
	blobs, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	j, err := m.Open(func(c *judging.Config) { c.Blobs = blobs })
	if err != nil {
		t.Fatal(err)
	}
	all, found := bySlug(t, survey.Config{Judge: j, Blobs: blobs, Patience: 20 * time.Second}, dir)
	for slug, want := range map[string]survey.State{"good": survey.Proved, "wrong": survey.Unproved, "alone": survey.Unproved, "slow": survey.Failed} {
		if found[slug].State != want {
			t.Errorf("%s is %s: %+v", slug, found[slug].State, found[slug])
		}
	}
	if got := found["slow"].Error; got != "it took longer than 20s" {
		t.Errorf("slow: %s", got)
	}
	var table, lines, whole strings.Builder
	if err := errors.Join(survey.WriteTable(&table, all), survey.WriteCSV(&lines, all), survey.WriteJSON(&whole, all)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"wrong_answer/b.py: got AC, may get WA", "4 packages: 1 proved, 2 not proved, 1 failed", "why packages are not proved:",
		"     1  accepted: got WA, may get AC (alone)", "     1  it took longer than … (slow)",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table is without %q:\n%s", want, table.String())
		}
	}
	records, err := csv.NewReader(strings.NewReader(lines.String())).ReadAll()
	if err != nil || len(records) != 5 || records[1][3] != "not proved" || records[1][10] != "1000" {
		t.Errorf("%v: %q", err, records)
	}
	var read struct {
		Packages []survey.Package
		Sums     survey.Sums
	}
	if err := json.Unmarshal([]byte(whole.String()), &read); err != nil || len(read.Packages) != 4 || read.Sums.States[survey.Proved] != 1 {
		t.Errorf("%v: %s", err, whole.String())
	}
}

func TestASurveyThatIsEndedSaysWhatItKnows(t *testing.T) {
	t.Parallel()
	dir := folders(t, map[string]map[string]string{"a": nil, "b": nil, "c": nil})
	ctx, cancel := context.WithCancel(t.Context())
	all, err := survey.Run(ctx, survey.Config{Parallel: 1, Told: func(survey.Package, int, int) { cancel() }}, opened(t, dir))
	if !errors.Is(err, context.Canceled) || len(all) != 3 || all[0].State != survey.Imports || all[1].State != survey.Left || all[2].State != survey.Left {
		t.Errorf("%v: %+v", err, all)
	}
}

func TestASpreadsheetTakesNothingForAFormula(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := survey.WriteCSV(&out, []survey.Package{{Path: "=cmd()", Slug: "@sum", State: survey.Failed, Error: "+1"}}); err != nil || !strings.Contains(out.String(), "'=cmd(),'@sum,") || !strings.HasSuffix(out.String(), ",'+1\n") {
		t.Errorf("%v: %s", err, out.String())
	}
}
