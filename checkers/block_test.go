package checkers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Checkers compare 16 bytes at once. Wherever in such a block two texts part, and
// whatever bytes stand there, all that is white space is alike and nothing else is.
func TestWhiteSpaceIsAlikeAtEveryPlaceOfABlock(t *testing.T) {
	t.Parallel()
	const places = 17 // of one block and the next
	dir := t.TempDir()
	check := func(name, output, answer, want string) {
		t.Helper()
		for file, text := range map[string]string{"input": "", "output": output, "answer": answer} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := guest(t, name, dir, manifest(t, name).Protocol, nil).verdict; got != want {
			t.Errorf("%s: output %q against answer %q is %s, want %s", name, output, answer, got, want)
		}
	}
	var output, answer strings.Builder
	for place := range places {
		for _, a := range blank {
			for _, b := range blank {
				filler := strings.Repeat("x", place) + "%c" + strings.Repeat("y", 2*places-place)
				fmt.Fprintf(&output, filler, a)
				fmt.Fprintf(&answer, filler, b)
			}
		}
	}
	for _, name := range []string{"tokens", "default", "floats"} {
		check(name, output.String(), answer.String(), "accepted")
	}
	// The neighbours of white space, what is it but for the highest bit, and
	// what no text has.
	others := "\x00\x08\x0e\x1f!\x7f\x89\x8d\xa0\xff"
	for place := range places {
		for i := range len(others) {
			filler := strings.Repeat("x", place) + "%s" + strings.Repeat("y", 2*places-place)
			space := string(blank[(place+i)%len(blank)])
			other := others[i : i+1]
			if (place+i)%2 == 0 {
				space, other = other, space
			}
			check("tokens", fmt.Sprintf(filler, space), fmt.Sprintf(filler, other), "wrong")
		}
	}
}
