package conformance

import (
	"errors"
	"fmt"
	"io"
	"os"

	"deepoj/host/plugin"
	"deepoj/host/problem"
)

const noPackage = "it needs a problem package"

// oracle gives the checker the answers of a package as outputs. Small tests
// become samples.
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
