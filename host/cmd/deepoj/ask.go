package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"deepoj/host/command"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 4096

// asker asks whoever sits at a terminal, or reads the answers from a pipe, one a line.
type asker struct {
	c        *command.Call
	terminal *os.File      // nil = nobody sits there
	lines    *bufio.Reader // of the pipe
}

func newAsker(c *command.Call) *asker {
	a := &asker{c: c, terminal: terminalOf(c.In)}
	if a.terminal == nil && c.In != nil {
		a.lines = bufio.NewReaderSize(io.LimitReader(c.In, 4*maxAnswer), maxAnswer)
	}
	return a
}

// terminalOf returns what somebody types at, nil if that is no terminal.
func terminalOf(in io.Reader) *os.File {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}

// piped reports whether standard input is a file or a pipe that somebody gave.
func piped(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return in != nil
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// secret asks for what nobody may see: a terminal does not show it.
func (a *asker) secret(ctx context.Context, what string) (string, error) {
	return a.answer(ctx, what, (*term.Terminal).ReadPassword)
}

// text asks for what everybody may see.
func (a *asker) text(ctx context.Context, what string) (string, error) {
	return a.answer(ctx, what, func(t *term.Terminal, prompt string) (string, error) {
		t.SetPrompt(prompt)
		return t.ReadLine()
	})
}

func (a *asker) answer(ctx context.Context, what string, read func(t *term.Terminal, prompt string) (string, error)) (string, error) {
	switch {
	case a.lines != nil:
		line, err := a.lines.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			return "", fmt.Errorf("standard input has no %s: give one line, or answer at a terminal", what)
		} else if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return line, nil
	case a.terminal == nil:
		return "", fmt.Errorf("nobody can be asked for the %s: give it on standard input, or use a terminal", what)
	}
	// The terminal stops showing what is typed before the question is asked: who is quick is not seen either.
	fd := int(a.terminal.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, before) }() // as it was, or the terminal is gone
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{a.terminal, a.c.Err}, "")
	type reply struct {
		line string
		err  error
	}
	done := make(chan reply, 1)
	go func() {
		line, err := read(t, strings.ToUpper(what[:1])+what[1:]+": ")
		done <- reply{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case r := <-done:
		switch {
		case errors.Is(r.err, io.EOF): // Ctrl-C or Ctrl-D
			return "", fmt.Errorf("no %s was given", what)
		case r.err == nil && r.line == "":
			return "", fmt.Errorf("the %s is empty", what)
		}
		return r.line, r.err
	}
}
