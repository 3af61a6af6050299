package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/plugins/abi"
)

// Interaction is a question to an interactor about a program that runs
// meanwhile.
type Interaction struct {
	// Input and Answer are read by position from 0 and not closed.
	Input, Answer *os.File

	// From is the end of a pipe in which the program speaks, and To one that it
	// listens to. Interact closes both, whatever comes of it, as soon as the
	// interactor has them, so that each side sees the other one's end.
	From, To *os.File

	// Args follow the file names on the interactor's command line.
	Args []string

	// Feedback is as in [Check].
	Feedback map[string][]byte

	// SaidBytes is what the program may say. Defaults to 64 MiB. More ends the
	// interaction, and the interactor's fuel grows with what it has to read until
	// then: it is the program that comes to an end first.
	SaidBytes int64

	// Patience is how long the interaction may take by the clock on the wall.
	// The caller ends the program by its own limits long before. Required.
	Patience time.Duration

	// Started is called when the interactor has the pipes: now the program may
	// run, and its time counts for itself alone. It is not called when the
	// interactor could not be asked. Required.
	Started func()
}

// Judgement is an interactor's opinion of a program.
type Judgement struct {
	Opinion

	// On the machine's monotonic clock: Heard is when the interactor heard the program's
	// last words, HeardEnd when it saw the end of what the program says, and Ended when
	// it ended itself. The first two are 0 if it never did.
	Heard, HeardEnd, Ended time.Duration

	// Flooded says why the program has gone too far: it said more than it may, or the
	// interactor could not bear what came without end. There is no opinion then. ""
	// = it has not.
	Flooded string

	// Talk is the beginning of the conversation, at most 4 KiB: each line of the
	// program after "> " and each of the interactor after "< ", as in the files of the
	// formats whose names end in .interaction.
	Talk string

	// Tout is what a testlib/1 interactor wrote for a checker; nil when it made
	// no such file.
	Tout []byte
}

// Interact has an interactor talk with a program. A guest that fails gives an
// [*Error]; any other error is the platform's. It is never asked twice: what a
// program said is gone.
func (r *Runtime) Interact(ctx context.Context, m *Module, i Interaction) (Judgement, error) {
	release := func() {
		for _, f := range []*os.File{i.From, i.To} {
			if f != nil {
				_ = f.Close() // a pipe: nothing is lost by it, and twice does no harm
			}
		}
	}
	defer release()
	switch {
	case m.Manifest.Kind != abi.Interactor:
		return Judgement{}, fmt.Errorf("interact: %s is a %s", m.label(), m.Manifest.Kind)
	case i.Input == nil || i.Answer == nil || i.From == nil || i.To == nil:
		return Judgement{}, fmt.Errorf("interact: %s: a file is missing", m.label())
	case i.Patience <= 0 || i.Started == nil:
		return Judgement{}, fmt.Errorf("interact: %s: Patience and Started are required", m.label())
	}
	q := question{
		call:     "interact",
		args:     append([]string{"interactor", "input", feedbackDir + "/" + partTout, "answer"}, i.Args...),
		names:    []string{"input", "answer"},
		files:    []*os.File{i.Input, i.Answer, i.From, i.To},
		stdin:    stdinLive,
		feedback: true,
		kept:     i.Feedback,
		patience: i.Patience,
		said:     i.SaidBytes,
		sent:     func() { release(); i.Started() },
	}
	if m.Manifest.Protocol == abi.ICPC1 {
		q.args = append([]string{"validator", "input", "answer", feedbackDir + "/"}, i.Args...)
	}
	if q.said == 0 {
		q.said = maxSpoken
	}
	a, err := r.ask(ctx, m, q)
	flooded := a.flooded && (errors.Is(err, ErrFuel) || errors.Is(err, ErrMemory) || errors.Is(err, ErrOutput))
	if fault, ok := errors.AsType[*Error](err); ok && (flooded || errors.Is(err, errSaid)) {
		return Judgement{Flooded: fault.Err.Error(), Talk: text(a.parts[partTalk])}, nil
	}
	if err != nil {
		return Judgement{}, err
	}
	j := Judgement{Opinion: Opinion{Exit: int(a.exit), Fuel: a.fuel, CPU: a.cpu, MemoryBytes: a.memory}, Heard: a.heardLast, HeardEnd: a.heardEnd, Ended: a.ended, Talk: text(a.parts[partTalk])}
	if m.Manifest.Protocol == abi.ICPC1 {
		err = j.readICPC(a)
		j.Feedback = a.feedback(i.Feedback)
	} else {
		j.Tout = a.parts[partTout]
		err = j.readTestlib(a)
	}
	if err != nil {
		return Judgement{}, r.broke(m, q, a, err)
	}
	return j, nil
}

