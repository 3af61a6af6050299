package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// Claim makes owner the owner of the newest attempt of each pending job in ids (INV-3). Token is a UUID made for this
// claim. Jobs that cannot be claimed are in rejected with reason judge.ReasonClaimReject, judge.ReasonNotFound, or
// judge.ReasonDBError if the database could not say why. A claimed job without a payload has an empty Payload: bury it.
func (q *Queue) Claim(ctx context.Context, ids []int64, owner, token string, lease time.Duration) (jobs []judge.Claim, rejected []judge.RejectedError, err error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	jobs, err = q.claimed(ctx, "JobClaim", pg.Args{"job_ids": ids, "owner": owner, "token": token, "lease": lease})
	if err != nil {
		return nil, nil, fmt.Errorf("claim: %w", err)
	}
	claimed := make([]int64, len(jobs))
	for i := range jobs {
		claimed[i] = jobs[i].JobID
	}
	if len(jobs) == len(ids) {
		return jobs, nil, nil
	}
	var rest []judge.Attempt
	for _, id := range ids {
		if _, ok := slices.BinarySearch(claimed, id); !ok {
			rest = append(rest, judge.Attempt{JobID: id, Owner: owner, Token: token})
		}
	}
	found, err := explain(ctx, q.db, rest)
	if err != nil {
		// What was claimed is claimed, so it must be returned; why the others were not is unknown.
		q.db.Log.WarnContext(ctx, "a refused claim cannot be explained", slog.Any("err", err))
		for _, a := range rest {
			rejected = append(rejected, judge.RejectedError{JobID: a.JobID, Reason: judge.ReasonDBError})
		}
		return jobs, rejected, nil
	}
	for _, e := range found {
		r := e.rejected(judge.ReasonClaimReject)
		if !e.Found {
			r.Reason = judge.ReasonNotFound
		}
		rejected = append(rejected, r)
	}
	return jobs, rejected, nil
}

// Take picks and claims in one statement: jobs that are ready go to owner in the order of the queue, without having
// been delivered. Dispatcher and Shards of r are not looked at. After an error nobody knows what was taken: see
// [Queue.Held].
func (q *Queue) Take(ctx context.Context, r PickRequest, owner, token string, lease time.Duration) ([]judge.Claim, error) {
	if r.Limit <= 0 {
		return nil, nil
	}
	queue := pg.OrDefault(r.Queue, judge.DefaultQueue)
	a := pg.Args{
		"queue": queue, "pool": pg.OrDefault(r.Pool, judge.DefaultPool), "languages": r.Languages,
		"max": r.Limit, "owner": owner, "token": token, "lease": lease,
	}
	if until, ok := q.grouped.Load(queue); !ok || time.Now().After(until.(time.Time)) {
		jobs, err := q.claimed(ctx, "JobTakePlain", a)
		if err != nil {
			return nil, fmt.Errorf("take: %w", err)
		}
		if len(jobs) == 0 || jobs[0].JobID != 0 {
			return jobs, nil
		}
		q.grouped.Store(queue, time.Now().Add(groupedTime))
	}
	a["dispatcher"], a["shards"] = "", 0
	jobs, err := q.claimed(ctx, "JobTake", a)
	if err != nil {
		return nil, fmt.Errorf("take: %w", err)
	}
	return jobs, nil
}

// groupedTime is how long a queue that looks at groups is expected to go on so.
const groupedTime = 10 * time.Second

// claimed runs a statement that claims jobs.
func (q *Queue) claimed(ctx context.Context, statement string, a pg.Args) ([]judge.Claim, error) {
	owner, token := a["owner"].(string), a["token"].(string)
	jobs, err := pg.Rows(ctx, q.db, q.db.Queue, statement, a, func(r pgx.CollectableRow) (j judge.Claim, err error) {
		j.Owner, j.Token = owner, token
		return j, r.Scan(&j.JobID, &j.Generation, &j.AttemptID, &j.Kind, &j.Queue, &j.GroupKey, &j.TraceID, &j.Tries, &j.MaxTries, &j.Created,
			(*[]byte)(&j.Payload), &j.ProblemVersion)
	})
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].JobID
	}
	if len(jobs) > 0 && jobs[0].JobID != 0 { // see JobTakePlain
		q.db.WakeEvents(ids...)
	}
	return jobs, nil
}

