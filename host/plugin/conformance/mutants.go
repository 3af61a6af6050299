package conformance

import (
	"bytes"
	"fmt"
	"strconv"

	"deepoj/host/plugin"
)

// token is a word of an output.
type token struct {
	from, to int // its bytes
	line     int // from 0
}

// tokens splits an output at ASCII white space.
func tokens(b []byte) []token {
	var all []token
	line, from := 0, -1
	for i := 0; i <= len(b); i++ {
		space := i == len(b) || b[i] == ' ' || b[i] >= '\t' && b[i] <= '\r'
		switch {
		case !space && from < 0:
			from = i
		case space && from >= 0:
			all = append(all, token{from, i, line})
			from = -1
		}
		if i < len(b) && b[i] == '\n' {
			line++
		}
	}
	return all
}

// mutant is an output that was changed so that it should not be right any more.
type mutant struct {
	how   string // what was done
	text  []byte
	after bool // only behind the first line
	first bool // only on the first line
}

// places are how many tokens of an output are changed in each way.
const places = 3

// mutate returns the mutants of an output.
func mutate(b []byte) []mutant {
	ts := tokens(b)
	if len(ts) == 0 {
		return []mutant{{how: "a token added to an empty output", text: []byte("1\n")}}
	}
	var all []mutant
	add := func(how string, text []byte, t token) {
		if !bytes.Equal(text, b) {
			all = append(all, mutant{how: how, text: text, after: t.line > 0, first: t.line == 0})
		}
	}
	add("everything dropped", nil, ts[0])
	last := ts[len(ts)-1]
	if last.line > ts[0].line {
		start := bytes.LastIndexByte(b[:last.from], '\n') + 1
		add("the last line dropped", b[:start], last)
		add("the last line twice", append(append(bytes.Clone(bytes.TrimRight(b, "\r\n")), '\n'), b[start:]...), last)
		if ts[0].line == 0 {
			add("all but the first line dropped", b[:bytes.IndexByte(b, '\n')+1], last)
		}
	}
	with := func(t token, text []byte) []byte {
		return append(append(bytes.Clone(b[:t.from]), text...), b[t.to:]...)
	}
	add("the last token twice", with(last, []byte(string(b[last.from:last.to])+" "+string(b[last.from:last.to]))), last)
	for _, i := range spread(len(ts)) {
		t := ts[i]
		old := b[t.from:t.to]
		how := "a token changed on the first line"
		if t.line > 0 {
			how = "a token changed behind the first line"
		}
		add(how, with(t, other(old)), t)
		add("a number off by one", with(t, nextNumber(old)), t)
		add("a letter in the other case", with(t, otherCase(old)), t)
		if i+1 < len(ts) {
			u := ts[i+1]
			swapped := bytes.Clone(b[:t.from])
			swapped = append(append(append(swapped, b[u.from:u.to]...), b[t.to:u.from]...), old...)
			add("two tokens swapped", append(swapped, b[u.to:]...), t)
		}
	}
	return all
}

// spread returns the indices of some of n things: the first, the last and one between.
func spread(n int) []int {
	if n <= places {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	return []int{0, n / 2, n - 1}
}

// other returns another token of the same kind.
func other(t []byte) []byte {
	if n, err := strconv.ParseInt(string(t), 10, 32); err == nil {
		return strconv.AppendInt(nil, n+1_000_003, 10)
	}
	return append(bytes.Clone(t), 'q')
}

// nextNumber returns an integer raised by one; other tokens stay.
func nextNumber(t []byte) []byte {
	n, err := strconv.ParseInt(string(t), 10, 62)
	if err != nil {
		return t
	}
	return strconv.AppendInt(nil, n+1, 10)
}

// otherCase changes the case of the first ASCII letter.
func otherCase(t []byte) []byte {
	t = bytes.Clone(t)
	for i, c := range t {
		if c|0x20 >= 'a' && c|0x20 <= 'z' {
			t[i] ^= 0x20
			break
		}
	}
	return t
}

// tally counts what became of the mutants of one kind.
type tally struct {
	how             string
	asked, accepted int
	such            string // an example that was accepted
}

// mutants changes accepted outputs and looks which changes the checker misses.
func (s *suite) mutants() (string, error) {
	if len(s.samples) == 0 {
		return "no output is known that the checker accepts: give the manifest tests, or name a package", nil
	}
	var kinds []*tally
	count := func(how string) *tally {
		for _, k := range kinds {
			if k.how == how {
				return k
			}
		}
		k := &tally{how: how}
		kinds = append(kinds, k)
		return k
	}
	var first, after tally
	for _, c := range s.samples {
		for _, m := range mutate(c.output) {
			o, err := s.check(c, m.text)
			f, err := fault(err)
			if err != nil {
				return "", err
			}
			k := count(m.how)
			into := []*tally{k}
			if m.after {
				into = append(into, &after)
			} else if m.first {
				into = append(into, &first)
			}
			for _, t := range into {
				t.asked++
				if f == nil && o.Outcome == plugin.Accepted {
					t.accepted++
				}
			}
			if f == nil && o.Outcome == plugin.Accepted && k.such == "" {
				k.such = fmt.Sprintf("%s, %.60q instead of %.60q", c.name, m.text, c.output)
			}
			if f == nil && o.Outcome != plugin.Accepted {
				s.said = append(s.said, message{c, m.text, o.Message})
			}
		}
	}
	if after.asked > 0 && after.accepted == after.asked && first.accepted < first.asked {
		s.find("first-line-only", fmt.Sprintf("all of %d changes behind the first line were accepted: the checker never looks after line 1", after.asked))
	}
	for _, k := range kinds {
		if k.accepted > 0 {
			s.find("mutant", fmt.Sprintf("%s: accepted in %d of %d cases, such as %s", k.how, k.accepted, k.asked, k.such))
		}
	}
	return "", nil
}
