package problem

import (
	"strings"
	"testing"
)

func TestAFolderOfAnyNameHasAShortName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70)
	for name, want := range map[string]string{
		"aplusb": "aplusb", "A_1.x-y": "A_1.x-y", "a+b": "a-b", "c++ (a, b) & d'e": "c-a-b-d-e", "a+b (1)": "a-b-1",
		"_hidden": "hidden", ".a": "a", "größe": "gr-e", "задача": "problem", "": "problem", "++": "problem", long: long[:64],
	} {
		if got := ShortName(name); got != want || !IsShortName(got) || IsShortName(name) != (name == want) {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
}
