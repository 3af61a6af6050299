package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/blob/blobtest"
)

// openS3 returns a store of the server's bucket with an empty folder of its own,
// as on another machine.
func openS3(t *testing.T, server *blobtest.Server) *S3 {
	t.Helper()
	return openS3At(t, server, t.TempDir(), 1<<30)
}

func openS3At(t *testing.T, server *blobtest.Server, dir string, limit int64) *S3 {
	t.Helper()
	s, err := OpenS3(S3Config{
		Endpoint: server.Endpoint, Bucket: server.Bucket, AccessKey: server.AccessKey, SecretKey: server.SecretKey,
		CacheDir: dir, CacheBytes: limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func object(server *blobtest.Server, g Digest) string { return filepath.Join(server.Dir, key(g)) }

func TestABucketKeepsWhatWasPut(t *testing.T) {
	server := blobtest.Start(t, "../..")
	first, second := openS3(t, server), openS3(t, server)
	if err := first.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 40<<20) // several parts of an upload
	rand.Read(large)
	want := map[Digest]int64{}
	for name, content := range map[string]string{"empty": "", "short": "hello\n", "large": string(large)} {
		t.Run(name, func(t *testing.T) {
			g := put(t, first, content)
			want[g] = int64(len(content))
			for where, s := range map[string]*S3{"here": first, "on another machine": second} {
				got, err := ReadAll(t.Context(), s, g, int64(len(content)))
				if err != nil || string(got) != content {
					t.Errorf("%s ReadAll = %d bytes, %v; want %d", where, len(got), err, len(content))
				}
				f, err := s.File(t.Context(), g)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(f); err != nil || string(got) != content {
					t.Errorf("%s File gives %d bytes, %v; want %d", where, len(got), err, len(content))
				}
				f.Close()
				if ok, err := s.Has(t.Context(), g); err != nil || !ok {
					t.Errorf("%s Has = %t, %v", where, ok, err)
				}
				if err := s.Verify(t.Context(), g); err != nil {
					t.Errorf("%s Verify: %v", where, err)
				}
			}
		})
	}
	got := map[Digest]int64{}
	err := second.List(t.Context(), func(g Digest, n int64) error { got[g] = n; return nil })
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("List gives %v, %v; want %v", got, err, want)
	}
}

func TestWhatABucketLacksIsNotFound(t *testing.T) {
	s := openS3(t, blobtest.Start(t, "../.."))
	g := Of([]byte("never stored"))
	if _, err := s.Open(t.Context(), g); !errors.Is(err, ErrNotFound) {
		t.Errorf("Open: %v, want ErrNotFound", err)
	}
	if err := s.Verify(t.Context(), g); !errors.Is(err, ErrNotFound) {
		t.Errorf("Verify: %v, want ErrNotFound", err)
	}
	if ok, err := s.Has(t.Context(), g); err != nil || ok {
		t.Errorf("Has = %t, %v; want false", ok, err)
	}
	for _, bad := range []Digest{"", "sha256:../../x", "md5:00"} {
		if _, err := s.Open(t.Context(), bad); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("Open(%q): %v, want a refusal of the digest", bad, err)
		}
	}
}

func TestADamagedObjectIsAnErrorUntilItIsStoredAgain(t *testing.T) {
	server := blobtest.Start(t, "../..")
	g := put(t, openS3(t, server), "the right content")
	if err := os.WriteFile(object(server, g), []byte("the wrong content"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openS3(t, server)
	for range 2 { // nothing wrong was kept near
		if got, err := ReadAll(t.Context(), s, g, 1<<20); !corrupt(err) {
			t.Fatalf("ReadAll = %q, %v; want a CorruptError", got, err)
		}
	}
	if err := s.Verify(t.Context(), g); !corrupt(err) {
		t.Errorf("Verify: %v; want a CorruptError", err)
	}
	put(t, s, "the right content")
	if got, err := ReadAll(t.Context(), openS3(t, server), g, 1<<20); err != nil || string(got) != "the right content" {
		t.Errorf("ReadAll = %q, %v", got, err)
	}
}

func TestADamagedFileNearIsFetchedAgain(t *testing.T) {
	server := blobtest.Start(t, "../..")
	dir := t.TempDir()
	g := put(t, openS3At(t, server, dir, 1<<30), "the right content")
	s := openS3At(t, server, dir, 1<<30) // as after a restart
	damage(t, s.near.dir, g)
	if got, err := ReadAll(t.Context(), s, g, 1<<20); err != nil || string(got) != "the right content" {
		t.Errorf("ReadAll = %q, %v", got, err)
	}
}

func TestAServerThatIsAwayLosesNothing(t *testing.T) {
	server := blobtest.Start(t, "../..")
	s := openS3(t, server)
	near := put(t, s, "known here")
	far := put(t, openS3(t, server), "known elsewhere")
	server.Kill(t)
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if got, err := ReadAll(short, s, near, 1<<20); err != nil || string(got) != "known here" {
		t.Errorf("what is near cannot be read: %q, %v", got, err)
	}
	if _, err := s.Open(short, far); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("Open: %v; want that nobody answers, not that there is nothing", err)
	}
	if _, _, err := s.Put(short, strings.NewReader("new")); err == nil {
		t.Error("Put succeeded without a server")
	}
	if err := s.Ping(short); err == nil || !strings.Contains(err.Error(), server.Bucket) {
		t.Errorf("Ping: %v; want an error that names the bucket", err)
	}
	server.Restart(t)
	if ok, err := s.Has(t.Context(), Of([]byte("new"))); err != nil || ok {
		t.Errorf("what could not be stored is there: %t, %v", ok, err)
	}
	if got, err := ReadAll(t.Context(), s, far, 1<<20); err != nil || string(got) != "known elsewhere" {
		t.Errorf("after its return: %q, %v", got, err)
	}
	put(t, s, "new")
}

func TestAKilledUploadIsNoObject(t *testing.T) {
	server := blobtest.Start(t, "../..")
	s := openS3(t, server)
	content := make([]byte, 64<<20)
	rand.Read(content)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, _, err := s.Put(ctx, bytes.NewReader(content))
		done <- err
	}()
	var err error
	for waiting := true; waiting; { // until the upload is under way
		select {
		case err = <-done:
			waiting = false
		default:
			waiting = uploads(t, server) == 0
		}
	}
	cancel()
	server.Kill(t)
	if err == nil {
		err = <-done
	}
	server.Restart(t)
	got, readErr := ReadAll(t.Context(), openS3(t, server), Of(content), int64(len(content)))
	switch {
	case err == nil && (readErr != nil || !bytes.Equal(got, content)):
		t.Errorf("it was stored, and reading gives %d bytes, %v", len(got), readErr)
	case err != nil && readErr != nil && !errors.Is(readErr, ErrNotFound):
		t.Errorf("it was not stored, and reading gives %v; want ErrNotFound", readErr)
	}
	put(t, s, string(content))
}

