package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"deepoj/host/judge"
	"deepoj/host/restore"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/web/client"
)

// remote is an office at a server. What a key may not do there is done in a session, for which the password is asked
// for, and which ends with the command.
type remote struct {
	s  *client.Client
	in login

	session *client.Client // nil = it was not needed yet
	leave   func() error
}

// end ends the session, if there was one.
func (r *remote) end() error {
	if r.leave == nil {
		return nil
	}
	return r.leave()
}

// proved does what may need a session of somebody who has just proved who they are.
func (r *remote) proved(ctx context.Context, act func(s *client.Client) error) error {
	if r.session != nil {
		return act(r.session)
	}
	err := act(r.s)
	refused, ok := errors.AsType[*client.Problem](err)
	if !ok || refused.Status != http.StatusForbidden || refused.Reason != "login_required" && refused.Reason != "not_confirmed" {
		return err
	}
	account, err := r.s.GetAccount(ctx)
	if err != nil {
		return err
	}
	r.in.user = account.Name
	r.in.c.Warn("a key cannot do this: %s, prove to %s who you are", account.Name, r.in.address)
	if r.session, r.leave, err = r.in.session(ctx); err != nil {
		return err
	}
	return act(r.session)
}

func (r *remote) Queues(ctx context.Context) ([]judge.Queue, error) {
	answer, err := r.s.GetQueues(ctx, client.GetQueuesParams{Limit: 200})
	span := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	out := make([]judge.Queue, len(answer.Queues))
	for i, q := range answer.Queues {
		out[i] = judge.Queue{
			Name: q.Name, Paused: q.Paused, Ordering: q.Ordering, MaxWait: span(q.MaxWaitSeconds), Spacing: span(q.SpacingSeconds),
			Redeliver: span(q.RedeliverSeconds), MaxTries: q.MaxTries, GroupLimit: q.GroupLimit, MaxBacklog: q.MaxBacklog,
		}
	}
	return out, err
}

func (r *remote) SetQueue(ctx context.Context, q judge.Queue) error {
	_, err := r.s.PostQueue(ctx, q.Name, client.PostQueueRequest{
		Ordering: q.Ordering, MaxWaitSeconds: q.MaxWait.Seconds(), SpacingSeconds: q.Spacing.Seconds(),
		RedeliverSeconds: q.Redeliver.Seconds(), MaxTries: q.MaxTries, GroupLimit: q.GroupLimit, MaxBacklog: q.MaxBacklog,
	})
	return err
}

func (r *remote) PauseQueue(ctx context.Context, name string, paused bool) error {
	call := r.s.PostQueueResume
	if paused {
		call = r.s.PostQueuePause
	}
	_, err := call(ctx, name)
	return err
}

func (r *remote) Move(ctx context.Context, verb moveVerb, id int64) error {
	_, err := map[moveVerb]func(context.Context, int64, ...client.CallOption) (client.MovedJob, error){
		release: r.s.PostSubmissionRelease, immediate: r.s.PostSubmissionImmediate, delay: r.s.PostSubmissionDelay,
		withdraw: r.s.PostSubmissionDelete, undo: r.s.PostSubmissionUndo,
	}[verb](ctx, id)
	return err
}

func (r *remote) MoveBefore(ctx context.Context, id, before int64) error {
	_, err := r.s.PostSubmissionMove(ctx, id, client.PostSubmissionMoveRequest{Before: before})
	return err
}

func (r *remote) DeadLetters(ctx context.Context, all bool, limit int) ([]sql.DeadLetter, error) {
	answer, err := r.s.GetDlq(ctx, client.GetDlqParams{All: all, Limit: int64(limit)})
	out := make([]sql.DeadLetter, len(answer.DeadLetters))
	for i, l := range answer.DeadLetters {
		out[i] = letterOf(l)
	}
	return out, err
}

func letterOf(l client.DeadLetter) sql.DeadLetter {
	return sql.DeadLetter{
		JobID: l.JobID, Generation: l.Generation, AttemptID: l.AttemptID, Tries: l.Tries, Kind: l.Kind, Queue: l.Queue, Reason: l.Reason,
		Error: l.Error, At: l.At, Resolution: l.Resolution, ResolvedBy: l.ResolvedBy, ResolvedAt: l.ResolvedAt, Note: l.Note,
	}
}

