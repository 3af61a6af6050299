// Package filter decides which records of a source go to Kafka, in a snapshot and after it alike.
//
// Rules are compiled once. What they say about types and keys is also what a snapshot need not read.
package filter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rule says which records it matches: those of which each thing that it names is one of those that it lists.
type Rule struct {
	DB      []string `yaml:"db,omitempty"`      // globs
	Type    []string `yaml:"type,omitempty"`    // such as string, hash, or generic
	Command []string `yaml:"command,omitempty"` // such as set, in any case
	Key     []string `yaml:"key,omitempty"`     // globs
}

// Rules are a filter as it is written down. A record goes to Kafka if a rule allows it, or there is no such rule, and none
// denies it.
type Rules struct {
	Allow []Rule `yaml:"allow,omitempty"`
	Deny  []Rule `yaml:"deny,omitempty"`
}

// Filter is compiled rules. It does not change, and a nil one lets everything through.
type Filter struct{ allow, deny []rule }

type rule struct {
	dbs      []glob
	types    []string
	commands [][]byte // in lower case
	keys     []glob
}

// Compile compiles rules. Its error names every part of them that means nothing.
func Compile(r Rules) (*Filter, error) {
	allow, err := compileAll("filter.allow", r.Allow)
	deny, also := compileAll("filter.deny", r.Deny)
	if err := errors.Join(err, also); err != nil {
		return nil, err
	}
	return &Filter{allow, deny}, nil
}

func compileAll(where string, rules []Rule) (all []rule, err error) {
	var errs []error
	for i, r := range rules {
		at := fmt.Sprintf("%s[%d]", where, i)
		var c rule
		if len(r.DB)+len(r.Type)+len(r.Command)+len(r.Key) == 0 {
			errs = append(errs, fmt.Errorf("%s: names nothing: give it db, type, command or key, or leave it out", at))
		}
		c.dbs, err = globs(at+".db", r.DB)
		errs = append(errs, err)
		c.keys, err = globs(at+".key", r.Key)
		errs = append(errs, err, words(at+".type", r.Type), words(at+".command", r.Command))
		c.types = r.Type
		for _, name := range r.Command {
			c.commands = append(c.commands, []byte(strings.ToLower(name)))
		}
		all = append(all, c)
	}
	return all, errors.Join(errs...)
}

// words checks names that are no globs.
func words(at string, names []string) error {
	var errs []error
	for i, name := range names {
		if name == "" || strings.ContainsAny(name, "*?[]\\ \t\r\n") {
			errs = append(errs, fmt.Errorf("%s[%d]=%q: must be a name, and no pattern: list each", at, i, name))
		}
	}
	return errors.Join(errs...)
}

func globs(at string, patterns []string) (all []glob, err error) {
	var errs []error
	for i, p := range patterns {
		g, err := compileGlob(p)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s[%d]=%q: %w", at, i, p, err))
		}
		all = append(all, g)
	}
	return all, errors.Join(errs...)
}

// Keep reports whether a record goes to Kafka.
func (f *Filter) Keep(db, dataType string, command, key []byte) bool {
	if f == nil {
		return true
	}
	matches := func(r rule) bool { return r.matches(db, dataType, command, key) }
	return (len(f.allow) == 0 || slices.ContainsFunc(f.allow, matches)) && !slices.ContainsFunc(f.deny, matches)
}

func (r rule) matches(db, dataType string, command, key []byte) bool {
	return (len(r.types) == 0 || slices.Contains(r.types, dataType)) &&
		(len(r.commands) == 0 || slices.ContainsFunc(r.commands, func(c []byte) bool { return equalFold(c, command) })) &&
		r.hasDB(db) &&
		(len(r.keys) == 0 || slices.ContainsFunc(r.keys, func(g glob) bool { return g.match(key) }))
}

func (r rule) hasDB(db string) bool {
	return len(r.dbs) == 0 || slices.ContainsFunc(r.dbs, func(g glob) bool { return g.match([]byte(db)) })
}

