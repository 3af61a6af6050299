package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Flags are the flags of one verb.
type Flags struct {
	*flag.FlagSet

	json     bool
	internal []string
	values   map[string][]string
	renamed  map[string]string // what flags are called now, by their old names
}

// errHelp is that somebody asks how a verb is called.
var errHelp = flag.ErrHelp

// flags returns the flags that every verb begins with.
func (p *Program) flags(v *Verb) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(p.Name+" "+v.Name, flag.ContinueOnError), values: map[string][]string{}, renamed: map[string]string{}}
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	if !v.Plain && !v.Raw {
		f.BoolVar(&f.json, "json", false, "print JSON")
	}
	return f
}

// Internal says which flags one part of the program gives another: help and completion leave them out.
func (f *Flags) Internal(names ...string) { f.internal = append(f.internal, names...) }

// OneOf says which values a flag can have, for completion.
func (f *Flags) OneOf(name string, values ...string) { f.values[name] = values }

// Renamed has a flag answer to its old name, too, for one version: help and completion leave that out, and who uses it
// is told.
func (f *Flags) Renamed(old, now string) {
	f.Var(f.Lookup(now).Value, old, "")
	f.Replaced(old, now)
}

// Replaced is Renamed for an old flag that is there, and means another by another value: now is that, as in "live=false".
func (f *Flags) Replaced(old, now string) {
	f.Internal(old)
	f.renamed[old] = now
}

// Given reports whether a flag was given, by whatever name.
func (f *Flags) Given(name string) bool {
	given := false
	f.Visit(func(one *flag.Flag) { given = given || one.Name == name || f.renamed[one.Name] == name })
	return given
}

// shown are the flags that people may give, by name.
func (f *Flags) shown() (all []*flag.Flag) {
	f.VisitAll(func(one *flag.Flag) {
		if !slices.Contains(f.internal, one.Name) {
			all = append(all, one)
		}
	})
	return all
}

// parse reads flags, which may also follow arguments, and returns the arguments and what is behind "--".
func (f *Flags) parse(args []string) (rest, behind []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, nil, f.explained(err)
		}
		if f.NArg() == 0 {
			return rest, nil, nil
		}
		if at := len(args) - f.NArg(); at > 0 && args[at-1] == "--" {
			return rest, f.Args(), nil
		}
		rest, args = append(rest, f.Arg(0)), f.Args()[1:]
	}
}

// explained says which flag may have been meant by one that there is not.
func (f *Flags) explained(err error) error {
	wrong, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: ")
	if errors.Is(err, flag.ErrHelp) || !unknown {
		return err
	}
	var names []string
	for _, one := range f.shown() {
		names = append(names, one.Name)
	}
	return fmt.Errorf("there is no flag %s%s", dashed(strings.TrimLeft(wrong, "-")), meant("", dashed(nearest(strings.TrimLeft(wrong, "-"), names))))
}

// dashed is the name of a flag as people write it.
func dashed(name string) string {
	switch len(name) {
	case 0:
		return ""
	case 1:
		return "-" + name
	}
	return "--" + name
}
