package staff

import (
	"html/template"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/site/sitetest"
)

func FuzzQueueRows(f *testing.F) {
	sitetest.Rows(f, func(text string) map[string]template.HTML {
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		row := queueRow{Place: text, ETA: text, QueueRow: judge.QueueRow{
			JobID: 7, Kind: judge.KindSubmission, Author: text, Problem: text, Title: text, Language: text, Lane: judge.LaneNormal, Priority: 3,
			State: "R", Rank: at, Since: at, Delayed: true, AttemptID: 2, InSet: true, Worker: text, LastError: text,
		}}
		return map[string]template.HTML{"an own job": row.ownCells(), "a job for staff": row.staffCells()}
	})
}

func TestOnlyWhatMayBeMovedCanBeChosen(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{"R": true, "S": true, "D": false, "L": false} {
		row := string(queueRow{QueueRow: judge.QueueRow{JobID: 7, Kind: judge.KindSubmission, State: state}}.staffCells())
		if strings.Contains(row, "checkbox") != want {
			t.Errorf("whether a job in state %s can be chosen: %s", state, row)
		}
	}
}
