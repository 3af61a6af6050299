package web

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// TestPagesOfJobsOfEveryKindFitTheScreenInEveryState looks at where jobs stand.
func TestPagesOfJobsOfEveryKindFitTheScreenInEveryState(t *testing.T) {
	s := newStage(t)
	ctx, console := browser(t)
	s.signIn(t, func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) })
	fail := func(id int64) {
		_, err := s.store.Fail(t.Context(), s.claim(id), "the sandbox is broken on judge1", true)
		s.must(err)
	}
	states := map[string]func(int64){
		"waiting":   func(int64) {},
		"running":   func(id int64) { s.claim(id) },
		"retrying":  fail,
		"cancelled": func(id int64) { s.must(s.store.Cancel(t.Context(), id, "sue", "this was the wrong file")) },
		"dead":      fail, // of a queue that tries once
	}
	pages := map[string]string{}
	for _, kind := range []judge.Kind{judge.KindSubmission, judge.KindRun, judge.KindPluginBuild, judge.KindImport} {
		for state, reach := range states {
			tries := map[string]int{"dead": 1}[state]
			s.must(s.store.SaveQueue(t.Context(), judge.Queue{Name: judge.DefaultQueue, MaxTries: tries}))
			n := sql.NewJob{Author: "sue", Kind: kind, Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "a.cpp", Text: "int main() {}"}}}
			payload, err := json.Marshal(map[judge.Kind]any{
				judge.KindRun:         judge.RunPayload{Language: "cpp", Sources: n.Sources},
				judge.KindPluginBuild: judge.PluginPayload{Op: judge.PluginUpload, Name: "org.example.tokens", Version: "1.0.0"},
				judge.KindImport:      judge.PackagePayload{Problem: "aplusb"},
			}[kind])
			s.must(err)
			if kind != judge.KindSubmission {
				n.Problem, n.Language, n.Sources, n.Payload = "", "", nil, payload
			}
			r, err := s.store.Submit(t.Context(), n)
			s.must(err)
			reach(r.JobID)
			pages[fmt.Sprintf("job-%s-%s", kind, state)] = site.PageOfJob(r.JobID, kind)
		}
	}
	s.examineAll(ctx, t, console, twoLooks, pages)
}
