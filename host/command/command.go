// Package command runs a program by one table of verbs, from which dispatch, help, shell
// completion and the lists in documents come.
//
//	command.go   the table, and how a verb is found
//	call.go      what a verb may touch, and how it prints
//	flags.go     flags and arguments
//	help.go      what help says, the list for documents, and what somebody may have meant
//	complete.go  completion for bash, zsh and fish
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Verb is one command of a program, or, without Make, the heading of several.
type Verb struct {
	Name    string // such as "submit", or "space member add"
	Args    string // what follows it, such as "SPACE NAME..."; in brackets what may be left out, with dots what may be repeated
	Summary string // what it does, in one sentence
	Detail  string // what else help says, such as what its statuses mean; may be empty
	Plain   bool   // it has no --json
	Raw     bool   // it reads its flags itself
	Hidden  bool   // it is for programs: help and completion leave it out
	Make    func(f *Flags) Run
}

// Run does what a verb does. An error is printed, and ends the program with status 1;
// [Exit] and [ErrUsage] mean something else.
type Run func(ctx context.Context, c *Call) error

// Exit is the error of a verb that has said everything, and whose answer is its status.
type Exit int //nolint:errname // a status, which ends a verb as an error does

func (e Exit) Error() string { return fmt.Sprintf("status %d", int(e)) }

// ErrUsage is the error of a verb that was called with flags or arguments that do not go
// together. How it is called is printed, and the status is 2.
var ErrUsage = errors.New("that is not how the command is called")

// Program is a program that has verbs.
type Program struct {
	Name  string
	Verbs []Verb
}

// Process is what a verb may touch of the process that it runs in.
type Process struct {
	In       io.Reader // nil = there is none
	Out, Err io.Writer
	Getenv   func(name string) (value string, set bool)
}

// Variable returns a variable of the environment, or "".
func (p *Process) Variable(name string) string {
	v, _ := p.Getenv(name)
	return v
}

// asksHelp reports whether a word asks how something is called.
func asksHelp(word string) bool { return word == "help" || word == "-h" || word == "--help" }

// Run runs the verb that args begin with and returns the exit status: 0, 1 when it
// failed, 2 when it was called wrongly, or what the verb says. A group, or nothing, is
// a question: its list is the answer.
func (p *Program) Run(ctx context.Context, process *Process, args []string) int {
	if len(args) > 0 && asksHelp(args[0]) {
		v, rest := p.find(args[1:])
		switch {
		case len(args) == 1:
			p.writeGroup(process.Out, "")
		case v != nil && len(rest) == 0:
			p.writeVerb(process.Out, v)
		case v == nil && p.isGroup(args[1:]):
			p.writeGroup(process.Out, strings.Join(args[1:], " "))
		default:
			return p.unknown(process, args[1:])
		}
		return 0
	}
	v, rest := p.find(args)
	if v == nil {
		return p.unknown(process, args)
	}
	return p.call(ctx, process, v, rest)
}

// find returns the verb that args begin with, and what follows its name.
func (p *Program) find(args []string) (found *Verb, rest []string) {
	longest := 0
	for i, v := range p.Verbs {
		words := strings.Fields(v.Name)
		if v.Make != nil && len(words) > longest && len(words) <= len(args) && slices.Equal(words, args[:len(words)]) {
			found, rest, longest = &p.Verbs[i], args[len(words):], len(words)
		}
	}
	return found, rest
}

// isGroup reports whether names of verbs begin with these words.
func (p *Program) isGroup(words []string) bool {
	return slices.ContainsFunc(p.Verbs, func(v Verb) bool {
		name := strings.Fields(v.Name)
		return !v.Hidden && len(name) > len(words) && slices.Equal(name[:len(words)], words)
	})
}

// unknown answers args that name no verb: with the list of a group, or with what may have been meant.
func (p *Program) unknown(process *Process, args []string) int {
	n := 0
	for n < len(args) && p.isGroup(args[:n+1]) {
		n++
	}
	group := strings.Join(args[:n], " ")
	switch {
	case n == len(args), asksHelp(args[n]):
		p.writeGroup(process.Out, group)
		return 0
	}
	wrong := strings.Join(args[:n+1], " ")
	near := p.nearest(wrong)
	fmt.Fprintf(process.Err, "%s: unknown command %q%s\n", p.Name, wrong, meant(p.Name+" ", near))
	if near == "" { // else the list would push the answer out of sight
		p.writeGroup(process.Err, group)
	}
	return 2
}

// nearest returns the name of the verb that somebody may have meant, or "".
func (p *Program) nearest(wrong string) string {
	var names []string
	for _, v := range p.Verbs {
		words := strings.Fields(v.Name)
		if !v.Hidden {
			names = append(names, strings.Join(words[:min(len(words), len(strings.Fields(wrong)))], " "))
		}
	}
	return nearest(wrong, names)
}

// call parses what follows the name of a verb, and runs it.
func (p *Program) call(ctx context.Context, process *Process, v *Verb, args []string) int {
	f := p.flags(v)
	c := &Call{Process: process, Name: v.Name, Args: args, Given: args, program: p}
	run := v.Make(f)
	if !v.Raw {
		rest, behind, err := f.parse(args)
		switch {
		case errors.Is(err, errHelp):
			p.writeVerb(process.Out, v)
			return 0
		case err != nil:
			fmt.Fprintf(process.Err, "%s: %v\n", p.Name, err)
			return p.misused(process, v)
		}
		c.Args, c.Behind, c.JSON = rest, behind, f.json
		f.Visit(func(one *flag.Flag) {
			if now := f.renamed[one.Name]; now != "" {
				c.Warn("%s is called %s now; the old name works until the next version", dashed(one.Name), dashed(now))
			}
		})
		if !strings.Contains(v.Args, "[-- ") {
			c.Args, c.Behind = append(rest, behind...), nil
		}
		if least, most := v.bounds(); len(c.Args) < least || most >= 0 && len(c.Args) > most {
			return p.misused(process, v)
		}
	}
	err := run(ctx, c)
	var status Exit
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrUsage):
		return p.misused(process, v)
	case errors.As(err, &status):
		return int(status)
	}
	c.Complain(err)
	return 1
}

func (p *Program) misused(process *Process, v *Verb) int {
	fmt.Fprintf(process.Err, "%s`%s help %s` says more.\n", p.usage(v), p.Name, v.Name)
	return 2
}

// bounds says how many arguments a verb takes; most is -1 for any number.
func (v *Verb) bounds() (least, most int) {
	named, _, _ := strings.Cut(v.Args, "[-- ")
	for word := range strings.FieldsSeq(named) {
		optional := strings.HasPrefix(word, "[")
		if !optional {
			least++
		}
		switch {
		case most < 0:
		case strings.HasSuffix(strings.TrimSuffix(word, "]"), "..."):
			most = -1
		default:
			most++
		}
	}
	return least, most
}
