package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"deepoj/sql"
)

// openDatabase opens the database that DATABASE_URL names, or the one of the
// Deep-OJ that runs on the data folder.
func openDatabase(ctx context.Context, c *config, data string) (*sql.Store, error) {
	if dsn := c.get("DATABASE_URL"); dsn != "" {
		store, err := sql.Open(ctx, sql.Config{DSN: dsn, MaxConns: 2})
		return store, postgresService.explained(err)
	}
	i, err := findInstance(data)
	if err != nil {
		return nil, err
	}
	return sql.Open(ctx, sql.Config{DSN: i.DSN, MaxConns: 2})
}

// audit prints how often each invariant is broken: all zeros, or status 1.
func audit(ctx context.Context, e *env) int {
	f, path := newFlags(e, "audit", "")
	data := f.String("data", defaultData, "data folder of the running Deep-OJ")
	asJSON := f.Bool("json", false, "print JSON")
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	c, err := settingsFor(e, f, *path)
	if err != nil {
		return e.fail(err)
	}
	store, err := openDatabase(ctx, c, *data)
	if err != nil {
		return e.fail(err)
	}
	defer store.Close()
	a, err := store.Audit(ctx)
	if err != nil {
		return e.fail(err)
	}
	if *asJSON {
		counts := map[string]int64{}
		for _, r := range a.Rows() {
			counts[r.Name] = r.Count
		}
		err = json.NewEncoder(e.stdout).Encode(counts)
	} else {
		w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
		for _, r := range a.Rows() {
			fmt.Fprintf(w, "%s\t%d\n", r.Name, r.Count)
		}
		err = w.Flush()
	}
	if err != nil {
		return e.fail(err)
	}
	if !a.Zero() {
		return 1
	}
	return 0
}

// migrate brings the schema of DATABASE_URL, or of the running Deep-OJ, up to date.
func migrate(ctx context.Context, e *env) int {
	f, path := newFlags(e, "migrate", "")
	data := f.String("data", defaultData, "data folder of the running Deep-OJ")
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	c, err := settingsFor(e, f, *path)
	if err != nil {
		return e.fail(err)
	}
	store, err := openDatabase(ctx, c, *data)
	if err != nil {
		return e.fail(err)
	}
	defer store.Close()
	if err := store.Migrate(ctx); err != nil {
		return e.fail(err)
	}
	schema, err := store.Schema(ctx)
	if err != nil {
		return e.fail(err)
	}
	fmt.Fprintf(e.stdout, "the schema is up to date: %s, for programs that know version %d or later\n", schema.Name, schema.MinBinary)
	return 0
}
