package jobs_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"deepoj/sql/sqltest"
)

// effort returns how often a random test runs: n, or DEEPOJ_EFFORT times that.
func effort(t *testing.T, n int) int {
	t.Helper()
	v := os.Getenv("DEEPOJ_EFFORT")
	if v == "" {
		return n
	}
	times, err := strconv.Atoi(v)
	if err != nil || times < 1 {
		t.Fatalf("DEEPOJ_EFFORT=%s is no positive number", v)
	}
	return n * times
}

func TestTheStatementsFollowTheProtocol(t *testing.T) {
	s := openForProtocol(t)
	sqltest.Must(t, flag.Set("rapid.checks", strconv.Itoa(effort(t, 15))))
	rapid.Check(t, func(rt *rapid.T) {
		reset(t, s)
		p := newProtocol(t, s, func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(rt, what) })
		p.later = rapid.Bool().Draw(rt, "sets and retention")
		if err := p.run(40); err != nil {
			rt.Fatalf("%v\n%s", err, strings.Join(p.log, "\n"))
		}
		if err := p.checkResults(); err != nil {
			rt.Fatal(err)
		}
	})
}

// openForProtocol is open with few tries, so that random runs use them up.
func openForProtocol(t *testing.T) *sqltest.Store {
	t.Helper()
	s := sqltest.WithProblem(t)
	s.Exec(t, "UPDATE queues SET max_tries = $1", maxTries)
	return s
}

