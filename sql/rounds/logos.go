package rounds

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// MaxLogos is how many logos an organization has: one for each size and ground.
const MaxLogos = 4

// PutLogo keeps a logo of an organization, in the place of one of the same name. ErrNotFound where there is no such organization.
func (s *Store) PutLogo(ctx context.Context, space, code string, l judge.Logo, data []byte, by string) error {
	return s.take(ctx, space, "organization", code, "round_logo", by, func(tx pgx.Tx, id int64) (bool, bool, error) {
		v, err := s.putLogo(ctx, tx, id, code, l, data)
		if err == nil && v.Found && !v.Kept {
			err = judge.Wrong("logo", "too_many", "An organization has at most %d logos, each of another size. Remove them first.", MaxLogos)
		}
		return v.Found, v.Kept, err
	})
}

func (s *Store) putLogo(ctx context.Context, tx pgx.Tx, space int64, code string, l judge.Logo, data []byte) (dbsqlc.LogoPutRow, error) {
	return s.q.LogoPut(ctx, tx, dbsqlc.LogoPutParams{
		SpaceID: space, Code: code, Name: l.Name, Media: l.Media, Width: int32(l.Width), Height: int32(l.Height), Hash: l.Hash, Data: data, Most: MaxLogos,
	})
}

// RemoveLogos removes those of an organization; ErrNotFound where it has none.
func (s *Store) RemoveLogos(ctx context.Context, space, code, by string) error {
	return s.take(ctx, space, "organization", code, "round_logo_remove", by, func(tx pgx.Tx, id int64) (bool, bool, error) {
		n, err := s.q.LogosRemove(ctx, tx, dbsqlc.LogosRemoveParams{SpaceID: id, Code: code})
		return n > 0, n > 0, err
	})
}

// Logo returns a picture, by the organization and its name, or ErrNotFound.
func (s *Store) Logo(ctx context.Context, space int64, code, name string) (l judge.Logo, data []byte, err error) {
	v, err := s.q.LogoGet(ctx, s.db.Main, dbsqlc.LogoGetParams{SpaceID: space, Code: code, Name: name})
	if errors.Is(err, pgx.ErrNoRows) {
		err = pg.ErrNotFound
	}
	if err != nil {
		return l, nil, fmt.Errorf("logo %s of %s: %w", name, code, err)
	}
	return judge.Logo{Name: name, Media: v.Media, Hash: v.Hash}, v.Data, nil
}

// logos are those of a space, by organization.
func (s *Store) logos(ctx context.Context, on dbsqlc.DBTX, space int64) (map[string][]judge.Logo, error) {
	found, err := s.q.LogoList(ctx, on, space)
	out := map[string][]judge.Logo{}
	for _, v := range found {
		out[v.Code] = append(out[v.Code], judge.Logo{Name: v.Name, Media: v.Media, Width: int(v.Width), Height: int(v.Height), Hash: v.Hash})
	}
	return out, err
}

// Logos are those of a space, by organization.
func (s *Store) Logos(ctx context.Context, space int64) (map[string][]judge.Logo, error) {
	out, err := s.logos(ctx, s.db.Main, space)
	if err != nil {
		return nil, fmt.Errorf("list logos of space %d: %w", space, err)
	}
	return out, nil
}
