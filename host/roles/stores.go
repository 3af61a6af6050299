package roles

import (
	"cmp"
	"context"
	"errors"
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
func OpenDatabase(ctx context.Context, s *settings.Settings, data string) (*sql.DB, error) {
	if s.DatabaseURL != "" {
		db, err := sql.Open(ctx, sql.Config{DSN: s.DatabaseURL, MaxConns: 2})
		return db, postgresService.explained(err)
	}
	i, err := launch.FindInstance(data)
	if err != nil {
		return nil, err
	}
	return sql.Open(ctx, sql.Config{DSN: i.DSN, MaxConns: 2})
}

// OpenStores opens the database and the blobs. A process of root becomes the owner of
// the blobs first: packages are read without its rights.
func OpenStores(ctx context.Context, s *settings.Settings, data string) (*sql.DB, blob.Store, error) {
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
	db, err := sql.Open(ctx, sql.Config{DSN: dsn, MaxConns: 2})
	return db, blobs, err
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

// BlobFolder is the folder of blobs, or the one before a bucket. The two are never
// the same: from a cache files are dropped that a store has to keep.
func BlobFolder(s *settings.Settings, data string) string {
	if s.S3.Endpoint != "" {
		return filepath.Join(cmp.Or(s.CacheDir, filepath.Join(data, "cache")), "blobs")
	}
	return cmp.Or(s.BlobDir, filepath.Join(data, "blobs"))
}

// OpenBlobs opens the store of packages, artifacts and plugins in folder, or in
// the bucket of S3_ENDPOINT with folder before it.
func OpenBlobs(s *settings.Settings, folder string) (blob.Store, error) {
	if s.S3.Endpoint == "" {
		d, err := blob.OpenDir(folder)
		if err != nil {
			return nil, err
		}
		d.SetPatience(s.BlobTimeout)
		return d, nil
	}
	if (s.S3.AccessKey == "") != (s.S3.SecretKey == "") {
		return nil, errors.New("S3_ACCESS_KEY and S3_SECRET_KEY: set both, or none for a bucket that everybody may write")
	}
	bucket, err := blob.OpenS3(blob.S3Config{
		Endpoint: s.S3.Endpoint, Bucket: s.S3.Bucket, Region: s.S3.Region,
		AccessKey: s.S3.AccessKey, SecretKey: s.S3.SecretKey, UseTLS: s.S3.UseTLS,
		CacheDir: folder, CacheBytes: s.BlobCacheBytes, Patience: s.BlobTimeout,
	})
	if err != nil {
		return nil, err
	}
	return bucket, nil
}

// pinger is a store that is elsewhere.
type pinger interface {
	Ping(ctx context.Context) error
}

// S3Remedy says how to mend a bucket that cannot be reached.
const S3Remedy = "look at S3_ENDPOINT, S3_BUCKET and the keys; what this machine used lately is near and can still be judged"
