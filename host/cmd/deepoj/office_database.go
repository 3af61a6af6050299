package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/restore"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/rounds"
)

// database is an office on the database itself, where whoever may open it may do everything.
type database struct {
	site   *sql.Site
	rounds *rounds.Store
}

// atTheShell is who acts on the command line, in the audit log.
const atTheShell = "command line"

func (d database) Queues(ctx context.Context) ([]judge.Queue, error) { return d.site.Queues(ctx) }

func (d database) SetQueue(ctx context.Context, q judge.Queue) error {
	return d.site.SetQueue(ctx, q, atTheShell)
}

func (d database) PauseQueue(ctx context.Context, name string, paused bool) error {
	return d.site.PauseQueue(ctx, name, paused, atTheShell)
}

func (d database) Move(ctx context.Context, verb moveVerb, id int64) (err error) {
	switch verb {
	case release:
		err = d.site.Release(ctx, id, atTheShell)
	case immediate:
		err = d.site.Hasten(ctx, id, atTheShell)
	case delay:
		_, err = d.site.Delay(ctx, id, atTheShell)
	case withdraw:
		err = d.site.Withdraw(ctx, id, atTheShell, "")
	case undo:
		_, err = d.site.Undo(ctx, id, atTheShell)
	}
	return err
}

func (d database) MoveBefore(ctx context.Context, id, before int64) error {
	return d.site.Move(ctx, id, before, atTheShell)
}

func (d database) DeadLetters(ctx context.Context, all bool, limit int) ([]sql.DeadLetter, error) {
	return d.site.DeadLetters(ctx, sql.LetterPlace{}, !all, limit)
}

func (d database) DeadLetter(ctx context.Context, id int64) (l sql.DeadLetter, attempts []sql.Attempt, err error) {
	if l, err = d.site.DeadLetter(ctx, id); err == nil {
		attempts, err = d.site.Attempts(ctx, l.JobID)
	}
	return l, attempts, err
}

func (d database) Replay(ctx context.Context, id int64) error {
	_, err := d.site.Replay(ctx, id, atTheShell)
	return err
}

func (d database) ReplayAll(ctx context.Context, reason string) (int, error) {
	return d.site.ReplayAll(ctx, reason, atTheShell)
}

func (d database) Discard(ctx context.Context, id int64, why string) error {
	return d.site.Discard(ctx, id, atTheShell, why)
}

func (d database) Rejudge(ctx context.Context, ids []int64) (map[int64]int32, error) {
	return d.site.Rejudge(ctx, ids, judge.LaneRejudge, atTheShell)
}

func (d database) StartRejudge(ctx context.Context, r sql.RejudgeRequest) (sql.RejudgeSet, error) {
	r.By = atTheShell
	return d.site.StartRejudge(ctx, r)
}

func (d database) RejudgeSets(ctx context.Context) ([]sql.RejudgeSet, error) {
	return d.site.RejudgeSets(ctx, 0, 0)
}

func (d database) RejudgeSet(ctx context.Context, id int64) (set sql.RejudgeSet, all []change, err error) {
	if set, err = d.site.RejudgeSet(ctx, id); err != nil {
		return set, nil, err
	}
	for after := int64(0); ; {
		found, err := d.site.RejudgeChanges(ctx, id, after, listPage)
		if err != nil || len(found) == 0 {
			return set, all, err
		}
		for _, r := range found {
			all = append(all, change{r.JobID, r.Author, r.Problem, r.Before, r.BeforeScore, r.After, r.AfterScore})
			after = r.JobID
		}
	}
}

func (d database) ResolveRejudge(ctx context.Context, id int64, apply bool) error {
	if apply {
		return d.site.ApplyRejudge(ctx, id, atTheShell)
	}
	return d.site.CancelRejudge(ctx, id, atTheShell)
}

func (d database) Users(ctx context.Context, role judge.Role, prefix string) (all []judge.User, err error) {
	filter := sql.UserFilter{Role: role, Prefix: prefix, Limit: listPage}
	for {
		found, err := d.site.Users(ctx, filter)
		if all = append(all, found...); err != nil || len(found) < filter.Limit {
			return all, err
		}
		filter.After = found[len(found)-1].Name
	}
}

