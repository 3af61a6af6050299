package main

import (
	"context"

	"deepoj/host/command"
	"deepoj/sql"
)

// audit prints how often each invariant is broken: all zeros, or status 1.
func audit(ctx context.Context, c *command.Call, s *sql.Store) error {
	a, err := s.Audit(ctx)
	if err != nil {
		return err
	}
	counts := map[string]int64{}
	var t command.Table
	for _, r := range a.Rows() {
		counts[r.Name] = r.Count
		t.Add(r.Name, r.Count)
	}
	if err := c.Print(counts, t); err != nil {
		return err
	}
	if !a.Zero() {
		return command.Exit(1)
	}
	return nil
}

// migrate brings the schema of DATABASE_URL, or of the running Deep-OJ, up to date.
func migrate(ctx context.Context, c *command.Call, s *sql.Store) error {
	if err := s.Migrate(ctx); err != nil {
		return err
	}
	schema, err := s.Schema(ctx)
	if err != nil {
		return err
	}
	return c.Say(map[string]any{"schema": schema.Name, "min_binary": schema.MinBinary},
		"the schema is up to date: %s, for programs that know version %d or later", schema.Name, schema.MinBinary)
}

// printConfig prints every setting, without secrets.
func printConfig(f *command.Flags) command.Run {
	load := settingsFlag(f)
	return func(_ context.Context, c *command.Call) error {
		l, err := load(c)
		if err != nil {
			return err
		}
		t := command.Table{Head: "NAME\tVALUE\tORIGIN\tYAML\tMEANING"}
		for _, r := range l.Rows {
			t.Add(r.Name, r.Value, r.Origin, r.YAML, r.Doc)
		}
		return c.Print(l.Rows, t)
	}
}
