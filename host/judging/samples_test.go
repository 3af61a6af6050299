package judging_test

import (
	"context"
	"path"
	"slices"
	"strings"
	"testing"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/samples"
)

// TestSampleSubmissionsGetTheirVerdicts judges all programs of two sample problems
// with everything real: sandbox, plugins and tool chains. That all samples prove
// themselves is a test of package verify.
func TestSampleSubmissionsGetTheirVerdicts(t *testing.T) {
	m := judgingtest.Get(t)
	languages := m.Judge.Languages(t.Context())
	for _, slug := range []string{"aplusb", "pairs"} {
		t.Run(slug, func(t *testing.T) {
			pkg := sample(t, m, slug)
			for _, s := range pkg.Submissions {
				t.Run(strings.TrimPrefix(s.Path, "submissions/"), func(t *testing.T) {
					t.Parallel()
					l := languageOf(t, languages, s)
					if !l.Available {
						judgingtest.Missing(t, l.Name+" ("+l.Unavailable+")")
					}
					payload := payloadOf(t, pkg, s, l.ID)
					steps := 0
					r, err := m.Judge.Judge(t.Context(), payload, pkg.Version, func(judge.Progress) { steps++ })
					if err != nil {
						t.Fatal(err)
					}
					expect(t, s, r)
					ran := len(slices.DeleteFunc(slices.Clone(r.Tests), func(t judge.TestResult) bool { return t.Verdict == "" }))
					if steps != 1+ran {
						t.Errorf("%d steps were reported, want the compilation and %d tests", steps, ran)
					}
				})
			}
		})
	}
}

// expect compares a result with what a submission must get.
func expect(t *testing.T, s problem.Submission, r judge.Result) {
	t.Helper()
	if !slices.Contains(s.Allowed, r.Verdict.InPackage()) {
		t.Errorf("verdict %s, want one of %s: %s\n%s", r.Verdict, s.Allowed, r.Message, r.JudgeNote)
		if r.Compile != nil && !r.Compile.OK {
			t.Log(r.Compile.Output)
		}
		for _, test := range r.Tests {
			t.Logf("%s %s cpu=%dms wall=%dms mem=%dKiB %s %s", test.Name, test.Verdict, test.Usage.CPUMillis, test.Usage.WallMillis, test.Usage.MemoryKiB, test.Message, test.JudgeNote)
		}
	}
	if s.Score != nil && (r.Score == nil || *r.Score != *s.Score) {
		t.Errorf("score %v, want %g", r.Score, *s.Score)
	}
	if s.Partial && (r.Score == nil || r.MaxScore == nil || *r.Score >= *r.MaxScore) {
		t.Errorf("score %v of %v, want less than the highest", r.Score, r.MaxScore)
	}
	if r.Verdict == judge.PA && !s.Partial {
		t.Errorf("score %g of %g, want all of it", *r.Score, *r.MaxScore)
	}
	t.Logf("%s %d ms %d KiB %s", r.Verdict, r.Usage.CPUMillis, r.Usage.MemoryKiB, r.Message)
}

// sample stores a sample problem.
func sample(t *testing.T, m *judgingtest.Machine, slug string) *problem.Package {
	t.Helper()
	fsys, err := samples.FS(slug)
	if err != nil {
		t.Fatal(err)
	}
	pkg, _, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	pkg.Slug = slug
	if _, err := pkg.Save(context.WithoutCancel(t.Context()), m.Blobs); err != nil {
		t.Fatal(err)
	}
	return pkg
}

// languageOf finds the language of a submission by its extension.
func languageOf(t *testing.T, languages []judge.Language, s problem.Submission) judge.Language {
	t.Helper()
	ext := strings.TrimPrefix(path.Ext(s.Files[0].Path), ".")
	for _, l := range languages {
		if slices.Contains(l.Extensions, ext) {
			return l
		}
	}
	t.Fatalf("no language has the extension %q", ext)
	return judge.Language{}
}

// payloadOf makes what a submitter would hand in.
func payloadOf(t *testing.T, pkg *problem.Package, s problem.Submission, language string) judge.Payload {
	t.Helper()
	p := judge.Payload{SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: pkg.Slug, Language: language}
	for _, f := range s.Files {
		b, err := blob.ReadAll(t.Context(), judgingtest.Get(t).Blobs, f.Digest, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		p.Sources = append(p.Sources, judge.Source{Name: path.Base(f.Path), Text: string(b)})
	}
	return p
}
