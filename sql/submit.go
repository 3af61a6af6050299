package sql

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// NewJob is what a submit stores: a job of any kind. Problem and checker versions are not
// part of it: they are resolved when a worker claims the job.
type NewJob struct {
	Problem        string // the problem's short name; required for kind submission
	Language       string
	Author         string // user name
	GroupKey       string // whose turn it is, such as a user or team; "" = Author; both empty = no fairness
	IdempotencyKey string // unique within queue and group for ever; "" = none
	JobKey         string // unique while unfinished; submitting it again replaces a pending job's payload; "" = none
	SpecHash       []byte // unique while in flight; nil = none; see Spec
	TraceID        string
	Sources        []judge.Source
	Payload        json.RawMessage // of kinds other than submission; nil = made from the fields above
	Queue          string          // "" = judge.DefaultQueue
	Pool           string          // "" = judge.DefaultPool
	Kind           judge.Kind      // "" = submission
	Lane           judge.Lane      // 0 = judge.LaneNormal; in judge.LaneStaff it goes first and does not touch the group's clock
	Priority       int             // higher goes first within a lane; staff only
	Delay          time.Duration   // not before so long from now
	Space          int64           // id of the space that it is handed in to; 0 = none, or that of the round
	Round          int64           // id of the round that it is handed in to; 0 = none
	Participant    int64           // id of who hands it in to the round, and whose turn it takes
	At             time.Time       // when it counts as handed in to the round, of staff who hand in for somebody; zero = now
	Apart          time.Duration   // how long after the last one of the problem the round takes another from who hands it in; 0 = at once
	Most           int             // how many of the problem it takes from them; 0 = any number
	Number         int64           // that it gets in the round, of staff likewise; 0 = the next
	Unofficial     bool            // of somebody who prepares the space, whom its times and limits do not bind
}

// Spec returns the SHA-256 of what makes two submissions the same work: queue, kind, group, problem, language and
// sources, as canonical JSON. Versions of problem, checker and adapter are not in it: they are resolved at the claim,
// and so are the same for all that wait.
func (n NewJob) Spec() ([]byte, error) {
	type source struct {
		Name   string
		Digest [sha256.Size]byte
	}
	spec := struct {
		Queue, Kind, Group, Problem, Language string
		Sources                               []source
		Payload                               json.RawMessage
		Space, Round                          int64 `json:",omitempty"`
	}{
		Queue: pg.OrDefault(n.Queue, judge.DefaultQueue), Kind: pg.OrDefault(string(n.Kind), string(judge.KindSubmission)),
		Group: n.group(), Problem: n.Problem, Language: n.Language, Payload: n.Payload, Space: n.Space, Round: n.Round,
	}
	for _, s := range n.Sources {
		spec.Sources = append(spec.Sources, source{s.Name, sha256.Sum256([]byte(s.Text))})
	}
	b, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("submit: encode spec: %w", err)
	}
	sum := sha256.Sum256(b)
	return sum[:], nil
}

// Receipt is the answer to a submit.
type Receipt struct {
	JobID    int64
	Existing bool // the job was there before (same idempotency key, job key or spec hash)
}

// Submit stores a submission and its queue row in one statement, hence in one transaction: when it returns a Receipt,
// the job will be judged. It is idempotent by IdempotencyKey. An unknown problem, or a key used again with different
// content, is a [*judge.FieldError]; [ErrQueueFull] means later, and a [*judge.SpaceError] or a
// [*judge.RoundError] that a space or a round does not take it now.
//
// Submits at the same time share a statement. What is refused of one of them is refused to it alone.
func (s *Site) Submit(ctx context.Context, n NewJob) (Receipt, error) {
	return s.submits.Ask(ctx, n)
}

// submitTogether stores what several callers hand in.
func (s *Site) submitTogether(ctx context.Context, ns []NewJob) []pg.Answered[Receipt] {
	out := make([]pg.Answered[Receipt], len(ns))
	rs, err := s.SubmitMany(ctx, ns)
	for i := range ns {
		switch {
		case err == nil:
			out[i].Answer = rs[i]
		case len(ns) == 1:
			out[i].Err = err
		default: // one of them is at fault, and nothing was stored
			out[i] = s.submitTogether(ctx, ns[i:i+1])[0]
		}
	}
	return out
}

// SubmitMany stores many submissions of one queue in one statement. The answers
// are in the order of ns; one refused submission refuses them all.
func (s *Site) SubmitMany(ctx context.Context, ns []NewJob) ([]Receipt, error) {
	if len(ns) == 0 {
		return nil, nil
	}
	b, err := newBatch(ns)
	if err != nil {
		return nil, err
	}
	// A key that somebody else inserts between our look and our insert shows as a unique violation, and two batches
	// with the same keys may wait for each other: nothing was stored then, and the next look finds the key.
	const tries = 5
	for range tries {
		answers, err := pg.Rows(ctx, s.db, s.queue, b.statement(), b.args(), pgx.RowToStructByPos[submitAnswer])
		if pe, ok := errors.AsType[*pgconn.PgError](err); ok && (pe.Code == uniqueViolation || pe.Code == deadlockDetected) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("submit: %w", err)
		}
		receipts, raced, err := s.receipts(ctx, b, answers)
		if err != nil {
			return nil, err
		}
		if !raced {
			return b.handOut(receipts), nil
		}
	}
	return nil, fmt.Errorf("submit: gave up after losing %d races for the same key", tries)
}

