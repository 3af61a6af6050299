package rounds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Entries returns the codes of who takes part in a round, from the one behind after on.
func (s *Store) Entries(ctx context.Context, round int64, after string, limit int) ([]string, error) {
	out, err := s.q.EntryList(ctx, s.db.Main, dbsqlc.EntryListParams{RoundID: round, After: after, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list participants of round %d: %w", round, err)
	}
	return out, nil
}

// errFollows refuses to change who takes part in a round that follows its space.
var errFollows = judge.Wrong("participants", "follows", "who takes part is whoever is a contestant of the space: change its members")

// Enter has participants of the space of a round take part in it, all or none. Codes that there are not are a
// [*judge.FieldError].
func (s *Store) Enter(ctx context.Context, code string, participants []string, by string) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		r, err := s.q.RoundHold(ctx, tx, code)
		if err != nil {
			return err
		}
		if r.Follows {
			return errFollows
		}
		known, err := s.q.EntryAdd(ctx, tx, dbsqlc.EntryAddParams{RoundID: r.ID, Codes: participants})
		if err != nil {
			return err
		}
		unknown := slices.DeleteFunc(slices.Clone(participants), func(c string) bool { return slices.Contains(known, c) })
		if len(unknown) > 0 {
			return judge.Wrong("participants", "unknown", "space %s has no participants %s: make them first", r.Space, strings.Join(unknown, ", "))
		}
		return s.changed(ctx, tx, change{
			space: r.SpaceID, round: &r.ID, kind: "entries", object: code, act: "round_enter", subject: "round:" + code,
			detail: map[string]any{"participants": participants}, by: by,
		})
	})
	if err != nil {
		return refusal(fmt.Sprintf("add participants to round %s", code), err)
	}
	return nil
}

// Leave takes a participant who has handed nothing in out of a round; ErrNotFound, or ErrInUse.
func (s *Store) Leave(ctx context.Context, code, participant, by string) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		r, err := s.q.RoundHold(ctx, tx, code)
		if err != nil {
			return err
		}
		if r.Follows {
			return errFollows
		}
		v, err := s.q.EntryRemove(ctx, tx, dbsqlc.EntryRemoveParams{RoundID: r.ID, Code: participant})
		switch {
		case err != nil:
			return err
		case !v.Found:
			return pg.ErrNotFound
		case !v.Done:
			return pg.ErrInUse
		}
		return s.changed(ctx, tx, change{
			space: r.SpaceID, round: &r.ID, kind: "entries", object: code, act: "round_leave", subject: "round:" + code,
			detail: map[string]any{"participant": participant}, by: by,
		})
	})
	if err != nil {
		return refusal(fmt.Sprintf("take %s out of round %s", participant, code), err)
	}
	return nil
}

// Entry is as whom somebody hands in.
type Entry struct {
	Participant int64
	Code        string
	Status      judge.ParticipantStatus
	Entered     bool // it takes part in the round
}

// Tries is what a participant has handed in to a problem of a round.
type Tries struct {
	Tries, Waiting int // all of them, and those without a verdict
	Veiled         int // of which it is not told what became of them
	Solved         bool
	Score          float64 // the best that is told
}

// Told reports whether it is told what became of any of them.
func (t Tries) Told() bool { return t.Tries > t.Waiting+t.Veiled }

// Tries returns what a participant has handed in to a round, by problem.
func (s *Store) Tries(ctx context.Context, round, participant int64) (map[string]Tries, error) {
	found, err := s.q.RoundTries(ctx, s.db.Main, dbsqlc.RoundTriesParams{RoundID: &round, Participant: &participant})
	if err != nil {
		return nil, fmt.Errorf("list what participant %d has handed in: %w", participant, err)
	}
	out := map[string]Tries{}
	for _, v := range found {
		out[v.Problem] = Tries{int(v.Tries), int(v.Waiting), int(v.Veiled), v.Solved, v.Score}
	}
	return out, nil
}

// Entry returns as whom somebody hands in to a round, or ErrNotFound if they are no participant of its space.
func (s *Store) Entry(ctx context.Context, round int64, user string) (Entry, error) {
	v, err := s.q.EntryOf(ctx, s.db.Main, dbsqlc.EntryOfParams{RoundID: round, UserName: user})
	if errors.Is(err, pgx.ErrNoRows) {
		return Entry{}, pg.ErrNotFound
	}
	if err != nil {
		return Entry{}, fmt.Errorf("participant of %s in round %d: %w", user, round, err)
	}
	return Entry{v.ID, v.Code, judge.ParticipantStatus(v.Status), v.Entered}, nil
}

// Join returns as whom somebody hands in to a round. Who is a contestant of its space and in no team becomes a participant,
// and who is alone in theirs takes part from now on; in which rounds teams take part is up to staff. It returns ErrNotFound
// for others.
func (s *Store) Join(ctx context.Context, r *judge.Round, user string) (Entry, error) {
	e, err := s.Entry(ctx, r.ID, user)
	if err != nil && !errors.Is(err, pg.ErrNotFound) || e.Entered {
		return e, err
	}
	err = pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		if _, err := s.q.SpaceHoldSlug(ctx, tx, r.Space); err != nil { // one at a time, as every change of participants
			return err
		}
		who, err := s.joins(ctx, tx, r, user)
		if err != nil || who == "" {
			return err
		}
		if _, err := s.q.EntryAdd(ctx, tx, dbsqlc.EntryAddParams{RoundID: r.ID, Codes: []string{who}}); err != nil {
			return err
		}
		return s.changed(ctx, tx, change{
			space: r.SpaceID, round: &r.ID, kind: "entries", object: r.Code, act: "round_enter", subject: "round:" + r.Code,
			detail: map[string]any{"participants": []string{who}}, by: user,
		})
	})
	if err != nil {
		return Entry{}, refusal(fmt.Sprintf("have %s take part in round %s", user, r.Code), err)
	}
	return s.Entry(ctx, r.ID, user)
}

// joins returns the code of the participant who is to take part, who is made if need be; "" = nobody.
func (s *Store) joins(ctx context.Context, tx pgx.Tx, r *judge.Round, user string) (string, error) {
	v, err := s.q.EntryOf(ctx, tx, dbsqlc.EntryOfParams{RoundID: r.ID, UserName: user})
	if err == nil {
		alone, err := s.q.EntryAlone(ctx, tx, v.ID)
		if err != nil || !alone || v.Entered || judge.ParticipantStatus(v.Status) != judge.ParticipantActive {
			return "", err
		}
		return v.Code, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return "", err
	}
	m, err := s.q.EntryMember(ctx, tx, dbsqlc.EntryMemberParams{RoundID: r.ID, UserName: user})
	if err != nil {
		return "", err
	}
	err = s.writeParticipants(ctx, tx, m.SpaceID, []judge.Participant{{
		Code: m.Code, Name: pg.OrDefault(m.DisplayName, user), Ranked: true, Members: []judge.ParticipantMember{{User: user, Role: judge.MemberContestant}},
	}})
	return m.Code, err
}
