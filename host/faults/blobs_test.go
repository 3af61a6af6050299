package faults

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/blob"
)

// What happens to the blob store: it is away for a while, and a job met that.
const (
	blobsAway = "blob store away"
	blobsMet  = "jobs given back for want of the blob store"
)

// blobs is where the workers see their blob store: a link to the folder. A worker that
// starts makes a folder that is not there, but no end for a link that leads nowhere.
func (w *world) blobs() string { return filepath.Join(w.dir, "blobs") }

func (w *world) blobFolder() string { return w.blobs() + ".folder" }

// fillBlobs makes the blob store, with what every job needs.
func (w *world) fillBlobs(t *testing.T) {
	t.Helper()
	d, err := blob.OpenDir(w.blobFolder())
	if err == nil {
		w.packet, _, err = d.Put(t.Context(), bytes.NewReader([]byte("problem p")))
	}
	if err == nil {
		err = os.Symlink(w.blobFolder(), w.blobs())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// takeBlobs takes the blob store away until a job has met that, or for some time.
func (w *world) takeBlobs(ctx context.Context) {
	before := w.metAway()
	elsewhere := w.blobFolder() + ".away"
	if err := os.Rename(w.blobFolder(), elsewhere); err != nil {
		w.wrong("take the blob store away: %v", err)
		return
	}
	for end := time.Now().Add(2 * lease); w.metAway() == before && time.Now().Before(end) && pause(ctx, 20*time.Millisecond); {
	}
	if err := os.Rename(elsewhere, w.blobFolder()); err != nil {
		w.wrong("bring the blob store back: %v", err)
	}
	if w.metAway() > before {
		w.count(blobsMet)
	}
}

// metAway is how many jobs were given back because the blob store was away, and did
// not count it as a try.
func (w *world) metAway() (n int) {
	files, err := filepath.Glob(filepath.Join(w.dir, "*.journal"))
	for _, file := range files {
		var b []byte
		if b, err = os.ReadFile(file); err != nil {
			break
		}
		n += strings.Count(string(b), notedAway+" ")
	}
	if err != nil {
		w.wrong("journals: %v", err)
	}
	return n
}