func (d database) CreateUser(ctx context.Context, name string, role judge.Role) (string, error) {
	password, hash, err := people.OneTimePassword()
	if err != nil {
		return "", err
	}
	return password, d.site.CreateUser(ctx, sql.NewUser{Name: name, PasswordHash: hash, Role: role, OneTime: true, By: atTheShell})
}

func (d database) ResetPassword(ctx context.Context, name string) (string, error) {
	password, hash, err := people.OneTimePassword()
	if err != nil {
		return "", err
	}
	return password, d.site.ResetPassword(ctx, name, hash, atTheShell)
}

func (d database) TakeFactorsOff(ctx context.Context, name string) error {
	if _, err := d.site.User(ctx, name); err != nil {
		return err
	}
	err := d.site.TakeFactorsOff(ctx, name, atTheShell)
	if errors.Is(err, sql.ErrNotFound) {
		return fmt.Errorf("%s has no second factor", name)
	}
	return err
}

func (d database) SetRole(ctx context.Context, name string, role judge.Role) error {
	return d.site.SetRole(ctx, name, role, atTheShell)
}

func (d database) Disable(ctx context.Context, name string, disabled bool) error {
	return d.site.Disable(ctx, name, disabled, atTheShell)
}

func (d database) AuditLog(ctx context.Context, f sql.AuditFilter) ([]sql.AuditEntry, error) {
	return d.site.AuditLog(ctx, f)
}

// named refuses a command that does not say whose something is.
func named(user string) error {
	if user == "" {
		return errors.New("say whose: --user NAME")
	}
	return nil
}

func (d database) Keys(ctx context.Context, user string) (all []judge.Key, err error) {
	if err := named(user); err != nil {
		return nil, err
	}
	for before := int64(0); ; {
		found, err := d.site.Keys(ctx, user, before, listPage)
		if all = append(all, found...); err != nil || len(found) < listPage {
			return all, err
		}
		before = found[len(found)-1].ID
	}
}

func (d database) CreateKey(ctx context.Context, k judge.Key) (int64, string, error) {
	if err := named(k.User); err != nil {
		return 0, "", err
	}
	u, err := d.site.User(ctx, k.User)
	if err != nil {
		return 0, "", err
	}
	if err := people.CheckKey(k, u.Role, time.Now()); err != nil {
		return 0, "", fmt.Errorf("%s: %s", err.Field, err.Remedy)
	}
	secret, hash := people.NewSecret()
	k, err = d.site.CreateKey(ctx, k, hash, atTheShell)
	return k.ID, secret, err
}

func (d database) RevokeKey(ctx context.Context, user string, id int64) error {
	return d.site.RevokeKey(ctx, id, user, atTheShell)
}

func (d database) Invariants(ctx context.Context) ([]jobs.AuditRow, error) {
	a, err := d.site.Invariants(ctx)
	return a.Rows(), err
}

func (d database) EachLog(ctx context.Context, fn func(round string, lines []restore.Line, shown []judge.BoardSnapshot) error) error {
	const atOnce = 10_000
	for before := ""; ; {
		page, err := d.rounds.Rounds(ctx, rounds.Filter{All: true, Before: before, Limit: listPage})
		if err != nil {
			return err
		}
		for _, r := range page {
			shown, err := d.rounds.Snapshots(ctx, r.ID) // before the log, which is as long then as any of them
			if err != nil {
				return err
			}
			var portable restore.Portable
			var lines []restore.Line
			for seq, more := int64(0), true; more; {
				found, err := d.rounds.Log(ctx, r.ID, seq, atOnce)
				if err != nil {
					return err
				}
				for _, l := range found {
					line, err := portable.Line(l)
					if err != nil {
						return fmt.Errorf("the log of round %s: %w", r.Code, err)
					}
					seq, lines = l.Seq, append(lines, line)
				}
				more = len(found) == atOnce
			}
			if err := fn(r.Code, lines, shown); err != nil {
				return err
			}
			before = r.Code
		}
		if len(page) < listPage {
			return nil
		}
	}
}
