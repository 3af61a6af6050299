package roles

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/worker"
	"deepoj/sandbox"
	"deepoj/sql"
)

// AskTime bounds the question whether the database is there.
const AskTime = 10 * time.Second

// needs are what judging needs besides the sandbox.
func needs(b *base, cache, journal string) []worker.Need {
	folders := []string{filepath.Join(cache, "judging", "temp"), filepath.Join(cache, "plugins"), journal}
	if b.S3.Endpoint != "" {
		folders = append(folders, BlobFolder(&b.Loaded.Settings, b.Options.Data))
	}
	return []worker.Need{
		{Name: "database", Probe: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, AskTime)
			defer cancel()
			return b.db.Ping(ctx)
		}},
		{Name: "disk", Probe: func(context.Context) error {
			for _, folder := range folders {
				if err := takesFiles(folder); err != nil {
					return err
				}
			}
			return nil
		}},
		{Name: "blob_store", Probe: b.blobs.Probe, Spare: b.S3.Endpoint != ""},
	}
}

// probeBytes is what a folder has to take: less than that is no room for the output of a program.
const probeBytes = 1 << 20

// takesFiles writes to a folder and reports why that cannot be done. What is written has no name.
func takesFiles(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("folder %s: %w", folder, err)
	}
	f, err := os.CreateTemp(folder, ".probe-*")
	if err != nil {
		return fmt.Errorf("write to %s: %w", folder, err)
	}
	err = os.Remove(f.Name())
	if err == nil {
		data := make([]byte, probeBytes)
		_, _ = rand.Read(data) // never fails; zeros might take no room
		_, err = f.Write(data)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write to %s: %w", folder, err)
	}
	return nil
}

// passing reports whether a job may have failed because something was lost for a
// moment: a connection, an agent or a one-shot run that was killed, a full disk.
func passing(err error) bool {
	if line, ok := errors.AsType[*sandbox.ProtocolError](err); ok {
		return line.Reason == sandbox.ReasonNoLine // the command was ended before it said anything
	}
	return errors.Is(err, sandbox.ErrAgentGone) || blob.Away(err) || errors.Is(err, syscall.ENOSPC) || sql.Away(err)
}

// NeedRemedies say for people how to mend what a worker lacks.
var NeedRemedies = map[string]string{
	worker.NeedSandbox: "See the log, and run `deepoj doctor`.",
	"database":         "Start PostgreSQL, or correct DATABASE_URL.",
	"disk":             "Free space on the file system that is named, or choose another folder.",
	"blob_store":       "Bring back BLOB_DIR, or the service at S3_ENDPOINT; `deepoj blob fsck` says whether all is there.",
}

// remembered knows what an answer was that takes seconds: which languages can be judged
// on this machine, or which sources of plugins can be compiled.
type remembered struct {
	ask func(context.Context) []judge.Language

	mu    sync.Mutex
	found []judge.Language
}

// look asks, and remembers the answer.
func (r *remembered) look(ctx context.Context) []judge.Language {
	found := r.ask(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = found
	return slices.Clone(found)
}

// known returns what was found last; nothing before the first look.
func (r *remembered) known() []judge.Language {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.found)
}

// available returns the ids of what was there at the last look.
func (r *remembered) available() []string {
	ids := []string{}
	for _, l := range r.known() {
		if l.Available {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

// lookPause is how long after a look the next follows, while something is missing.
const lookPause = time.Minute

// untilComplete looks until nothing is missing, and returns when ctx is done.
func (r *remembered) untilComplete(ctx context.Context) error {
	for {
		found := r.look(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was asked to end
		}
		var again <-chan time.Time
		if slices.ContainsFunc(found, func(l judge.Language) bool { return !l.Available }) {
			again = time.After(lookPause)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		}
	}
}
