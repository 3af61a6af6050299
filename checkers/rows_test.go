package checkers_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rows are the tokens of a text by lines, without those that have none.
func rows(text string) [][]string {
	var all [][]string
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if tokens := fields(line); len(tokens) > 0 {
			all = append(all, tokens)
		}
	}
	return all
}

func rowsOracle(output, answer, eps string, fold bool) string {
	got, want := rows(output), rows(answer)
	verdict := accepted(len(got) == len(want))
	for i := range min(len(got), len(want)) {
		switch pairsOracle(got[i], want[i], eps, eps, fold) {
		case "wrong":
			verdict = "wrong"
		case "":
			return ""
		}
	}
	return verdict
}

func sortedOracle(output, answer string, words bool) string {
	parts := func(text string) []string {
		if words {
			return slices.Sorted(slices.Values(fields(text)))
		}
		var all []string
		for _, row := range rows(text) {
			all = append(all, strings.Join(row, " "))
		}
		slices.Sort(all)
		return all
	}
	return accepted(slices.Equal(parts(output), parts(answer)))
}

func lettersOracle(output, answer string) string {
	sorted := func(text string) []byte {
		b := []byte(strings.Join(fields(text), ""))
		for i, c := range b {
			if c >= 'A' && c <= 'Z' {
				b[i] = c + 'a' - 'A'
			}
		}
		slices.Sort(b)
		return b
	}
	return accepted(slices.Equal(sorted(output), sorted(answer)))
}

// linecountOracle also says how many points there are for a test that is worth 12.
func linecountOracle(output, answer string) (verdict, message string) {
	lines := func(text string) []string {
		var all []string
		for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
			all = append(all, strings.Trim(line, blank))
		}
		return all
	}
	got, want := lines(output), lines(answer)
	right := 0
	for i := range min(len(got), len(want)) {
		if got[i] == want[i] {
			right++
		}
	}
	said := fmt.Sprintf("%d of %d lines are right", right, len(want))
	switch {
	case len(got) > len(want):
		return "wrong", "the output has more lines than it should have"
	case right == len(want):
		return "accepted", ""
	case right == 0:
		return "wrong", said
	}
	points := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(12*float64(right)/float64(len(want)), 'f', 6, 64), "0"), ".")
	return "partial", "points " + points + " " + said
}

// strictLinesOracle is that of lines with all blank lines.
func strictLinesOracle(output, answer string) string {
	lines := func(text string) []string {
		all := strings.Split(text, "\n")
		for i := range all {
			all[i] = strings.TrimRight(all[i], blank)
		}
		return all
	}
	if slices.Equal(lines(output), lines(answer)) {
		return "accepted"
	}
	return accepted(false)
}

// shuffled returns a text with its lines, or its words, in another order.
func shuffled(rng *rand.Rand, text string, words bool) string {
	parts, glue := strings.SplitAfter(text, "\n"), ""
	if words {
		parts, glue = fields(text), " "
	}
	rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, glue)
}

func TestCheckersOfLinesAgreeWithTheObviousOnes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	seen := map[string]int{}
	for range 500 {
		output, answer := similarTexts(rng)
		if rng.IntN(3) == 0 {
			output = answer
		}
		eps := []string{"0", "1e-3", "0.5"}[rng.IntN(3)]
		message := ""
		name, want, flags := "rows", "", []string(nil)
		switch rng.IntN(7) {
		case 0:
			want = rowsOracle(output, answer, "", false)
		case 1:
			want, flags = rowsOracle(output, answer, eps, true), []string{"--eps=" + eps, "--ignore-case"}
		case 2:
			output = shuffled(rng, output, false)
			name, want = "sorted", sortedOracle(output, answer, false)
		case 3:
			output = shuffled(rng, output, true)
			name, want, flags = "sorted", sortedOracle(output, answer, true), []string{"--words"}
		case 4:
			output = shuffled(rng, strings.ToUpper(output), true)
			name, want = "letters", lettersOracle(output, answer)
		case 5:
			want, message = linecountOracle(output, answer)
			name, flags = "linecount", []string{"--points=12"}
		case 6:
			name, want, flags = "lines", strictLinesOracle(output, answer), []string{"--blank-lines"}
		}
		o := check(t, name, output, answer, flags...)
		if o.verdict == "presentation" {
			o.verdict = "wrong"
		}
		seen[name+" "+o.verdict]++
		if want != "" && o.verdict != want || name == "linecount" && o.team != message {
			t.Errorf("%s %q: output %q against answer %q is %s (%s), want %s (%s)", name, flags, output, answer, o.verdict, o.team, want, message)
		}
	}
	for _, name := range []string{"rows", "sorted", "letters", "lines", "linecount"} {
		for _, outcome := range []string{name + " accepted", name + " wrong"} {
			if seen[outcome] < 5 {
				t.Errorf("only %d trials ended as %q", seen[outcome], outcome)
			}
		}
	}
	if seen["linecount partial"] < 5 {
		t.Errorf("only %d trials of linecount gave a part", seen["linecount partial"])
	}
}

// What spans the ends of buffers is read as what does not.
func TestLinesMaySpanBuffers(t *testing.T) {
	t.Parallel()
	for pad := buffer - 6; pad <= buffer+3; pad++ {
		head := strings.Repeat("ab\n", pad/3) + strings.Repeat(" ", pad%3)
		for _, tt := range []struct {
			name, output, answer, want string
			flags                      []string
		}{
			{"rows", head + "xy z\nw\n", head + "xy  z \r\n\nw", "accepted", nil},
			{"rows", head + "xy z\nw\n", head + "xy z w\n", "wrong", nil},
			{"rows", head + "xy\n1.0000001\n", head + "xy\n1\n", "accepted", []string{"--eps=1e-6"}},
			{"sorted", "w\nxy z\n" + head, head + "xy z\nw\n", "accepted", nil},
			{"sorted", "w\nxyz\n" + head, head + "xy z\nw\n", "wrong", nil},
			{"letters", "WZyx" + head, head + "xy z\nw\n", "accepted", nil},
			{"linecount", head + "xy z \r\nw", head + "xy z\nw\n", "accepted", nil},
			{"linecount", head + "xy  z\nw", head + "xy z\nw\n", "partial", []string{"--points=3"}},
			{"lines", head + "xy \nw\n\n", head + "xy\nw\n \n", "accepted", []string{"--blank-lines"}},
			{"lines", head + "xy\nw\n\n", head + "xy\nw\n", "presentation", []string{"--blank-lines"}},
		} {
			if o := check(t, tt.name, tt.output, tt.answer, tt.flags...); o.verdict != tt.want {
				t.Errorf("%s with %d bytes before: %s (%s), want %s", tt.name, pad, o.verdict, o.team, tt.want)
			}
		}
	}
}

func FuzzRows(f *testing.F) {
	f.Add("1 2\n3\n", "1  2\n\n3")
	f.Add("\n1", " \n1\n")
	fuzz(f, "rows", func(output, answer string) string { return rowsOracle(output, answer, "", false) })
}

func FuzzSorted(f *testing.F) {
	f.Add("b\na 1\n", "a  1\nb")
	fuzz(f, "sorted", func(output, answer string) string { return sortedOracle(output, answer, false) })
}

func FuzzLetters(f *testing.F) {
	f.Add("aB", "b A")
	fuzz(f, "letters", lettersOracle)
}
