package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

func TestABarSaysHowFarWorkIs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := &bar{out: &out, what: "upload", text: megabytesText, total: 2_000_000}
	if _, err := io.Copy(io.Discard, io.TeeReader(strings.NewReader(strings.Repeat("x", 500_000)), b)); err != nil {
		t.Fatal(err)
	}
	if want := "\r\x1b[Kupload [#######                       ]  25 %, 0.5 of 2.0 MB"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("after a quarter: %q", out.String()[max(0, out.Len()-80):])
	}
	b.add(3_000_000) // more than was said
	if want := "[##############################] 100 %, 3.5 of 2.0 MB"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("after more than all: %q", out.String()[max(0, out.Len()-80):])
	}
	b.clear()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Error("the bar stays")
	}
	unknown := &bar{out: &out, what: "prove", text: submissionsText}
	unknown.add(1)
	if !strings.HasSuffix(out.String(), "prove: submissions so far: 1") {
		t.Errorf("where nobody knows how many: %q", out.String()[max(0, out.Len()-40):])
	}
}

func TestABarIsOnATerminalOnly(t *testing.T) {
	t.Parallel()
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, out := range map[string]io.Writer{"a file": file, "a buffer": &bytes.Buffer{}} {
		b := newBar(out, "x", 10, megabytesText)
		if b != nil {
			t.Errorf("%s has a bar", name)
		}
		b.add(5) // does nothing
		b.clear()
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if newBar(terminal, "x", 10, megabytesText) == nil {
		t.Error("a terminal has no bar")
	}
}
