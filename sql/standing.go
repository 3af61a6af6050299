package sql

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// Filter chooses submissions. Zero fields do not restrict.
type Filter struct {
	Author, Problem, Language string
	Verdict                   judge.Verdict // of the live result
	Space                     int64         // id of the space that they were handed in to
	Round, Participant        int64         // ids of the round, and of who handed them in there
	Unveiled                  bool          // who asks may be told whatever rounds hide from participants
	Before                    int64         // only job ids below this: the cursor
	Limit                     int           // 1 to 200; 0 = 50
}

// jobRow is where a job stands, and what its kind adds. A statement leaves out what its kind has not.
type jobRow struct {
	JobID      int64
	Kind       judge.Kind
	Queue      string
	GroupKey   string
	Status     judge.Status
	QueueState string
	Generation int32
	AttemptID  int32
	Tries      int32
	MaxTries   int32
	TraceID    string
	CreatedAt  time.Time
	StartedAt  *time.Time
	FinishedAt *time.Time
	LastError  string
	Result     []byte
	Payload    []byte

	Author, Problem, Title, Language, Version, Token string
	Told                                             judge.CheckerMessages
	Feedback                                         judge.Feedback
	Space                                            string
	SpaceID                                          int64
	Unofficial                                       bool
	Participant                                      int64
	Team, Round                                      string
}

// standing runs a statement that returns rows of jobs, and makes of each what its kind is to people.
func standing[T any](ctx context.Context, s *Site, on pg.Querier, statement string, a pg.Args, as func(jobRow, judge.Job) (T, error)) ([]T, error) {
	found, err := pg.Rows(ctx, s.db, on, statement, a, pgx.RowToStructByNameLax[jobRow])
	if err != nil {
		return nil, err
	}
	out := []T{}
	for _, v := range found {
		j := judge.Job{
			JobID: v.JobID, Kind: v.Kind, Queue: v.Queue, Author: cmp.Or(v.Author, v.GroupKey), Status: v.Status, QueueState: v.QueueState,
			Generation: v.Generation, AttemptID: v.AttemptID, Tries: v.Tries, MaxTries: v.MaxTries, TraceID: v.TraceID,
			Created: v.CreatedAt, Started: v.StartedAt, Finished: v.FinishedAt, LastError: v.LastError,
		}
		if len(v.Result) > 0 {
			j.Result = new(judge.Result)
			if err := json.Unmarshal(v.Result, j.Result); err != nil {
				return nil, fmt.Errorf("job %d: read result: %w", v.JobID, err)
			}
		}
		one, err := as(v, j)
		if err != nil {
			return nil, fmt.Errorf("job %d: %w", v.JobID, err)
		}
		out = append(out, one)
	}
	return out, nil
}

// only returns the one job that was found, or [ErrNotFound].
func only[T any](found []T, err error, what string, jobID int64) (*T, error) {
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("%s %d: %w", what, jobID, err)
	}
	return &found[0], nil
}

// planned has the database plan each query for its own parameters: a plan for
// all filters would read the whole table for each.
type planned struct{ *pgxpool.Pool }

// Query runs text as it is planned for its parameters.
func (p planned) Query(ctx context.Context, text string, a ...any) (pgx.Rows, error) {
	return p.Pool.Query(ctx, text, append([]any{pgx.QueryExecModeCacheDescribe}, a...)...)
}

// Submission returns one submission with its sources, or [ErrNotFound]. Of its result there is what its participant is told,
// unless the reader is for staff or [Reader.Unveiled].
func (r Reader) Submission(ctx context.Context, jobID int64) (*judge.Submission, error) {
	found, err := standing(ctx, r.s, r.s.main, "StandingSubmission", pg.Args{"job_id": jobID, "whole": r.whole}, r.submission)
	return only(found, err, "submission", jobID)
}

// Submissions returns the submissions that f chooses, newest first, without
// sources and without the tests, groups and compiler output of their results. What participants are told of those holds here,
// too, also for the choice by verdict.
func (r Reader) Submissions(ctx context.Context, f Filter) ([]judge.Submission, error) {
	if f.Unveiled {
		r.unveiled = true
	}
	found, err := standing(ctx, r.s, planned{r.s.main}, "StandingSubmissions", pg.Args{
		"whole": r.whole, "unveiled": r.whole || r.unveiled, "before": orMax(f.Before), "author": f.Author, "problem": f.Problem, "language": f.Language, "verdict": string(f.Verdict),
		"space_id": f.Space, "round_id": f.Round, "participant": f.Participant, "max": pg.Bounded(f.Limit),
	}, r.submission)
	if err != nil {
		return nil, fmt.Errorf("list submissions: %w", err)
	}
	return found, nil
}

// submission is what a row says of a submission, as the reader may see it.
func (r Reader) submission(v jobRow, j judge.Job) (judge.Submission, error) {
	sub, err := submission(v, j)
	if !r.whole && !r.unveiled {
		sub.Veil()
	}
	return sub, err
}

