package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

const (
	mostLetters = 3      // asked for under the same words within an hour
	lettersRoom = 20_000 // that wait, of those that anybody may ask for
)

// AskLetter has a letter written and sent, unless too many were asked for lately. Whether anybody gets one, it does not
// say; it does the same whatever there is.
func (s *Site) AskLetter(ctx context.Context, l judge.Letter) error {
	_, err := s.q.LetterAsk(ctx, s.main, dbsqlc.LetterAskParams{
		Kind: string(l.Kind), Asked: l.Asked, UserName: orNil(l.User), InvitationID: idOrNull(l.Invitation), Language: l.Language, Most: mostLetters, Room: lettersRoom,
	})
	if err != nil {
		return fmt.Errorf("ask for a letter: %w", err)
	}
	return nil
}

// idOrNull is an id, or NULL if it is 0.
func idOrNull(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// orZero is the id that is meant, 0 for none.
func orZero(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}

// TakeLetters takes letters that are due, at most limit. Nobody else gets one of them during the lease.
func (s *Site) TakeLetters(ctx context.Context, limit int32, lease time.Duration) ([]judge.Letter, error) {
	found, err := s.q.LettersTake(ctx, s.main, dbsqlc.LettersTakeParams{Max: limit, Lease: pg.Interval(lease, 0)})
	if err != nil {
		return nil, fmt.Errorf("take letters: %w", err)
	}
	out := make([]judge.Letter, len(found))
	for i, l := range found {
		out[i] = judge.Letter{
			ID: l.ID, Kind: judge.LetterKind(l.Kind), Asked: l.Asked, Invitation: orZero(l.InvitationID), Language: l.Language, Tries: l.Tries,
			Age: time.Duration(l.Age * float64(time.Second)),
		}
		if l.UserName != nil {
			out[i].User = *l.UserName
		}
	}
	return out, nil
}

// LetterAgain has a letter tried again after a wait.
func (s *Site) LetterAgain(ctx context.Context, id int64, wait time.Duration, why string) error {
	err := s.q.LetterAgain(ctx, s.main, dbsqlc.LetterAgainParams{ID: id, Wait: pg.Interval(wait, 0), Error: &why})
	if err != nil {
		return fmt.Errorf("put letter %d off: %w", id, err)
	}
	return nil
}

// LetterDone notes what became of a letter: sent to whom, or why it was not.
func (s *Site) LetterDone(ctx context.Context, id int64, outcome, recipient, why string) error {
	err := s.q.LetterDone(ctx, s.main, dbsqlc.LetterDoneParams{ID: id, Outcome: &outcome, Recipient: orNil(recipient), Error: orNil(why)})
	if err != nil {
		return fmt.Errorf("note what became of letter %d: %w", id, err)
	}
	return nil
}

// LettersSent counts what an address was sent in the last hour.
func (s *Site) LettersSent(ctx context.Context, recipient string) (int64, error) {
	n, err := s.q.LettersSent(ctx, s.main, &recipient)
	if err != nil {
		return 0, fmt.Errorf("count letters: %w", err)
	}
	return n, nil
}

// LettersWaiting counts the letters that were not sent yet, and says how old the oldest is.
func (s *Site) LettersWaiting(ctx context.Context) (n int64, oldest time.Duration, err error) {
	w, err := s.q.LettersWaiting(ctx, s.main)
	if err != nil {
		return 0, 0, fmt.Errorf("count letters: %w", err)
	}
	return w.Waiting, time.Duration(w.Oldest * float64(time.Second)), nil
}

// MakeLink stores a link by the hash of its token. It returns [ErrNotFound] if its user does not exist or is disabled.
func (s *Site) MakeLink(ctx context.Context, tokenHash string, l judge.Link, life time.Duration) error {
	n, err := s.q.LinkMake(ctx, s.main, dbsqlc.LinkMakeParams{
		TokenHash: tokenHash, Kind: string(l.Kind), UserName: orNil(l.User), Email: l.Email, InvitationID: idOrNull(l.Invitation), Life: pg.Interval(life, 0),
	})
	return changed(n, err, "make a link")
}

// Link returns what a link leads to that works, or [ErrNotFound].
func (s *Site) Link(ctx context.Context, tokenHash string) (judge.Link, error) {
	l, err := s.q.LinkGet(ctx, s.main, tokenHash)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return judge.Link{}, fmt.Errorf("link: %w", err)
	}
	return judge.Link{Kind: judge.LetterKind(l.Kind), Email: l.Email, User: l.UserName, Invitation: orZero(l.InvitationID)}, nil
}

// LinkTried notes that a name was taken that somebody chose who came by a link. A link that tried most of them is spent.
func (s *Site) LinkTried(ctx context.Context, tokenHash string, most int32) error {
	if err := s.q.LinkTried(ctx, s.main, dbsqlc.LinkTriedParams{TokenHash: tokenHash, Most: most}); err != nil {
		return fmt.Errorf("note a try: %w", err)
	}
	return nil
}