// mutants are mistakes that somebody could make in a statement. The protocol
// test must notice each of them.
var mutants = map[string]struct{ statement, old, replacement string }{
	"finalize without the token": {
		"JobFinalize", "attempt_id = ($5::integer[])[width_bucket(job_id, $3)]\n    AND lease_owner = ($6::text[])[($7::integer[])[width_bucket(job_id, $3)]]\n    AND lease_token = ($8::uuid[])[($7)[width_bucket(job_id, $3)]]",
		"$5::integer[] IS NOT NULL AND $6::text[] IS NOT NULL AND $7::integer[] IS NOT NULL AND $8::uuid[] IS NOT NULL",
	},
	"finalize keeps the queue row":       {"JobFinalize", "outbox_events WHERE job_id", "outbox_events WHERE false AND job_id"},
	"finalize without an event":          {"JobFinalize", "FROM finished HAVING count(*) > 0", "FROM finished HAVING false"},
	"finalize does not show the verdict": {"JobFinalize", "WHEN rejudge_set IS NULL", "WHEN false"},
	"finalize refuses a late worker":     {"JobRenewExpired", "AND lease_until <= now()", "AND false"},
	"claim without status":               {"JobClaim", "AND status = 'pending'", "AND status <> 'finished'"},
	"claim before its time":              {"JobClaim", "AND not_before <= now()", ""},
	"claim keeps the attempt":            {"JobClaim", "'running', attempt_id = attempt_id + 1", "'running', attempt_id = greatest(attempt_id, 1)"},
	"claim leaves the queue row":         {"JobClaim", "SET state = 'L', attempt_id = attempt_id + 1", "SET attempt_id = attempt_id + 1"},
	"claim without an event":             {"JobClaim", "FROM claimed HAVING count(*) > 0", "FROM claimed HAVING false"},
	"take keeps the attempt":             {"JobTake", "'running', attempt_id = attempt_id + 1", "'running', attempt_id = greatest(attempt_id, 1)"},
	"take leaves the queue row":          {"JobTake", "SET state = 'L', attempt_id = attempt_id + 1", "SET attempt_id = attempt_id + 1"},
	"take without an event":              {"JobTake", "FROM claimed HAVING count(*) > 0", "FROM claimed HAVING false"},
	"take of what was delivered":         {"JobTake", "AND o.state = 'R'\n    AND (", "AND o.state IN ('R', 'D')\n    AND ("},
	"what was taken is forgotten":        {"JobsHeld", "o.state = 'L' AND", "o.state = 'D' AND"},
	"heartbeat of anybody": {
		"JobHeartbeat", "attempt_id = ($3::integer[])[width_bucket(job_id, $2)]\n  AND lease_owner = ($4::text[])[($5::integer[])[width_bucket(job_id, $2)]]\n  AND lease_token = ($6::uuid[])[($5)[width_bucket(job_id, $2)]]",
		"$3::integer[] IS NOT NULL AND $4::text[] IS NOT NULL AND $5::integer[] IS NOT NULL AND $6::uuid[] IS NOT NULL",
	},
	"progress of anybody": {
		"JobProgress", "AND j.attempt_id = $2::integer\n    AND j.lease_owner = $3::text AND j.lease_token = $4::uuid",
		"AND $2::integer > 0 AND $3::text <> '' AND $4::uuid IS NOT NULL",
	},
	"no reaper":                                     {"JobReap", "AND h.expired", "AND false"},
	"reaper trusts the hint":                        {"JobReap", "AND h.expired", ""},
	"reaper counts no try":                          {"JobReap", "tries = j.tries + 1, last_error", "tries = j.tries, last_error"},
	"reaper never gives up":                         {"JobReap", "CASE WHEN h.hopeless THEN 'dead'", "CASE WHEN false THEN 'dead'"},
	"reaper forgets the queue row":                  {"JobReap", "UPDATE outbox_events o SET state = 'R', lane", "UPDATE outbox_events o SET lane"},
	"failure is never final":                        {"JobFail", "$6::boolean AND j.tries + 1 >= j.max_tries THEN 'dead'", "$6::boolean AND false THEN 'dead'"},
	"failure without a trace":                       {"JobFail", "THEN 'failed' ELSE 'released' END, $7 FROM failed", "THEN 'failed' ELSE 'released' END, $7 FROM failed WHERE false"},
	"failure of anybody":                            {"JobFail", "AND attempt_id = $2::integer AND lease_owner = $3::text AND lease_token = $4::uuid", "AND $2::integer = $2::integer AND $3::text = $3::text AND $4::uuid = $4::uuid"},
	"giving back counts":                            {"JobFail", "tries = least(j.tries + $6::integer", "tries = least(j.tries + 1 + 0 * $6::integer"},
	"no redelivery":                                 {"OutboxRedeliver", "lock_until < now() OR", "false OR"},
	"redelivery of everything":                      {"OutboxRedeliver", "lock_until < now() OR $1::boolean", "lock_until < now() OR $1::boolean OR true"},
	"redelivery without an event":                   {"OutboxRedeliver", "'redelivered' FROM moved", "'redelivered' FROM moved WHERE false"},
	"pick without a mark":                           {"OutboxPick", "SET state = 'D', rank_at", "SET rank_at"},
	"pick without an event":                         {"OutboxPick", "'dispatched' FROM won", "'dispatched' FROM won WHERE false"},
	"promote too early":                             {"OutboxPromote", "AND not_before <= now()", ""},
	"submit without an event":                       {"SubmissionSubmit", "FROM made WHERE ids IS NOT NULL", "FROM made WHERE false"},
	"submit without an outbox row":                  {"SubmissionSubmit", "placed s, turn, q)", "placed s, turn, q WHERE false)"},
	"cancel keeps the queue row":                    {"JobCancel", "outbox_events WHERE job_id", "outbox_events WHERE job_id = -1 AND job_id"},
	"rejudge resets the attempt":                    {"JobRejudge", "generation = j.generation + 1,", "generation = j.generation + 1, attempt_id = 0,"},
	"rejudge keeps the generation":                  {"JobRejudge", "generation = j.generation + 1", "generation = j.generation"},
	"rejudge keeps the tries":                       {"JobRejudge", "tries = 0,", ""},
	"rejudge leaves the dead letter":                {"JobRejudge", "d.resolution IS DISTINCT FROM 'replayed'", "false"},
	"rejudge forgets the queue row":                 {"JobRejudge", "DO UPDATE SET lane = excluded.lane, priority = excluded.priority, rank_at = excluded.rank_at, state = 'R',", "DO UPDATE SET lane = excluded.lane,"},
	"a set shows its verdicts before it is applied": {"JobFinalize", "WHEN rejudge_set IS NULL", "WHEN true"},
	"a set keeps what is rejudged":                  {"JobRejudge", "rejudge_set = $3::bigint", "rejudge_set = coalesce(j.rejudge_set, $3::bigint)"},
	"a set is applied while it is judged":           {"RejudgeSetApply", "count(*) AS n FROM member WHERE status IN ('pending', 'running')", "0 AS n"},
	"a set takes back a newer rejudge":              {"RejudgeSetApply", "AND j.generation = m.generation", ""},
	"a cancelled set keeps the queue rows":          {"RejudgeSetCancel", "WHERE job_id = ANY (ARRAY(SELECT job_id FROM cancelled))", "WHERE false"},
	"a cancelled set keeps its attempts":            {"RejudgeSetCancel", "'cancelled' FROM cancelled WHERE was = 'running'", "'cancelled' FROM cancelled WHERE false"},
	"retention of what is under way":                {"RetireEvents", "AND j.finished_at < now() - $1", ""},
	"retention of the newest move":                  {"RetireEvents", "AND EXISTS (SELECT 1 FROM events_of(s.job_id) n WHERE", "AND NOT EXISTS (SELECT 1 FROM events_of(s.job_id) n WHERE false AND"},
	"retention of a batch with the newest move":     {"RetireEvents", "OR b.kind IN ('finished', 'imported') AND j.generation = u.generation", ""},
	"retention of a batch that is under way":        {"RetireEvents", "j.finished_at IS NULL OR ", ""},
	"undo of something long gone":                   {"JobUndo", "AND (a.detail ->> 'attempt')::integer = h.attempt_id", ""},
	"move without an event":                         {"JobMove", "'before', $2) FROM moved)", "'before', $2) FROM moved WHERE false)"},
	"move next to what is not ready":                {"JobMove", "<> (SELECT job_id FROM old) AND state = 'R'", "<> (SELECT job_id FROM old)"},
	"release of a delivered job":                    {"JobRelease", " AND state IN ('R', 'S') FOR UPDATE", " FOR UPDATE"},
}

func TestEveryMutantIsCaught(t *testing.T) {
	t.Parallel()
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openForProtocol(t)
			s.Mutate(t, m.statement, m.old, m.replacement)
			later := strings.HasPrefix(name, "a set") || strings.Contains(m.statement, "Set") || strings.HasPrefix(m.statement, "Retire")
			for seed := range uint64(effort(t, 90)) {
				if err := randomRun(t, s, seed, later); err != nil {
					if pe, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(pe.Code, "42") {
						t.Fatalf("the mutant is no statement: %v", err)
					}
					t.Logf("caught with seed %d: %v", seed, err)
					return
				}
			}
			t.Error("the protocol test does not notice")
		})
	}
}

// randomRun is a run of the protocol without shrinking.
func randomRun(t *testing.T, s *sqltest.Store, seed uint64, later bool) error {
	t.Helper()
	reset(t, s)
	r := rand.New(rand.NewPCG(seed, 1))
	p := newProtocol(t, s, func(n int, _ string) int { return r.IntN(n) })
	p.later = later
	if err := p.run(60); err != nil {
		return fmt.Errorf("step %d: %w", len(p.log), err)
	}
	return p.checkResults()
}
