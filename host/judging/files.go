package judging

import (
	"context"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"deepoj/host/problem"
)

// File returns a file with the checked content of a file of a package, which the
// caller closes.
func (j *Judge) File(ctx context.Context, f problem.File) (*os.File, error) {
	file, err := j.cfg.Blobs.File(ctx, f.Digest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
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
