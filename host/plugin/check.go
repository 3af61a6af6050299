package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"deepoj/host/plugin/dialogue"
	"deepoj/host/plugin/internal/wasi"
	"deepoj/host/plugin/internal/wire"
	"deepoj/plugins/abi"
)

// Outcome is what a checker decided.
type Outcome string

// The outcomes.
const (
	Accepted     Outcome = "accepted"
	Wrong        Outcome = "wrong"
	Presentation Outcome = "presentation" // right, but not in the form that was asked for
	Partial      Outcome = "partial"      // worth Score, or without one what a scorer would make of the message
)

// Check is a question to a checker. The files are read by position from 0; they
// are not closed. Files and memfds will do, pipes will not.
type Check struct {
	Input, Output, Answer *os.File

	// Args follow the file names on the checker's command line.
	Args []string

	// Feedback are the files, by name, that an icpc/1 checker finds in its feedback
	// folder. If it is not nil, [Opinion.Feedback] is what the checker leaves there.
	Feedback map[string][]byte
}

// Opinion is a checker's answer.
type Opinion struct {
	Outcome      Outcome
	Score        *float64 // what it gives, not negative; nil when it gives no score
	Multiplier   *float64 // icpc/1: the part of the highest score that it gives, not negative; nil when it gives none
	Message      string   // for the contestant, UTF-8, at most [MessageMax] bytes
	JudgeMessage string   // for staff, the same; a testlib/1 checker has one message for both
	NextPass     []byte   // icpc/1: the input of the next pass; nil when there is none

	// Feedback is what is in the feedback folder, without the input of the next pass, if that was asked for.
	Feedback map[string][]byte

	Exit        int           // the guest's exit status
	Fuel        uint64        // what the call cost, the same each time
	CPU         time.Duration // what the call cost, on this machine, now
	MemoryBytes int64         // what the guest's memory grew to
}

// Check asks a checker. A guest that fails gives an [*Error]; any other error is the platform's.
func (r *Runtime) Check(ctx context.Context, m *Module, c Check) (Opinion, error) {
	if m.Manifest.Kind != abi.Checker {
		return Opinion{}, fmt.Errorf("check: %s is a %s", m.label(), m.Manifest.Kind)
	}
	if c.Input == nil || c.Output == nil || c.Answer == nil {
		return Opinion{}, fmt.Errorf("check: %s: a file is missing", m.label())
	}
	q := testlibQuestion(c)
	if m.Manifest.Protocol == abi.ICPC1 {
		q = icpcQuestion(c)
	}
	a, err := r.ask(ctx, m, q)
	if err != nil {
		return Opinion{}, err
	}
	o := Opinion{Exit: int(a.exit), Fuel: a.fuel, CPU: a.cpu, MemoryBytes: a.memory}
	if m.Manifest.Protocol == abi.ICPC1 {
		err = o.readICPC(a)
		o.Feedback = a.feedback(c.Feedback)
	} else {
		err = o.readTestlib(a)
	}
	if err != nil {
		return Opinion{}, r.broke(m, q, a, err)
	}
	return o, nil
}

// testlibQuestion asks: checker input output answer [args].
func testlibQuestion(c Check) question {
	return question{
		call:  "check",
		args:  append([]string{"checker", "input", "output", "answer"}, c.Args...),
		names: []string{"input", "output", "answer"},
		files: []*os.File{c.Input, c.Output, c.Answer},
	}
}

// icpcQuestion asks: validator input answer feedback/ [flags] < output.
func icpcQuestion(c Check) question {
	return question{
		call:     "check",
		args:     append([]string{"validator", "input", "answer", wasi.FeedbackDir + "/"}, c.Args...),
		names:    []string{"input", "answer"},
		files:    []*os.File{c.Input, c.Answer, c.Output},
		stdin:    wire.StdinFile,
		feedback: true,
		kept:     c.Feedback,
	}
}

// The exit statuses of testlib/1 and icpc/1.
const (
	testlibOK         = 0
	testlibWrong      = 1
	testlibPE         = 2
	testlibFail       = 3
	testlibDirt       = 4 // more output than the answer needs
	testlibPoints     = 7
	testlibUnexpected = 8 // end of the output
	icpcAccept        = 42
	icpcReject        = 43
)

// readTestlib takes the opinion from an exit status and stderr.
func (o *Opinion) readTestlib(a answer) error {
	said := dialogue.Text(a.parts[wire.PartStderr])
	o.Message, o.JudgeMessage = said, said
	switch a.exit {
	case testlibOK:
		o.Outcome = Accepted
	case testlibWrong:
		o.Outcome = Wrong
	case testlibPE, testlibDirt, testlibUnexpected:
		o.Outcome = Presentation
	case testlibPoints:
		score, ok := points(said)
		if !ok {
			return fmt.Errorf("%w: exit status %d without a line \"points X\" on stderr", ErrContract, a.exit)
		}
		o.Outcome, o.Score = Partial, score
	case testlibFail:
		return ErrFailed
	default:
		return fmt.Errorf("%w: exit status %d means nothing in testlib/1", ErrContract, a.exit)
	}
	return nil
}