// maxSpoken is how many bytes an interactor may say to a program, beside
// spokenPerByte for each that it hears: some answer every word.
const (
	maxSpoken     = 64 << 20
	spokenPerByte = 64
)

// TooMuch reports whether an interactor has said more bytes than it may to a program
// of which it heard some.
func TooMuch(said, heard int64) bool { return said > maxSpoken+spokenPerByte*heard }

// What an interactor gets for each byte that a program says, so that reading to the
// end is never what it fails by: fuel, and room to write in, up to a bound.
const (
	fuelPerByte   = 1000
	outputPerByte = 64
	outputMost    = 64 << 20
)

// FloodBytes is how much a program may say without an answer before what the
// interactor cannot bear is put down to it.
const FloodBytes = 64 << 10

// errSaid is why a conversation ends in which the program says too much.
var errSaid = errors.New("the program said more than it may")

// keptTalk is how much of a conversation is kept, in bytes.
const keptTalk = 4 << 10

// Transcript is the beginning of a conversation. The zero Transcript is empty. It is
// for one goroutine at a time.
type Transcript struct {
	text   []byte
	last   byte // who spoke last: '>' the program, '<' the interactor
	inLine bool // whether the last line has no end yet
}

// Program adds what the program said.
func (t *Transcript) Program(said []byte) { t.add('>', said) }

// Interactor adds what the interactor said.
func (t *Transcript) Interactor(said []byte) { t.add('<', said) }

// String returns the conversation as [Judgement] has it.
func (t *Transcript) String() string { return text(t.text) }

// add appends what one of both said.
func (t *Transcript) add(who byte, said []byte) {
	if t.inLine && t.last != who {
		t.text, t.inLine = append(t.text, '\n'), false
	}
	t.last = who
	for _, c := range said {
		if len(t.text) >= keptTalk {
			return
		}
		if !t.inLine {
			t.text, t.inLine = append(t.text, who, ' '), true
		}
		t.text = append(t.text, c)
		t.inLine = c != '\n'
	}
}

// ear is a guest's stdin that a program speaks into.
type ear struct {
	m                   *meter
	f                   *os.File
	talk                *Transcript
	most                int64 // that it hears
	heard               int64
	granted             int64         // room to write in
	since               int64         // heard since the guest said something
	heardLast, heardEnd time.Duration // see Judgement
}

// hear notes n bytes. The error is that there are too many.
func (e *ear) hear(n int) error {
	e.heard, e.since = e.heard+int64(n), e.since+int64(n)
	if e.heard > e.most {
		e.m.fault = faultSaid
		return errSpent
	}
	e.m.limit += int64(n) * fuelPerByte
	room := min(e.heard*outputPerByte, outputMost)
	e.m.output, e.granted = e.m.output+room-e.granted, room
	return nil
}

func (e *ear) Read(p []byte) (int, error) {
	n, err := e.f.Read(p)
	e.talk.Program(p[:n])
	if e.heardEnd == 0 && errors.Is(err, io.EOF) {
		e.heardEnd = machineTime()
	}
	if n > 0 {
		e.heardLast = machineTime()
		if much := e.hear(n); much != nil {
			return 0, much
		}
	}
	if charged := e.m.charge(n); charged != nil {
		return 0, charged
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("listen to a program: %w", err)
	}
	return n, err
}

// mouth is a guest's stdout that a program listens to. When it does not listen
// any more, what is said is lost: the guest learns of the end when it listens.
type mouth struct {
	m    *meter
	f    *os.File
	ear  *ear
	talk *Transcript
	said int64
	deaf bool
}

func (w *mouth) Write(p []byte) (int, error) {
	if err := w.m.charge(len(p)); err != nil {
		return 0, err
	}
	w.ear.since = 0
	if w.said += int64(len(p)); TooMuch(w.said, w.ear.heard) {
		w.m.fault = faultOutput
		return 0, errSpent
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
