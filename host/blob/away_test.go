package blob

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"deepoj/host/blob/blobtest"
)

// TestAMissingBlobIsNotAnOutageAndAnOutageIsNoMissingBlob asks a folder for what it
// has and for what it lacks, while it is there and while it is not.
func TestAMissingBlobIsNotAnOutageAndAnOutageIsNoMissingBlob(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "blobs")
	d, err := OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	has, lacks := put(t, d, "hello"), Of([]byte("never stored"))
	open := func(g Digest) error {
		_, err := ReadAll(t.Context(), d, g, 1<<10)
		return err
	}
	if err := d.Probe(t.Context()); err != nil {
		t.Errorf("a folder that is there: %v", err)
	}
	if err := open(lacks); !errors.Is(err, ErrNotFound) || Away(err) {
		t.Errorf("a blob that is missing: %v", err)
	}
	for name, breakIt := range map[string]func() (mend func()){
		"moved": func() func() {
			must(t, os.Rename(root, root+".away"))
			return func() { must(t, os.Rename(root+".away", root)) }
		},
		"an empty mount point in its place": func() func() {
			must(t, os.Rename(root, root+".away"))
			must(t, os.Mkdir(root, 0o755))
			return func() { must(t, errors.Join(os.Remove(root), os.Rename(root+".away", root))) }
		},
		"a file in its place": func() func() {
			must(t, os.Rename(root, root+".away"))
			must(t, os.WriteFile(root, nil, 0o600))
			return func() { must(t, errors.Join(os.Remove(root), os.Rename(root+".away", root))) }
		},
	} {
		mend := breakIt()
		for what, g := range map[string]Digest{"a blob that it had": has, "one that it never had": lacks} {
			if err := open(g); !Away(err) || errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %s: %v; want the store to be away", name, what, err)
			}
			if _, err := d.Has(t.Context(), g); !Away(err) {
				t.Errorf("%s: Has of %s: %v; want the store to be away", name, what, err)
			}
		}
		if err := d.Probe(t.Context()); !Away(err) {
			t.Errorf("%s: the probe says %v", name, err)
		}
		mend()
		if err := errors.Join(d.Probe(t.Context()), open(has)); err != nil {
			t.Errorf("%s, and mended: %v", name, err)
		}
	}
}

// TestAFolderThatDoesNotAnswerIsAway reads a file whose reads never return, as those
// of a file server that is gone.
func TestAFolderThatDoesNotAnswerIsAway(t *testing.T) {
	t.Parallel()
	d, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d.SetPatience(50 * time.Millisecond)
	g := Of([]byte("hangs"))
	must(t, os.MkdirAll(filepath.Dir(d.path(g)), 0o755))
	must(t, syscall.Mkfifo(d.path(g), 0o600)) // opening it waits for somebody who writes
	for name, ask := range map[string]func() error{
		"Open": func() error { _, err := ReadAll(t.Context(), d, g, 10); return err },
		"File": func() error { _, err := d.File(t.Context(), g); return err },
	} {
		if err := ask(); !Away(err) || !strings.Contains(err.Error(), "in time") {
			t.Errorf("%s: %v; want the store to be away", name, err)
		}
	}
	r, w, err := os.Pipe()
	must(t, err)
	defer w.Close()
	if _, err := io.ReadAll(&timed{f: r, limit: d.patience, store: "the pipe"}); !Away(err) {
		t.Errorf("a read that does not return: %v", err)
	}
}

// TestAServiceThatIsSilentIsAway has an S3 server that answers nothing, one that
// stops in the middle of an object, and a bucket that is not there.
func TestAServiceThatIsSilentIsAway(t *testing.T) {
	server := blobtest.Start(t, "../..")
	quick := func(endpoint, bucket string) *S3 {
		s, err := OpenS3(S3Config{
			Endpoint: endpoint, Bucket: bucket, AccessKey: server.AccessKey, SecretKey: server.SecretKey,
			CacheDir: t.TempDir(), CacheBytes: 1 << 30, Patience: time.Second,
		})
		must(t, err)
		return s
	}
	s := quick(server.Endpoint, server.Bucket)
	g := put(t, s, strings.Repeat("a large blob ", 1<<20))
	must(t, s.Probe(t.Context()))
	if _, err := s.File(t.Context(), Of([]byte("never stored"))); !errors.Is(err, ErrNotFound) || Away(err) {
		t.Errorf("a blob that is missing: %v", err)
	}
	asked := func(name string, s *S3) {
		t.Helper()
		for what, ask := range map[string]func() error{
			"File":   func() error { _, err := s.File(t.Context(), g); return err },
			"Has":    func() error { _, err := s.Has(t.Context(), g); return err },
			"Verify": func() error { return s.Verify(t.Context(), g) },
			"Put":    func() error { _, _, err := s.Put(t.Context(), strings.NewReader("new "+name)); return err },
			"List":   func() error { return s.List(t.Context(), func(Digest, int64) error { return nil }) },
			"Probe":  func() error { return s.Probe(t.Context()) },
			"Ping":   func() error { return s.Ping(t.Context()) },
		} {
			if err := ask(); !Away(err) {
				t.Errorf("%s: %s says %v; want the store to be away", name, what, err)
			}
		}
	}
	asked("a bucket that is not there", quick(server.Endpoint, "nobody-made-it"))
	server.Stall(t)
	asked("a service that is silent", quick(server.Endpoint, server.Bucket))
	server.Resume(t)
	if err := quick(server.Endpoint, server.Bucket).Probe(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}

	half := cut(t, server.Endpoint, 1<<20)
	if _, err := quick(half, server.Bucket).File(t.Context(), g); !Away(err) || !strings.Contains(err.Error(), "in time") {
		t.Errorf("an object that stops in the middle: %v; want the store to be away", err)
	}
	server.Kill(t)
	asked("a service that was killed", quick(server.Endpoint, server.Bucket))
}

// cut returns an address that leads to another, and goes silent after so many bytes
// of answers on a connection.
func cut(t *testing.T, to string, after int64) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			go func() { _, _ = io.Copy(far, near) }()
			go func() { _, _ = io.CopyN(near, far, after) }() // and then nothing, with both open
		}
	}()
	return l.Addr().String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
