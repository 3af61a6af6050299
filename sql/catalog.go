package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Labels are what setters say of a problem beside its versions. Nil is as the package
// says, and of Tags an empty list is none.
type Labels struct {
	Tags       []string
	Difficulty *int32 // 1 to 10,000
	Source     *string
	Author     *string
	By         string // who said so last; "" = nobody
	At         time.Time
}

// ProblemLabels returns the labels of a problem.
func (s *Site) ProblemLabels(ctx context.Context, slug string) (Labels, error) {
	v, err := s.q.LabelsGet(ctx, s.main, slug)
	if errors.Is(err, pgx.ErrNoRows) {
		return Labels{}, nil
	}
	if err != nil {
		return Labels{}, fmt.Errorf("labels of %s: %w", slug, err)
	}
	return Labels{v.Tags, v.Difficulty, v.Source, v.Author, v.By, v.At}, nil
}

// SetProblemLabels replaces the labels of a problem.
func (s *Site) SetProblemLabels(ctx context.Context, slug string, l Labels, by string) error {
	err := s.q.LabelsSet(ctx, s.main, dbsqlc.LabelsSetParams{Slug: slug, Tags: l.Tags, Difficulty: l.Difficulty, Source: l.Source, Author: l.Author, By: by})
	if err != nil {
		return fmt.Errorf("set labels of %s: %w", slug, err)
	}
	return nil
}

// Search chooses problems. Zero fields do not restrict.
type Search struct {
	Viewer           string // whose best submissions are returned
	Hidden           bool   // hidden problems, too
	Words            string // all in title, short name, source, tags or statement, in any language and case
	Tag              string
	Easiest, Hardest int32  // of the difficulty
	Solved           string // by the viewer: "solved", "unsolved", "tried" (and not solved), "untried"
	After            string // only short names behind this: the cursor
	Limit            int    // 1 to 200; 0 = 50
}

// OwnBest is somebody's best submission to a problem.
type OwnBest struct {
	JobID   int64
	Verdict judge.Verdict
	Score   *float64
}

// FoundProblem is a problem with the viewer's best submission; nil = there is none.
type FoundProblem struct {
	judge.Problem

	Best *OwnBest
}

// SearchProblems returns problems by short name, without statements, samples and files.
func (s *Site) SearchProblems(ctx context.Context, q Search) ([]FoundProblem, error) {
	words := append([]string{}, strings.Fields(strings.ToLower(q.Words))...)
	found, err := s.q.ProblemSearch(ctx, s.main, dbsqlc.ProblemSearchParams{
		Viewer: q.Viewer, Hidden: q.Hidden, Words: words, Tag: q.Tag, Easiest: q.Easiest, Hardest: q.Hardest, Solved: q.Solved, After: q.After,
		Max: pg.Bounded(q.Limit),
	})
	if err != nil {
		return nil, fmt.Errorf("search problems: %w", err)
	}
	out := make([]FoundProblem, len(found))
	for i, v := range found {
		if out[i].Problem, err = problem(v.Problem, v.UpdatedAt, v.Hidden); err != nil {
			return nil, err
		}
		if v.JobID > 0 {
			out[i].Best = &OwnBest{v.JobID, judge.Verdict(v.Verdict), v.Score}
		}
	}
	return out, nil
}

// TagCount is a tag with how many problems have it.
type TagCount struct {
	Tag      string `json:"tag"`
	Problems int64  `json:"problems"`
}