func submission(v jobRow, j judge.Job) (judge.Submission, error) {
	if v.Participant != 0 {
		j.Author = v.Author // whose turn it takes tells nobody anything
	}
	sub := judge.Submission{
		Job: j, Problem: v.Problem, Title: v.Title, Language: v.Language, Told: v.Told, Space: v.Space, SpaceID: v.SpaceID, Unofficial: v.Unofficial,
		Participant: v.Participant, Team: v.Team, Round: v.Round, Feedback: v.Feedback,
	}
	if sub.Result != nil {
		sub.Result.NamePartial() // groups of older results say AC
	}
	if len(v.Payload) > 0 {
		p, err := judge.DecodePayload(v.Payload)
		if err != nil {
			return sub, fmt.Errorf("read payload: %w", err)
		}
		sub.Sources = p.Sources
	}
	return sub, nil
}

// Draft returns the program that a setter had judged on a version of a problem, with its sources, or [ErrNotFound].
func (s *Site) Draft(ctx context.Context, jobID int64) (*judge.Submission, error) {
	found, err := standing(ctx, s, s.main, "StandingDraft", pg.Args{"job_id": jobID, "whole": true}, draft)
	return only(found, err, "draft submission", jobID)
}

// Drafts returns those of a problem, newest first, without sources and tests. An empty version does not restrict, and
// before is a cursor that does not when it is zero.
func (s *Site) Drafts(ctx context.Context, slug, version string, before int64, limit int) ([]judge.Submission, error) {
	found, err := standing(ctx, s, s.main, "StandingDrafts",
		pg.Args{"slug": slug, "version": version, "before": orMax(before), "max": pg.Bounded(limit), "whole": true}, draft)
	if err != nil {
		return nil, fmt.Errorf("list draft submissions of %s: %w", slug, err)
	}
	return found, nil
}

func draft(v jobRow, j judge.Job) (judge.Submission, error) {
	sub, err := submission(v, j)
	sub.Version, sub.Told, sub.Unofficial = v.Version, judge.ToldAll, true
	return sub, err
}

// Run returns a run with its payload and result, or [ErrNotFound].
func (s *Site) Run(ctx context.Context, jobID int64) (*judge.Run, error) {
	found, err := s.runs(ctx, jobID)
	return only(found, err, "run", jobID)
}

// Runs returns runs in the order of their job ids, and nil for what is no run.
func (s *Site) Runs(ctx context.Context, jobIDs ...int64) ([]*judge.Run, error) {
	found, err := s.runs(ctx, jobIDs...)
	if err != nil {
		return nil, fmt.Errorf("look up runs: %w", err)
	}
	byID := make(map[int64]*judge.Run, len(found))
	for i := range found {
		byID[found[i].JobID] = &found[i]
	}
	out := make([]*judge.Run, len(jobIDs))
	for i, id := range jobIDs {
		out[i] = byID[id]
	}
	return out, nil
}

func (s *Site) runs(ctx context.Context, jobIDs ...int64) ([]judge.Run, error) {
	return standing(ctx, s, s.main, "StandingRuns", pg.Args{"job_ids": jobIDs, "whole": true}, func(v jobRow, j judge.Job) (judge.Run, error) {
		run := judge.Run{Job: j, Token: v.Token, Told: v.Told}
		if len(v.Payload) > 0 {
			if err := json.Unmarshal(v.Payload, &run.Asked); err != nil {
				return run, fmt.Errorf("read payload: %w", err)
			}
		}
		if run.Result != nil && len(run.Result.Report) > 0 {
			if err := json.Unmarshal(run.Result.Report, &run.Report); err != nil {
				return run, fmt.Errorf("read report: %w", err)
			}
		}
		return run, nil
	})
}

// Job returns a job of any kind, or [ErrNotFound].
func (s *Site) Job(ctx context.Context, jobID int64) (*judge.SetterJob, error) {
	found, err := standing(ctx, s, s.main, "StandingJob", pg.Args{"job_id": jobID, "whole": true}, setterJob)
	return only(found, err, "job", jobID)
}

// Jobs returns the newest jobs of some kinds other than submission, of whose results
// only the verdict. Only job ids below before are returned, where it is not zero.
func (s *Site) Jobs(ctx context.Context, kinds []judge.Kind, before int64, limit int) ([]judge.SetterJob, error) {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	found, err := standing(ctx, s, s.main, "StandingJobs",
		pg.Args{"kinds": names, "before": orMax(before), "max": pg.Bounded(limit), "whole": true}, setterJob)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return found, nil
}

// setterJob reads what is asked of a job from the head of its payload.
func setterJob(v jobRow, j judge.Job) (judge.SetterJob, error) {
	out := judge.SetterJob{Job: j}
	//exhaustive:ignore
	switch j.Kind {
	case judge.KindPluginBuild, judge.KindPluginTest:
		out.About = about(v.Payload)
	case judge.KindImport, judge.KindVerify:
		if json.Unmarshal(v.Payload, &out.Package) != nil {
			out.Package = judge.PackagePayload{}
		}
	case judge.KindRender:
		out.Render = judge.ReadRender(v.Payload)
	}
	return out, nil
}

// about reads what is asked of a job about plugins, as far as the head of its payload goes. Files are left out.
func about(head []byte) (p judge.PluginPayload) {
	members := map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(head))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return p
	}
	for {
		name, err := d.Token()
		key, ok := name.(string)
		var value json.RawMessage
		if err != nil || !ok || key == "files" || d.Decode(&value) != nil {
			break
		}
		members[key] = value
	}
	if b, err := json.Marshal(members); err != nil || json.Unmarshal(b, &p) != nil {
		return judge.PluginPayload{}
	}
	return p
}
