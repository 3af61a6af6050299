package sql

import (
	"context"
	"io/fs"
)

// MigrateFiles is Migrate of a program that has these migrations.
func (d *DB) MigrateFiles(ctx context.Context, files fs.FS) error { return d.migrate(ctx, files) }
