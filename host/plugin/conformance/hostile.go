package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"time"

	"deepoj/host/plugin"
	"deepoj/plugins/vectors"
)

// output is an output that may be large: it is made while it is read.
type output struct {
	name  string
	parts []vectors.Part
	size  int64
}

func newOutput(name string, parts ...vectors.Part) output {
	o := output{name: name, parts: parts}
	for _, p := range parts {
		o.size += int64(len(p.Text)+len(p.Base64)) * int64(max(p.Repeat, 1))
	}
	return o
}

// reader reads the output once.
func (o output) reader() io.Reader {
	var rs []io.Reader
	for _, p := range o.parts {
		piece, times := append([]byte(p.Text), p.Base64...), max(p.Repeat, 1)
		// Millions of short pieces are read as blocks, and the rest by itself.
		if block := min(times, blockBytes/max(len(piece), 1)); block > 1 {
			rs = append(rs, &repeated{piece: bytes.Repeat(piece, block), left: times / block})
			times %= block
		}
		rs = append(rs, &repeated{piece: piece, left: times})
	}
	return io.MultiReader(rs...)
}

// blockBytes is how much of an output is put together before it is read.
const blockBytes = 64 << 10

// repeated reads a piece several times.
type repeated struct {
	piece []byte
	at    int
	left  int // times, with the present one
}

func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && r.left > 0 && len(r.piece) > 0 {
		k := copy(p[n:], r.piece[r.at:])
		n += k
		if r.at += k; r.at == len(r.piece) {
			r.at = 0
			r.left--
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

var (
	firstNumber = regexp.MustCompile(`-?\d+(\.\d+)?`)
	lineEnd     = regexp.MustCompile(`\r?\n`)
)

// numbers are put in the place of the first number of an output.
var numbers = []string{
	"99999999999999999999", "-99999999999999999999", "9223372036854775808", "2147483648", "-2147483649",
	"1e999999999", "-1e999999999", "1e-999999999", "nan", "-nan", "inf", "-inf", "0x10", "-0", "+1", "1.", ".", "1e", "--1",
}

// hostileOutputs are what a program may print instead of a right output.
func (s *suite) hostileOutputs(c *sample) ([]output, error) {
	known, err := vectors.Hostile()
	if err != nil {
		return nil, err
	}
	var all []output
	for _, v := range known {
		all = append(all, newOutput(v.Name, v.Parts...))
	}
	right := c.output
	add := func(name string, b []byte) { all = append(all, newOutput(name, vectors.Part{Base64: b})) }
	add("a right output without its last newline", bytes.TrimRight(right, "\r\n"))
	add("a right output with carriage returns", lineEnd.ReplaceAll(right, []byte("\r\n")))
	add("half of a right output", right[:len(right)/2])
	add("a right output and more tokens", append(bytes.Clone(right), "1 x -1\n"...))
	add("a right output and a NUL byte", append(bytes.Clone(right), 0))
	add("a byte order mark and a right output", append([]byte("\xef\xbb\xbf"), right...))
	add("a right output twice", append(bytes.Clone(right), right...))
	if at := firstNumber.FindIndex(right); at != nil {
		for _, n := range numbers {
			b := append(bytes.Clone(right[:at[0]]), n...)
			add("a right output with the number "+n, append(b, right[at[1]:]...))
		}
	}
	if len(right) == 0 {
		right = []byte("1 ")
	}
	times := int(s.LargeBytes/int64(len(right))) + 1
	all = append(all,
		newOutput("a token of 10 MB after a right output", vectors.Part{Base64: right}, vectors.Part{Text: "7", Repeat: 10 << 20}),
		newOutput(fmt.Sprintf("an output of %d MB", s.LargeBytes/1_000_000), vectors.Part{Base64: right, Repeat: times}))
	return all, nil
}

// hostile gives the checker outputs that it must bear.
func (s *suite) hostile() (string, error) { return "", s.bearsAll(s.checkReader) }

// bearsAll puts every hostile output to the plugin.
func (s *suite) bearsAll(put func(*sample, io.Reader) (plugin.Opinion, error)) error {
	c, err := s.any()
	if err != nil {
		return err
	}
	all, err := s.hostileOutputs(c)
	if err != nil {
		return err
	}
	// A question of ours may be one that it rightly cannot answer.
	_, err = put(c, bytes.NewReader(c.output))
	f, err := fault(err)
	if err != nil {
		return err
	}
	good := f == nil || !s.failed(f)
	for _, h := range all {
		_, err := put(c, h.reader())
		if err := s.bears(h.name, err, good); err != nil {
			return err
		}
	}
	return nil
}

// bears records what is wrong with how the plugin bore an input. An answer that is known to be good lets no checker say
// that it is bad. The error is the platform's.
func (s *suite) bears(name string, err error, good bool) error {
	f, err := fault(err)
	if err != nil || f == nil {
		return err
	}
	limits := s.module.Manifest.Limits
	offender := name + ": " + f.Err.Error()
	if f.Message != "" {
		offender += fmt.Sprintf("; it said %.200q", f.Message)
	}
	switch {
	case !good && s.failed(f):
	case errors.Is(f, plugin.ErrFailed):
		s.find("hostile-blame", offender)
	case errors.Is(f, plugin.ErrMemory):
		s.find("hostile-memory", fmt.Sprintf("%s (of %d MiB)", offender, limits.MemoryMiB))
	case errors.Is(f, plugin.ErrFuel), errors.Is(f, plugin.ErrPatience):
		s.find("hostile-fuel", fmt.Sprintf("%s (of %d million)", offender, limits.FuelM))
	case errors.Is(f, plugin.ErrContract):
		s.find("hostile-exit", offender)
	default: // a trap, too much output, or the end of the worker
		s.find("hostile-trap", offender)
	}
	return nil
}

// monologues lets an interactor hear programs that say hostile things and listen to nothing.
func (s *suite) monologues() (string, error) { return "", s.bearsAll(s.monologue) }

// monologue stands for a program that says something and ends.
func (s *suite) monologue(c *sample, says io.Reader) (plugin.Opinion, error) {
	from, mouth, err := os.Pipe()
	if err != nil {
		return plugin.Opinion{}, fmt.Errorf("make a pipe: %w", err)
	}
	ear, to, err := os.Pipe()
	if err != nil {
		return plugin.Opinion{}, errors.Join(fmt.Errorf("make a pipe: %w", err), from.Close(), mouth.Close())
	}
	var program sync.WaitGroup
	program.Go(func() {
		_, _ = io.Copy(mouth, says) // the interactor may have heard enough
		_ = mouth.Close()
	})
	program.Go(func() {
		_, _ = io.Copy(io.Discard, ear) // nothing is listened to
		_ = ear.Close()
	})
	defer program.Wait()
	j, err := s.rt.Interact(s.ctx, s.module, plugin.Interaction{
		Input: c.inputFile, Answer: c.answerFile, From: from, To: to, Args: c.args, Patience: patience, Started: func() {},
	})
	return j.Opinion, err
}

// patience is how long an interactor may hear a program.
const patience = time.Minute
