package blob

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func openDir(t *testing.T) *Dir {
	t.Helper()
	d, err := OpenDir(filepath.Join(t.TempDir(), "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func put(t *testing.T, s Store, content string) Digest {
	t.Helper()
	g, n, err := s.Put(t.Context(), strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(len(content)) || g != Of([]byte(content)) {
		t.Fatalf("Put = %s, %d bytes; want %s, %d bytes", g, n, Of([]byte(content)), len(content))
	}
	return g
}

// damage overwrites the first byte of a stored file, keeping its size.
func damage(t *testing.T, d *Dir, g Digest) {
	t.Helper()
	if err := os.Chmod(d.path(g), 0o640); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(d.path(g), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("X"), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasPutComesBack(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "short": "hello\n", "long": strings.Repeat("0123456789", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			d := openDir(t)
			g := put(t, d, content)
			got, err := ReadAll(t.Context(), d, g, int64(len(content)))
			if err != nil || string(got) != content {
				t.Errorf("ReadAll = %d bytes, %v; want %d bytes", len(got), err, len(content))
			}
			f, err := d.File(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if got, err := io.ReadAll(f); err != nil || string(got) != content {
				t.Errorf("File gives %d bytes, %v; want %d bytes", len(got), err, len(content))
			}
			if ok, err := d.Has(t.Context(), g); err != nil || !ok {
				t.Errorf("Has = %t, %v; want true", ok, err)
			}
		})
	}
}

func TestAnUnknownDigestIsNotFound(t *testing.T) {
	d := openDir(t)
	g := Of([]byte("never stored"))
	if _, err := d.Open(t.Context(), g); !errors.Is(err, ErrNotFound) {
		t.Errorf("Open: %v, want ErrNotFound", err)
	}
	if _, err := d.File(t.Context(), g); !errors.Is(err, ErrNotFound) {
		t.Errorf("File: %v, want ErrNotFound", err)
	}
	if ok, err := d.Has(t.Context(), g); err != nil || ok {
		t.Errorf("Has = %t, %v; want false", ok, err)
	}
}

func TestADigestIsNeverAPath(t *testing.T) {
	d := openDir(t)
	for _, s := range []string{
		"", "sha256:", "sha256:../../../etc/passwd", "md5:d41d8cd98f00b204e9800998ecf8427e",
		"sha256:" + strings.Repeat("A", 64), "sha256:" + strings.Repeat("a", 63) + "/",
	} {
		if _, err := d.Open(t.Context(), Digest(s)); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("Open(%q): %v, want a refusal of the digest", s, err)
		}
		if _, err := Parse(s); err == nil {
			t.Errorf("Parse(%q) succeeded", s)
		}
	}
}

func TestDamageIsAnErrorAndNeverData(t *testing.T) {
	d := openDir(t)
	g := put(t, d, "the right content")
	f, err := d.File(t.Context(), g) // remembered as checked
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	damage(t, d, g)
	if err := os.Chtimes(d.path(g), fsZero, fsZero); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadAll(t.Context(), d, g, 1<<20); !corrupt(err) {
		t.Errorf("ReadAll = %q, %v; want a CorruptError", got, err)
	}
	if _, err := d.File(t.Context(), g); !corrupt(err) {
		t.Errorf("File: %v; want a CorruptError", err)
	}
}

func TestTruncationIsDamage(t *testing.T) {
	d := openDir(t)
	g := put(t, d, "the right content")
	if err := os.Chmod(d.path(g), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.path(g), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAll(t.Context(), d, g, 1<<20); !corrupt(err) {
		t.Errorf("ReadAll: %v; want a CorruptError", err)
	}
}

func TestStoringAgainMendsADamagedFile(t *testing.T) {
	d := openDir(t)
	g := put(t, d, "the right content")
	damage(t, d, g)
	d, err := OpenDir(d.root) // as after a restart
	if err != nil {
		t.Fatal(err)
	}
	put(t, d, "the right content")
	if got, err := ReadAll(t.Context(), d, g, 1<<20); err != nil || string(got) != "the right content" {
		t.Errorf("ReadAll = %q, %v", got, err)
	}
}

func TestManyWritersOfTheSameContentAgree(t *testing.T) {
	d := openDir(t)
	content := bytes.Repeat([]byte("same "), 50_000)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			g, _, err := d.Put(context.WithoutCancel(t.Context()), bytes.NewReader(content))
			if err != nil || g != Of(content) {
				t.Errorf("Put = %s, %v", g, err)
				return
			}
			if got, err := ReadAll(context.WithoutCancel(t.Context()), d, g, 1<<20); err != nil || !bytes.Equal(got, content) {
				t.Errorf("ReadAll = %d bytes, %v", len(got), err)
			}
		})
	}
	wg.Wait()
	if left := incoming(t, d); len(left) != 0 {
		t.Errorf("unfinished files were left behind: %v", left)
	}
}

func TestAFailedPutLeavesNothing(t *testing.T) {
	d := openDir(t)
	broken := errors.New("the other end went away")
	r := io.MultiReader(strings.NewReader("half of it"), failing{broken})
	if _, _, err := d.Put(t.Context(), r); !errors.Is(err, broken) {
		t.Fatalf("Put: %v, want the reader's error", err)
	}
	if ok, _ := d.Has(t.Context(), Of([]byte("half of it"))); ok {
		t.Error("half a file is stored")
	}
	if left := incoming(t, d); len(left) != 0 {
		t.Errorf("unfinished files were left behind: %v", left)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := d.Put(ctx, strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("Put with a cancelled context: %v", err)
	}
}

func TestOldUnfinishedFilesAreSweptAtStart(t *testing.T) {
	d := openDir(t)
	old, young := filepath.Join(d.incoming(), "old"), filepath.Join(d.incoming(), "young")
	for _, p := range []string{old, young} {
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, fsZero, fsZero); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDir(d.root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old file is still there: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("the young file is gone: %v", err)
	}
}

func TestALimitBoundsWhatIsRead(t *testing.T) {
	d := openDir(t)
	g := put(t, d, "12345")
	if _, err := ReadAll(t.Context(), d, g, 4); err == nil {
		t.Error("five bytes were read with a limit of four")
	}
}
