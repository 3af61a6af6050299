package site

import (
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/live"
)

// ErrNoLonger says that somebody is no more who they were when they asked, or may see it no more.
var ErrNoLonger = errors.New("the viewer's session or key has ended, or they may do something else now")

// Still returns nil if a viewer is who they were when they asked, and [ErrNoLonger] if not.
func (s *Site) Still(ctx context.Context, v Viewer) error {
	if v.Guest() {
		return nil
	}
	now, err := s.Bearer(ctx, v.Token)
	if errors.Is(err, sql.ErrNotFound) || err == nil && (now.Name != v.Name || now.Role != v.Role || now.Scope != v.Scope || now.OneTime != v.OneTime) {
		return ErrNoLonger
	}
	return err
}

// StillMay is Still, for whoever may also still do something in a space.
func (s *Site) StillMay(ctx context.Context, v Viewer, slug string, act people.SpaceAct) error {
	if err := s.Still(ctx, v); err != nil {
		return err
	}
	space, err := s.Store.Space(ctx, slug, v.Name)
	if errors.Is(err, sql.ErrNotFound) || err == nil && !v.May(act, space) {
		return ErrNoLonger
	}
	return err
}

// NoStream explains why there is no stream now. Pages then ask from time to time.
func NoStream(err error) error {
	f := Refuse(fiber.StatusServiceUnavailable, "too_many_streams", "This server has no room for another live view.",
		"Close other pages that are live, or ask without streaming.")
	switch {
	case errors.Is(err, live.ErrStopping):
		return Stopping()
	case errors.Is(err, live.ErrYours):
		f.Status = fiber.StatusTooManyRequests
		f.Told("There are too many open live views from your address.")
	}
	f.RetryAfter = 5 * time.Second
	return f
}
