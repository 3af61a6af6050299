package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"deepoj/host/blob"
	"deepoj/host/worker"
	"deepoj/sandbox"
	"deepoj/sql"
	"deepoj/web"
)

// askTime bounds the question whether the database is there.
const askTime = 10 * time.Second

// needs are what judging needs besides the sandbox. Folders are where it writes.
func (n *node) needs(folders ...string) []worker.Need {
	return []worker.Need{
		{Name: "database", Probe: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, askTime)
			defer cancel()
			return n.store.Ping(ctx)
		}},
		{Name: "disk", Probe: func(context.Context) error {
			for _, folder := range folders {
				if err := takesFiles(folder); err != nil {
					return err
				}
			}
			return nil
		}},
		{Name: "blob_store", Probe: n.blobs.Probe, Spare: n.cfg.get("S3_ENDPOINT") != ""},
	}
}

// probeBytes is what a folder has to take: less than that is no room for the output
// of a program.
const probeBytes = 1 << 20

// takesFiles writes to a folder and reports why that cannot be done. What is written
// has no name.
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

// writes are the folders that judging writes to.
func (n *node) writes(cache, journal string) []string {
	folders := []string{filepath.Join(cache, "judging", "temp"), filepath.Join(cache, "plugins"), journal}
	if n.cfg.get("S3_ENDPOINT") != "" {
		folders = append(folders, blobFolder(n.cfg, n.opts.data))
	}
	return folders
}

// needRemedies say for people how to mend what a worker lacks.
var needRemedies = map[string]string{
	worker.NeedSandbox: "See the log, and run `deepoj doctor`.",
	"database":         "Start PostgreSQL, or correct DATABASE_URL.",
	"disk":             "Free space on the file system that is named, or choose another folder.",
	"blob_store":       "Bring back BLOB_DIR, or the service at S3_ENDPOINT; `deepoj blob fsck` says whether all is there.",
}

// checkWorker says for /readyz whether the worker of this process takes jobs. It
// looks by itself whether what it lacks is back.
func (n *node) checkWorker() web.Check {
	c := web.Check{Name: "worker", OK: true, Detail: "jobs are taken"}
	unable := n.worker.Unable()
	if unable == nil && !n.worker.Offered() {
		unable = errors.New("its languages are not known yet")
	}
	if unable == nil {
		return c
	}
	c.OK, c.Detail, c.Remedy = false, "No jobs are taken: "+unable.Error(), "See the log."
	if lack, ok := errors.AsType[*worker.UnfitError](unable); ok {
		c.Remedy = needRemedies[lack.Need]
	}
	return c
}
