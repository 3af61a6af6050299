package sql

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

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
	spaces, rounds, participants                       []*int64
	unofficials                                        []bool
	moments                                            []*time.Time
	numbers                                            []*int64
	intervals                                          []time.Duration
	mosts                                              []int32
	spacious                                           bool // some are handed in to spaces
	timed                                              bool // they are handed in to rounds, or to neither

	// Of each submission, the row that stores it. Submissions with the same idempotency key share one.
	rows []int
}

// scopedKey is an idempotency key: submitters do not share theirs.
type scopedKey struct{ group, key string }

func newBatch(ns []NewJob) (*batch, error) {
	b := &batch{queue: pg.OrDefault(ns[0].Queue, judge.DefaultQueue), timed: ns[0].Round != 0}
	seen := map[string]bool{}
	first := map[scopedKey]int{}
	for i := range ns {
		n := &ns[i]
		if pg.OrDefault(n.Queue, judge.DefaultQueue) != b.queue {
			return nil, errors.New("submit: one statement serves one queue")
		}
		if (n.Round != 0) != b.timed {
			return nil, errors.New("submit: one statement serves rounds, or what is in none")
		}
		for _, key := range []string{n.JobKey, string(n.SpecHash)} {
			if key != "" && seen[key] {
				return nil, judge.Wrong("job_key", "duplicate", "give each submission of a batch its own key")
			}
			seen[key] = true
		}
		payload, err := n.payload()
		if err != nil {
			return nil, err
		}
		row := len(b.kinds)
		if n.IdempotencyKey != "" {
			key := scopedKey{n.group(), n.IdempotencyKey}
			if k, again := first[key]; again {
				if !bytes.Equal(b.payloads[k], payload) || ns[i].Space != orZero(b.spaces[k]) || ns[i].Round != orZero(b.rounds[k]) {
					return nil, keyReused("the key is used twice, with different content")
				}
				b.rows = append(b.rows, k)
				continue
			}
			first[key] = row
		}
		if err := b.add(n, payload); err != nil {
			return nil, err
		}
		b.rows = append(b.rows, row)
	}
	return b, nil
}

// handOut gives each submission the receipt of its row.
func (b *batch) handOut(receipts []Receipt) []Receipt {
	if len(b.rows) == len(receipts) {
		return receipts
	}
	out := make([]Receipt, len(b.rows))
	given := make([]bool, len(receipts))
	for i, row := range b.rows {
		out[i] = receipts[row]
		out[i].Existing = out[i].Existing || given[row]
		given[row] = true
	}
	return out
}

// group is whose turn the submission takes. No account has a colon in its name.
func (n *NewJob) group() string {
	if n.GroupKey == "" && n.Participant != 0 {
		return "p:" + strconv.FormatInt(n.Participant, 10)
	}
	return pg.OrDefault(n.GroupKey, n.Author)
}

// payload is what the job carries.
func (n *NewJob) payload() ([]byte, error) {
	if n.Payload != nil {
		return n.Payload, nil
	}
	payload, err := judge.Payload{
		SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType,
		Problem: n.Problem, Language: n.Language, Sources: n.Sources,
	}.Encode()
	if err != nil {
		return nil, fmt.Errorf("submit: %w", err)
	}
	return payload, nil
}

func (b *batch) add(n *NewJob, payload []byte) error {
	kind := judge.Kind(pg.OrDefault(string(n.Kind), string(judge.KindSubmission)))
	if kind == judge.KindSubmission && n.Problem == "" {
		return judge.Wrong("problem", "missing", "name the problem")
	}
	code := 0
	for _, src := range n.Sources {
		code += len(src.Text)
	}
	b.kinds = append(b.kinds, string(kind))
	b.pools = append(b.pools, pg.OrDefault(n.Pool, judge.DefaultPool))
	b.groups = append(b.groups, n.group())
	b.languages = append(b.languages, n.Language)
	b.problems = append(b.problems, n.Problem)
	b.authors = append(b.authors, n.Author)
	b.idempotencyKeys = append(b.idempotencyKeys, orNil(n.IdempotencyKey))
	b.jobKeys = append(b.jobKeys, orNil(n.JobKey))
	b.specHashes = append(b.specHashes, n.SpecHash)
	b.traceIDs = append(b.traceIDs, n.TraceID)
	b.lanes = append(b.lanes, cmp.Or(n.Lane, judge.LaneNormal).Number())
	b.priorities = append(b.priorities, int32(n.Priority))
	b.payloads = append(b.payloads, payload)
	b.codeBytes = append(b.codeBytes, int32(code))
	b.delays = append(b.delays, max(n.Delay, 0))
	b.spacious = b.spacious || n.Space != 0
	b.spaces, b.rounds, b.participants = append(b.spaces, idOrNull(n.Space)), append(b.rounds, idOrNull(n.Round)), append(b.participants, idOrNull(n.Participant))
	b.unofficials, b.moments = append(b.unofficials, n.Unofficial), append(b.moments, timeOrNull(n.At))
	b.numbers = append(b.numbers, idOrNull(n.Number))
	b.intervals, b.mosts = append(b.intervals, n.Apart), append(b.mosts, int32(n.Most))
	return nil
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// statement names the one that stores the batch.
func (b *batch) statement() string {
	switch {
	case b.timed:
		return "SubmissionSubmitRound"
	case b.spacious:
		return "SubmissionSubmitSpace"
	}
	return "SubmissionSubmit"
}

func (b *batch) args() pg.Args {
	payloads, ends := pg.Joined(b.payloads)
	a := pg.Args{
		"queue": b.queue, "kinds": b.kinds, "pools": b.pools, "groups": b.groups, "languages": b.languages,
		"problems": b.problems, "authors": b.authors, "idempotency_keys": b.idempotencyKeys, "job_keys": b.jobKeys,
		"spec_hashes": b.specHashes, "trace_ids": b.traceIDs, "lanes": b.lanes, "priorities": b.priorities,
		"payloads": payloads, "ends": ends, "code_bytes": b.codeBytes, "delays": b.delays,
	}
	switch {
	case b.timed:
		a["round_ids"], a["participant_ids"], a["unofficials"], a["moments"], a["numbers"] = b.rounds, b.participants, b.unofficials, b.moments, b.numbers
		a["intervals"], a["mosts"] = b.intervals, b.mosts
	case b.spacious:
		a["space_ids"], a["unofficials"] = b.spaces, b.unofficials
	}
	return a
}
