package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"deepoj/host/blob"
	"deepoj/host/problem"
	"deepoj/sql"
	"deepoj/web"
)

// blobFolder is the folder of blobs, or the one before a bucket. The two are never
// the same: from a cache files are dropped that a store has to keep.
func blobFolder(c *config, data string) string {
	if c.get("S3_ENDPOINT") != "" {
		return filepath.Join(firstOf(c.get("CACHE_DIR"), filepath.Join(data, "cache")), "blobs")
	}
	return firstOf(c.get("BLOB_DIR"), filepath.Join(data, "blobs"))
}

// openBlobs opens the store of packages, artifacts and plugins in folder, or in
// the bucket of S3_ENDPOINT with folder before it.
func openBlobs(c *config, folder string) (blob.Store, error) {
	if c.get("S3_ENDPOINT") == "" {
		d, err := blob.OpenDir(folder)
		if err != nil {
			return nil, err
		}
		d.SetPatience(c.duration("BLOB_TIMEOUT"))
		return d, nil
	}
	if (c.get("S3_ACCESS_KEY") == "") != (c.get("S3_SECRET_KEY") == "") {
		return nil, errors.New("S3_ACCESS_KEY and S3_SECRET_KEY: set both, or none for a bucket that everybody may write")
	}
	s, err := blob.OpenS3(blob.S3Config{
		Endpoint: c.get("S3_ENDPOINT"), Bucket: c.get("S3_BUCKET"), Region: c.get("S3_REGION"),
		AccessKey: c.get("S3_ACCESS_KEY"), SecretKey: c.get("S3_SECRET_KEY"), UseTLS: c.get("S3_USE_TLS") == "true",
		CacheDir: folder, CacheBytes: c.number("BLOB_CACHE_BYTES"), Patience: c.duration("BLOB_TIMEOUT"),
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// pinger is a store that is elsewhere.
type pinger interface {
	Ping(ctx context.Context) error
}

const s3Remedy = "look at S3_ENDPOINT, S3_BUCKET and the keys; what this machine used lately is near and can still be judged"

// checkBlobs says for /readyz whether a bucket can be reached. Submissions are
// taken without it.
func checkBlobs(ctx context.Context, s pinger) web.Check {
	c := web.Check{Name: "object store", OK: true, Optional: true}
	if err := s.Ping(ctx); err != nil {
		c.OK, c.Detail, c.Remedy = false, err.Error(), s3Remedy
	}
	return c
}

// blobCommand is `deepoj blob`.
func blobCommand(ctx context.Context, e *env) int {
	commands := map[string]func(context.Context, *env) int{"fsck": fsck, "copy": copyBlobs}
	if len(e.args) == 0 || commands[e.args[0]] == nil {
		fmt.Fprintln(e.stderr, "usage: deepoj blob fsck [flags]\n       deepoj blob copy [flags] DIR")
		return 2
	}
	command := commands[e.args[0]]
	e.args = e.args[1:]
	return command(ctx, e)
}

// checkup is what fsck found.
type checkup struct {
	Blobs   int64            `json:"blobs"`
	Bytes   int64            `json:"bytes"`
	Damaged []string         `json:"damaged"` // digests whose content is another
	Missing []reference      `json:"missing"`
	sizes   map[string]int64 // of what is stored
}

// reference is a use of a blob.
type reference struct {
	Digest string `json:"digest"`
	Of     string `json:"of"` // such as "problem aplusb: data/secret/1.in"
}

// fsck reads every blob where it is stored and looks for every one that the
// database needs. Its status is 1 when one is damaged or missing.
func fsck(ctx context.Context, e *env) int {
	f, path := newFlags(e, "blob fsck", "")
	data := f.String("data", defaultData, "data folder of the running Deep-OJ")
	asJSON := f.Bool("json", false, "print JSON")
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	c, err := settingsFor(e, f, *path)
	if err != nil {
		return e.fail(err)
	}
	store, blobs, err := openStores(ctx, c, *data)
	if err != nil {
		return e.fail(err)
	}
	defer store.Close()
	found, err := examine(ctx, store, blobs)
	if err != nil {
		return e.fail(err)
	}
	if *asJSON {
		err = json.NewEncoder(e.stdout).Encode(found)
	} else {
		for _, d := range found.Damaged {
			fmt.Fprintf(e.stdout, "damaged  %s\n", d)
		}
		for _, m := range found.Missing {
			fmt.Fprintf(e.stdout, "missing  %s  %s\n", m.Digest, m.Of)
		}
		_, err = fmt.Fprintf(e.stdout, "%d blobs, %d bytes: %d damaged, %d missing\n", found.Blobs, found.Bytes, len(found.Damaged), len(found.Missing))
	}
	switch {
	case err != nil:
		return e.fail(err)
	case len(found.Damaged)+len(found.Missing) > 0:
		fmt.Fprintln(e.stderr, "deepoj: import the packages again, or upload the plugins again: that mends what it stores")
		return 1
	}
	return 0
}

func examine(ctx context.Context, store *sql.Store, blobs blob.Store) (*checkup, error) {
	found := &checkup{Damaged: []string{}, Missing: []reference{}, sizes: map[string]int64{}}
	err := blobs.List(ctx, func(d blob.Digest, size int64) error { found.sizes[string(d)] = size; return nil })
	if err != nil {
		return nil, err
	}
	for _, d := range slices.Sorted(maps.Keys(found.sizes)) {
		found.Blobs++
		found.Bytes += found.sizes[d]
		err := blobs.Verify(ctx, blob.Digest(d))
		if _, damaged := errors.AsType[*blob.CorruptError](err); damaged {
			found.Damaged = append(found.Damaged, d)
		} else if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return nil, err
		}
	}
	versions, err := store.ProblemVersions(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, p := range versions {
		of := "problem " + p.Problem
		if !found.holds(p.Version, of) || slices.Contains(found.Damaged, p.Version) {
			continue
		}
		pkg, err := problem.Load(ctx, blobs, blob.Digest(p.Version))
		if err != nil {
			return nil, err
		}
		for _, file := range pkg.Files {
			found.holds(string(file.Digest), of+": "+file.Path)
		}
	}
	plugins, err := store.Plugins(ctx, "", "")
	if err != nil {
		return nil, err
	}
	for _, p := range plugins {
		found.holds(p.Digest, p.Kind+" "+p.Name+" "+p.Version)
	}
	return found, nil
}

// holds notes a reference to what is not there.
func (c *checkup) holds(digest, of string) bool {
	_, ok := c.sizes[digest]
	if !ok {
		c.Missing = append(c.Missing, reference{digest, of})
	}
	return ok
}

// copyBlobs puts what is in a folder of blobs into the store that is configured,
// such as a bucket that takes the folder's place.
func copyBlobs(ctx context.Context, e *env) int {
	f, path := newFlags(e, "blob copy", "DIR")
	data := f.String("data", defaultData, "data folder of the running Deep-OJ")
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	if f.NArg() != 1 {
		f.Usage()
		return 2
	}
	c, err := settingsFor(e, f, *path)
	if err != nil {
		return e.fail(err)
	}
	folder := blobFolder(c, *data)
	if err := becomeOwner(existing(folder)); err != nil {
		return e.fail(err)
	}
	from, err := blob.OpenDir(f.Arg(0))
	if err != nil {
		return e.fail(err)
	}
	to, err := openBlobs(c, folder)
	if err != nil {
		return e.fail(err)
	}
	var n, bytes int64
	err = from.List(ctx, func(d blob.Digest, size int64) error {
		r, err := from.Open(ctx, d)
		if err != nil {
			return err
		}
		_, _, err = to.Put(ctx, r)
		n, bytes = n+1, bytes+size
		return errors.Join(err, r.Close())
	})
	if err != nil {
		return e.fail(fmt.Errorf("after %d blobs: %w; the command may be given again", n, err))
	}
	fmt.Fprintf(e.stdout, "copied %d blobs, %d bytes\n", n, bytes)
	return 0
}
