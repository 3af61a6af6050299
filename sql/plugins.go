package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// SavePlugin records an admitted module and what its newest report says. The module itself must be in the blob store
// already. Saving it again changes only Conforms and JobID, and only to those of a newer job.
func (s *Site) SavePlugin(ctx context.Context, p judge.Plugin) error {
	err := s.q.PluginSave(ctx, s.main, dbsqlc.PluginSaveParams{
		Digest: p.Digest, Kind: p.Kind, Name: p.Name, Version: p.Version, Protocol: p.Protocol, Bytes: p.Bytes,
		Manifest: p.Manifest, Conforms: p.Conforms, Leaks: p.Leaks, JobID: p.JobID, CreatedBy: p.By,
	})
	if err != nil {
		return fmt.Errorf("save plugin %s: %w", p.Name, err)
	}
	return nil
}

// Plugin returns an uploaded plugin, or [ErrNotFound].
func (s *Site) Plugin(ctx context.Context, digest string) (*judge.Plugin, error) {
	v, err := s.q.PluginGet(ctx, s.main, digest)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("plugin %s: %w", digest, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", digest, err)
	}
	p := uploaded(v.Plugin, v.Active)
	return &p, nil
}

// Plugins returns the versions of all uploaded plugins by kind and name, the
// newest of a name first. An empty kind or name does not restrict.
func (s *Site) Plugins(ctx context.Context, kind, name string) ([]judge.Plugin, error) {
	found, err := s.q.PluginList(ctx, s.main, dbsqlc.PluginListParams{Kind: kind, Name: name})
	if err != nil {
		return nil, fmt.Errorf("list plugins: %w", err)
	}
	out := make([]judge.Plugin, len(found))
	for i, v := range found {
		out[i] = uploaded(v.Plugin, v.Active)
	}
	return out, nil
}

func uploaded(p dbsqlc.Plugin, active bool) judge.Plugin {
	return judge.Plugin{
		Digest: p.Digest, Kind: p.Kind, Name: p.Name, Version: p.Version, Protocol: p.Protocol, Bytes: p.Bytes, Manifest: p.Manifest,
		Conforms: p.Conforms, Leaks: p.Leaks, Active: active, JobID: p.JobID, By: p.CreatedBy, Created: p.CreatedAt,
	}
}

// ActivatePlugin makes the name of a plugin mean this version, from the next
// claim on. A version that does not conform is a [*judge.FieldError].
func (s *Site) ActivatePlugin(ctx context.Context, digest, by string) error {
	p, err := s.Plugin(ctx, digest)
	if err != nil {
		return err
	}
	if !p.Conforms {
		return judge.Wrong("digest", "not_conforming", "mend what its report says, and upload it again")
	}
	_, err = s.q.PluginActivate(ctx, s.main, dbsqlc.PluginActivateParams{Digest: digest, By: by})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("activate plugin %s: %w", digest, err)
	}
	s.db.Wake(pg.ChannelPlugins, p.Name)
	return nil
}

// ActivePlugins returns the active version of every name of a kind.
func (s *Site) ActivePlugins(ctx context.Context, kind string) ([]judge.Plugin, error) {
	all, err := s.Plugins(ctx, kind, "")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p judge.Plugin) bool { return !p.Active }), nil
}

// RollBackPlugin undoes the newest change of what a name means and returns the
// version it means now. [ErrNotFound] says that there is nothing to go back to.
func (s *Site) RollBackPlugin(ctx context.Context, kind, name, by string) (digest string, err error) {
	changes, err := s.PluginChanges(ctx, kind, name, 1)
	if err != nil {
		return "", err
	}
	if len(changes) == 0 || changes[0].Previous == "" {
		return "", fmt.Errorf("roll back plugin %s: no earlier version was active: %w", name, ErrNotFound)
	}
	return changes[0].Previous, s.ActivatePlugin(ctx, changes[0].Previous, by)
}

// PluginChanges returns what a name has meant, the newest change first.
func (s *Site) PluginChanges(ctx context.Context, kind, name string, limit int) ([]judge.PluginChange, error) {
	found, err := s.q.PluginChanges(ctx, s.main, dbsqlc.PluginChangesParams{Kind: kind, Name: name, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("changes of plugin %s: %w", name, err)
	}
	out := make([]judge.PluginChange, len(found))
	for i, c := range found {
		out[i] = judge.PluginChange{Digest: c.Digest, Previous: c.Previous, By: c.By, At: c.At}
	}
	return out, nil
}
