package sql

import (
	"context"
	"fmt"

	"deepoj/sql/published"
)

// feedLock is the key of the advisory lock under which one program at a time publishes.
const feedLock = migrationLock + 1

// Publish lets the role of a change feed read what it may, and publishes that: see package published. It is for a database
// whose tables belong to the program, and does nothing that is done already.
func (d *DB) Publish(ctx context.Context, role, publication string) error {
	tx, err := d.Main.Begin(ctx)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var there bool
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = $1) FROM pg_advisory_xact_lock($2)", publication, feedLock).Scan(&there)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	all := published.Grants(role)
	if there {
		all = append(all, published.Mend(publication)...)
	} else {
		all = append(all, published.Create(publication))
	}
	for _, statement := range all {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("publish: %s: %w", statement, err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}