func (r *remote) DeadLetter(ctx context.Context, id int64) (sql.DeadLetter, []sql.Attempt, error) {
	answer, err := r.s.GetDlqID(ctx, id)
	out := make([]sql.Attempt, len(answer.Attempts))
	for i, a := range answer.Attempts {
		out[i] = sql.Attempt{AttemptID: a.AttemptID, Generation: a.Generation, Worker: a.Worker, Started: a.Started, Ended: a.Ended, Outcome: a.Outcome, Error: a.Error}
	}
	return letterOf(answer.DeadLetter), out, err
}

func (r *remote) Replay(ctx context.Context, id int64) error {
	_, err := r.s.PostDlqIDReplay(ctx, id)
	return err
}

func (r *remote) ReplayAll(ctx context.Context, reason string) (int, error) {
	answer, err := r.s.PostDlqReplay(ctx, client.PostDlqReplayRequest{Reason: reason})
	return answer.Jobs, err
}

func (r *remote) Discard(ctx context.Context, id int64, why string) error {
	return r.proved(ctx, func(s *client.Client) error {
		_, err := s.PostDlqIDDiscard(ctx, id, client.PostDlqIDDiscardRequest{Reason: why})
		return err
	})
}

func (r *remote) Rejudge(ctx context.Context, ids []int64) (map[int64]int32, error) {
	generations := map[int64]int32{}
	for _, id := range ids {
		generation, err := r.s.Rejudge(ctx, id)
		if err != nil && !isNotFound(err) {
			return generations, fmt.Errorf("job %d: %w", id, err)
		} else if err == nil {
			generations[id] = generation
		}
	}
	return generations, nil
}

func (r *remote) StartRejudge(ctx context.Context, q sql.RejudgeRequest) (sql.RejudgeSet, error) {
	set, err := r.s.PostRejudgings(ctx, client.PostRejudgingsRequest{
		Reason: q.Reason, Problem: q.Problem, Language: q.Language, Author: q.Author, Verdict: string(q.Verdict), JobIds: q.JobIDs,
	}, client.WithKey(q.Key))
	return setOf(set), err
}

func setOf(r client.RejudgeSet) sql.RejudgeSet {
	return sql.RejudgeSet{
		ID: r.ID, Key: r.Key, Reason: r.Reason, Request: r.Request, Skipped: r.Skipped, CreatedBy: r.CreatedBy, Created: r.Created,
		Resolution: r.Resolution, ResolvedBy: r.ResolvedBy, Resolved: r.Resolved, Total: r.Total, Waiting: r.Waiting, Running: r.Running,
		Judged: r.Judged, Dead: r.Dead, Left: r.Left, Changed: r.Changed,
	}
}

func (r *remote) RejudgeSets(ctx context.Context) ([]sql.RejudgeSet, error) {
	answer, err := r.s.GetRejudgings(ctx, client.GetRejudgingsParams{})
	out := make([]sql.RejudgeSet, len(answer.Rejudgings))
	for i, set := range answer.Rejudgings {
		out[i] = setOf(set)
	}
	return out, err
}

func (r *remote) RejudgeSet(ctx context.Context, id int64) (set sql.RejudgeSet, all []change, err error) {
	for after := int64(0); ; {
		answer, err := r.s.GetRejudging(ctx, id, client.GetRejudgingParams{After: after})
		if err != nil || len(answer.Changes) == 0 {
			return setOf(answer.Rejudging), all, err
		}
		for _, x := range answer.Changes {
			all = append(all, change{x.JobID, x.Author, x.Problem, x.Before, x.BeforeScore, x.After, x.AfterScore})
			after = x.JobID
		}
	}
}

func (r *remote) ResolveRejudge(ctx context.Context, id int64, apply bool) error {
	call := r.s.PostRejudgingCancel
	if apply {
		call = r.s.PostRejudgingApply
	}
	_, err := call(ctx, id)
	return err
}

func (r *remote) Users(ctx context.Context, role judge.Role, prefix string) (all []judge.User, err error) {
	for after := ""; ; {
		page, next, err := r.s.Users(ctx, client.UserFilter{Role: role, Prefix: prefix, After: after, Limit: listPage})
		for _, u := range page {
			all = append(all, judge.User{Name: u.Name, Role: u.Role, Created: u.Created, Disabled: u.Disabled, OneTime: u.OneTime})
		}
		if after = next; err != nil || next == "" {
			return all, err
		}
	}
}

func (r *remote) CreateUser(ctx context.Context, name string, role judge.Role) (password string, err error) {
	err = r.proved(ctx, func(s *client.Client) (err error) {
		password, err = s.CreateUser(ctx, name, string(role))
		return err
	})
	return password, err
}

