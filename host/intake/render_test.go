package intake_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/reading"
	"deepoj/sql"
)

// aged makes a proved version of the problem triple as versions were before: with one
// statement, in its manifest, and no pages.
func (b *bench) aged(t *testing.T, files map[string]string, statement string) string {
	t.Helper()
	archive := zipped(t, files)
	blobs := judgingtest.Get(t).Blobs
	d, _, err := blobs.Put(t.Context(), strings.NewReader(string(archive)))
	must(t, err)
	file, err := blobs.File(t.Context(), d)
	must(t, err)
	defer file.Close()
	read, err := reading.Config{}.Archive(t.Context(), file)
	must(t, err)
	defer read.Close()
	pkg := read.Package
	pkg.Slug, pkg.Statement, pkg.Statements, pkg.Titles, pkg.Pictures = "triple", statement, nil, nil, nil
	version, err := pkg.Save(t.Context(), blobs)
	must(t, err)
	must(t, b.store.KeepVersion(t.Context(), pkg.Judge(), "setter", 0))
	must(t, b.store.ProveVersion(t.Context(), "triple", string(version), true, json.RawMessage(`{"proof":{}}`), 0))
	return string(version)
}

// rendering orders a job of kind render and claims it.
func (b *bench) rendering(t *testing.T, p judge.RenderPayload) judge.Claim {
	t.Helper()
	p.SchemaVersion, p.ContentType, p.By = judge.PayloadVersion, judge.RenderType, "setter"
	payload, err := json.Marshal(p)
	must(t, err)
	r, err := b.store.Submit(t.Context(), sql.NewJob{Author: "setter", Kind: judge.KindRender, Payload: payload})
	must(t, err)
	return b.claim(t, r.JobID)
}

// rendered executes a job of kind render.
func (b *bench) rendered(ctx context.Context, t *testing.T, job judge.Claim, told func(n int)) (r judge.RenderReport, verdict judge.Verdict, err error) {
	t.Helper()
	result, err := b.Render(ctx, job, func(p judge.Progress) {
		var one struct{ Done int }
		must(t, json.Unmarshal(p.Finding, &one))
		if one.Done > 0 {
			told(one.Done)
		}
	})
	if err == nil {
		must(t, json.Unmarshal(result.Report, &r))
	}
	return r, result.Verdict, err
}

func TestVersionsFromBeforeGetPagesAndKeepDigestAndProof(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	several := with("problem.yaml", "problem_format_version: 2025-09\nname: {en: Triple, sv: Trippel}\nuuid: 7a2c9d1e-6f0b-4c58-9d3a-1b2e3f405162\n", "statement/problem.sv.md", "Skriv *tre* gånger talet.\n")
	first, second := b.aged(t, several, "<p>old</p>"), b.aged(t, triple, "<p>older</p>")
	before, err := problem.Load(ctx, judgingtest.Get(t).Blobs, blob.Digest(first))
	must(t, err)
	none := func(int) {}
	job := b.rendering(t, judge.RenderPayload{Problems: []string{"triple"}})
	r, verdict, err := b.rendered(ctx, t, job, none)
	if err != nil || verdict != judge.AC || r.Versions != 2 || r.Rendered != 2 || len(r.Failed) > 0 {
		t.Fatalf("%+v, %s, %v", r, verdict, err)
	}
	for version, want := range map[string][]judge.StatementLanguage{
		first: {{Language: "en", Title: "Triple"}, {Language: "sv", Title: "Trippel"}}, second: {{Language: "en", Title: "Triple"}},
	} {
		if got, err := b.store.StatementLanguages(ctx, "triple", version); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s has %+v, %v, want %+v", version, got, err, want)
		}
		if p, err := b.store.Page(ctx, "triple", version, "en"); err != nil || !strings.Contains(p.HTML, "three times") || p.Text != "Write three times the number." {
			t.Errorf("the page of %s is %+v, %v", version, p, err)
		}
		v, err := b.store.ProblemVersion(ctx, "triple", version)
		if err != nil || v.Proved == nil || !*v.Proved || string(v.Report) != `{"proof": {}}` {
			t.Errorf("version %+v, %v", v, err)
		}
	}
	if p, err := b.store.Page(ctx, "triple", first, "sv"); err != nil || !strings.Contains(p.HTML, "<em>tre</em>") {
		t.Errorf("the page in Swedish is %+v, %v", p, err)
	}
	after, err := problem.Load(ctx, judgingtest.Get(t).Blobs, blob.Digest(first))
	if err != nil || after.Statement != before.Statement || after.Statement != "<p>old</p>" {
		t.Errorf("the manifest has changed to %q, %v", after.Statement, err)
	}
	due := b.rendering(t, judge.RenderPayload{Problems: []string{"triple"}, Due: true})
	if r, _, err := b.rendered(ctx, t, due, none); err != nil || r.Versions != 0 {
		t.Errorf("what is new is due: %+v, %v", r, err)
	}
}

func TestARenderingThatIsCutOffGoesOnWhereItWas(t *testing.T) {
	b := newBench(t)
	versions := map[string]bool{}
	for _, n := range []string{"1", "2", "3"} {
		versions[b.aged(t, with("data/secret/2.in", "5"+n+"\n"), "<p>old</p>")] = true
	}
	job := b.rendering(t, judge.RenderPayload{Problems: []string{"triple"}})
	ctx, cut := context.WithCancelCause(t.Context())
	lost := errors.New("the worker is lost")
	if _, _, err := b.rendered(ctx, t, job, func(int) { cut(lost) }); !errors.Is(err, lost) {
		t.Fatalf("a rendering that is cut off ends with %v", err)
	}
	times := map[string]int64{}
	left := 0
	for version := range versions {
		if r, err := b.store.Rendering(t.Context(), "triple", version); err == nil {
			times[version] = r.At.UnixNano()
		} else {
			left++
		}
	}
	if left != 2 {
		t.Fatalf("%d of 3 versions are left, want 2", left)
	}
	r, verdict, err := b.rendered(t.Context(), t, job, func(int) {})
	if err != nil || verdict != judge.AC || r.Versions != 3 || r.Rendered != 3 {
		t.Errorf("the next try: %+v, %s, %v", r, verdict, err)
	}
	for version := range versions {
		now, err := b.store.Rendering(t.Context(), "triple", version)
		if err != nil || now.JobID != job.JobID {
			t.Errorf("%s: %+v, %v", version, now, err)
		} else if at, was := times[version]; was && at != now.At.UnixNano() {
			t.Errorf("%s was done twice", version)
		}
	}
}

