package clics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"deepoj/host/contest/clics"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// The pace of hooks.
const (
	hookPoll     = time.Second
	hookSlots    = 16               // under way at once in this process; of one hook there is never more than one
	hookLease    = 2 * time.Minute  // longer than a call and all that goes before it
	hookLines    = 1000             // of a log, that are told at once
	hookSettle   = 10 * time.Second // to note the end of a call, also while the server stops
	hookShortest = 5 * time.Second  // until a failed call is made again; then twice as long
	hookLongest  = 10 * time.Minute
	hookPatience = 24 * time.Hour // after which a hook that fails is disabled
)

// TellHooks tells hooks what comes, in order, until ctx is done. Each is taken with a lease, so that several servers share the
// work, and what is not taken by its receiver is told again.
func (s *Room) TellHooks(ctx context.Context) error {
	tick := time.NewTicker(hookPoll)
	defer tick.Stop()
	slots, ended := make(chan struct{}, hookSlots), make(chan struct{}, 1)
	var calls sync.WaitGroup
	defer calls.Wait()
	for {
		for len(slots) < hookSlots {
			due, err := s.Config.Rounds.TakeHook(ctx, hookLease)
			if err != nil && ctx.Err() == nil {
				s.Log.DebugContext(ctx, "hooks of contests cannot be looked for", slog.Any("err", err))
			}
			if due == nil {
				break
			}
			slots <- struct{}{}
			calls.Go(func() {
				s.tellHook(ctx, due)
				<-slots
				select {
				case ended <- struct{}{}:
				default: // there is a sign already
				}
			})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-ended:
		case <-s.wake:
		}
	}
}

// callbackJSON is what a hook is told.
type callbackJSON struct {
	Contest       string        `json:"contest_id"`
	Notifications []clics.Event `json:"notifications"`
}

// tellHook makes one call, if there is something that the hook wants to be told.
func (s *Room) tellHook(ctx context.Context, due *rounds.DueHook) {
	log := s.Log.With(slog.String("hook", due.ID), slog.String("round", due.Code))
	seq, events, err := s.behind(ctx, due)
	if err != nil {
		if ctx.Err() == nil {
			log.WarnContext(ctx, "what a hook is to be told cannot be read; it will be", slog.Any("err", err))
			s.failed(ctx, log, due, hookShortest, false)
		}
		return
	}
	if len(events) > 0 {
		var body bytes.Buffer
		encoder := json.NewEncoder(&body)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(callbackJSON{due.Code, events}); err != nil {
			log.WarnContext(ctx, "a callback cannot be written", slog.Any("err", err))
			s.failed(ctx, log, due, hookLongest, false)
			return
		}
		answer, err := s.caller.Post(ctx, due.URL, body.Bytes(), map[string]string{"Webhook-Token": due.Token})
		if err != nil && ctx.Err() != nil {
			return // of a stop nothing is known: the lease runs out
		}
		if err != nil || answer.Status < 200 || answer.Status > 299 {
			wait := min(hookLongest, hookShortest<<min(due.Tries, 10))
			off := due.For > hookPatience
			log.InfoContext(ctx, "callback not taken", slog.Int("status", answer.Status), slog.Bool("disabled", off), slog.Any("err", err))
			s.failed(ctx, log, due, max(wait, min(answer.Wait, hookPatience)), off)
			return
		}
		log.DebugContext(ctx, "callback taken", slog.Int("notifications", len(events)))
	}
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), hookSettle)
	defer cancel()
	if err := s.Config.Rounds.HookTaken(done, due, seq); err != nil {
		log.WarnContext(ctx, "the end of a callback cannot be noted, so it will be made again", slog.Any("err", err))
	}
}

func (s *Room) failed(ctx context.Context, log *slog.Logger, due *rounds.DueHook, wait time.Duration, off bool) {
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), hookSettle)
	defer cancel()
	if err := s.Config.Rounds.HookFailed(done, due, wait, off); err != nil {
		log.WarnContext(ctx, "the end of a callback cannot be noted, so it will be made again", slog.Any("err", err))
	}
}

// behind is what the owner of a hook is told behind its place, and up to which line: of whom the log has nothing, or who may not
// look at the contest, is told nothing.
func (s *Room) behind(ctx context.Context, due *rounds.DueHook) (seq int64, events []clics.Event, err error) {
	a, err := s.owner(ctx, due)
	if errors.Is(err, sql.ErrNotFound) || errors.Is(err, site.ErrNoLonger) {
		return due.Last, nil, nil // nor is it told later
	}
	if err != nil {
		return 0, nil, err
	}
	languages, err := s.languages(ctx, due.Round)
	if err != nil {
		return 0, nil, err
	}
	log := s.Config.Rounds
	teller := clics.NewTeller(a.form, languages, a.sources())
	if err := knowing(ctx, log, teller, due.Round, a.reader, due.Seq); err != nil {
		return 0, nil, err
	}
	lines, err := log.Read(ctx, due.Round, a.reader, due.Seq, hookLines)
	if err != nil {
		return 0, nil, err
	}
	seq = due.Last
	if len(lines) == hookLines {
		seq = lines[len(lines)-1].Seq
	}
	for _, l := range lines {
		seq = max(seq, l.Seq)
		err := tellWhole(ctx, log, teller, due.Round, a.reader, l, func(e clics.Event, _ int64) {
			if len(due.Endpoints) == 0 || slices.Contains(due.Endpoints, e.Type) || e.Type == clics.TypeContest && slices.Contains(due.Endpoints, "contests") {
				events = append(events, e)
			}
		})
		if err != nil {
			return 0, nil, err
		}
	}
	return seq, events, nil
}

// owner is as whom a hook is told, as its owner is now.
func (s *Room) owner(ctx context.Context, due *rounds.DueHook) (a asker, err error) {
	u, err := s.Store.User(ctx, due.Owner)
	if err != nil {
		return a, err
	}
	if u.Disabled != nil {
		return a, site.ErrNoLonger
	}
	r, err := s.Config.Rounds.Round(ctx, due.Code)
	if err != nil {
		return a, err
	}
	v := site.Viewer{Name: u.Name, Role: u.Role}
	if due.Scope != "" {
		v.Key, v.Scope, v.Role = 1, due.Scope, people.Least(u.Role, due.Scope.Role())
	}
	space, err := s.Store.Space(ctx, r.Space, u.Name)
	if err != nil {
		return a, err
	}
	if !v.May(people.SeeSpace, space) || r.Follows && !v.May(people.SeeSpaceProblems, space) {
		return a, site.ErrNoLonger
	}
	for _, version := range clics.Versions {
		if string(version) == due.Version {
			return s.asks(ctx, clics.Form{Version: version}, v, r, space)
		}
	}
	return a, fmt.Errorf("there is no release %q of the Contest API", due.Version)
}
