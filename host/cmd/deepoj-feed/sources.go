package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"

	"deepoj/host/command"
	"deepoj/host/feed"
	"deepoj/host/feed/config"
	"deepoj/host/feed/pikiwidb/replica"
	"deepoj/host/feed/postgres"
	"deepoj/host/feed/verbs"
	"deepoj/sql/published"
)

// newSource returns where a feed reads.
func newSource(s stream, log *slog.Logger) (feed.Source, error) {
	if s.Config.Source == config.PikiwiDB {
		return replica.New(s.Config, s.Database, log)
	}
	return postgres.New(postgres.OptionsOf(s.Config, log))
}

// slotOf is the replication slot of a feed, if there is one.
func slotOf(ctx context.Context, cfg *config.Config) (*doomed, error) {
	if cfg.Source != config.Postgres {
		return nil, nil // none is the answer, not a failure
	}
	source, err := postgres.New(postgres.OptionsOf(cfg, nil))
	if err != nil {
		return nil, err
	}
	return &doomed{"slot", cfg.PostgresSlot, "of " + cfg.SourceID() + ", if it is there", func(ctx context.Context) error {
		_, err := source.DropSlot(ctx)
		return err
	}}, nil
}

// printSQL prints what an administrator of PostgreSQL runs. The names are those of the settings, as far as there are
// any.
func printSQL(c *command.Call, o verbs.Options) error {
	cfg, err := config.Load(o.Config, o.ConfigGiven, over(map[string]string{"FEED_SINK": "stdout", "FEED_SOURCE": config.Postgres, "FEED_DELIVERY": config.AtLeastOnce}, c.Getenv))
	if err != nil {
		return err
	}
	role := published.Role
	if u, err := url.Parse(cfg.PostgresURL); err == nil {
		role = cmp.Or(u.User.Username(), role)
	}
	_, err = fmt.Fprint(c.Out, published.Script(role, cfg.PostgresPublication))
	return err
}
