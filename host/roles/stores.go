package roles

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"deepoj/host/blob"
	"deepoj/host/launch"
	"deepoj/host/settings"
	"deepoj/sql"
)

// OpenDatabase opens the database that DATABASE_URL names, or the one of the Deep-OJ that runs on the data folder.
func OpenDatabase(ctx context.Context, s *settings.Settings, data string) (*sql.Store, error) {
	if s.DatabaseURL != "" {
		store, err := sql.Open(ctx, sql.Config{DSN: s.DatabaseURL, MaxConns: 2})
		return store, postgresService.explained(err)
	}
	i, err := launch.FindInstance(data)
	if err != nil {
		return nil, err
	}
	return sql.Open(ctx, sql.Config{DSN: i.DSN, MaxConns: 2})
}

// OpenStores opens the database and the blobs. A process of root becomes the owner of
// the blobs first: packages are read without its rights.
func OpenStores(ctx context.Context, s *settings.Settings, data string) (*sql.Store, blob.Store, error) {
	dsn := s.DatabaseURL
	if dsn == "" || s.BlobDir == "" && s.S3.Endpoint == "" {
		i, err := launch.FindInstance(data)
		if err != nil {
			return nil, nil, err
		}
		dsn, data = cmp.Or(dsn, i.DSN), i.Data
	}
	folder := BlobFolder(s, data)
	if err := BecomeOwner(folder); err != nil {
		return nil, nil, err
	}
	blobs, err := OpenBlobs(s, folder)
	if err != nil {
		return nil, nil, err
	}
	store, err := sql.Open(ctx, sql.Config{DSN: dsn, MaxConns: 2})
	return store, blobs, err
}

// BecomeOwner gives up root for the account that owns a folder, or, where that is not
// there yet, the nearest above it that is.
func BecomeOwner(folder string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	folder = Existing(folder)
	info, err := os.Stat(folder)
	if err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 {
		return fmt.Errorf("blob folder %s belongs to root: give it to the account of the workers with chown", folder)
	}
	return launch.Become(int(st.Uid), int(st.Gid))
}

// Existing returns path, or the nearest folder above it that exists.
func Existing(path string) string {
	path, err := filepath.Abs(path)
	for err == nil && path != "/" {
		if _, err := os.Stat(path); err == nil {
			return path
		}
		path = filepath.Dir(path)
	}
	return "/"
}