// Held returns the attempts that owner holds by a token: what a Take got whose answer was lost.
func (q *Queue) Held(ctx context.Context, owner, token string) ([]judge.Attempt, error) {
	return pg.Rows(ctx, q.db, q.db.Queue, "JobsHeld", pg.Args{"owner": owner, "token": token}, func(r pgx.CollectableRow) (a judge.Attempt, err error) {
		return a, r.Scan(&a.JobID, &a.Generation, &a.AttemptID, &a.Owner, &a.Token)
	})
}

// Heartbeat renews leases and returns the ids that are still held. Stop working on the others and write nothing.
func (q *Queue) Heartbeat(ctx context.Context, attempts []judge.Attempt, lease time.Duration) (alive []int64, err error) {
	for len(attempts) > 0 { // more than once only if two are of the same job
		var now, later []judge.Attempt
		for _, a := range slices.SortedStableFunc(slices.Values(attempts), inTurn) {
			if len(now) > 0 && now[len(now)-1].JobID == a.JobID {
				later = append(later, a)
			} else {
				now = append(now, a)
			}
		}
		a := fence(now...)
		a["lease"] = lease
		held, err := pg.Rows(ctx, q.db, q.db.Queue, "JobHeartbeat", a, pgx.RowTo[int64])
		if err != nil {
			return nil, fmt.Errorf("heartbeat: %w", err)
		}
		alive, attempts = append(alive, held...), later
	}
	return alive, nil
}

// Progress stores what happened so far as events of the attempt. It returns a
// [*judge.RejectedError] if the attempt may no longer write.
func (q *Queue) Progress(ctx context.Context, a judge.Attempt, ps []judge.Progress) error {
	if len(ps) == 0 {
		return nil
	}
	kinds, data, err := progressEvents(ps)
	if err != nil {
		return fmt.Errorf("progress of job %d: %w", a.JobID, err)
	}
	st := q.db.Statements["JobProgress"]
	values, err := st.Bind(pg.Args{
		"kinds": kinds, "data": data, "job_id": a.JobID, "attempt_id": a.AttemptID, "owner": a.Owner, "token": a.Token,
	})
	if err != nil {
		return err
	}
	tag, err := q.db.Queue.Exec(ctx, st.Text, values...)
	if err != nil {
		return fmt.Errorf("progress of job %d: %w", a.JobID, err)
	}
	if tag.RowsAffected() == 0 {
		return q.why(ctx, a)
	}
	q.db.WakeEvents(a.JobID)
	return nil
}

// progressEvents returns the kinds and the data of events.
func progressEvents(ps []judge.Progress) (kinds []string, data [][]byte, err error) {
	kinds, data = make([]string, len(ps)), make([][]byte, len(ps))
	for i, p := range ps {
		kinds[i] = string(p.Kind)
		if data[i], err = progressData(p); err != nil {
			return nil, nil, err
		}
	}
	return kinds, data, nil
}

// progressData is the data of a progress event: {"test": …, "total": n}, {"compile": …, "total": n} or {"finding": …}.
func progressData(p judge.Progress) ([]byte, error) {
	return pg.Encode(struct {
		Compile *judge.Compile    `json:"compile,omitempty"`
		Test    *judge.TestResult `json:"test,omitempty"`
		Total   int               `json:"total,omitempty"`
		Finding json.RawMessage   `json:"finding,omitempty"`
	}{p.Compile, p.Test, p.Total, p.Finding})
}
