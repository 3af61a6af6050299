package faults

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5" //nolint:depguard // the oracle reads the tables itself, past package sql

	"deepoj/host/judge"
)

// history is what the workers wrote down.
type history struct {
	claimed    map[[2]int64]string        // job, attempt → token
	finalizing map[[2]int64][]string      // job, attempt → token and verdict of what was handed in
	finalized  map[[2]int64]finalizedLine // job, generation → what the database took
}

type finalizedLine struct {
	attempt        int64
	token, verdict string
}

// read collects the journals, and checks each by itself.
func (w *world) read() (history, error) {
	h := history{map[[2]int64]string{}, map[[2]int64][]string{}, map[[2]int64]finalizedLine{}}
	files, err := filepath.Glob(filepath.Join(w.dir, "*.journal"))
	if err != nil {
		return h, err
	}
	for _, file := range files {
		if err := w.readOne(&h, file); err != nil {
			return h, fmt.Errorf("%s: %w", file, err)
		}
	}
	return h, nil
}

func (w *world) readOne(h *history, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	decided := map[int64]bool{} // by the database, as far as this worker was told
	for lines := bufio.NewScanner(f); lines.Scan(); {
		what, rest, _ := strings.Cut(lines.Text(), " ")
		var job, generation, attempt int64
		var token, verdict string
		n, _ := fmt.Sscan(rest, &job, &generation, &attempt, &token, &verdict)
		switch what {
		case "claimed":
			if n != 4 {
				return fmt.Errorf("%q", lines.Text())
			}
			at := [2]int64{job, attempt}
			if before, twice := h.claimed[at]; twice {
				w.wrong("job %d attempt %d was given out twice: %s, %s", job, attempt, before, token)
			}
			h.claimed[at] = token
		case "finalizing":
			h.finalizing[[2]int64{job, attempt}] = append(h.finalizing[[2]int64{job, attempt}], token+" "+verdict)
		case "finalized":
			at := [2]int64{job, generation}
			if before, twice := h.finalized[at]; twice && before.attempt != attempt {
				w.wrong("job %d generation %d was finished by attempt %d and by attempt %d", job, generation, before.attempt, attempt)
			}
			h.finalized[at] = finalizedLine{attempt, token, verdict}
		case "at", notedAway: // where it ended or stopped itself, and what it gave back
		case "decided":
			decided[job] = true
		case "acked":
			if !decided[job] {
				w.wrong("%s acknowledged job %d before the database had decided about it", filepath.Base(file), job)
			}
		default:
			return fmt.Errorf("%q", lines.Text())
		}
	}
	return nil
}

// row is what a table says of a job.
type row struct {
	id, generation, attempt, tries int64
	status, key                    string
}

