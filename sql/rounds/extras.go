package rounds

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// MaxExtras bounds what is told of a round that nothing in it depends on.
const MaxExtras = 200_000

// Extra is something that is told of a round, and that nothing in it depends on: a person, an account that came with it, or commentary.
type Extra struct {
	Kind, Code string          // of the log
	Data       json.RawMessage // as the log has it
}

// Extras returns those of a kind by code, from the one behind after on.
func (s *Store) Extras(ctx context.Context, round int64, kind, after string, limit int) ([]Extra, error) {
	found, err := s.q.ExtraList(ctx, s.db.Main, dbsqlc.ExtraListParams{RoundID: round, Kind: kind, After: after, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list what is told of round %d: %w", round, err)
	}
	return mapped(found, func(v dbsqlc.ExtraListRow) Extra { return Extra{v.Kind, v.Code, v.Data} }), nil
}

// PutExtras has something told of a round, each in the place of what was told by its kind and code. Act is what the audit log calls it.
func (s *Store) PutExtras(ctx context.Context, round string, list []Extra, act, by string) error {
	return s.changeExtras(ctx, round, act, codes(list, func(e Extra) string { return e.Code }), by, func(tx pgx.Tx, r *judge.Round) error {
		return s.putExtras(ctx, tx, r.ID, list, by)
	})
}

func (s *Store) putExtras(ctx context.Context, tx pgx.Tx, round int64, list []Extra, by string) error {
	p := dbsqlc.ExtraPutParams{RoundID: round, By: by}
	for _, e := range list {
		p.Kinds, p.Codes, p.Data = append(p.Kinds, e.Kind), append(p.Codes, e.Code), append(p.Data, string(e.Data))
	}
	if err := s.q.ExtraPut(ctx, tx, p); err != nil {
		return err
	}
	n, err := s.q.ExtraCount(ctx, tx, round)
	if err == nil && n > MaxExtras {
		err = judge.Wrong("persons", "too_many", "A round has at most %d persons, accounts and comments together.", MaxExtras)
	}
	return err
}

// RemoveExtra has something told no more; ErrNotFound if it was not.
func (s *Store) RemoveExtra(ctx context.Context, round, kind, code, act, by string) error {
	return s.changeExtras(ctx, round, act, []string{code}, by, func(tx pgx.Tx, r *judge.Round) error {
		n, err := s.q.ExtraRemove(ctx, tx, dbsqlc.ExtraRemoveParams{RoundID: r.ID, Kind: kind, Code: code})
		if err == nil && n == 0 {
			err = pg.ErrNotFound
		}
		return err
	})
}

func (s *Store) changeExtras(ctx context.Context, round, act string, codes []string, by string, do func(pgx.Tx, *judge.Round) error) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		r, err := s.hold(ctx, tx, round)
		if err != nil {
			return err
		}
		if err := do(tx, r); err != nil {
			return err
		}
		const told = 20 // codes, in the audit log
		return s.changed(ctx, tx, change{
			space: r.SpaceID, round: &r.ID, kind: "extras", object: round, act: act, subject: "round:" + round,
			detail: map[string]any{"n": len(codes), "codes": codes[:min(len(codes), told)]}, by: by,
		})
	})
	if err != nil {
		return refusal("change what is told of round "+round, err)
	}
	return nil
}

// seeExtras reads what is told of a round that nothing in it depends on, and who hands in as whom.
func (s *Store) seeExtras(ctx context.Context, tx pgx.Tx, seen *Seen) error {
	found, err := s.q.ExtraKept(ctx, tx, seen.Round.ID)
	if err != nil {
		return err
	}
	seen.Extras = mapped(found, func(v dbsqlc.ExtraKeptRow) Extra { return Extra{v.Kind, v.Code, v.Data} })
	if seen.Round.Follows {
		return nil // everybody of the space, who are no teams
	}
	members, err := s.q.ContestAccounts(ctx, tx, seen.Round.ID)
	seen.Members = mapped(members, func(v dbsqlc.ContestAccountsRow) Member { return Member{v.ParticipantID, v.UserName, v.DisplayName} })
	return err
}

// Remark has comments told to everybody at once, but for those that the round has already: so what is said again is said once. Nothing
// else of the round is looked at for it.
func (s *Store) Remark(ctx context.Context, round int64, comments []Extra) error {
	added := 0
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		c, err := s.q.ContestHold(ctx, tx, round)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // it is deleted
		}
		if err != nil {
			return err
		}
		p := dbsqlc.ExtraAddParams{RoundID: round, By: "system"}
		for _, e := range comments {
			p.Kinds, p.Codes, p.Data = append(p.Kinds, e.Kind), append(p.Codes, e.Code), append(p.Data, string(e.Data))
		}
		fresh, err := s.q.ExtraAdd(ctx, tx, p)
		if err != nil || len(fresh) == 0 {
			return err
		}
		if n, err := s.q.ExtraCount(ctx, tx, round); err != nil || n > MaxExtras {
			return cmp.Or(err, fmt.Errorf("it has more than %d persons, accounts and comments", MaxExtras))
		}
		at, err := s.q.ContestClock(ctx, tx)
		if err != nil {
			return err
		}
		var lines []PastLine
		var keep []Object
		for _, e := range comments {
			if slices.Contains(fresh, e.Code) {
				o := Object{Kind: e.Kind, Object: e.Code, Data: e.Data, Audience: everybody}
				lines, keep = append(lines, PastLine{Line{Object: o}, at}), append(keep, o)
			}
		}
		pick := dbsqlc.ContestPickRow{RoundID: c.RoundID, Seq: c.Seq, PublicSeq: c.PublicSeq, TeamsSeq: c.TeamsSeq}
		if err := s.number(ctx, tx, &pick, lines); err != nil {
			return err
		}
		if err := s.keep(ctx, tx, round, keep); err != nil {
			return err
		}
		added = len(lines)
		return s.q.ContestGrown(ctx, tx, dbsqlc.ContestGrownParams{RoundID: round, Seq: pick.Seq, PublicSeq: pick.PublicSeq, TeamsSeq: pick.TeamsSeq})
	})
	if err != nil {
		return fmt.Errorf("comment on round %d: %w", round, err)
	}
	if added > 0 {
		s.db.Wake(pg.ChannelRounds, strconv.FormatInt(round, 10))
	}
	return nil
}

// Going returns the rounds of a format that go on.
func (s *Store) Going(ctx context.Context, format string) ([]int64, error) {
	ids, err := s.q.ContestGoing(ctx, s.db.Main, format)
	if err != nil {
		return nil, fmt.Errorf("list rounds that go on: %w", err)
	}
	return ids, nil
}
