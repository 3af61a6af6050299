package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"deepoj/host/plugin/dialogue"
	"deepoj/host/plugin/internal/wasi"
	"deepoj/host/plugin/internal/wire"
	"deepoj/plugins/abi"
)

// Interaction is a question to an interactor about a program that runs meanwhile.
type Interaction struct {
	// Input and Answer are read by position from 0 and not closed.
	Input, Answer *os.File

	// From is the end of a pipe in which the program speaks, and To one that it listens to. Interact closes both,
	// whatever comes of it, as soon as the interactor has them, so that each side sees the other one's end.
	From, To *os.File

	// Args follow the file names on the interactor's command line.
	Args []string

	// Feedback is as in [Check].
	Feedback map[string][]byte

	// SaidBytes is what the program may say. Defaults to 64 MiB. More ends the interaction, and the interactor's
	// fuel grows with what it has to read until then: it is the program that comes to an end first.
	SaidBytes int64

	// Patience is how long the interaction may take by the clock on the wall.
	// The caller ends the program by its own limits long before. Required.
	Patience time.Duration

	// Started is called when the interactor has the pipes: now the program may run, and its time counts for itself
	// alone. It is not called when the interactor could not be asked. Required.
	Started func()
}

// Judgement is an interactor's opinion of a program.
type Judgement struct {
	Opinion

	// On the machine's monotonic clock: Heard is when the interactor heard the program's last words, HeardEnd when
	// it saw the end of what the program says, and Ended when it ended itself. The first two are 0 if it never did.
	Heard, HeardEnd, Ended time.Duration

	// Flooded says why the program has gone too far: it said more than it may, or the interactor could not bear
	// what came without end. There is no opinion then. "" = it has not.
	Flooded string

	// Talk is the beginning of the conversation, at most 4 KiB: each line of the program after "> " and each of the
	// interactor after "< ", as in the files of the formats whose names end in .interaction.
	Talk string

	// Tout is what a testlib/1 interactor wrote for a checker; nil when it made no such file.
	Tout []byte
}

// Interact has an interactor talk with a program. A guest that fails gives an [*Error]; any other error is the
// platform's. It is never asked twice: what a program said is gone.
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
		args:     append([]string{"interactor", "input", wasi.FeedbackDir + "/" + wire.PartTout, "answer"}, i.Args...),
		names:    []string{"input", "answer"},
		files:    []*os.File{i.Input, i.Answer, i.From, i.To},
		stdin:    wire.StdinLive,
		feedback: true,
		kept:     i.Feedback,
		patience: i.Patience,
		said:     i.SaidBytes,
		sent:     func() { release(); i.Started() },
	}
	if m.Manifest.Protocol == abi.ICPC1 {
		q.args = append([]string{"validator", "input", "answer", wasi.FeedbackDir + "/"}, i.Args...)
	}
	q.said = cmp.Or(q.said, dialogue.MaxSpoken)
	a, err := r.ask(ctx, m, q)
	flooded := a.flooded && (errors.Is(err, ErrFuel) || errors.Is(err, ErrMemory) || errors.Is(err, ErrOutput))
	if fault, ok := errors.AsType[*Error](err); ok && (flooded || errors.Is(err, errSaid)) {
		return Judgement{Flooded: fault.Err.Error(), Talk: dialogue.Text(a.parts[wire.PartTalk])}, nil
	}
	if err != nil {
		return Judgement{}, err
	}
	j := Judgement{Opinion: Opinion{Exit: int(a.exit), Fuel: a.fuel, CPU: a.cpu, MemoryBytes: a.memory}, Heard: a.heardLast, HeardEnd: a.heardEnd, Ended: a.ended, Talk: dialogue.Text(a.parts[wire.PartTalk])}
	if m.Manifest.Protocol == abi.ICPC1 {
		err = j.readICPC(a)
		j.Feedback = a.feedback(i.Feedback)
	} else {
		j.Tout = a.parts[wire.PartTout]
		err = j.readTestlib(a)
	}
	if err != nil {
		return Judgement{}, r.broke(m, q, a, err)
	}
	return j, nil
}

// errSaid is why a conversation ends in which the program says too much.
var errSaid = errors.New("the program said more than it may")
