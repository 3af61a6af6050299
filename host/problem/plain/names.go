package plain

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// side says what a file is to a test.
type side int

const (
	neither side = iota
	input
	answer
)

// The words by which people tell inputs from answers, in the names of files and of folders.
var (
	sideWords = map[string]side{
		"in": input, "inp": input, "input": input, "inputs": input,
		"out": answer, "output": answer, "outputs": answer, "oup": answer, "ans": answer, "answer": answer, "answers": answer, "sol": answer,
		"ok": answer, "ref": answer, "expected": answer,
	}
	folderWords = map[string]side{
		"in": input, "inp": input, "input": input, "inputs": input,
		"out": answer, "output": answer, "outputs": answer, "ans": answer, "answer": answer, "answers": answer, "expected": answer,
	}
)

var (
	letters = regexp.MustCompile(`[A-Za-z]+`)

	// dataEnding is how the name of a test may end besides.
	dataEnding = regexp.MustCompile(`(?i)^\.(txt|text|dat|\d+[a-z]?)$`)

	// usaco is how the tests of some contests are called: I.1 and O.1.
	usaco = regexp.MustCompile(`^([IO])\.(\d+[a-z]?)$`)

	digits = regexp.MustCompile(`\d+`)

	sampleWord = regexp.MustCompile(`(?i)^[^a-z]*(samples?|examples?)([^a-z]|$)`)
)

// Noise reports whether a file is one that systems leave behind.
func Noise(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || part == "__MACOSX" || strings.EqualFold(part, "Thumbs.db") || strings.EqualFold(part, "desktop.ini") {
			return true
		}
	}
	return false
}

// sideOf tells what a file is to a test by its name, and what the other file of
// the test has in common with it. Scheme is how it is called, such as "*.in".
func sideOf(name string) (s side, key, scheme string) {
	dir, base := path.Split(name)
	s, base, scheme, ok := sideOfBase(base)
	if !ok {
		return neither, "", ""
	}
	var parts []string
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		of, left := sideOfFolder(part)
		if s == neither && of != neither {
			s, scheme = of, part+"/"+scheme
		}
		if left != "" {
			parts = append(parts, left)
		}
	}
	if base != "" {
		parts = append(parts, base)
	}
	return s, strings.Join(parts, "/"), scheme
}

// sideOfBase tells what a file is by its base name, what that is without the word that says so, and with a star for
// what differs between tests. It is not ok if no part of a test is called so.
func sideOfBase(base string) (s side, rest, scheme string, ok bool) {
	if m := usaco.FindStringSubmatch(base); m != nil {
		return map[string]side{"I": input, "O": answer}[m[1]], m[2], m[1] + ".*", true
	}
	if strings.HasPrefix(strings.ToLower(base), "readme") {
		return neither, "", "", false
	}
	ext := path.Ext(base)
	if s := sideWords[strings.ToLower(strings.TrimPrefix(ext, "."))]; s == neither && ext != "" && !dataEnding.MatchString(ext) {
		return neither, "", "", false
	}
	if at := strings.ToLower(ext); at != ".txt" && at != ".text" && at != ".dat" {
		ext = ""
	}
	w := wordIn(strings.TrimSuffix(base, ext), sideWords)
	return w.side, w.rest(), star(w.left) + w.word + star(w.right) + ext, true
}

// sideOfFolder is sideOfBase for a folder.
func sideOfFolder(name string) (side, string) {
	w := wordIn(name, folderWords)
	return w.side, w.rest()
}

// wordOf is a name with the last word in it that tells a side. Without one, all of it is left.
type wordOf struct {
	side              side
	left, word, right string
}

func wordIn(name string, words map[string]side) wordOf {
	for _, at := range slices.Backward(letters.FindAllStringIndex(name, -1)) {
		if s := words[strings.ToLower(name[at[0]:at[1]])]; s != neither {
			return wordOf{s, name[:at[0]], name[at[0]:at[1]], name[at[1]:]}
		}
	}
	return wordOf{left: name}
}

// separators stand between a word and what else is in a name.
const separators = "._- "

func (w wordOf) rest() string {
	left, right := strings.TrimRight(w.left, separators), strings.TrimLeft(w.right, separators)
	switch {
	case w.side == neither:
		return w.left
	case left != "" && right != "":
		return left + "." + right
	}
	return left + right
}

// star puts a star in the place of a text, but for separators at its ends.
func star(s string) string {
	inner := strings.Trim(s, separators)
	if inner == "" {
		return s
	}
	at := strings.Index(s, inner)
	return s[:at] + "*" + s[at+len(inner):]
}

// isSample reports whether a test is one of the statement by its name.
func isSample(key string) bool {
	return slices.ContainsFunc(strings.Split(key, "/"), sampleWord.MatchString)
}

// natural compares names as people order them: 2 before 10.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := leading(x), leading(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
			return c
		}
		x, y = x[m:], y[n:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// leading is how many digits a text begins with.
func leading(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}

// IsSide reports whether a folder is called as those that hold the inputs or the answers of tests.
func IsSide(folder string) bool {
	side, rest := sideOfFolder(folder)
	return side != neither && rest == ""
}