// ProblemTags returns the tags of problems, the commonest first.
func (s *Site) ProblemTags(ctx context.Context, hidden bool, limit int) ([]TagCount, error) {
	found, err := s.q.ProblemTags(ctx, s.main, dbsqlc.ProblemTagsParams{Hidden: hidden, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list tags: %w", err)
	}
	out := make([]TagCount, len(found))
	for i, v := range found {
		out[i] = TagCount{v.Tag, v.Problems}
	}
	return out, nil
}

// Statistics are what became of the submissions to a problem: of those outside of spaces, and of official ones of
// spaces that are closed. They hold nothing of a rejudge set that is not applied.
type Statistics struct {
	Tally

	Counts   []StatisticsCount
	Fastest  []Record // by CPU time of the slowest test, in microseconds
	Shortest []Record // by bytes of source
}

// Tally is how many tried a problem and solved it, and how often.
type Tally struct {
	Tries         int64
	Tried, Solved int64 // people
}

// Tallies counts what [Statistics] count, of several problems at once.
func (s *Site) Tallies(ctx context.Context, slugs []string) (map[string]Tally, error) {
	found, err := s.q.StatisticsPeople(ctx, planned{s.main}, slugs)
	if err != nil {
		return nil, fmt.Errorf("count who solved %d problems: %w", len(slugs), err)
	}
	out := make(map[string]Tally, len(found))
	for _, t := range found {
		out[t.Problem] = Tally{t.Tries, t.Tried, t.Solved}
	}
	return out, nil
}

// StatisticsCount is how often a verdict came in a language.
type StatisticsCount struct {
	Verdict  judge.Verdict
	Language string
	Tries    int64
}

// Record is the best accepted submission of somebody by one figure.
type Record struct {
	JobID    int64
	Author   string
	Language string
	Figure   int64
}

// recordsOf is how many of the newest accepted submissions are looked at for the records of a problem.
const recordsOf = 5000

// ProblemStatistics returns the statistics of a problem, with so many records of each kind.
func (s *Site) ProblemStatistics(ctx context.Context, slug string, records int) (st Statistics, err error) {
	counts, err := s.q.StatisticsVerdicts(ctx, planned{s.main}, slug)
	if err != nil {
		return st, fmt.Errorf("statistics of %s: %w", slug, err)
	}
	for _, c := range counts {
		st.Counts = append(st.Counts, StatisticsCount{judge.Verdict(c.Verdict), c.Language, c.Tries})
	}
	tallies, err := s.Tallies(ctx, []string{slug})
	if err != nil {
		return st, err
	}
	st.Tally = tallies[slug]
	for fastest, to := range map[bool]*[]Record{true: &st.Fastest, false: &st.Shortest} {
		found, err := s.q.StatisticsBest(ctx, planned{s.main}, dbsqlc.StatisticsBestParams{Problem: slug, Newest: recordsOf, Fastest: fastest, Max: pg.Bounded(records)})
		if err != nil {
			return st, fmt.Errorf("records of %s: %w", slug, err)
		}
		for _, r := range found {
			*to = append(*to, Record{r.JobID, r.Author, r.Language, r.Figure})
		}
	}
	return st, nil
}

// pictured bounds how many of the newest rows a picture is made of, so that it costs no more on a site with millions.
const pictured = 2000

// Day is how many submissions came on a day (UTC).
type Day struct {
	Ago       int // days before today
	Submitted int64
	Accepted  int64
}

// History counts submissions that f chooses by day, of the last days and no more
// than the newest 2000, oldest first. Days without any are left out.
func (s *Site) History(ctx context.Context, f Filter, days int) ([]Day, error) {
	found, err := s.q.HistoryDays(ctx, planned{s.main}, dbsqlc.HistoryDaysParams{
		Author: f.Author, Problem: f.Problem, Language: f.Language, Verdict: string(f.Verdict), Unveiled: f.Unveiled, Most: pictured, Days: int32(days),
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
func (s *Site) BestScores(ctx context.Context, problem string) ([]Best, error) {
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

// Flow is how many jobs came in a minute, and how many were done with: judged, cancelled or given up.
type Flow struct {
	Ago        int // minutes before now
	Came, Went int64
}

// QueueFlow counts what came and went in each minute of the last hour, newest first. Of what was cancelled or given up,
// the newest 2000 jobs count. Minutes without any are left out.
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
