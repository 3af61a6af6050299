// Package dialogue has the rules of a conversation between an interactor and a program, whether the interactor is a
// plugin or a program itself: how much each may say, and what is kept of it.
package dialogue

import (
	"strings"
	"unicode/utf8"
)

// MaxSpoken is how many bytes an interactor may say to a program, beside
// spokenPerByte for each that it hears: some answer every word.
const (
	MaxSpoken     = 64 << 20
	spokenPerByte = 64
)

// TooMuch reports whether an interactor has said more bytes than it may to a program of which it heard some.
func TooMuch(said, heard int64) bool { return said > MaxSpoken+spokenPerByte*heard }

// FloodBytes is how much a program may say without an answer before what the interactor cannot bear is put down to it.
const FloodBytes = 64 << 10

// keptTalk is how much of a conversation is kept, in bytes.
const keptTalk = 4 << 10

// Transcript is the beginning of a conversation. The zero Transcript is empty. It is for one goroutine at a time.
type Transcript struct {
	text   []byte
	last   byte // who spoke last: '>' the program, '<' the interactor
	inLine bool // whether the last line has no end yet
}

// Program adds what the program said.
func (t *Transcript) Program(said []byte) { t.add('>', said) }

// Interactor adds what the interactor said.
func (t *Transcript) Interactor(said []byte) { t.add('<', said) }

// Bytes returns what was kept.
func (t *Transcript) Bytes() []byte { return t.text }

// String returns the conversation as text.
func (t *Transcript) String() string { return Text(t.text) }

// add appends what one of both said.
func (t *Transcript) add(who byte, said []byte) {
	if t.inLine && t.last != who {
		t.text, t.inLine = append(t.text, '\n'), false
	}
	t.last = who
	for _, c := range said {
		if len(t.text) >= keptTalk {
			return
		}
		if !t.inLine {
			t.text, t.inLine = append(t.text, who, ' '), true
		}
		t.text = append(t.text, c)
		t.inLine = c != '\n'
	}
}

// Text cleans what a guest wrote: valid UTF-8 of at most [TextMax] bytes, without characters that terminals and
// databases take amiss and without the ends of the last lines.
func Text(b []byte) string {
	out := make([]byte, 0, min(len(b), TextMax))
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		b = b[n:]
		if c < ' ' && c != '\n' && c != '\t' {
			if c == '\r' {
				continue
			}
			c = utf8.RuneError
		}
		if len(out)+utf8.RuneLen(c) > TextMax {
			break
		}
		out = utf8.AppendRune(out, c)
	}
	return strings.TrimRight(string(out), "\n")
}

// TextMax is how long a text may be, in bytes.
const TextMax = 64 << 10
