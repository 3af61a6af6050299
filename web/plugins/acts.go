package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/setters"
	"deepoj/web/site"
)

// How many past submissions a preview judges.
const (
	defaultPreview = 50
	maxPreview     = 500
)

// order stores a job about a plugin.
func (s *Room) order(ctx context.Context, v site.Viewer, p judge.PluginPayload, key site.Key) (sql.Receipt, error) {
	p.SchemaVersion, p.ContentType, p.By = judge.PayloadVersion, judge.PluginType, v.Name
	kind := judge.KindPluginTest
	if up := (upload{Files: p.Files}); p.Op == judge.PluginUpload && up.fromSources() {
		kind = judge.KindPluginBuild
	}
	detail := map[string]any{"kind": p.Kind, "version": p.Version, "digest": p.Digest, "problem": p.Problem}
	maps.DeleteFunc(detail, func(_ string, value any) bool { return value == "" })
	if len(p.Files) > 0 {
		names := make([]string, len(p.Files))
		for i, f := range p.Files {
			names[i] = f.Name
		}
		detail["files"] = names
	}
	return s.setters.Order(ctx, v, setters.Order{
		Kind: kind, Payload: p, Key: key, Act: "plugin_" + string(p.Op), Subject: "plugin:" + site.OrElse(p.Name, p.Digest), Detail: detail,
	})
}

// formKey is the idempotency key of a form with several buttons: the same form
// sent twice is one job, and another choice in it another one.
func formKey(key site.Key, p judge.PluginPayload) site.Key {
	if key.Text == "" {
		return key
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %q %d", p.Op, p.Digest, p.Problem, p.Limit))
	return site.Key{Text: key.Text + "-" + hex.EncodeToString(sum[:8]), Field: key.Field}
}

// plugin returns an uploaded plugin.
func (s *Room) plugin(ctx context.Context, digest string) (*judge.Plugin, error) {
	err := sql.ErrNotFound
	var p *judge.Plugin
	if site.PlainWord(digest) {
		p, err = s.Store.Plugin(ctx, digest)
	}
	if errors.Is(err, sql.ErrNotFound) {
		return nil, site.Refuse(fiber.StatusNotFound, "not_found", "There is no plugin %q.", "", site.Shorten(digest))
	}
	if err != nil {
		return nil, fmt.Errorf("look up plugin: %w", err)
	}
	return p, nil
}

// again checks and stores a job about a plugin that is kept: a preview, a
// binding, or another proof. Limit is how many submissions a preview judges.
func (s *Room) again(ctx context.Context, v site.Viewer, p judge.PluginPayload, key site.Key) (sql.Receipt, error) {
	var none sql.Receipt
	kept, err := s.plugin(ctx, p.Digest)
	if err != nil {
		return none, err
	}
	var wrong site.WrongFields
	if p.Op != judge.PluginTest {
		switch {
		case kept.Kind != "checker":
			wrong.Add(site.WrongField("digest", "not_checker", "Only a checker decides on outputs, and %s is of kind %s.", kept.Name, kindText(kept.Kind)))
		case !kept.Conforms:
			wrong.Add(site.WrongField("digest", "not_conforming", "This version does not conform, so it cannot be used: mend what its report says, and upload it again."))
		}
		if p.Problem == "" {
			wrong.Add(site.WrongField("problem", site.ReasonMissing, "Choose a problem."))
		}
	}
	found, err := s.checkProblem(ctx, "problem", p.Problem)
	if err != nil {
		return none, err
	}
	wrong.Add(found)
	if p.Op != judge.PluginPreview {
		p.Limit = 0
	} else if p.Limit < 1 || p.Limit > maxPreview {
		wrong.Add(site.WrongField("limit", site.ReasonInvalid, "A preview judges at least one submission, and at most %d.", maxPreview))
	}
	wrong.Add(key.Check())
	if err := wrong.Err(); err != nil {
		return none, err
	}
	if p.Op != judge.PluginBind {
		return s.order(ctx, v, p, key)
	}
	if err := s.setters.MayChange(ctx, v, p.Problem); err != nil {
		return none, err
	}
	if err := s.setters.TakeVersion(ctx, v, 0); err != nil {
		return none, err
	}
	receipt, err := s.order(ctx, v, p, key)
	return receipt, errors.Join(err, s.setters.CountVersion(ctx, v, 0, err != nil || receipt.Existing))
}

// activate makes the plugin's name mean this version.
func (s *Room) activate(ctx context.Context, v site.Viewer, digest string) (*judge.Plugin, error) {
	p, err := s.plugin(ctx, digest)
	if err != nil {
		return nil, err
	}
	if err := s.mayChangeUsers(ctx, v, p.Kind, p.Name); err != nil {
		return nil, err
	}
	err = s.Store.ActivatePlugin(ctx, digest, v.Name)
	if _, refused := errors.AsType[*judge.FieldError](err); refused {
		return nil, site.WrongField("digest", "not_conforming", "This version does not conform, so it cannot be activated: mend what its report says, and upload it again.")
	}
	if err != nil {
		return nil, fmt.Errorf("activate plugin: %w", err)
	}
	p.Active = true
	return p, nil
}

// rollBack undoes the newest change of what a name means, and returns the version that it means now.
func (s *Room) rollBack(ctx context.Context, v site.Viewer, kind, name string) (string, error) {
	digest, err := "", sql.ErrNotFound
	if site.PlainWord(kind) && site.PlainWord(name) {
		if err := s.mayChangeUsers(ctx, v, kind, name); err != nil {
			return "", err
		}
		digest, err = s.Store.RollBackPlugin(ctx, kind, name, v.Name)
	}
	var field *judge.FieldError
	switch {
	case errors.Is(err, sql.ErrNotFound):
		return "", site.Refuse(fiber.StatusConflict, "no_earlier_version", "No earlier version of this name was active.", "Activate another version instead.")
	case errors.As(err, &field):
		return "", site.Refuse(fiber.StatusConflict, "no_earlier_version", "The version before does not conform any more.", "Activate another version instead.")
	case err != nil:
		return "", fmt.Errorf("roll back plugin: %w", err)
	}
	return digest, nil
}

// mayChangeUsers refuses whoever may not change every problem that a name of a checker decides on.
func (s *Room) mayChangeUsers(ctx context.Context, v site.Viewer, kind, name string) error {
	if v.Staff() || kind == "toolchain" {
		return nil
	}
	problems, err := s.Store.Problems(ctx)
	if err != nil {
		return fmt.Errorf("list problems: %w", err)
	}
	for _, p := range problems {
		if slices.Contains(p.Checkers, name) {
			if err := s.setters.MayChange(ctx, v, p.Slug); err != nil {
				return err
			}
		}
	}
	return nil
}
