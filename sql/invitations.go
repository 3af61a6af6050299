package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// MakeInvitation stores a link that invites into a space, by the hash of its token, and returns it with its id.
func (s *Site) MakeInvitation(ctx context.Context, space int64, tokenHash string, i judge.Invitation) (judge.Invitation, error) {
	made, err := s.q.InvitationMake(ctx, s.main, dbsqlc.InvitationMakeParams{
		TokenHash: tokenHash, SpaceID: space, Label: i.Label, By: i.By, ExpiresAt: i.Expires, Most: i.Most,
	})
	if err != nil {
		return i, fmt.Errorf("make an invitation: %w", err)
	}
	i.ID, i.Created, i.Works = made.ID, made.CreatedAt, true
	return i, nil
}

// Invitations returns the newest invitations into a space.
func (s *Site) Invitations(ctx context.Context, space int64, limit int) ([]judge.Invitation, error) {
	found, err := s.q.InvitationList(ctx, s.main, dbsqlc.InvitationListParams{SpaceID: space, Max: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", err)
	}
	out := make([]judge.Invitation, len(found))
	for n, i := range found {
		out[n] = judge.Invitation{
			ID: i.ID, Label: i.Label, By: i.CreatedBy, Created: i.CreatedAt, Expires: i.ExpiresAt, Most: i.Most, Used: i.Used, Revoked: i.RevokedAt, Works: i.Works,
		}
	}
	return out, nil
}

// RevokeInvitation has an invitation refused from now on; [ErrNotFound] if the space has none with that id.
func (s *Site) RevokeInvitation(ctx context.Context, space, id int64, by string) error {
	n, err := s.q.InvitationRevoke(ctx, s.main, dbsqlc.InvitationRevokeParams{ID: id, SpaceID: space, By: by})
	return changed(n, err, fmt.Sprintf("revoke invitation %d", id))
}

// Invited is what an invitation is into.
type Invited struct {
	ID          int64 // of the invitation
	Slug, Title string
}

// Invitation returns what an invitation that works is into, or [ErrNotFound].
func (s *Site) Invitation(ctx context.Context, tokenHash string) (Invited, error) {
	i, err := s.q.InvitationGet(ctx, s.main, tokenHash)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return Invited{}, fmt.Errorf("invitation: %w", err)
	}
	return Invited(i), nil
}

// UseInvitation makes somebody a contestant of the space that it is into, unless they are a member already. It returns
// the space's short name, or [ErrNotFound] if the invitation does not work.
func (s *Site) UseInvitation(ctx context.Context, id int64, user string) (space string, err error) {
	space, err = s.q.InvitationUse(ctx, s.main, dbsqlc.InvitationUseParams{ID: id, UserName: user})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("use invitation %d: %w", id, err)
	}
	return space, nil
}