// uploads counts what the server has of objects that are not finished.
func uploads(t *testing.T, server *blobtest.Server) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(server.Dir, func(path string, e os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil && !e.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTheFolderBeforeABucketStaysBounded(t *testing.T) {
	server := blobtest.Start(t, "../..")
	const limit = 100_000
	s := openS3At(t, server, t.TempDir(), limit)
	s.near.young = 0
	var all []Digest
	for i := range 40 {
		g := put(t, s, fmt.Sprintf("%02d%s", i, strings.Repeat("x", 9_998)))
		all = append(all, g)
		if f, err := s.File(t.Context(), all[0]); err != nil { // in use all the time
			t.Fatal(err)
		} else if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		var held int64
		if err := s.near.dir.List(t.Context(), func(_ Digest, n int64) error { held += n; return nil }); err != nil {
			t.Fatal(err)
		}
		if held > limit+10_000 {
			t.Fatalf("after %d files of 10,000 bytes the folder holds %d, with a bound of %d", i+1, held, limit)
		}
	}
	if ok, err := s.near.dir.Has(t.Context(), all[0]); err != nil || !ok {
		t.Errorf("what was always in use was dropped: %v", err)
	}
	if ok, err := s.near.dir.Has(t.Context(), all[1]); err != nil || ok {
		t.Errorf("what was used first and never again is still there: %v", err)
	}
	for i, g := range all {
		got, err := ReadAll(t.Context(), s, g, limit)
		if err != nil || !strings.HasPrefix(string(got), fmt.Sprintf("%02d", i)) {
			t.Errorf("file %d: %.5q, %v", i, got, err)
		}
	}
}

func TestManyReadersFetchOnce(t *testing.T) {
	server := blobtest.Start(t, "../..")
	content := strings.Repeat("0123456789", 500_000)
	g := put(t, openS3(t, server), content)
	s := openS3(t, server)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			ctx := t.Context()
			if i%4 == 0 {
				ctx = gone
			}
			got, err := ReadAll(ctx, s, g, int64(len(content)))
			if i%4 == 0 {
				if err == nil {
					t.Error("reading with a cancelled context succeeded")
				}
				return
			}
			if err != nil || string(got) != content {
				t.Errorf("ReadAll = %d bytes, %v", len(got), err)
			}
		})
	}
	wg.Wait()
}

func TestAWrongS3SettingIsNamed(t *testing.T) {
	for name, cfg := range map[string]S3Config{
		"scheme":      {Endpoint: "http://127.0.0.1:9000", Bucket: "b", CacheBytes: 1},
		"must be":     {Endpoint: "127.0.0.1:9000/path", Bucket: "b", CacheBytes: 1},
		"bucket":      {Endpoint: "127.0.0.1:9000", CacheBytes: 1},
		"positive":    {Endpoint: "127.0.0.1:9000", Bucket: "b"},
		"endpoint \"": {Bucket: "b", CacheBytes: 1},
	} {
		cfg.CacheDir = t.TempDir()
		if _, err := OpenS3(cfg); err == nil || !strings.Contains(strings.ToLower(err.Error()), name) {
			t.Errorf("OpenS3(%+v): %v; want an error with %q", cfg, err, name)
		}
	}
	server := blobtest.Start(t, "../..")
	for what, change := range map[string]func(*S3Config){
		"no bucket":  func(c *S3Config) { c.Bucket = "another" },
		"ask for":    func(c *S3Config) { c.SecretKey = "wrong" },
		"ask for bu": func(c *S3Config) { c.AccessKey = "nobody" },
	} {
		cfg := S3Config{
			Endpoint: server.Endpoint, Bucket: server.Bucket, AccessKey: server.AccessKey, SecretKey: server.SecretKey,
			CacheDir: t.TempDir(), CacheBytes: 1,
		}
		change(&cfg)
		s, err := OpenS3(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), server.SecretKey) {
			t.Errorf("Ping: %v; want an error with %q", err, what)
		}
	}
}