// pointsInfo is what stands in the place of points that are text for a scorer.
const pointsInfo = "points_info="

// points reads the number after the word points, nil if there is text for a scorer.
func points(said string) (*float64, bool) {
	words := strings.Fields(said)
	for i, w := range words {
		if w != "points" || i+1 == len(words) {
			continue
		}
		if strings.HasPrefix(words[i+1], pointsInfo) {
			return nil, true
		}
		x, ok := score(words[i+1])
		return &x, ok
	}
	return nil, false
}

// score reads a number that can be a score.
func score(s string) (float64, bool) {
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil && x >= 0 && !math.IsInf(x, 0)
}

// feedback returns the files of the feedback folder for the next pass, nil if what was there before is nil.
func (a answer) feedback(before map[string][]byte) map[string][]byte {
	if before == nil {
		return nil
	}
	left := map[string][]byte{}
	for name, data := range a.parts {
		if name != wire.PartNextPass && !strings.HasPrefix(name, "/") {
			left[name] = slices.Clone(data)
		}
	}
	return left
}

// number returns the number in a feedback file, nil if there is no such file.
func (a answer) number(name string) (*float64, error) {
	given, ok := a.parts[name]
	if !ok {
		return nil, nil
	}
	x, ok := score(strings.TrimSpace(string(given)))
	if !ok {
		return nil, fmt.Errorf("%w: %s holds %.60q and not a number", ErrContract, name, given)
	}
	return &x, nil
}

// readICPC takes the opinion from an exit status and the feedback files.
func (o *Opinion) readICPC(a answer) error {
	o.Message = dialogue.Text(a.parts["teammessage.txt"])
	o.JudgeMessage = dialogue.Text(a.parts[wire.PartJudge])
	if o.JudgeMessage == "" {
		o.JudgeMessage = dialogue.Text(a.parts[wire.PartStderr])
	}
	if next, ok := a.parts[wire.PartNextPass]; ok {
		o.NextPass = append([]byte{}, next...)
	}
	var err error
	if o.Score, err = a.number("score.txt"); err != nil {
		return err
	}
	if o.Multiplier, err = a.number("score_multiplier.txt"); err != nil {
		return err
	}
	switch a.exit {
	case icpcAccept:
		o.Outcome = Accepted
	case icpcReject:
		o.Outcome = Wrong
	default:
		return fmt.Errorf("%w: exit status %d means nothing in icpc/1", ErrContract, a.exit)
	}
	return nil
}

// OpinionOf returns what a checker or interactor says that ran as a program of its own and not as a guest: by its exit
// status, by what it wrote to standard error, and, with icpc/1, by the files that it left in its feedback folder. Kept
// says that the folder is there again in the next pass. The error is [ErrContract] or [ErrFailed].
func OpinionOf(protocol abi.Protocol, exit int, stderr []byte, left map[string][]byte, kept bool) (Opinion, error) {
	a := answer{exit: uint32(exit), parts: map[string][]byte{wire.PartStderr: stderr}}
	maps.Copy(a.parts, left)
	o := Opinion{Exit: exit}
	if protocol != abi.ICPC1 {
		return o, o.readTestlib(a)
	}
	if kept {
		o.Feedback = a.feedback(map[string][]byte{})
	}
	return o, o.readICPC(a)
}

// How much of two files is compared at a time: glanced first, then compared.
const (
	glanced  = 4 << 10
	compared = 256 << 10
)

// Settled reports whether a checker need not be asked, because its manifest promises to accept an output that equals
// the answer byte for byte, and this one does. The conformance suite checks such promises. A checker that gives points
// is always asked.
func (m *Module) Settled(c Check) (bool, error) {
	if !m.Manifest.EqualAccepts || slices.Contains(m.Manifest.Needs, "points") {
		return false, nil
	}
	same, err := equal(c.Output, c.Answer)
	if err != nil {
		return false, fmt.Errorf("compare output and answer: %w", err)
	}
	return same, nil
}

// equal reports whether two files have the same content, wherever their offsets
// are. Most that differ do so in the beginning.
func equal(a, b *os.File) (bool, error) {
	both := make([]byte, 2*glanced)
	for off := int64(0); ; {
		half := len(both) / 2
		n, err := a.ReadAt(both[:half], off)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		k, err := b.ReadAt(both[half:], off)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if !bytes.Equal(both[:n], both[half:half+k]) {
			return false, nil
		}
		if n < half {
			return true, nil
		}
		if off += int64(n); len(both) < 2*compared {
			both = make([]byte, 2*compared)
		}
	}
}
