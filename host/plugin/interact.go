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

	// HeardEnd says that the interactor saw the end of what the program says
	// before it ended itself: the program was first to stop talking.
	HeardEnd bool

	// Talk is the beginning of the conversation, at most 4 KiB: each line of the
	// program after "< " and each of the interactor after "> ".
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
		sent:     func() { release(); i.Started() },
	}
	if m.Manifest.Protocol == abi.ICPC1 {
		q.args = append([]string{"validator", "input", "answer", feedbackDir + "/"}, i.Args...)
	}
	a, err := r.ask(ctx, m, q)
	if err != nil {
		return Judgement{}, err
	}
	j := Judgement{Opinion: Opinion{Exit: int(a.exit), Fuel: a.fuel, CPU: a.cpu, MemoryBytes: a.memory}, HeardEnd: a.heardEnd, Talk: text(a.parts[partTalk])}
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

// maxSpoken is how many bytes an interactor may say to a program.
const maxSpoken = 64 << 20

// keptTalk is how much of a conversation is kept, in bytes.
const keptTalk = 4 << 10

// Transcript is the beginning of a conversation. The zero Transcript is empty. It is
// for one goroutine at a time.
type Transcript struct {
	text   []byte
	last   byte // who spoke last: '<' the program, '>' the interactor
	inLine bool // whether the last line has no end yet
}

// Program adds what the program said.
func (t *Transcript) Program(said []byte) { t.add('<', said) }

// Interactor adds what the interactor said.
func (t *Transcript) Interactor(said []byte) { t.add('>', said) }

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
	m        *meter
	f        *os.File
	talk     *Transcript
	heardEnd bool
}

func (e *ear) Read(p []byte) (int, error) {
	n, err := e.f.Read(p)
	e.talk.Program(p[:n])
	e.heardEnd = e.heardEnd || errors.Is(err, io.EOF)
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
	talk *Transcript
	said int64
	deaf bool
}

func (w *mouth) Write(p []byte) (int, error) {
	if err := w.m.charge(len(p)); err != nil {
		return 0, err
	}
	if w.said += int64(len(p)); w.said > maxSpoken {
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
