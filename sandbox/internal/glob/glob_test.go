package glob

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"deepoj/sandbox/internal/wire"
)

// plainMatch is what a pattern means, said as simply as can be: it tries every way to
// share out a path among the parts of a pattern.
func plainMatch(glob, name []string) bool {
	switch {
	case len(glob) == 0:
		return len(name) == 0
	case glob[0] == "**":
		return plainMatch(glob[1:], name) || len(name) > 0 && plainMatch(glob, name[1:])
	case len(name) == 0:
		return false
	default:
		ok, err := path.Match(glob[0], name[0])
		return err == nil && ok && plainMatch(glob[1:], name[1:])
	}
}

// checkMatch compares a pattern with what it means.
func checkMatch(t *testing.T, glob, name string) {
	t.Helper()
	p, err := parse(glob)
	if err != nil {
		return
	}
	want := plainMatch(strings.Split(path.Clean(glob), "/"), strings.Split(name, "/"))
	if got := p.Matches(name); got != want {
		t.Errorf("%q matches %q: %t, want %t", glob, name, got, want)
	}
}

func TestAPatternMatchesWhatItSays(t *testing.T) {
	for _, tt := range []struct {
		glob, name string
		want       bool
	}{
		{"main", "main", true},
		{"main", "deep/main", false},
		{"main", "main/deep", false},
		{"./main", "main", true},
		{"*", "main", true},
		{"*", "deep/main", false},
		{"**", "main", true},
		{"**", "very/deep/main", true},
		{"**/*.class", "A.class", true},
		{"**/*.class", "a/b/A.class", true},
		{"**/*.class", "a/b/A.classes", false},
		{"a/**", "a", true},
		{"a/**", "a/b/c", true},
		{"a/**", "b/a", false},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a/**/b", "a/x/y/c", false},
		{"**/a/**/b", "a/a/b/a/b", true},
		{"**/**/a", "a", true},
		{"**a", "ba", true},
		{"[ab]/?", "b/x", true},
		{"[ab]/?", "c/x", false},
	} {
		p, err := parse(tt.glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Matches(tt.name); got != tt.want {
			t.Errorf("%q matches %q: %t", tt.glob, tt.name, got)
		}
		checkMatch(t, tt.glob, tt.name)
	}
	random := rand.New(rand.NewPCG(1, 2))
	some := func(words ...string) string {
		parts := make([]string, 1+random.IntN(7))
		for i := range parts {
			parts[i] = words[random.IntN(len(words))]
		}
		return strings.Join(parts, "/")
	}
	for range 100_000 {
		checkMatch(t, some("a", "b", "ab", "*", "**", "?", "a*", "."), some("a", "b", "ab", "ba", "."))
	}
}

// FuzzMatch checks patterns against what they mean.
func FuzzMatch(f *testing.F) {
	f.Add("**/a/**/b*", "a/a/bb")
	f.Add("[a-c]/**", "b")
	f.Add("a/**/**/**/a", "a/b/a")
	f.Fuzz(func(t *testing.T, glob, name string) {
		if strings.Count(glob, "**") > 4 || len(glob) > 60 || len(name) > 60 || wire.CheckPath(name) != nil {
			return // what it means takes too long to find out
		}
		checkMatch(t, glob, name)
	})
}

func TestAPatternThatIsTooMuchIsRefused(t *testing.T) {
	for name, globs := range map[string][]string{
		"nothing":            {""},
		"an absolute path":   {"/a"},
		"a way up":           {"a/../b"},
		"an open bracket":    {"[a"},
		"too many parts":     {strings.Repeat("a/", maxPatternParts) + "a"},
		"too many bytes":     {strings.Repeat("a", maxPatternBytes+1)},
		"many bytes of many": {strings.Repeat("a", maxPatternBytes), "a"},
		"too many":           make([]string, maxPatterns+1),
	} {
		if _, err := Parse(globs); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	most := strings.Repeat("a/", maxPatternParts-1) + "a"
	if p, err := parse(most); err != nil || !p.Matches(most) {
		t.Errorf("a pattern with all parts that there may be: %v", err)
	}
}