// verify compares what clients and workers know with what the tables say.
func (w *world) verify(ctx context.Context) {
	a, err := w.store.Audit(ctx)
	if err != nil || !a.Zero() {
		w.wrong("the last audit: %+v, %v", a, err)
	}
	h, err := w.read()
	if err != nil {
		w.wrong("journals: %v", err)
		return
	}
	conn, err := pgx.Connect(ctx, w.pg.DSN())
	if err != nil {
		w.wrong("%v", err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	w.verifySets(ctx, conn)
	w.verifyJobs(ctx, conn)
	w.verifyResults(ctx, conn, h)
}

// verifyJobs checks that what clients were told is there once, and has ended.
func (w *world) verifyJobs(ctx context.Context, conn *pgx.Conn) {
	rows, err := conn.Query(ctx, "SELECT job_id, generation, attempt_id, tries, status, coalesce(idempotency_key, '') FROM jobs")
	if err != nil {
		w.wrong("%v", err)
		return
	}
	found, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (x row, err error) {
		return x, r.Scan(&x.id, &x.generation, &x.attempt, &x.tries, &x.status, &x.key)
	})
	if err != nil {
		w.wrong("%v", err)
		return
	}
	jobs := map[int64]row{}
	for _, r := range found {
		jobs[r.id] = r
		w.counts["most tries"] = max(w.counts["most tries"], int(r.tries))
		switch judge.Status(r.status) {
		case judge.Finished:
		case judge.Cancelled:
			if !w.staff[r.id] {
				w.wrong("job %d is cancelled and nobody wanted it", r.id)
			}
		case judge.Pending, judge.Running, judge.Dead:
			w.wrong("job %d is %s after %d attempts and %d tries", r.id, r.status, r.attempt, r.tries)
		}
		if r.tries > maxTries {
			w.wrong("job %d had %d tries", r.id, r.tries)
		}
	}
	for key, id := range w.told {
		if r, there := jobs[id]; !there {
			w.wrong("job %d was accepted (key %s) and is lost", id, key)
		} else if r.key != key {
			w.wrong("job %d was accepted for key %s and has key %q", id, key, r.key)
		}
	}
	if len(jobs) != len(w.told) {
		w.wrong("%d jobs were accepted and %d are stored", len(w.told), len(jobs))
	}
	w.counts["jobs"] = len(jobs)
}

// verifySets checks that each set that somebody was told of is there once, that
// nothing shows a judging of a set that was not applied, and that what was applied is
// shown, or something newer. It notes which jobs were cancelled with their set.
func (w *world) verifySets(ctx context.Context, conn *pgx.Conn) {
	var key string
	var id int64
	stored := map[string]int64{}
	each := func(query string, do func(), into ...any) {
		rows, err := conn.Query(ctx, query)
		if err == nil {
			_, err = pgx.ForEachRow(rows, into, func() error { do(); return nil })
		}
		if err != nil {
			w.wrong("%s: %v", query, err)
		}
	}
	each("SELECT key, id FROM rejudge_sets", func() { stored[key] = id }, &key, &id)
	for key, id := range w.sets {
		if stored[key] != id {
			w.wrong("set %d was begun (key %s), and the table has %d", id, key, stored[key])
		}
	}
	each(`SELECT m.job_id FROM rejudge_set_jobs m JOIN rejudge_sets s ON s.id = m.set_id WHERE s.resolution = 'cancelled'`, func() { w.staff[id] = true }, &id)
	each(`SELECT m.job_id FROM rejudge_set_jobs m JOIN rejudge_sets s ON s.id = m.set_id JOIN submissions u ON u.job_id = m.job_id
		WHERE u.live_generation = m.generation AND s.resolution IS DISTINCT FROM 'applied'`, func() {
		w.wrong("job %d shows a judging of a set that was not applied", id)
	}, &id)
	each(`SELECT e.job_id FROM events e JOIN submissions u ON u.job_id = e.job_id WHERE e.kind = 'applied' AND u.live_generation < e.generation`, func() {
		w.wrong("job %d does not show what a set gave it", id)
	}, &id)
	each("SELECT count(*) FROM rejudge_set_jobs", func() { w.counts["judgings of sets"] = int(id) }, &id)
}

// verifyResults checks that each result is what exactly the worker handed in
// that held the attempt, and that it stayed as it was.
func (w *world) verifyResults(ctx context.Context, conn *pgx.Conn, h history) {
	keys := map[int64]string{}
	for key, id := range w.told {
		keys[id] = key
	}
	rows, err := conn.Query(ctx, `SELECT job_id, generation, attempt_id, token::text, verdict, result ->> 'message', result ->> 'judge_message' FROM results`)
	if err != nil {
		w.wrong("%v", err)
		return
	}
	stored := map[[2]int64]finalizedLine{}
	for rows.Next() {
		var job, generation, attempt int64
		var token, verdict, key, by string
		if err := rows.Scan(&job, &generation, &attempt, &token, &verdict, &key, &by); err != nil {
			w.wrong("%v", err)
			return
		}
		stored[[2]int64{job, generation}] = finalizedLine{attempt, token, verdict}
		if key != keys[job] || verdict != string(verdictOf(keys[job])) {
			w.wrong("job %d (key %s) has the result of key %s: %s", job, keys[job], key, verdict)
		}
		if by != token {
			w.wrong("job %d shows under attempt %d what another one found", job, attempt)
		}
		if h.claimed[[2]int64{job, attempt}] != token {
			w.wrong("job %d attempt %d has a result, and nobody claimed it with that token", job, attempt)
		}
		handedIn := false
		for _, line := range h.finalizing[[2]int64{job, attempt}] {
			handedIn = handedIn || line == token+" "+verdict
		}
		if !handedIn {
			w.wrong("job %d attempt %d has a result that nobody handed in", job, attempt)
		}
	}
	if err := rows.Err(); err != nil {
		w.wrong("%v", err)
	}
	for at, line := range h.finalized {
		if stored[at] != line {
			w.wrong("job %d generation %d: the worker was told that %+v is recorded, and the table has %+v", at[0], at[1], line, stored[at])
		}
	}
	w.counts["results"] = len(stored)
}

// acknowledged reports whether any worker has acknowledged anything.
func (w *world) acknowledged() bool {
	files, _ := filepath.Glob(filepath.Join(w.dir, "*.journal"))
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "acked ") {
			return true
		}
	}
	return false
}

// overwritten counts results that stand under the attempt of another.
func (w *world) overwritten(ctx context.Context) (n int) {
	conn, err := pgx.Connect(ctx, w.pg.DSN())
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close(ctx) }()
	_ = conn.QueryRow(ctx, "SELECT count(*) FROM results WHERE result ->> 'judge_message' <> token::text").Scan(&n)
	return n
}

// judgedInSets counts results of judgings of rejudge sets.
func (w *world) judgedInSets(ctx context.Context) (n int) {
	conn, err := pgx.Connect(ctx, w.pg.DSN())
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close(ctx) }()
	_ = conn.QueryRow(ctx, "SELECT count(*) FROM rejudge_set_jobs JOIN results USING (job_id, generation)").Scan(&n)
	return n
}

// show is the mutant that shows every result at once.
func show(ctx context.Context, dsn string, a judge.Attempt, r judge.Result) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, "UPDATE jobs SET live_generation = $2, verdict = $3 WHERE job_id = $1", a.JobID, a.Generation, string(r.Verdict))
	return err
}

// overwrite is the mutant without a fence: it puts a refused result in place of
// the one that is there, or beside what runs.
func overwrite(ctx context.Context, dsn string, a judge.Attempt, r judge.Result) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, `UPDATE results SET attempt_id = $3, verdict = $4, token = $5::uuid WHERE job_id = $1 AND generation = $2`,
		a.JobID, a.Generation, a.AttemptID, string(r.Verdict), a.Token)
	return err
}
