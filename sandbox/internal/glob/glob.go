// Package glob matches paths with patterns, in a number of steps that no pattern can drive up.
package glob

import (
	"fmt"
	"math/bits"
	"path"
	"strings"
)

// A pattern is matched against a path name by name, from the top of /box down, with all places in the pattern that may
// have been reached so far. So each name is compared with each part of a pattern at most once, however many ** there
// are, and a folder in which nothing can match is not entered.

// Pattern is a glob: * and ? match within a name, and the part ** stands for any number of folders, also none.
type Pattern struct {
	parts []string
	stars uint64 // which parts are **
}

// places are those in a pattern before which a match may stand: bit i is that before
// part i. It is zero when nothing below can match.
type places uint64

// The most that patterns may be, together and each.
const (
	maxPatterns     = 64
	maxPatternBytes = 4096
	maxPatternParts = 63 // so that there is a bit for the end, too
)

// Parse reads globs and refuses those that are malformed.
func Parse(globs []string) ([]Pattern, error) {
	if len(globs) > maxPatterns {
		return nil, fmt.Errorf("there are %d patterns, more than %d", len(globs), maxPatterns)
	}
	all := make([]Pattern, len(globs))
	size := 0
	for i, g := range globs {
		if size += len(g); size > maxPatternBytes {
			return nil, fmt.Errorf("the patterns have more than %d bytes together", maxPatternBytes)
		}
		var err error
		if all[i], err = parse(g); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func parse(glob string) (Pattern, error) {
	for part := range strings.SplitSeq(glob, "/") {
		if _, err := path.Match(part, ""); err != nil || part == ".." || part == "" {
			return Pattern{}, fmt.Errorf("the pattern %.100q is malformed", glob)
		}
	}
	var p Pattern
	for part := range strings.SplitSeq(path.Clean(glob), "/") {
		n := len(p.parts)
		switch {
		case part != "**":
		case n > 0 && p.parts[n-1] == "**":
			continue // one is as good as two
		default:
			p.stars |= 1 << min(n, maxPatternParts)
		}
		p.parts = append(p.parts, part)
	}
	if len(p.parts) > maxPatternParts {
		return Pattern{}, fmt.Errorf("the pattern %.100q has more than %d parts", glob, maxPatternParts)
	}
	return p, nil
}

// begin returns where a match stands at the top.
func (p Pattern) begin() places { return p.skip(1) }

// skip adds the places after those before a **, which may stand for nothing.
func (p Pattern) skip(at places) places { return at | (at&places(p.stars))<<1 }

// step returns where a match stands after name, and in how many steps that was found.
func (p Pattern) step(at places, name string) (next places, steps int) {
	for rest := uint64(at); rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		if i == len(p.parts) {
			break // a match has ended, and cannot go on
		}
		steps++
		if p.stars&(1<<i) != 0 {
			next |= 1 << i
		} else if ok, err := path.Match(p.parts[i], name); err == nil && ok {
			next |= 1 << (i + 1)
		}
	}
	return p.skip(next), steps
}

// ended reports whether a match may end here.
func (p Pattern) ended(at places) bool { return at&(1<<len(p.parts)) != 0 }

// Matches reports whether the whole path name matches.
func (p Pattern) Matches(name string) bool {
	at := p.begin()
	for part := range strings.SplitSeq(name, "/") {
		if at, _ = p.step(at, part); at == 0 {
			return false
		}
	}
	return p.ended(at)
}

// Search is how far each of some patterns matches in a folder.
type Search struct {
	patterns []Pattern
	at       []places
}

// NewSearch returns the search for patterns in the topmost folder.
func NewSearch(patterns []Pattern) Search {
	s := Search{patterns, make([]places, len(patterns))}
	for i, p := range patterns {
		s.at[i] = p.begin()
	}
	return s
}

// Step returns the search after name: whether a file of that name is wanted, whether
// a folder of that name can hold one, and the number of steps it took.
func (s Search) Step(name string) (below Search, file, folder bool, steps int) {
	below = Search{s.patterns, make([]places, len(s.at))}
	for i, p := range s.patterns {
		var n int
		below.at[i], n = p.step(s.at[i], name)
		steps += n
		file = file || p.ended(below.at[i])
		folder = folder || below.at[i]&^(1<<len(p.parts)) != 0
	}
	return below, file, folder, steps
}
