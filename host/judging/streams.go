package judging

import (
	"errors"
	"os"
)

// streams take what a tool writes.
type streams struct{ out, err *os.File }

func (j *Judge) streams() (*streams, error) {
	out, err := j.scratch()
	if err != nil {
		return nil, err
	}
	errs, err := j.scratch()
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return &streams{out, errs}, nil
}

func (s *streams) read() (out, errs string, err error) {
	if out, err = head(s.out, 2*keptCompile); err != nil {
		return "", "", err
	}
	errs, err = head(s.err, 2*keptCompile)
	return out, errs, err
}

func (s *streams) close() error { return errors.Join(s.out.Close(), s.err.Close()) }
