package plain

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"deepoj/host/problem/source"
)

// pair is a test of which only the names of its files are known.
type pair struct {
	name          string
	input, answer string
	sample        bool
}

// found is what a key has.
type found struct{ inputs, answers []string }

// pairs pairs the files that are tests by their names, and refuses those that have no other or several.
func pairs(r *source.Reader) []*pair {
	sides, schemes := sides(r)
	keys := slices.SortedFunc(maps.Keys(sides), natural)
	var cases []*pair
	var alone, orphans, unprintable []string
	for _, key := range keys {
		switch f := sides[key]; {
		case !source.Printable(key):
			unprintable = append(unprintable, append(f.inputs, f.answers...)...)
		case len(f.inputs) > 1:
			r.Refuse(f.inputs[1], "", "is the input of the same test as %s: leave one of them, or give them different numbers", f.inputs[0])
		case len(f.answers) > 1:
			r.Refuse(f.answers[1], "", "is the answer of the same test as %s: leave one of them, or give them different numbers", f.answers[0])
		case len(f.answers) == 0:
			alone = append(alone, f.inputs[0])
		case len(f.inputs) == 0:
			orphans = append(orphans, f.answers[0])
		default:
			cases = append(cases, &pair{name: key, input: f.inputs[0], answer: f.answers[0], sample: isSample(key)})
		}
	}
	both := len(cases) > 0 || len(alone) > 0 && len(orphans) > 0
	if len(alone) > 0 && (both || len(alone) > 1) {
		for _, file := range alone {
			r.Refuse(file, "", "is an input without an answer: add the answer, called as those of the other tests are, or leave the input out")
		}
	}
	if len(orphans) > 0 && both {
		for _, file := range orphans {
			r.Refuse(file, "", "is an answer without an input: add the input, called as those of the other tests are, or leave the answer out")
		}
	}
	for _, file := range unprintable {
		r.Refuse(file, "", "has a name with signs that cannot be printed: give it another")
	}
	if len(cases) > source.MaxTests {
		r.Refuse("package", "", "holds %d tests: this platform can honour %d", len(cases), source.MaxTests)
	}
	if both {
		mixed(r, schemes)
	}
	shorten(cases)
	return cases
}

// sides sorts the files that are tests by their keys, and counts how they are called.
func sides(r *source.Reader) (map[string]*found, map[string]int) {
	all, schemes := map[string]*found{}, map[string]int{}
	add := func(key string, s side, name string) {
		f := all[key]
		if f == nil {
			f = &found{}
			all[key] = f
		}
		if s == input {
			f.inputs = append(f.inputs, name)
		} else {
			f.answers = append(f.answers, name)
		}
	}
	for _, f := range r.Package.Files {
		top, _, _ := strings.Cut(f.Path, "/")
		if Noise(f.Path) || top == source.SubmissionsDir || top == "attachments" || statementFile.MatchString(f.Path) {
			continue
		}
		if stem, is := strings.CutSuffix(f.Path, ".a"); is && r.Has(stem) { // as Polygon calls them: 01 and 01.a
			add(stem, input, stem)
			add(stem, answer, f.Path)
			schemes["01"]++
			continue
		}
		s, key, scheme := sideOf(f.Path)
		if s == neither || r.Has(f.Path+".a") {
			continue
		}
		add(key, s, f.Path)
		if s == input {
			schemes[scheme]++
		}
	}
	return all, schemes
}

// mixed warns of tests that are called in several ways.
func mixed(r *source.Reader, schemes map[string]int) {
	if len(schemes) < 2 {
		return
	}
	var ways []string
	for way, n := range schemes {
		ways = append(ways, fmt.Sprintf("%s (%d)", way, n))
	}
	if slices.Sort(ways); len(ways) > 6 {
		ways = append(ways[:6], "…")
	}
	r.Warn("package", "", "has inputs that are called in %d ways: %s; all are taken, ordered by their names", len(schemes), strings.Join(ways, ", "))
}

// shorten takes the folders away that all names have in common.
func shorten(cases []*pair) {
	for len(cases) > 0 {
		top, _, deeper := strings.Cut(cases[0].name, "/")
		if !deeper || slices.ContainsFunc(cases, func(c *pair) bool { return !strings.HasPrefix(c.name, top+"/") }) {
			break
		}
		for _, c := range cases {
			c.name = strings.TrimPrefix(c.name, top+"/")
		}
	}
	for _, c := range cases {
		c.name = cmp.Or(c.name, "1")
	}
}

// gaps warns of numbers that are left out.
func gaps(r *source.Reader, cases []*pair) {
	type row struct {
		numbers map[int]bool
		first   string
		high    int
		low     int
	}
	rows := map[string]*row{}
	for _, c := range cases {
		dir, base := path.Split(c.name)
		at := digits.FindAllStringIndex(base, -1)
		if len(at) != 1 || at[0][1]-at[0][0] > 6 {
			continue
		}
		n, err := strconv.Atoi(base[at[0][0]:at[0][1]])
		if err != nil {
			continue
		}
		like := dir + base[:at[0][0]] + "\x00" + base[at[0][1]:]
		if rows[like] == nil {
			rows[like] = &row{numbers: map[int]bool{}, first: c.input, low: n, high: n}
		}
		w := rows[like]
		w.numbers[n], w.low, w.high = true, min(w.low, n), max(w.high, n)
	}
	for _, like := range slices.Sorted(maps.Keys(rows)) {
		w := rows[like]
		var missing []string
		for n := w.low; n <= w.high && len(w.numbers) > 2; n++ {
			if !w.numbers[n] {
				missing = append(missing, strconv.Itoa(n))
			}
		}
		switch more := len(missing); {
		case more == 0 || more > len(w.numbers): // no numbers that count
		case more > 10:
			r.Warn(w.first, "", "is one of the tests %d to %d, of which %d are missing: %s, …", w.low, w.high, more, strings.Join(missing[:10], ", "))
		default:
			r.Warn(w.first, "", "is one of the tests %d to %d, of which %s missing", w.low, w.high, strings.Join(missing, ", ")+map[bool]string{true: " is", false: " are"}[more == 1])
		}
	}
}

// readAsText has the files of tests read as text: with the line ends of Unix and
// without a byte order mark. What holds a zero byte is no text and stays as it is.
func readAsText(r *source.Reader, cases []*pair) {
	var names []string
	for _, c := range cases {
		names = append(names, c.input, c.answer)
	}
	r.ReadAsText(names, false)
}
