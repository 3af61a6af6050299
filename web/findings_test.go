package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/web/client"
)

func TestThePageSumsLikeFaultsUp(t *testing.T) {
	_, option := withBlobs(t)
	s := newStage(t, option)
	sue := s.setter()
	setter := s.as(strings.TrimPrefix(sue, "Authorization: Bearer "))
	files := fstest.MapFS{
		"problem.yaml": {Data: []byte("name: a\ntype: quiz\n")}, "submissions/accepted/.gitkeep": {}, "submissions/wrong_answer/.gitkeep": {},
	}
	for i := range 27 {
		files[fmt.Sprintf("data/secret/%02d.in", i)] = &fstest.MapFile{}
	}
	_, report, err := importing.Read(files)
	told, err := json.Marshal(map[string]any{"problem": "triple", "refused": problem.Findings(err), "warnings": report.Warnings, "error": "the package is refused"})
	s.must(err)
	receipt, err := setter.UploadPackage(t.Context(), client.NewPackage{Problem: "triple"}, strings.NewReader(pk), int64(len(pk)))
	s.must(err)
	s.must(s.store.Finalize(t.Context(), s.claim(receipt.JobID), judge.Result{Verdict: judge.JE, Report: told}))
	r := s.do(http.MethodGet, receipt.URL, "", sue)
	for _, want := range []string{
		"<strong>data/secret/00.in</strong> <span lang=\"en\">has no answer: 00.ans is missing</span> <span class=\"small muted\">27 files like this: also data/secret/01.in, data/secret/02.in, data/secret/03.in, …</span>",
		"<strong>problem.yaml</strong> <code>type</code> <span lang=\"en\">is &#34;quiz&#34;",
		"<strong>submissions/accepted/.gitkeep</strong> <span lang=\"en\">is a hidden file, and is left out</span> <span class=\"small muted\">2 files like this: also submissions/wrong_answer/.gitkeep</span>",
	} {
		if r.status != http.StatusOK || strings.Count(r.body, want) != 1 {
			t.Errorf("%d, not once %q:\n%s", r.status, want, r.body)
		}
	}
	if strings.Contains(r.body, "04.in") {
		t.Errorf("the page lists every file:\n%s", r.body)
	}
}

func TestThePageTellsWarningsOfAProof(t *testing.T) {
	_, option := withBlobs(t)
	s := newStage(t, option)
	sue := s.setter()
	receipt, err := s.as(strings.TrimPrefix(sue, "Authorization: Bearer ")).UploadPackage(t.Context(), client.NewPackage{Problem: "triple"}, strings.NewReader(pk), int64(len(pk)))
	s.must(err)
	const told = `{"problem":"triple","version":"sha256:aa11","proof":{"limit_ms":1000,"limit_from":"x","warnings":["the checker writes score.txt"],"rows":[` +
		`{"path":"accepted/right.py","allowed":["AC"],"verdict":"PA","warning":"scored 40, must score all of 100"}]}}`
	s.must(s.store.Finalize(t.Context(), s.claim(receipt.JobID), judge.Result{Verdict: judge.AC, Report: json.RawMessage(told)}))
	r := s.do(http.MethodGet, receipt.URL, "", sue)
	for _, want := range []string{`Warning: <span lang="en">scored 40, must score all of 100</span>`, `</span> <span lang="en">the checker writes score.txt</span></li>`} {
		if r.status != http.StatusOK || !strings.Contains(r.body, want) {
			t.Errorf("%d, without %q:\n%s", r.status, want, r.body)
		}
	}
}
