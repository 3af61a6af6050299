package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Rewind empties a file.
func Rewind(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && size > 0 { // nothing is on most standard errors
		err = f.Truncate(0)
	}
	if err != nil {
		return fmt.Errorf("empty a temporary file: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("empty a temporary file: %w", err)
	}
	return nil
}

// Head returns the first bytes of a file, cleaned.
func Head(f *os.File, limit int) (string, error) {
	b := make([]byte, limit)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read what a program wrote: %w", err)
	}
	return Clean(string(b[:n])), nil
}

// Beginning returns the first bytes of a file as they are, and whether there are more.
func Beginning(f *os.File, limit int) (b []byte, more bool, err error) {
	b = make([]byte, limit+1)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("read what a program wrote: %w", err)
	}
	return bytes.Clone(b[:min(n, limit)]), n > limit, nil
}

// Clean makes text that every page and database takes: valid UTF-8 without control characters that do harm there.
func Clean(s string) string {
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

// Cut returns the first bytes of s, without half a character.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
