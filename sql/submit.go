package sql

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"deepoj/host/judge"
)

// NewSubmission is what a submit stores. Problem and checker versions are not
// part of it: they are resolved when a worker claims the job.
type NewSubmission struct {
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
	Queue          string          // "" = DefaultQueue
	Pool           string          // "" = DefaultPool
	Kind           judge.Kind      // "" = submission
	Lane           judge.Lane      // 0 = judge.LaneNormal; see Immediate
	Immediate      bool            // goes first (judge.LaneStaff) and does not touch the group's clock
	Priority       int             // higher goes first within a lane; staff only
	Delay          time.Duration   // not before so long from now
	Space          int64           // id of the space that it is handed in to; 0 = none
	Unofficial     bool            // of somebody who prepares the space, whom its times and limits do not bind
}

// Spec returns the SHA-256 of what makes two submissions the same work: queue,
// kind, group, problem, language and sources, as canonical JSON. Versions of
// problem, checker and adapter are not in it: they are resolved at the claim, and
// so are the same for all that wait.
func (n NewSubmission) Spec() ([]byte, error) {
	type source struct {
		Name   string
		Digest [sha256.Size]byte
	}
	spec := struct {
		Queue, Kind, Group, Problem, Language string
		Sources                               []source
		Payload                               json.RawMessage
		Space                                 int64 `json:",omitempty"`
	}{
		Queue: orDefault(n.Queue, DefaultQueue), Kind: orDefault(string(n.Kind), string(judge.KindSubmission)),
		Group: orDefault(n.GroupKey, n.Author), Problem: n.Problem, Language: n.Language, Payload: n.Payload, Space: n.Space,
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

// Submit stores a submission and its queue row in one statement, hence in one
// transaction: when it returns a Receipt, the job will be judged. It is
// idempotent by IdempotencyKey. An unknown problem, or a key used again with
// different content, is a [*judge.FieldError]; [ErrQueueFull] means later, and a
// [*SpaceError] that a space does not take it now.
//
// Submits at the same time share a statement. What is refused of one of them is
// refused to it alone.
func (s *Store) Submit(ctx context.Context, n NewSubmission) (Receipt, error) {
	return s.submits.ask(ctx, n)
}

// submitTogether stores what several callers hand in.
func (s *Store) submitTogether(ctx context.Context, ns []NewSubmission) []answered[Receipt] {
	out := make([]answered[Receipt], len(ns))
	rs, err := s.SubmitMany(ctx, ns)
	for i := range ns {
		switch {
		case err == nil:
			out[i].answer = rs[i]
		case len(ns) == 1:
			out[i].err = err
		default: // one of them is at fault, and nothing was stored
			out[i] = s.submitTogether(ctx, ns[i:i+1])[0]
		}
	}
	return out
}

// SubmitMany stores many submissions of one queue in one statement. The answers
// are in the order of ns; one refused submission refuses them all.
func (s *Store) SubmitMany(ctx context.Context, ns []NewSubmission) ([]Receipt, error) {
	if len(ns) == 0 {
		return nil, nil
	}
	b, err := newBatch(ns)
	if err != nil {
		return nil, err
	}
	// A row that somebody else inserts between our look and our insert shows as
	// a raced row or a unique violation; the next look finds it.
	const tries = 5
	for range tries {
		answers, err := rows(ctx, s, s.queue, b.statement(), b.args(), pgx.RowToStructByPos[submitAnswer])
		if pe, ok := errors.AsType[*pgconn.PgError](err); ok && pe.Code == "23505" {
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
			return receipts, nil
		}
	}
	return nil, fmt.Errorf("submit: gave up after losing %d races for the same key", tries)
}

// submitAnswer is a row of SubmissionSubmit.
type submitAnswer struct {
	N        int64
	JobID    *int64
	Outcome  string
	Patience *time.Duration // until a space takes another of the same member; nil = unknown
}

// receipts turns the answers of the database into those of Submit.
func (s *Store) receipts(ctx context.Context, b *batch, answers []submitAnswer) (out []Receipt, raced bool, err error) {
	stored := false
	for i, a := range answers {
		switch a.Outcome {
		case "new":
			stored = true
			out = append(out, Receipt{JobID: *a.JobID})
		case "same":
			if err := s.checkSame(ctx, *a.JobID, b.payloads[i], b.spaces[i]); err != nil {
				return nil, false, err
			}
			out = append(out, Receipt{JobID: *a.JobID, Existing: true})
		case "keyed":
			ids, err := rows(ctx, s, s.queue, "SubmissionReplace",
				args{"job_id": *a.JobID, "payload": b.payloads[i], "code_bytes": b.codeBytes[i]}, pgx.RowTo[int64])
			if err != nil {
				return nil, false, fmt.Errorf("submit job key %q again: %w", *b.jobKeys[i], err)
			}
			raced = raced || len(ids) == 0 // it ended meanwhile: look again
			out = append(out, Receipt{JobID: *a.JobID, Existing: true})
		case "specified":
			out = append(out, Receipt{JobID: *a.JobID, Existing: true})
		case "unknown_problem":
			return nil, false, &judge.FieldError{Field: "problem", Reason: "unknown", Remedy: fmt.Sprintf("there is no problem %q", b.problems[i])}
		case "unknown_queue":
			return nil, false, &judge.FieldError{Field: "queue", Reason: "unknown", Remedy: fmt.Sprintf("there is no queue %q", b.queue)}
		case "queue_full":
			return nil, false, ErrQueueFull
		case string(SpaceNotMember), string(SpaceNotOpen), string(SpaceClosed), string(SpaceTooFast), string(SpaceTooManyWaiting):
			return nil, false, &SpaceError{Refusal: SpaceRefusal(a.Outcome), Patience: a.Patience}
		default:
			raced = true
		}
	}
	if stored {
		s.wake(message{ChannelOutbox, ""})
	}
	return out, raced, nil
}

// checkSame refuses an idempotency key that was used with other content.
func (s *Store) checkSame(ctx context.Context, jobID int64, payload []byte, space *int64) error {
	same, found, err := row(ctx, s, s.queue, "SubmissionSame", args{"job_id": jobID, "payload": payload, "space_id": space}, pgx.RowTo[*bool])
	if err != nil {
		return fmt.Errorf("compare with job %d: %w", jobID, err)
	}
	if found && same != nil && !*same {
		return &judge.FieldError{
			Field: "idempotency_key", Reason: "reused",
			Remedy: fmt.Sprintf("the key was used before, for job %d, with different content", jobID),
		}
	}
	return nil
}

// batch holds the columns of SubmissionSubmit.
type batch struct {
	queue                                              string
	kinds, pools, groups, languages, problems, authors []string
	idempotencyKeys, jobKeys                           []*string
	specHashes                                         [][]byte
	traceIDs                                           []string
	lanes                                              []int16
	priorities, codeBytes                              []int32
	payloads                                           [][]byte
	delays                                             []time.Duration
	spaces                                             []*int64
	unofficials                                        []bool
	spacious                                           bool // some are handed in to spaces
}

func newBatch(ns []NewSubmission) (*batch, error) {
	b := &batch{queue: orDefault(ns[0].Queue, DefaultQueue)}
	seen := map[string]bool{}
	for i := range ns {
		n := &ns[i]
		if orDefault(n.Queue, DefaultQueue) != b.queue {
			return nil, errors.New("submit: one statement serves one queue")
		}
		for _, key := range []string{n.JobKey, string(n.SpecHash)} {
			if key != "" && seen[key] {
				return nil, &judge.FieldError{Field: "job_key", Reason: "duplicate", Remedy: "give each submission of a batch its own key"}
			}
			seen[key] = true
		}
		if err := b.add(n); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *batch) add(n *NewSubmission) error {
	kind := judge.Kind(orDefault(string(n.Kind), string(judge.KindSubmission)))
	payload := []byte(n.Payload)
	if payload == nil {
		var err error
		payload, err = json.Marshal(judge.Payload{
			SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType,
			Problem: n.Problem, Language: n.Language, Sources: n.Sources,
		})
		if err != nil {
			return fmt.Errorf("submit: encode payload: %w", err)
		}
	}
	if kind == judge.KindSubmission && n.Problem == "" {
		return &judge.FieldError{Field: "problem", Reason: "missing", Remedy: "name the problem"}
	}
	code := 0
	for _, src := range n.Sources {
		code += len(src.Text)
	}
	lane := n.Lane
	if lane == judge.LaneStaff {
		lane = judge.LaneNormal
	}
	if n.Immediate {
		lane = judge.LaneStaff
	}
	b.kinds = append(b.kinds, string(kind))
	b.pools = append(b.pools, orDefault(n.Pool, DefaultPool))
	b.groups = append(b.groups, orDefault(n.GroupKey, n.Author))
	b.languages = append(b.languages, n.Language)
	b.problems = append(b.problems, n.Problem)
	b.authors = append(b.authors, n.Author)
	b.idempotencyKeys = append(b.idempotencyKeys, orNil(n.IdempotencyKey))
	b.jobKeys = append(b.jobKeys, orNil(n.JobKey))
	b.specHashes = append(b.specHashes, n.SpecHash)
	b.traceIDs = append(b.traceIDs, n.TraceID)
	b.lanes = append(b.lanes, int16(lane))
	b.priorities = append(b.priorities, int32(n.Priority))
	b.payloads = append(b.payloads, payload)
	b.codeBytes = append(b.codeBytes, int32(code))
	b.delays = append(b.delays, max(n.Delay, 0))
	var space *int64
	if n.Space != 0 {
		space, b.spacious = &n.Space, true
	}
	b.spaces = append(b.spaces, space)
	b.unofficials = append(b.unofficials, n.Unofficial)
	return nil
}

// statement names the one that stores the batch.
func (b *batch) statement() string {
	if b.spacious {
		return "SubmissionSubmitSpace"
	}
	return "SubmissionSubmit"
}

func (b *batch) args() args {
	a := args{
		"queue": b.queue, "kinds": b.kinds, "pools": b.pools, "groups": b.groups, "languages": b.languages,
		"problems": b.problems, "authors": b.authors, "idempotency_keys": b.idempotencyKeys, "job_keys": b.jobKeys,
		"spec_hashes": b.specHashes, "trace_ids": b.traceIDs, "lanes": b.lanes, "priorities": b.priorities,
		"payloads": b.payloads, "code_bytes": b.codeBytes, "delays": b.delays,
	}
	if b.spacious {
		a["space_ids"], a["unofficials"] = b.spaces, b.unofficials
	}
	return a
}

// eventsOf is the message that jobs have new events.
func eventsOf(ids ...int64) []message {
	ms := make([]message, len(ids))
	for i, id := range ids {
		ms[i] = message{ChannelEvents, strconv.FormatInt(id, 10)}
	}
	return ms
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
