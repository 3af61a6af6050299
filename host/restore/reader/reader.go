// Package reader reads contest packages in a process of its own, with bounded memory and time: a small package can cost much of
// either, and strangers made it.
package reader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"deepoj/host/reading/apart"
	"deepoj/host/restore"
)

// Command is the hidden command that a program must hand to [Child].
const Command = "contest-read"

// Config bounds what reading one package may cost: see [apart.Config].
type Config apart.Config

// Bounds of a reader where nothing else is said. A contest of 35,000 judged submissions takes 2 s and 216 MiB, one of 200,000 takes
// 13 s and 1.1 GiB, measured with packages as the tests make them.
const (
	cpu      = 2 * time.Minute
	memory   = 3 << 29 // bytes
	patience = 5 * time.Minute
)

// maxAnswer is how much a process may answer, in bytes: the answers about those are of 24 MiB and 138 MiB.
const maxAnswer = 512 << 20

// order is what the process is told when it starts.
type order struct {
	apart.Limits
	restore.Options

	Bytes int64 `json:"bytes"` // of the archive
}

// Read reads the package in an open ZIP file. What costs too much is an outcome that is unreadable; an error is none of the
// package.
func (c Config) Read(ctx context.Context, archive *os.File, opt restore.Options) (o restore.Outcome, err error) {
	about, err := archive.Stat()
	if err != nil {
		return o, fmt.Errorf("read contest package: %w", err)
	}
	a := apart.Config(c)
	if a.CPU == 0 {
		a.CPU = cpu
	}
	if a.Bytes == 0 {
		a.Bytes = memory
	}
	if a.Patience == 0 {
		a.Patience = patience
	}
	arg, err := json.Marshal(order{apart.Limits{CPU: a.CPU, Data: a.Bytes}, opt, about.Size()})
	if err != nil {
		return o, fmt.Errorf("read contest package: %w", err)
	}
	err = apart.Try(func() error {
		p, err := a.Start(ctx, archive, Command, string(arg))
		if err != nil {
			return err
		}
		defer p.End()
		defer p.Patience()()
		if o, err = restore.Receive(io.LimitReader(p.Answers, maxAnswer)); err != nil {
			return p.Why(err)
		}
		return nil
	})
	if failed, ok := errors.AsType[*apart.FailureError](err); ok {
		return restore.Outcome{Unreadable: failed.Why}, nil
	}
	return o, err
}

// Child is the whole life of a reader: args are those of the process without its name, so args[0] is [Command]. It returns the
// exit status. A main calls it before anything else.
func Child(args []string) int { return apart.Child(args, child) }

func child(text []byte) error {
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	if err := o.Confine(); err != nil {
		return fmt.Errorf("confine itself: %w", err)
	}
	return restore.ReadArchive(os.NewFile(apart.Source, "archive"), o.Bytes, o.Options).Send(os.Stdout)
}
