package checkpoint

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"
)

// How long what has come to pass may be missing in the file.
const (
	deliveredWithin = 100 * time.Millisecond
	filteredWithin  = 500 * time.Millisecond
)

// diskRetry is how long a full disk is left alone.
const diskRetry = time.Second

// DiskFull reports whether saving has failed for want of room on the disk, which may be waited for.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Keeper writes a checkpoint as it changes, but not for each record.
type Keeper struct {
	Saved func(Checkpoint) // is told what was saved, after each time, and does not call the keeper; set before use, or nil

	path string
	save func(Checkpoint) error // of now, to path

	mu   sync.Mutex // held while saving, too: files come in order
	now  Checkpoint
	due  time.Time // when now has to be saved; zero = it is
	wake chan struct{}
}

// NewKeeper returns a keeper of the checkpoint c in the file at path.
func NewKeeper(path string, c Checkpoint) *Keeper {
	return &Keeper{path: path, now: c, wake: make(chan struct{}, 1), save: func(c Checkpoint) error { return c.Save(path) }}
}

// Now is the checkpoint, saved or not.
func (k *Keeper) Now() Checkpoint {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

// Delivered makes a change that comes of a delivery. It is saved within 100 ms.
func (k *Keeper) Delivered(change func(*Checkpoint)) { k.within(deliveredWithin, change) }

// Filtered makes a change that comes of records that the filter dropped. It is saved within 500 ms.
func (k *Keeper) Filtered(change func(*Checkpoint)) { k.within(filteredWithin, change) }

func (k *Keeper) within(d time.Duration, change func(*Checkpoint)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.now)
	if due := time.Now().Add(d); k.due.IsZero() || due.Before(k.due) {
		k.due = due
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
}

// Commit makes a change and saves it before it returns.
func (k *Keeper) Commit(change func(*Checkpoint)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.now)
	return k.write()
}

// write saves what there is; k.mu is held.
func (k *Keeper) write() error {
	if err := k.save(k.now); err != nil {
		return err
	}
	k.due = time.Time{}
	if k.Saved != nil {
		k.Saved(k.now)
	}
	return nil
}

// Run saves changes when they are due until ctx is done, and then what is left. While the disk is full it tries again.
func (k *Keeper) Run(ctx context.Context) error {
	for {
		k.mu.Lock()
		due := k.due
		k.mu.Unlock()
		var timer <-chan time.Time
		if !due.IsZero() {
			timer = time.After(time.Until(due))
		}
		select {
		case <-ctx.Done():
			return k.flush()
		case <-k.wake: // it may be due earlier
		case <-timer:
			err := k.flush()
			if err != nil && !DiskFull(err) {
				return err
			}
			if err != nil {
				k.later()
			}
		}
	}
}

func (k *Keeper) flush() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.due.IsZero() {
		return nil
	}
	return k.write()
}

// later lets the change that could not be saved be due once more.
func (k *Keeper) later() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.due = time.Now().Add(diskRetry)
}
