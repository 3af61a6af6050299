package sql

import (
	"context"
	"fmt"

	"deepoj/sql/internal/dbsqlc"
)

// pictured bounds how many of the newest rows a picture is made of, so that it
// costs no more on a site with millions.
const pictured = 2000

// Day is how many submissions came on a day (UTC).
type Day struct {
	Ago       int // days before today
	Submitted int64
	Accepted  int64
}

// History counts submissions that f chooses by day, of the last days and no more
// than the newest 2000, oldest first. Days without any are left out.
func (s *Store) History(ctx context.Context, f Filter, days int) ([]Day, error) {
	found, err := s.q.HistoryDays(ctx, planned{s.main}, dbsqlc.HistoryDaysParams{
		Author: f.Author, Problem: f.Problem, Language: f.Language, Verdict: string(f.Verdict), Most: pictured, Days: int32(days),
	})
	if err != nil {
		return nil, fmt.Errorf("count submissions by day: %w", err)
	}
	out := make([]Day, len(found))
	for i, d := range found {
		out[i] = Day{int(d.DaysAgo), d.Submitted, d.Accepted}
	}
	return out, nil
}

// Best is how many authors have a best score.
type Best struct {
	Score   float64
	Authors int64
}

// BestScores counts authors by their best score on a problem, among its newest 2000
// submissions that have one, lowest first.
func (s *Store) BestScores(ctx context.Context, problem string) ([]Best, error) {
	found, err := s.q.BestScores(ctx, planned{s.main}, dbsqlc.BestScoresParams{Problem: problem, Most: pictured})
	if err != nil {
		return nil, fmt.Errorf("count best scores of %s: %w", problem, err)
	}
	out := make([]Best, len(found))
	for i, b := range found {
		out[i] = Best{b.Best, b.Authors}
	}
	return out, nil
}

// Flow is how many jobs came in a minute, and how many were done with: judged,
// cancelled or given up.
type Flow struct {
	Ago        int // minutes before now
	Came, Went int64
}

// QueueFlow counts what came and went in each minute of the last hour, newest first.
// Of what was cancelled or given up, the newest 2000 jobs count. Minutes without any
// are left out.
func (r Reader) QueueFlow(ctx context.Context) ([]Flow, error) {
	found, err := r.s.q.QueueFlow(ctx, r.s.main, dbsqlc.QueueFlowParams{Most: pictured, Whole: r.whole})
	if err != nil {
		return nil, fmt.Errorf("count what came and went: %w", err)
	}
	out := make([]Flow, len(found))
	for i, f := range found {
		out[i] = Flow{int(f.MinutesAgo), f.Came, f.Went}
	}
	return out, nil
}
