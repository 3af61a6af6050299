package sql

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// OfferedLanguage is a language that a worker was able to judge once.
type OfferedLanguage struct {
	judge.Language      // as a worker last described it
	Withdrawn      bool // staff took it off: nothing may be handed in in it
}

// OfferLanguages adds the languages that a worker is able to judge to those that
// programs may be handed in in, or refreshes them. What staff took off stays off.
func (s *Store) OfferLanguages(ctx context.Context, languages []judge.Language) error {
	able := slices.DeleteFunc(slices.Clone(languages), func(l judge.Language) bool { return !l.Available || l.ID == "" })
	if len(able) == 0 {
		return nil
	}
	data, err := encode(able)
	if err == nil {
		err = s.q.LanguagesOffer(ctx, s.main, data)
	}
	if err != nil {
		return fmt.Errorf("offer languages: %w", err)
	}
	return nil
}

// Languages returns every language that a worker was ever able to judge, by id.
func (s *Store) Languages(ctx context.Context) ([]OfferedLanguage, error) {
	found, err := s.q.LanguageList(ctx, s.main)
	if err != nil {
		return nil, fmt.Errorf("list languages: %w", err)
	}
	out := make([]OfferedLanguage, len(found))
	for i, l := range found {
		out[i].Withdrawn = l.Withdrawn
		if err := json.Unmarshal(l.Info, &out[i].Language); err != nil {
			return nil, fmt.Errorf("list languages: %w", err)
		}
	}
	return out, nil
}

// WithdrawLanguage takes a language off the list, or puts it back, which the
// audit log keeps. What was handed in before is judged all the same. It returns
// [ErrNotFound] for a language that no worker ever had.
func (s *Store) WithdrawLanguage(ctx context.Context, id string, withdrawn bool, by string) error {
	n, err := s.q.LanguageWithdraw(ctx, s.main, dbsqlc.LanguageWithdrawParams{ID: id, Withdrawn: withdrawn, By: by})
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("language %s: %w", id, err)
	}
	return nil
}
