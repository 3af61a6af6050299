package reading_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deepoj/host/blob"
	"deepoj/host/reading"
)

// readers are the processes of this one that read packages.
func readers(t *testing.T) (pids []int) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	must(t, err)
	for _, name := range found {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if fields[1] != strconv.Itoa(os.Getpid()) || fields[0] == "Z" || !bytes.Contains(line, []byte(reading.Command)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		must(t, err)
		pids = append(pids, pid)
	}
	return pids
}

// awaitReader waits for another process that reads.
func awaitReader(ctx context.Context, t *testing.T, before []int) int {
	t.Helper()
	for ctx.Err() == nil {
		for _, pid := range readers(t) {
			if len(before) == 0 || pid != before[0] {
				return pid
			}
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("no process reads")
	return 0
}

// slow is a package that takes long to read.
func slow(t *testing.T) *os.File { return archive(t, statement(formulas())) }

// formulas is a statement of formulas of which no two are alike.
func formulas() string {
	var b strings.Builder
	for i := range 15_000 {
		fmt.Fprintf(&b, "$\\frac{%d}{b}$\n", i)
	}
	return b.String()
}

func TestTheReaderEndsWithWhoeverAsked(t *testing.T) {
	for name, file := range map[string]*os.File{"while it reads": slow(t), "while a file is sent": archive(t, entry{name: "attachments/big", text: noise(32 << 20), mode: 0o644})} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			r, err := reading.Config{}.Archive(ctx, file)
			if err == nil {
				r.Slug = "small"
				_, err = r.Save(t.Context(), stalled{cancel})
			}
			_ = r.Close()
			done <- err
		}()
		if strings.HasSuffix(name, "reads") {
			awaitReader(ctx, t, nil)
			cancel()
		}
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want that it was cancelled", name, err)
		}
		cancel()
		if left := readers(t); len(left) > 0 {
			t.Errorf("%s: the processes %v go on", name, left)
		}
	}
}

// stalled is a store whose caller is cancelled in the middle of a file.
type stalled struct{ cancel func() }

func (s stalled) Put(_ context.Context, r io.Reader) (blob.Digest, int64, error) {
	n, err := io.CopyN(io.Discard, r, 1<<20)
	if err == io.EOF { //nolint:errorlint // as it comes
		return blob.Of(nil), n, nil // a small file
	}
	s.cancel()
	rest, err := io.Copy(io.Discard, r)
	return blob.Of(nil), n + rest, err
}

func (stalled) Open(context.Context, blob.Digest) (io.ReadCloser, error) {
	return nil, blob.ErrNotFound
}

func (stalled) File(context.Context, blob.Digest) (*os.File, error)        { return nil, blob.ErrNotFound }
func (stalled) Has(context.Context, blob.Digest) (bool, error)             { return false, nil }
func (stalled) List(context.Context, func(blob.Digest, int64) error) error { return nil }
func (stalled) Verify(context.Context, blob.Digest) error                  { return nil }
func (stalled) Probe(context.Context) error                                { return nil }

func TestAReaderThatIsKilledIsStartedOnceMore(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	done := make(chan error)
	go func() {
		_, err := reading.Config{}.Archive(ctx, slow(t))
		done <- err
	}()
	first := awaitReader(ctx, t, nil)
	must(t, syscall.Kill(first, syscall.SIGKILL))
	must(t, syscall.Kill(awaitReader(ctx, t, []int{first}), syscall.SIGKILL))
	if failed, ok := errors.AsType[*reading.FailureError](<-done); !ok || failed.Why != "the process that read the package was killed twice" {
		t.Errorf("killed twice: %v", failed)
	}
}

func TestAReaderThatIsSilentIsEnded(t *testing.T) {
	_, err := reading.Config{Patience: 300 * time.Millisecond}.Archive(t.Context(), slow(t))
	if failed, ok := errors.AsType[*reading.FailureError](err); !ok || failed.Why != "reading the package took longer than 300ms" {
		t.Errorf("a reader that says nothing: %v", err)
	}
}