// equalFold reports whether word in any case of its ASCII letters is lower.
func equalFold(lower, word []byte) bool {
	if len(lower) != len(word) {
		return false
	}
	for i, c := range word {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// Types returns those of all types of which a record in db may go to Kafka.
func (f *Filter) Types(db string, all []string) (some []string) {
	for _, t := range all {
		if f.mayKeepType(db, t) {
			some = append(some, t)
		}
	}
	return some
}

func (f *Filter) mayKeepType(db, dataType string) bool {
	if f == nil {
		return true
	}
	has := func(r rule) bool {
		return r.hasDB(db) && (len(r.types) == 0 || slices.Contains(r.types, dataType))
	}
	denies := func(r rule) bool { return len(r.commands) == 0 && len(r.keys) == 0 && has(r) }
	return (len(f.allow) == 0 || slices.ContainsFunc(f.allow, has)) && !slices.ContainsFunc(f.deny, denies)
}

// Prefixes returns what the key of a record in db begins with that may go to Kafka: with one of these. Nil means any
// key, and an empty slice none.
func (f *Filter) Prefixes(db string) []string {
	if f == nil || len(f.allow) == 0 {
		return nil
	}
	all := []string{}
	for _, r := range f.allow {
		if !r.hasDB(db) {
			continue
		}
		if len(r.keys) == 0 {
			return nil
		}
		for _, g := range r.keys {
			if len(g.prefix) == 0 && len(g.rest) > 0 {
				return nil
			}
			all = append(all, string(g.prefix))
		}
	}
	slices.Sort(all)
	some := all[:0]
	for _, p := range all { // a prefix comes right before what begins with it
		if len(some) == 0 || !strings.HasPrefix(p, some[len(some)-1]) {
			some = append(some, p)
		}
	}
	return some
}

// glob is a pattern: a literal beginning, and the rest.
type glob struct {
	prefix []byte
	rest   []token
}

// token matches one byte, or any number of any bytes.
type token struct {
	star bool
	set  *[256]bool // nil = one byte, which it is
	is   byte
}

func (t token) has(c byte) bool {
	if t.set != nil {
		return t.set[c]
	}
	return t.is == c
}

// compileGlob reads a pattern as Redis does: * any bytes, ? one byte, [a-z] one of these, [^a] none of these, \x the byte x.
func compileGlob(p string) (g glob, err error) {
	if p == "" {
		return g, errors.New("must not be empty: * matches everything")
	}
	var all []token
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '*':
			if n := len(all); n == 0 || !all[n-1].star {
				all = append(all, token{star: true})
			}
		case '?':
			var any [256]bool
			for c := range any {
				any[c] = true
			}
			all = append(all, token{set: &any})
		case '[':
			set, length, err := compileSet(p[i:])
			if err != nil {
				return g, err
			}
			all = append(all, token{set: set})
			i += length - 1
		case '\\':
			if i++; i == len(p) {
				return g, errors.New(`ends with \: write \\ for the character itself`)
			}
			all = append(all, token{is: p[i]})
		default:
			all = append(all, token{is: p[i]})
		}
	}
	n := 0
	for n < len(all) && !all[n].star && all[n].set == nil {
		g.prefix = append(g.prefix, all[n].is)
		n++
	}
	g.rest = all[n:]
	return g, nil
}

// compileSet reads the set with which p begins, and returns its length.
func compileSet(p string) (set *[256]bool, length int, err error) {
	set = new([256]bool)
	i := 1
	not := i < len(p) && p[i] == '^'
	if not {
		i++
	}
	one := func() (c byte, ok bool) {
		if i < len(p) && p[i] == '\\' {
			i++
		}
		if i >= len(p) {
			return 0, false
		}
		i++
		return p[i-1], true
	}
	empty := true
	for i < len(p) && p[i] != ']' {
		from, ok := one()
		to := from
		if i+1 < len(p) && p[i] == '-' && p[i+1] != ']' {
			i++
			to, ok = one()
		}
		if !ok {
			break
		}
		if to < from {
			from, to = to, from
		}
		for c := int(from); c <= int(to); c++ {
			set[c] = true
		}
		empty = false
	}
	switch {
	case i >= len(p):
		return nil, 0, errors.New(`has a [ without a ]: write \[ for the character itself`)
	case empty:
		return nil, 0, errors.New("has a set of nothing: write what is in it between [ and ]")
	}
	if not {
		for c := range set {
			set[c] = !set[c]
		}
	}
	return set, i + 1, nil
}

// match reports whether s is as the pattern says. It takes at most len(s) times len(g.rest) steps: after a star that
// comes later, an earlier one need not take more.
func (g glob) match(s []byte) bool {
	if !bytes.HasPrefix(s, g.prefix) {
		return false
	}
	s = s[len(g.prefix):]
	t, star, from := 0, -1, 0
	for i := 0; i < len(s); {
		switch {
		case t < len(g.rest) && g.rest[t].star:
			star, from = t, i
			t++
		case t < len(g.rest) && g.rest[t].has(s[i]):
			t++
			i++
		case star >= 0:
			from++
			t, i = star+1, from
		default:
			return false
		}
	}
	for t < len(g.rest) && g.rest[t].star {
		t++
	}
	return t == len(g.rest)
}
