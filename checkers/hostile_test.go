package checkers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// buffer is how much a checker reads at once.
const buffer = 1 << 16

func TestTokensMaySpanBuffers(t *testing.T) {
	t.Parallel()
	for _, pad := range []int{buffer - 2, buffer - 1, buffer, buffer + 1} {
		head := strings.Repeat("a ", pad/2) + strings.Repeat(" ", pad%2)
		tests := map[string]struct {
			name, output, answer, want string
			flags                      []string
		}{
			"a number that straddles":          {"floats", head + "1.0000001\n", head + "1.0000002\n", "accepted", nil},
			"a number that is off behind":      {"floats", head + "1.01\n", head + "1.02\n", "wrong", nil},
			"a token that differs behind":      {"tokens", head + "xyz1", head + "xyz2", "wrong", nil},
			"white space that straddles":       {"tokens", head + "\n\n\n 1", head + " 1", "accepted", nil},
			"a token that ends with a buffer":  {"tokens", head[:pad], head[:pad] + "\n\n", "accepted", nil},
			"blank lines that straddle":        {"lines", head + " \n\n\n", head, "accepted", nil},
			"a case that changes at the seam":  {"default", head + "AbC", head + "aBc", "accepted", nil},
			"a number in upper case":           {"default", head + "1E1", head + "10", "accepted", []string{"float_tolerance", "0"}},
			"a byte that is missing behind":    {"exact", head, head + "\n", "presentation", nil},
			"white space that matters, behind": {"default", head + "1 \n", head + "1\n", "wrong", []string{"space_change_sensitive"}},
		}
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if o := check(t, tt.name, tt.output, tt.answer, tt.flags...); o.verdict != tt.want {
					t.Errorf("with %d bytes before: %s (%s), want %s", pad, o.verdict, o.team, tt.want)
				}
			})
		}
	}
}

// hostile is an output that no checker may trip over.
type hostile struct {
	Name   string `json:"name"`
	Output []struct {
		Text   string `json:"text"`
		Base64 []byte `json:"base64"`
		Repeat int    `json:"repeat"`
	} `json:"output"`
}

func (h hostile) text() string {
	var b strings.Builder
	for _, part := range h.Output {
		b.WriteString(strings.Repeat(part.Text+string(part.Base64), max(part.Repeat, 1)))
	}
	return b.String()
}

// Whatever a program prints, a checker ends with a verdict, the same one in
// both builds, and says where.
func TestHostileOutputsEndInAVerdict(t *testing.T) {
	t.Parallel()
	answers := []string{"1 2\n", "", "yes", "1e300 -1e-300\n", "1e999"}
	for _, v := range vectors[hostile](t, "hostile.json") {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			output := v.text()
			for _, name := range names {
				var flags []string
				if name == "default" {
					flags = []string{"float_tolerance", "1e-9"}
				}
				answer := answers[len(output)%len(answers)]
				o := check(t, name, output, answer, flags...)
				if o.verdict == "failed" && name != "yesno" {
					t.Errorf("%s against %q: %s", name, answer, o.team)
				}
				if o.verdict != "accepted" && o.verdict != "failed" && o.team == "" {
					t.Errorf("%s rejects without a word", name)
				}
				for _, c := range o.team + o.staff {
					if c < ' ' || c > '~' {
						t.Errorf("%s says %q", name, o.team)
						break
					}
				}
			}
		})
	}
}

func TestNumbersOfAMillionDigitsAreCompared(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 1<<20)
	tests := map[string]struct{ output, answer, want string }{
		"a large power of ten written out": {"1" + zeros, "1e1048576", "accepted"},
		"one that is ten times larger":     {"1" + zeros + "0", "1e1048576", "wrong"},
		"a small power of ten written out": {"0." + zeros + "1e1048577", "1", "accepted"},
		"zeros that mean nothing":          {zeros + "1." + zeros, "1", "accepted"},
		"digits that no double can hold":   {"3." + strings.Repeat("3", 1<<20), "3.33333333333333333333", "accepted"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if o := check(t, "floats", tt.output, tt.answer, "--eps=1e-15"); o.verdict != tt.want {
				t.Errorf("%s (%s), want %s", o.verdict, o.team, tt.want)
			}
		})
	}
}

// The default checker may get the output through a pipe, in small pieces.
func TestDefaultReadsAPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := strings.Repeat("1 2 3\n", 50_000)
	for file, content := range map[string]string{"input": "", "answer": text} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for output, want := range map[string]string{text: "accepted", text[:len(text)-2]: "wrong"} {
		if o := piped(t, "default", dir, output); o.verdict != want {
			t.Errorf("%d bytes of %d: %s (%s), want %s", len(output), len(text), o.verdict, o.team, want)
		}
	}
}
