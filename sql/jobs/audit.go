package jobs

import (
	"context"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
)

// Audit counts violations of the protocol. Every figure must be zero at any moment, also while jobs are moving.
type Audit struct {
	QueueRowMismatch       int64 // unfinished without its queue row, finished with one, or in a wrong state
	FinishedWithoutResult  int64 // finished without a result of the newest attempt
	ResultWithoutFinished  int64 // a result of the newest generation, but not finished; or of no job
	AttemptsLost           int64 // attempts that neither run nor ended
	TransitionWithoutEvent int64 // the newest event is not the newest move
	LiveWithoutResult      int64 // live_generation names no result, or another verdict
	DeadWithoutLetter      int64 // dead without a dead letter, or the reverse
	TriesExceeded          int64 // more tries than max_tries
	Stuck                  int64 // leases that ran out two minutes ago and nobody reclaimed

	// Of the logs of rounds.
	ContestLogGap          int64 // rounds whose log lacks a number, of all lines or of those for some viewers
	ContestToldOtherwise   int64 // things of which the log says something else than what was told last
	ContestNumberOfNothing int64 // numbers of submissions that are in no round, or in another
}

// AuditRow is one figure of an [Audit].
type AuditRow struct {
	Name  string
	Count int64
}

// Zero reports whether nothing is wrong.
func (a Audit) Zero() bool { return a == Audit{} }

// Rows returns the figures by name, in a fixed order.
func (a Audit) Rows() []AuditRow {
	return []AuditRow{
		{"queue_row_mismatch", a.QueueRowMismatch},
		{"finished_without_result", a.FinishedWithoutResult},
		{"result_without_finished", a.ResultWithoutFinished},
		{"attempts_lost", a.AttemptsLost},
		{"transition_without_event", a.TransitionWithoutEvent},
		{"live_without_result", a.LiveWithoutResult},
		{"dead_without_letter", a.DeadWithoutLetter},
		{"tries_exceeded", a.TriesExceeded},
		{"stuck", a.Stuck},
		{"contest_log_gap", a.ContestLogGap},
		{"contest_told_otherwise", a.ContestToldOtherwise},
		{"contest_number_of_nothing", a.ContestNumberOfNothing},
	}
}

// Audit proves conservation in one query, hence on one snapshot. It reads every
// job, so it takes seconds on millions of them.
func (q *Queue) Audit(ctx context.Context) (Audit, error) { return CountViolations(ctx, q.db) }

// CountViolations is [Queue.Audit] for whoever has no queue.
func CountViolations(ctx context.Context, db *pg.DB) (Audit, error) {
	a, _, err := pg.Row(ctx, db, db.Main, "Audit", pg.Args{}, pgx.RowToStructByPos[Audit])
	return a, err
}

// QueueStats counts over all queues.
func (q *Queue) QueueStats(ctx context.Context) (judge.QueueStats, error) {
	return QueueStats(ctx, q.db, true)
}

// QueueStats counts over all queues for staff, or for everybody else: see sql.Reader.
func QueueStats(ctx context.Context, db *pg.DB, whole bool) (judge.QueueStats, error) {
	q, _, err := pg.Row(ctx, db, db.Main, "QueueStats", pg.Args{"whole": whole}, func(c pgx.CollectableRow) (q judge.QueueStats, err error) {
		return q, c.Scan(&q.Lanes, &q.Pending, &q.Delivered, &q.Running, &q.Oldest, &q.DeadLetters, &q.Judged)
	})
	return q, err
}