// Errors of PostgreSQL, by its manual, appendix A.
const (
	uniqueViolation  = "23505"
	deadlockDetected = "40P01"
)

// submitAnswer is a row of SubmissionSubmit.
type submitAnswer struct {
	N        int64
	JobID    *int64
	Outcome  string
	Patience *time.Duration // until a space takes another of the same member; nil = unknown
}

// receipts turns the answers of the database into those of Submit.
func (s *Site) receipts(ctx context.Context, b *batch, answers []submitAnswer) (out []Receipt, raced bool, err error) {
	stored := false
	for i, a := range answers {
		switch a.Outcome {
		case "new":
			stored = true
			out = append(out, Receipt{JobID: *a.JobID})
		case "same":
			if err := s.checkSame(ctx, *a.JobID, b.payloads[i], b.spaces[i], b.rounds[i]); err != nil {
				return nil, false, err
			}
			out = append(out, Receipt{JobID: *a.JobID, Existing: true})
		case "keyed":
			ids, err := pg.Rows(ctx, s.db, s.queue, "SubmissionReplace",
				pg.Args{"job_id": *a.JobID, "payload": b.payloads[i], "code_bytes": b.codeBytes[i]}, pgx.RowTo[int64])
			if err != nil {
				return nil, false, fmt.Errorf("submit job key %q again: %w", *b.jobKeys[i], err)
			}
			raced = raced || len(ids) == 0 // it ended meanwhile: look again
			out = append(out, Receipt{JobID: *a.JobID, Existing: true})
		case "specified":
			out = append(out, Receipt{JobID: *a.JobID, Existing: true})
		case "unknown_problem":
			return nil, false, judge.Wrong("problem", "unknown", "there is no problem %q", b.problems[i])
		case "unknown_queue":
			return nil, false, judge.Wrong("queue", "unknown", "there is no queue %q", b.queue)
		case "queue_full":
			return nil, false, ErrQueueFull
		case string(judge.RoundNoParticipant), string(judge.RoundBanned), string(judge.RoundOtherProblem), string(judge.RoundProblemPaused), string(judge.RoundTooMany), string(judge.RoundTooSoon):
			return nil, false, &judge.RoundError{Refusal: judge.RoundRefusal(a.Outcome), Patience: a.Patience}
		case string(judge.SpaceNotMember), string(judge.SpaceNotOpen), string(judge.SpaceClosed), string(judge.SpaceTooFast), string(judge.SpaceTooManyWaiting):
			if b.rounds[i] != nil {
				return nil, false, &judge.RoundError{Refusal: judge.RoundRefusal(a.Outcome), Patience: a.Patience}
			}
			return nil, false, &judge.SpaceError{Refusal: judge.SpaceRefusal(a.Outcome), Patience: a.Patience}
		default: // not stored, because another is refused
			raced = true
		}
	}
	if stored {
		s.db.Wake(pg.ChannelOutbox, "")
	}
	return out, raced, nil
}

// checkSame refuses an idempotency key that was used with other content.
func (s *Site) checkSame(ctx context.Context, jobID int64, payload []byte, space, round *int64) error {
	same, found, err := pg.Row(ctx, s.db, s.queue, "SubmissionSame", pg.Args{"job_id": jobID}, func(r pgx.CollectableRow) (same bool, err error) {
		var before []byte
		var in, at *int64
		if err := r.Scan(&before, &in, &at); err != nil {
			return false, err
		}
		if before == nil {
			return true, nil
		}
		elsewhere := orZero(at) != orZero(round) || at == nil && orZero(in) != orZero(space) // a round has its space
		return samePayload(before, payload) && !elsewhere, nil
	})
	if err != nil {
		return fmt.Errorf("compare with job %d: %w", jobID, err)
	}
	if found && !same {
		return keyReused("the key was used before, for job %d, with different content", jobID)
	}
	return nil
}

// samePayload compares a payload with one that an older program may have written in another way.
func samePayload(before, now []byte) bool {
	if bytes.Equal(before, now) {
		return true
	}
	a, err := judge.DecodePayload(before)
	if err != nil {
		return false
	}
	b, err := judge.DecodePayload(now)
	return err == nil && a.SchemaVersion == b.SchemaVersion && a.ContentType == judge.PayloadType && b.ContentType == judge.PayloadType &&
		a.Problem == b.Problem && a.Language == b.Language && slices.Equal(a.Sources, b.Sources)
}

func keyReused(format string, args ...any) error {
	return judge.Wrong("idempotency_key", "reused", format, args...)
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
