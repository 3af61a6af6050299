package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"deepoj/host/plugin"
	"deepoj/host/problem"
)

// sample is a question to a checker whose output is right, as far as is known:
// what the stages that disturb outputs begin with.
type sample struct {
	name                  string
	input, output, answer []byte
	args                  []string

	inputFile, answerFile *os.File // hold input and answer
}

// What is kept of the tests of a package. Larger ones are left to the oracle.
const (
	maxSamples     = 8       // of each origin
	maxSampleBytes = 1 << 20 // of input and answer together
)

// scratch returns a file without a name that holds what r reads.
func (s *suite) scratch(r io.Reader) (*os.File, error) {
	f, err := os.CreateTemp(s.TempDir, "conformance-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, errors.Join(fmt.Errorf("fill a temporary file: %w", err), f.Close())
	}
	return f, nil
}

// open makes the files of a sample.
func (s *suite) open(c *sample) (err error) {
	if c.inputFile, err = s.scratch(bytes.NewReader(c.input)); err == nil {
		c.answerFile, err = s.scratch(bytes.NewReader(c.answer))
	}
	return err
}

// close closes the files of a sample.
func (c *sample) close() error {
	var errs []error
	for _, f := range []*os.File{c.inputFile, c.answerFile} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// any returns a sample that is accepted, or else a question that every checker
// must bear.
func (s *suite) any() (*sample, error) {
	if len(s.samples) > 0 {
		return s.samples[0], nil
	}
	if s.bare == nil {
		s.bare = &sample{name: "a file with 1", input: []byte("1\n"), output: []byte("1\n"), answer: []byte("1\n")}
		if err := s.open(s.bare); err != nil {
			return nil, err
		}
	}
	return s.bare, nil
}

// check asks the checker about an output of a sample. A failure of the checker
// is a [*plugin.Error].
func (s *suite) check(c *sample, output []byte) (plugin.Opinion, error) {
	return s.checkReader(c, bytes.NewReader(output))
}

func (s *suite) checkReader(c *sample, output io.Reader) (o plugin.Opinion, err error) {
	f, err := s.scratch(output)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return s.ask(s.ctx, s.module, plugin.Check{Input: c.inputFile, Output: f, Answer: c.answerFile, Args: c.args})
}

// checkAnswer asks about an output and the same bytes as the answer.
func (s *suite) checkAnswer(c *sample, output []byte) (o plugin.Opinion, err error) {
	f, err := s.scratch(bytes.NewReader(output))
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return s.ask(s.ctx, s.module, plugin.Check{Input: c.inputFile, Output: f, Answer: f, Args: c.args})
}

// fault returns what a guest did wrong, and the error when it was not the guest.
func fault(err error) (*plugin.Error, error) {
	if f, ok := errors.AsType[*plugin.Error](err); ok {
		return f, nil
	}
	return nil, err
}

// packageArgs are the arguments that judging gives the checker on a test.
func (s *suite) packageArgs(t *problem.Test) []string {
	var args []string
	if len(s.Problem.Checkers) > 0 {
		args = append(args, s.Problem.Checkers[0].Flags...)
	}
	return append(args, t.Flags...)
}

// content returns the file of a test as a file without a name.
func (s *suite) content(ctx context.Context, f problem.File) (*os.File, error) {
	r, err := s.Problem.Open(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	file, err := s.scratch(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return file, nil
}
