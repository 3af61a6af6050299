package solve

import (
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

func TestPicturesSayWhatTheyShow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	bars := func(n int) []testView {
		rows := make([]testView, n)
		for i := range rows {
			rows[i] = testView{Index: i + 1, Title: "test", Verdict: judge.AC, usageView: usageView{Time: bar("10 ms", "1 s", int64(10*i), 1000)}}
		}
		return rows
	}
	many := make([]sql.Best, 50)
	for i := range many {
		many[i] = sql.Best{Score: float64(i), Authors: 1}
	}
	for name, tt := range map[string]struct {
		picture string
		holds   []string // "" in it alone: nothing is drawn
		bars    int
	}{
		"days":                   {string(historyPicture([]sql.Day{{Ago: 1, Submitted: 3, Accepted: 1}}, now, site.Viewer{})), []string{"3 submissions in 30 days, 1 accepted", "1 Mar: 3 submissions, 1 accepted", "1 Feb"}, 30},
		"no days":                {string(historyPicture(nil, now, site.Viewer{})), nil, 0},
		"scores":                 {string(scoresPicture([]sql.Best{{Score: 0, Authors: 2}, {Score: 62.5, Authors: 1}}, site.Viewer{})), []string{"of 3 authors", "62.5: 1 author"}, 2},
		"scores in ranges":       {string(scoresPicture(many, site.Viewer{})), []string{"of 50 authors", "0 to 4.9: 5 authors"}, 10},
		"the same score for all": {string(scoresPicture([]sql.Best{{Score: 0, Authors: 4}}, site.Viewer{})), []string{"0: 4 authors"}, 1},
		"tests":                  {string(testsPicture(bars(3), site.Viewer{})), []string{"the slowest took 10 ms of 1 s", "test 3"}, 3},
		"one test":               {string(testsPicture(bars(1), site.Viewer{})), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Count(tt.picture, "<g>"); got != tt.bars {
				t.Errorf("%d bars, want %d", got, tt.bars)
			}
			for _, text := range tt.holds {
				if !strings.Contains(tt.picture, text) {
					t.Errorf("it does not say %q: %s", text, tt.picture)
				}
			}
		})
	}
}
