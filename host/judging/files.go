package judging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"deepoj/host/blob"
	"deepoj/host/problem"
)

// filer is a store that has its content as files of this machine.
type filer interface {
	File(ctx context.Context, d blob.Digest) (*os.File, error)
}

// file returns a file with the checked content of a file of a package.
func (j *Judge) file(ctx context.Context, pkg *problem.Package, f problem.File) (*os.File, error) {
	if s, ok := j.cfg.Blobs.(filer); ok {
		file, err := s.File(ctx, f.Digest)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		return file, nil
	}
	r, err := pkg.Open(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	defer r.Close()
	file, err := j.scratch()
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(file, r); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.Path, err), file.Close())
	}
	return file, nil
}

// clean makes text that every page and database takes: valid UTF-8 without
// control characters that do harm there.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\r':
			return -1
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			return utf8.RuneError
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// cut returns the first bytes of s, without half a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
