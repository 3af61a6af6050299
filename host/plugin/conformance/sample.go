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

// any returns a sample that is accepted, or else a question that every checker must bear.
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

// check asks the checker about an output of a sample. A failure of the checker is a [*plugin.Error].
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

const noPackage = "it needs a problem package"

// oracle gives the checker the answers of a package as outputs. Small tests become samples.
func (s *suite) oracle() (string, error) {
	if s.Problem == nil {
		return noPackage, nil
	}
	kept := 0
	for _, t := range s.Problem.Tests() {
		accepted, c, err := s.oracleTest(t)
		if err != nil {
			return "", err
		}
		if accepted && kept < maxSamples && t.Input.Size+t.Answer.Size <= maxSampleBytes {
			if err := c.read(); err != nil {
				return "", errors.Join(err, c.close())
			}
			s.samples = append(s.samples, c)
			kept++
			continue
		}
		if err := c.close(); err != nil {
			return "", err
		}
	}
	return "", nil
}

// oracleTest asks about the answer of one test.
func (s *suite) oracleTest(t *problem.Test) (accepted bool, c *sample, err error) {
	c = &sample{name: t.Name + " of the package", args: s.packageArgs(t)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if c.inputFile, err = s.content(s.ctx, t.Input); err != nil {
		return false, c, err
	}
	if c.answerFile, err = s.content(s.ctx, t.Answer); err != nil {
		return false, c, err
	}
	o, err := s.ask(s.ctx, s.module, plugin.Check{Input: c.inputFile, Output: c.answerFile, Answer: c.answerFile, Args: c.args})
	f, err := fault(err)
	switch {
	case err != nil:
		return false, c, err
	case f != nil && f.Message != "":
		s.find("oracle-answer", fmt.Sprintf("%s: %v; it said %.200q", t.Answer.Path, f.Err, f.Message))
	case f != nil:
		s.find("oracle-answer", fmt.Sprintf("%s: %v", t.Answer.Path, f.Err))
	case o.Outcome != plugin.Accepted:
		s.find("oracle-answer", fmt.Sprintf("%s is %s: %s", t.Answer.Path, o.Outcome, o.Message))
	default:
		return true, c, nil
	}
	return false, c, nil
}

// read takes the contents of a sample whose output is its answer.
func (c *sample) read() error {
	var errs [2]error
	c.input, errs[0] = readAll(c.inputFile)
	c.answer, errs[1] = readAll(c.answerFile)
	c.output = c.answer
	return errors.Join(errs[:]...)
}

func readAll(f *os.File) ([]byte, error) {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxSampleBytes))
	if err != nil {
		return nil, fmt.Errorf("read a temporary file: %w", err)
	}
	return b, nil
}

// submissions has the package's submissions judged with the checker.
func (s *suite) submissions() (string, error) {
	switch {
	case s.Problem == nil:
		return noPackage, nil
	case s.Runner == nil:
		return needsSandbox, nil
	}
	all, err := s.Runner.Submissions(s.whole, s.Problem, s.wasm, s.module.Manifest, nil)
	if err != nil {
		return "", err
	}
	judged := 0
	missing := "the package has no submission that must be accepted or is wrong"
	for _, j := range all {
		switch {
		case j.Missing != "":
			missing = j.Path + ": " + j.Missing
			continue
		case j.Right && (j.Verdict == "WA" || j.Verdict == "JE"):
			s.find("submission-accepted", fmt.Sprintf("%s gets %s: %s", j.Path, j.Verdict, j.Message))
		case !j.Right && (j.Verdict == "AC" || j.Verdict == "JE"):
			s.find("submission-wrong", fmt.Sprintf("%s gets %s: %s", j.Path, j.Verdict, j.Message))
		}
		judged++
	}
	if judged == 0 {
		return missing, nil
	}
	return "", nil
}

const needsSandbox = "it needs a sandbox to run programs in"
