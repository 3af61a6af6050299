package rounds

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// codeBytes is of how many random bytes the code of a clarification is.
const codeBytes = 10

// NewCode returns a short name that nothing has yet, and that tells nothing of how many there are.
func NewCode() string {
	raw := make([]byte, codeBytes)
	_, _ = rand.Read(raw) // never fails
	return strings.ToLower(base32.StdEncoding.EncodeToString(raw))
}

// Clarify adds a clarification to a round: a question of a participant, by its number, or, where that is 0, what the jury
// says. What it names has to be of the round; what is wrong is a [*judge.FieldError]. It returns its code, which is c.Code if that
// is given, or ErrExists; where c.At is given, it was said then.
func (s *Store) Clarify(ctx context.Context, round string, participant int64, c judge.Clarification) (code string, err error) {
	if code = c.Code; code == "" {
		code = NewCode()
	}
	err = pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		r, err := s.hold(ctx, tx, round)
		if err != nil {
			return err
		}
		if r.Finalized != nil {
			return judge.Wrong("finalized_at", "finalized", "The result of the round stands. Reopen it first.")
		}
		add := dbsqlc.ClarificationAddParams{RoundID: r.ID, Code: code, Teams: c.Teams, Groups: c.Groups, Text: c.Text, By: c.By}
		staff := !c.At.IsZero() // whoever says when it was said
		if staff {
			add.At = &c.At
		}
		if participant != 0 {
			add.ParticipantID = &participant
			waiting, err := s.q.ClarificationWaiting(ctx, tx, dbsqlc.ClarificationWaitingParams{RoundID: r.ID, Participant: participant})
			if err != nil {
				return err
			}
			if waiting >= judge.MaxQuestions && !staff {
				return judge.Wrong("text", "too_many", "As many questions of yours as are allowed wait for an answer. Ask again when one has it.")
			}
		}
		if err := s.refers(ctx, tx, r, c, &add); err != nil {
			return err
		}
		made, err := s.q.ClarificationAdd(ctx, tx, add)
		if err != nil {
			return err
		}
		switch {
		case len(made.ToParticipants) < len(c.Teams):
			return judge.Wrong("to_teams", "unknown", "Not all of these take part in the round.")
		case len(made.ToGroups) < len(c.Groups):
			return judge.Wrong("to_groups", "unknown", "The space has not all of these groups.")
		}
		return s.q.RoundChangeAdd(ctx, tx, dbsqlc.RoundChangeAddParams{SpaceID: r.SpaceID, RoundID: &r.ID, Kind: "clarification", Object: code})
	})
	if err != nil {
		return "", refusal(fmt.Sprintf("clarify round %s", round), err)
	}
	return code, nil
}

// refers fills in what a clarification is about.
func (s *Store) refers(ctx context.Context, tx pgx.Tx, r *judge.Round, c judge.Clarification, add *dbsqlc.ClarificationAddParams) error {
	if c.ReplyTo != "" {
		found, err := s.q.ClarificationList(ctx, tx, dbsqlc.ClarificationListParams{RoundID: r.ID, Code: c.ReplyTo, AllOfThem: true, Max: 1})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return judge.Wrong("reply_to", "unknown", "There is no such question.")
		}
		add.ReplyTo = &found[0].ID
	}
	if c.Problem == "" {
		return nil
	}
	if r.Start == nil || r.Start.After(r.Now) {
		return judge.Wrong("problem", "not_begun", "The round has not begun, so its problems cannot be named.")
	}
	list, err := s.problems(ctx, tx, r.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(p judge.RoundProblem) bool { return p.Problem == c.Problem }) {
		return judge.Wrong("problem", "unknown", "The round has no problem %q.", c.Problem)
	}
	add.Problem = &c.Problem
	return nil
}

// ClarificationFilter chooses clarifications of a round.
type ClarificationFilter struct {
	All         bool   // also those that are for others
	Participant int64  // whose, and for whom, besides those for everybody; 0 = nobody's
	Code        string // only this one; "" = any
	Before      string // only those before the one of this code: the cursor
	Limit       int    // 1 to 200; 0 = 50
}

// Clarifications returns clarifications of a round that f chooses, newest first.
func (s *Store) Clarifications(ctx context.Context, round int64, f ClarificationFilter) ([]judge.Clarification, error) {
	found, err := s.q.ClarificationList(ctx, s.db.Main, dbsqlc.ClarificationListParams{
		RoundID: round, Before: f.Before, Code: f.Code, AllOfThem: f.All, Participant: f.Participant, Max: pg.Bounded(f.Limit),
	})
	if err != nil {
		return nil, fmt.Errorf("list clarifications of round %d: %w", round, err)
	}
	out := make([]judge.Clarification, len(found))
	for i, v := range found {
		out[i] = judge.Clarification{
			Code: v.Code, From: v.FromCode, FromName: v.FromName, Teams: v.Teams, Groups: v.Groups, ReplyTo: v.ReplyTo, AskedBy: v.AskedBy, Text: v.Text, By: v.By,
			At: v.At, Answered: v.Answered, Closed: v.ClosedAt,
		}
		if v.Problem != nil {
			out[i].Problem = *v.Problem
		}
	}
	return out, nil
}

// CloseQuestion has nobody wait for an answer to a question, or wait again. It returns ErrNotFound.
func (s *Store) CloseQuestion(ctx context.Context, round int64, code string, closed bool) error {
	n, err := s.q.ClarificationClose(ctx, s.db.Main, dbsqlc.ClarificationCloseParams{RoundID: round, Code: code, Closed: closed})
	if err == nil && n == 0 {
		err = pg.ErrNotFound
	}
	if err != nil && !errors.Is(err, pg.ErrNotFound) {
		return fmt.Errorf("close question %s: %w", code, err)
	}
	return err
}

// Clarified is a clarification as the log of its round needs it.
type Clarified struct {
	judge.Clarification

	Participant int64   // who asks; 0 = the jury speaks
	Hidden      bool    // so is that participant
	Alone       []int64 // the participants whom it is for by themselves
	Members     []int64 // those who are in the groups that it is for
}

// seeClarifications reads those of a round.
func (s *Store) seeClarifications(ctx context.Context, tx pgx.Tx, seen *Seen) error {
	found, err := s.q.ContestClarifications(ctx, tx, seen.Round.ID)
	if err != nil {
		return err
	}
	for _, v := range found {
		c := Clarified{
			Clarification: judge.Clarification{Code: v.Code, From: v.FromCode, Groups: v.Groups, ReplyTo: v.ReplyTo, AskedBy: v.AskedBy, Text: v.Text, At: v.At},
			Participant:   v.Participant, Hidden: v.Hidden, Alone: v.ToParticipants, Members: v.Members,
		}
		if v.Problem != nil {
			c.Problem = *v.Problem
		}
		seen.Clarifications = append(seen.Clarifications, c)
	}
	return nil
}
