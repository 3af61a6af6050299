package roles

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"deepoj/host/blob"
	"deepoj/host/settings"
)

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
