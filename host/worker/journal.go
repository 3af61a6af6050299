package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"deepoj/host/judge"
)

// answerSoon is how long the database may take for its answer about a result
// until the result is written down. While it is well, nothing is.
const answerSoon = 250 * time.Millisecond

// journalVersion is the version of the entries' format.
const journalVersion = 1

// journal keeps the results that the database has neither taken nor refused in a folder, one file each, so that they
// survive the worker. Workers that share a folder may record each other's results: recording one twice changes nothing.
// A nil journal keeps nothing.
type journal struct {
	dir string
	m   metrics
	log *slog.Logger
}

// journalEntry is the content of a file.
type journalEntry struct {
	Version int           `json:"version"`
	TraceID string        `json:"trace_id"`
	Attempt judge.Attempt `json:"attempt"`
	Result  *judge.Result `json:"result"`
}

// openJournal returns the journal in dir, which is made; "" is none.
func openJournal(dir string, m metrics, log *slog.Logger) (*journal, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("journal of results: %w", err)
	}
	return &journal{dir, m, log}, nil
}

// unanswered is a result on its way to the database.
type unanswered struct {
	j     *journal
	path  string
	entry journalEntry
	soon  *time.Timer

	mu   sync.Mutex
	over bool // answered: nothing is to be kept
	kept bool // in the folder
}

// expect returns the entry of a result that the database is about to be asked
// to take. It is written down if the answer does not come soon.
func (j *journal) expect(job *judge.Claim, r *judge.Result) *unanswered {
	a := job.Attempt
	u := &unanswered{j: j, entry: journalEntry{journalVersion, job.TraceID, a, r}}
	if j != nil {
		u.path = filepath.Join(j.dir, fmt.Sprintf("%d-%d-%s.json", a.JobID, a.AttemptID, a.Token))
		u.soon = time.AfterFunc(answerSoon, u.keep)
	}
	return u
}

// keep writes the result down, unless it was answered or is there already.
func (u *unanswered) keep() {
	if u.j == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over || u.kept {
		return
	}
	if err := u.write(); err != nil {
		u.j.log.Error("a result cannot be written down; it is lost if this worker ends before the database answers",
			slog.Int64("job_id", u.entry.Attempt.JobID), slog.Int64("attempt_id", int64(u.entry.Attempt.AttemptID)), slog.Any("err", err))
		return
	}
	u.kept = true
	u.j.m.journal.WithLabelValues(journalKept).Inc()
}

// write stores the entry so that a crash leaves all of it or nothing.
func (u *unanswered) write() error {
	data, err := json.Marshal(u.entry)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(u.j.dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), u.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	dir, err := os.Open(u.j.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// forget removes the result: the database has answered.
func (u *unanswered) forget() {
	if u.j == nil {
		return
	}
	if u.soon != nil {
		u.soon.Stop()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	if !u.kept {
		return
	}
	if err := os.Remove(u.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		u.j.log.Warn("a result that was answered stays in the journal", slog.String("file", u.path), slog.Any("err", err))
	}
}

// left returns the results of earlier workers. A file that cannot be read is removed: its job is judged again.
func (j *journal) left() []*unanswered {
	if j == nil {
		return nil
	}
	files, err := os.ReadDir(j.dir)
	if err != nil {
		j.log.Error("the journal of results cannot be read", slog.Any("err", err))
		return nil
	}
	var us []*unanswered
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		u := &unanswered{j: j, path: filepath.Join(j.dir, f.Name()), kept: true}
		if err := u.read(); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // another worker was quicker
			}
			j.log.Error("an entry of the journal cannot be used and is removed", slog.String("file", u.path), slog.Any("err", err))
			j.m.journal.WithLabelValues(journalUnreadable).Inc()
			u.forget()
			continue
		}
		us = append(us, u)
	}
	return us
}

func (u *unanswered) read() error {
	data, err := os.ReadFile(u.path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &u.entry); err != nil {
		return err
	}
	switch {
	case u.entry.Version != journalVersion:
		return fmt.Errorf("version %d is unknown", u.entry.Version)
	case u.entry.Result == nil:
		return errors.New("there is no result in it")
	}
	return nil
}

// replay has the database take what earlier workers could not record, or say why it does not want it any more.
func (w *Worker) replay(ctx context.Context) {
	for _, u := range w.journal.left() {
		// As a run its lease is renewed until the database has answered.
		r := w.newRun(judge.Claim{Attempt: u.entry.Attempt, TraceID: u.entry.TraceID}, nil, time.Now())
		_ = r.close() // it was judged
		r.log().InfoContext(ctx, "a result of an earlier worker is to be recorded", slog.String("verdict", string(u.entry.Result.Verdict)))
		w.record(w.cfg.Context(ctx, r.job), r, u)
		w.leaveRun(r)
		if ctx.Err() != nil {
			return
		}
	}
}
