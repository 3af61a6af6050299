package judging_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/judging/runner"
)

// Each program says when it began and ended by the clock that all programs share.
func TestProgramsThatRunAloneNeverRunAtTheSameTime(t *testing.T) {
	m := judgingtest.Get(t)
	files := map[string]string{"data/testdata.yaml": "on_reject: continue\n", "data/sample/testdata.yaml": "on_reject: continue\n"}
	for i := range 4 {
		files[fmt.Sprintf("data/sample/%d.in", i)], files[fmt.Sprintf("data/sample/%d.ans", i)] = fmt.Sprintln(i), "0\n"
	}
	pkg := echo(t, files)
	type span struct{ from, to float64 }
	var spans []span
	var g errgroup.Group
	results := make([]judge.Result, 2)
	for i := range results {
		g.Go(func() (err error) {
			results[i], err = m.Judge.Judge(runner.Alone(t.Context()), judge.Payload{
				SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: pkg.Slug, Language: "python",
				Sources: []judge.Source{{Name: "a.py", Text: "import time\na = time.monotonic()\ntime.sleep(0.05)\nprint(a, time.monotonic())\n"}},
			}, pkg.Version, nil)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		for _, test := range r.Tests {
			var s span
			if _, err := fmt.Sscan(test.Output, &s.from, &s.to); err == nil {
				spans = append(spans, s)
			}
		}
	}
	if len(spans) < 4 {
		t.Fatalf("%d programs said when they ran: %+v", len(spans), results)
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			t.Errorf("one ran from %f to %f, another from %f", spans[i-1].from, spans[i-1].to, spans[i].from)
		}
	}
}