func (r *remote) ResetPassword(ctx context.Context, name string) (password string, err error) {
	err = r.proved(ctx, func(s *client.Client) (err error) {
		password, err = s.ResetPassword(ctx, name)
		return err
	})
	return password, err
}

func (r *remote) TakeFactorsOff(ctx context.Context, name string) error {
	return r.proved(ctx, func(s *client.Client) error { return s.DeleteUserFactors(ctx, name) })
}

func (r *remote) SetRole(ctx context.Context, name string, role judge.Role) error {
	return r.proved(ctx, func(s *client.Client) error { return s.SetRole(ctx, name, string(role)) })
}

func (r *remote) Disable(ctx context.Context, name string, disabled bool) error {
	return r.proved(ctx, func(s *client.Client) error { return s.DisableUser(ctx, name, disabled) })
}

func (r *remote) AuditLog(ctx context.Context, f sql.AuditFilter) ([]sql.AuditEntry, error) {
	found, _, err := r.s.AuditLog(ctx, client.AuditFilter{Actor: f.Actor, Action: f.Action, Subject: f.Subject, Before: f.Before, Limit: int64(f.Limit)})
	out := make([]sql.AuditEntry, len(found))
	for i, e := range found {
		out[i] = sql.AuditEntry{ID: e.ID, At: e.At, Actor: e.Actor, Action: e.Action, Subject: e.Subject, Detail: e.Detail}
	}
	return out, err
}

func (r *remote) Keys(ctx context.Context, user string) (all []judge.Key, err error) {
	for before := int64(0); ; {
		var page []client.Key
		var next int64
		err = r.proved(ctx, func(s *client.Client) (err error) {
			if user == "" {
				page, next, err = s.Keys(ctx, before)
			} else {
				page, next, err = s.UserKeys(ctx, user, before)
			}
			return err
		})
		for _, k := range page {
			all = append(all, judge.Key{ID: k.ID, Label: k.Label, Scope: k.Scope, Created: k.Created, Expires: k.Expires, LastUsed: k.LastUsed, Revoked: k.Revoked})
		}
		if before = next; err != nil || next == 0 {
			return all, err
		}
	}
}

func (r *remote) CreateKey(ctx context.Context, k judge.Key) (id int64, secret string, err error) {
	n := client.NewKey{Label: k.Label, Scope: string(k.Scope), ExpiresAt: k.Expires}
	err = r.proved(ctx, func(s *client.Client) error {
		call := s.PostKeys
		if k.User != "" {
			call = func(ctx context.Context, body client.NewKey, options ...client.CallOption) (client.MadeKey, error) {
				return s.PostUserKeys(ctx, k.User, body, options...)
			}
		}
		made, err := call(ctx, n)
		id, secret = made.ID, made.Secret
		return err
	})
	return id, secret, err
}

func (r *remote) RevokeKey(ctx context.Context, user string, id int64) error {
	return r.proved(ctx, func(s *client.Client) error {
		if user == "" {
			return s.DeleteKey(ctx, id)
		}
		return s.DeleteUserKey(ctx, user, id)
	})
}

func (r *remote) Invariants(ctx context.Context) ([]jobs.AuditRow, error) {
	answer, err := r.s.GetInvariants(ctx)
	out := make([]jobs.AuditRow, len(answer.Invariants))
	for i, x := range answer.Invariants {
		out[i] = jobs.AuditRow{Name: x.Name, Count: x.Count}
	}
	return out, err
}

func (r *remote) EachLog(ctx context.Context, fn func(round string, lines []restore.Line, shown []judge.BoardSnapshot) error) error {
	for before := new(""); before != nil; {
		page, err := r.s.GetRounds(ctx, client.GetRoundsParams{Before: *before, Limit: listPage})
		if err != nil {
			return err
		}
		for _, round := range page.Rounds {
			of, err := r.s.GetRound(ctx, round.Code)
			if err != nil {
				return fmt.Errorf("round %s: %w", round.Code, err)
			}
			raw, err := r.s.ContestLog(ctx, round.Code)
			if err != nil {
				return fmt.Errorf("the log of round %s: %w", round.Code, err)
			}
			lines, err := restore.ReadLines(raw)
			if err == nil {
				err = fn(round.Code, lines, of.Snapshots)
			}
			if err != nil {
				return fmt.Errorf("the log of round %s: %w", round.Code, err)
			}
		}
		before = page.Next
	}
	return nil
}
