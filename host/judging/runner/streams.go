package runner

import (
	"errors"
	"os"
)

// Streams take what a tool writes.
type Streams struct{ Out, Err *os.File }

// Streams returns empty ones.
func (r *Runner) Streams() (*Streams, error) {
	out, err := r.Scratch()
	if err != nil {
		return nil, err
	}
	errs, err := r.Scratch()
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return &Streams{out, errs}, nil
}

// Read returns the beginning of what was written.
func (s *Streams) Read() (out, errs string, err error) {
	if out, err = Head(s.Out, 2*KeptCompile); err != nil {
		return "", "", err
	}
	errs, err = Head(s.Err, 2*KeptCompile)
	return out, errs, err
}

// Close gives them back.
func (s *Streams) Close() error { return errors.Join(s.Out.Close(), s.Err.Close()) }