func TestAVersionThatCannotBeRenderedKeepsItsPagesAndTheOthersGoOn(t *testing.T) {
	b := newBench(t)
	good := b.aged(t, triple, "<p>old</p>")
	gone := "sha256:" + strings.Repeat("0f", 32)
	must(t, b.store.KeepVersion(t.Context(), judge.Problem{Slug: "triple", Title: "Triple", Version: gone}, "setter", 0))
	job := b.rendering(t, judge.RenderPayload{Problems: []string{"triple"}})
	r, verdict, err := b.rendered(t.Context(), t, job, func(int) {})
	if err != nil || verdict != judge.WA || r.Rendered != 1 || len(r.Failed) != 1 || r.Failed[0].Version != gone || !strings.Contains(r.Failed[0].Why, "import the package again") {
		t.Errorf("%+v, %s, %v", r, verdict, err)
	}
	if _, err := b.store.Page(t.Context(), "triple", good, "en"); err != nil {
		t.Errorf("the other version: %v", err)
	}
	if _, err := b.Render(t.Context(), judge.Claim{Payload: []byte(`{"schema_version":9}`)}, nil); err == nil {
		t.Error("a payload of another version is taken")
	}
}

func TestAPackageWithoutAStatementIsTakenInAndRenderedWithoutPages(t *testing.T) {
	bare := map[string]string{
		"problem.yaml":                  "name: Bare\n",
		"data/secret/1.in":              "5\n",
		"data/secret/1.ans":             "15\n",
		"submissions/accepted/right.py": "print(3 * int(input()))\n",
	}
	b := newBench(t)
	x := b.finish(t, b.importing(t, zipped(t, bare), true))
	if x.result.Verdict != judge.AC || len(x.report.Refused) > 0 || x.report.Error != "" {
		t.Fatalf("the import ended with %s, %+v", x.result.Verdict, x.report)
	}
	if !slices.ContainsFunc(x.report.Warnings, func(f judge.Finding) bool { return strings.Contains(f.Reason, "will have no statement") }) {
		t.Errorf("warnings %v", x.report.Warnings)
	}
	job := b.rendering(t, judge.RenderPayload{Problems: []string{"triple"}})
	r, verdict, err := b.rendered(t.Context(), t, job, func(int) {})
	if err != nil || verdict != judge.AC || r.Rendered != 1 || len(r.Failed) > 0 {
		t.Errorf("%+v, %s, %v", r, verdict, err)
	}
	if all, err := b.store.StatementLanguages(t.Context(), "triple", x.report.Version); err != nil || len(all) > 0 {
		t.Errorf("there are pages in %+v, %v", all, err)
	}
}

func TestAVersionWhoseStatementIsNotFoundAnyMoreKeepsItsPages(t *testing.T) {
	b := newBench(t)
	// A statement that an older version found where the rules of today find none.
	old := b.aged(t, with("problem.yaml", "name: Triple\n", "statement/problem.en.md", "", "statement/old.md", "old"), "<p>old</p>")
	job := b.rendering(t, judge.RenderPayload{Problems: []string{"triple"}})
	r, verdict, err := b.rendered(t.Context(), t, job, func(int) {})
	if err != nil || verdict != judge.WA || len(r.Failed) != 1 || r.Failed[0].Version != old || !strings.Contains(r.Failed[0].Why, "stay as they are") {
		t.Errorf("%+v, %s, %v", r, verdict, err)
	}
}

func TestAnImportMakesPagesWithWhatMustBeDrawn(t *testing.T) {
	b := newBench(t)
	job := b.importing(t, zipped(t, with("statement/problem.sv.pdf", "no PDF", "problem.yaml", "problem_format_version: 2025-09\nname: {en: Triple, sv: Trippel}\nuuid: 7a2c9d1e-6f0b-4c58-9d3a-1b2e3f405162\n")), true)
	x := b.finish(t, job)
	said := slices.IndexFunc(x.report.Warnings, func(f problem.Finding) bool { return f.File == "statement/problem.sv.pdf" })
	if !slices.Contains(x.steps, "draw") || said < 0 || !strings.Contains(x.report.Warnings[said].Reason, "pdftotext") {
		t.Errorf("steps %v, warnings %v", x.steps, x.report.Warnings)
	}
	if sv, err := b.store.Page(t.Context(), "triple", x.report.Version, "sv"); err != nil || sv.Title != "Trippel" || sv.Document == "" || sv.HTML != "" {
		t.Errorf("the page in Swedish is %+v, %v", sv, err)
	}
	p, err := b.store.Page(t.Context(), "triple", x.report.Version, "en")
	if err != nil || !strings.Contains(p.HTML, "three times") {
		t.Errorf("the page is %+v, %v", p, err)
	}
	r, err := b.store.Rendering(t.Context(), "triple", x.report.Version)
	if err != nil || r.Renderer != problem.Renderer || r.JobID != job.JobID {
		t.Errorf("rendering %+v, %v", r, err)
	}
}
