package wasi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/host/plugin/dialogue"
	"deepoj/host/plugin/internal/fuel"
	"deepoj/host/plugin/internal/wire"
)

// What an interactor gets for each byte that a program says, so that reading to the
// end is never what it fails by: fuel, and room to write in, up to a bound.
const (
	fuelPerByte   = 1000
	outputPerByte = 64
	outputMost    = 64 << 20
)

// Stdin returns what the guest reads.
func (w *World) Stdin(q wire.Request, blob []byte, fds []int, live []*os.File, said *dialogue.Transcript) (io.Reader, error) {
	switch q.Stdin {
	case wire.StdinBlob:
		return &plainReader{m: w.Meter, n: &node{host: none, data: blob}}, nil
	case wire.StdinFile:
		n := &node{host: fds[0], size: unknown}
		if n.measure() != errnoSuccess {
			return nil, errors.New("the size of stdin is unknown")
		}
		return &plainReader{m: w.Meter, n: n}, nil
	case wire.StdinLive:
		return &Ear{m: w.Meter, f: live[0], talk: said, most: q.SaidBytes}, nil
	case wire.StdinEmpty:
	}
	return bytes.NewReader(nil), nil
}

// Ear is a guest's stdin that a program speaks into.
type Ear struct {
	m                   *fuel.Meter
	f                   *os.File
	talk                *dialogue.Transcript
	most                int64 // that it hears
	heard               int64
	granted             int64         // room to write in
	since               int64         // heard since the guest said something
	HeardLast, HeardEnd time.Duration // when, by the machine's clock; 0 = never
}

// hear notes n bytes. The error is that there are too many.
func (e *Ear) hear(n int) error {
	e.heard, e.since = e.heard+int64(n), e.since+int64(n)
	if e.heard > e.most {
		e.m.Fault = wire.FaultSaid
		return fuel.ErrSpent
	}
	e.m.Limit += int64(n) * fuelPerByte
	room := min(e.heard*outputPerByte, outputMost)
	e.m.Output, e.granted = e.m.Output+room-e.granted, room
	return nil
}

func (e *Ear) Read(p []byte) (int, error) {
	n, err := e.f.Read(p)
	e.talk.Program(p[:n])
	if e.HeardEnd == 0 && errors.Is(err, io.EOF) {
		e.HeardEnd = fuel.MachineTime()
	}
	if n > 0 {
		e.HeardLast = fuel.MachineTime()
		if much := e.hear(n); much != nil {
			return 0, much
		}
	}
	if charged := e.m.Charge(n); charged != nil {
		return 0, charged
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("listen to a program: %w", err)
	}
	return n, err
}

// Flooded reports whether the program has gone on for long without an answer.
func (e *Ear) Flooded() bool { return e.since > dialogue.FloodBytes }

// Mouth returns the guest's stdout that belongs to its stdin.
func (e *Ear) Mouth(f *os.File) io.Writer { return &mouth{m: e.m, f: f, ear: e, talk: e.talk} }

// Mouth is a guest's stdout that a program listens to. When it does not listen
// any more, what is said is lost: the guest learns of the end when it listens.
type mouth struct {
	m    *fuel.Meter
	f    *os.File
	ear  *Ear
	talk *dialogue.Transcript
	said int64
	deaf bool
}

func (w *mouth) Write(p []byte) (int, error) {
	if err := w.m.Charge(len(p)); err != nil {
		return 0, err
	}
	w.ear.since = 0
	if w.said += int64(len(p)); dialogue.TooMuch(w.said, w.ear.heard) {
		w.m.Fault = wire.FaultOutput
		return 0, fuel.ErrSpent
	}
	w.talk.Interactor(p)
	if w.deaf {
		return len(p), nil
	}
	if _, err := w.f.Write(p); errors.Is(err, unix.EPIPE) {
		w.deaf = true
	} else if err != nil {
		return 0, fmt.Errorf("speak to a program: %w", err)
	}
	return len(p), nil
}
