package checkers_test

import (
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// These oracles are the checkers as one would write them without caring for
// speed or memory.

const blank = " \t\n\v\f\r"

func fields(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(blank, r) })
}

func tokensOracle(output, answer string) string {
	return accepted(slices.Equal(fields(output), fields(answer)))
}

func exactOracle(output, answer string) string {
	if output != answer && slices.Equal(fields(output), fields(answer)) {
		return "presentation"
	}
	return accepted(output == answer)
}

func linesOracle(output, answer string) string {
	lines := func(text string) string {
		all := strings.Split(text, "\n")
		for i := range all {
			all[i] = strings.TrimRight(all[i], blank)
		}
		return strings.TrimRight(strings.Join(all, "\n"), "\n")
	}
	if lines(output) == lines(answer) {
		return "accepted"
	}
	return exactOracle(output, answer)
}

func yesnoOracle(output, answer string) string {
	got, want := fields(strings.ToLower(output)), fields(strings.ToLower(answer))
	for i, word := range want {
		if word != "yes" && word != "no" {
			return "failed"
		}
		if i >= len(got) || got[i] != word {
			return "wrong"
		}
	}
	return accepted(len(got) == len(want))
}

var number = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`)

// closeTo computes with fractions. On the very border it has no opinion.
func closeTo(output, answer, absolute, relative string) (is, border bool) {
	rat := func(s string) *big.Rat {
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			panic("not a number: " + s)
		}
		return r
	}
	want := rat(answer)
	distance := new(big.Rat).Sub(rat(output), want)
	distance.Abs(distance)
	within := func(slack string) bool {
		in := func(limit *big.Rat) bool { return distance.Cmp(limit.Mul(limit, rat(slack))) <= 0 }
		size := new(big.Rat).Abs(want)
		return absolute != "" && in(rat(absolute)) || relative != "" && in(size.Mul(size, rat(relative)))
	}
	return within("1"), within("1") != within("1.000000000002")
}

// sameToken returns nil where the oracle has no opinion.
func sameToken(output, answer, absolute, relative string, fold bool) *bool {
	same := output == answer || fold && strings.EqualFold(output, answer)
	if !same && (absolute != "" || relative != "") && number.MatchString(answer) {
		if number.MatchString(output) {
			is, border := closeTo(output, answer, absolute, relative)
			if border {
				return nil
			}
			same = is
		}
	}
	return &same
}

func floatsOracle(output, answer, eps string) string {
	return pairsOracle(fields(output), fields(answer), eps, eps, false)
}

func pairsOracle(got, want []string, absolute, relative string, fold bool) string {
	verdict := accepted(len(got) == len(want))
	for i := range min(len(got), len(want)) {
		same := sameToken(got[i], want[i], absolute, relative, fold)
		if same == nil {
			return ""
		}
		if !*same {
			verdict = "wrong"
		}
	}
	return verdict
}

var pieces = regexp.MustCompile(`[ \t\n\v\f\r]+|[^ \t\n\v\f\r]+`)

// defaultOracle cuts the texts at changes between tokens and white space when
// white space matters.
func defaultOracle(output, answer string, caseSensitive, spaces bool, eps string) string {
	got, want := fields(output), fields(answer)
	if spaces {
		got, want = pieces.FindAllString(output, -1), pieces.FindAllString(answer, -1)
	}
	return pairsOracle(got, want, eps, eps, !caseSensitive)
}

func accepted(yes bool) string {
	if yes {
		return "accepted"
	}
	return "wrong"
}

func TestCheckersAgreeWithTheObviousOnes(t *testing.T) {
	t.Parallel()
	const rounds = 800
	rng := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	seen := map[string]int{}
	for range rounds {
		output, answer := similarTexts(rng)
		for file, text := range map[string]string{"input": "", "output": output, "answer": answer} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		eps := []string{"0", "1e-3", "0.5"}[rng.IntN(3)]
		caseSensitive, spaces := rng.IntN(2) == 0, rng.IntN(2) == 0
		var flags []string
		if caseSensitive {
			flags = append(flags, "case_sensitive")
		}
		if spaces {
			flags = append(flags, "space_change_sensitive")
		}
		type trial struct {
			name  string
			want  string
			flags []string
		}
		trials := []trial{
			{"tokens", tokensOracle(output, answer), nil},
			{"lines", linesOracle(output, answer), nil},
			{"exact", exactOracle(output, answer), nil},
			{"yesno", yesnoOracle(output, answer), nil},
			{"floats", floatsOracle(output, answer, eps), []string{"--eps=" + eps}},
			{"default", defaultOracle(output, answer, caseSensitive, spaces, ""), flags},
			{"default", defaultOracle(output, answer, caseSensitive, spaces, eps), append(flags, "float_tolerance", eps)},
		}
		tt := trials[rng.IntN(len(trials))]
		got := guest(t, tt.name, dir, manifest(t, tt.name).Protocol, tt.flags).verdict
		seen[tt.name+" "+got]++
		if tt.want != "" && got != tt.want {
			t.Errorf("%s %q: output %q against answer %q is %s, want %s", tt.name, tt.flags, output, answer, got, tt.want)
		}
	}
	// The generator must not be so unlucky that it proves nothing.
	for _, outcome := range []string{
		"tokens accepted", "tokens wrong", "lines accepted", "lines presentation", "lines wrong", "exact presentation",
		"floats accepted", "floats wrong", "default accepted", "default wrong", "yesno failed",
	} {
		if seen[outcome] < 3 {
			t.Errorf("only %d trials ended as %q", seen[outcome], outcome)
		}
	}
}

// Numbers as contestants print them take a shorter way than others. Both ways
// are compared with fractions: all that is close in one large output, which has
// many numbers at the end of a buffer, and all that is not one by one.
func TestNumbersOfEveryLengthAreComparedRightly(t *testing.T) {
	t.Parallel()
	const eps = "0.000001"
	rng := rand.New(rand.NewPCG(3, 4))
	var output, answer strings.Builder
	far := 0
	for output.Len() < 4*buffer {
		got, want := similarNumbers(rng)
		is, border := closeTo(got, want, eps, eps)
		switch {
		case border:
		case is:
			gap := []string{" ", "\n", "  ", "\t\r\n"}
			output.WriteString(got + gap[rng.IntN(len(gap))])
			answer.WriteString(want + gap[rng.IntN(len(gap))])
		case far < 100:
			far++
			if o := check(t, "floats", "0 "+got+" 1\n", "0 "+want+" 1\n"); o.verdict != "wrong" || o.team != "token 2 (line 1): the number is too far off" {
				t.Errorf("%s against %s: %+v", got, want, o)
			}
		}
	}
	if far < 100 { // the generator was unlucky
		t.Errorf("only %d pairs were far off", far)
	}
	for name, flags := range map[string][]string{"floats": nil, "default": {"float_tolerance", eps}} {
		if o := check(t, name, output.String(), answer.String(), flags...); o.verdict != "accepted" {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// similarNumbers returns two numbers of which most are close.
func similarNumbers(rng *rand.Rand) (got, want string) {
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('0' + rng.IntN(10))
		}
		return string(b)
	}
	whole, fraction := digits(rng.IntN(12)), digits(rng.IntN(12))
	sign := []string{"", "-", "+"}[rng.IntN(3)]
	if whole+fraction == "" {
		whole = "0"
	}
	want = sign + whole
	if fraction != "" {
		want += "." + fraction
	}
	got = want
	switch rng.IntN(7) {
	case 0: // another last digit
		got = want[:len(want)-1] + digits(1)
	case 1: // more digits than the answer, or a point without any
		if fraction == "" {
			got += "."
		}
		got += digits(rng.IntN(9))
	case 2: // zeros in front
		got = sign + strings.Repeat("0", rng.IntN(9)) + strings.TrimPrefix(want, sign)
	case 3: // the other sign
		got = map[string]string{"-": "", "+": "-", "": "-"}[sign] + strings.TrimPrefix(want, sign)
	case 4: // fewer digits
		if fraction != "" {
			got = want[:len(want)-rng.IntN(len(fraction))]
		}
	case 5: // an exponent
		got = sign + whole + fraction + "e-" + strconv.Itoa(len(fraction))
	}
	return got, want
}

// similarTexts returns an answer and an output that differs in few places.
func similarTexts(rng *rand.Rand) (output, answer string) {
	words := []string{"1", "1.0", "-0.5", "1e3", "1000", "1000.0004", "0.30000000000000004", ".5", "5.", "x", "X", "yes", "YES", "No", "no", "1e", "+", "-1", "123456789012345678901", "nan"}
	gaps := []string{" ", "\n", "  ", " \n", "\r\n", "\t", "\n\n"}
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	var a, o strings.Builder
	for range rng.IntN(6) {
		word, gap := pick(words), pick(gaps)
		a.WriteString(word + gap)
		if rng.IntN(6) == 0 {
			word = pick(words)
		}
		if rng.IntN(5) == 0 {
			gap = pick(gaps)
		}
		if rng.IntN(25) > 0 {
			o.WriteString(word + gap)
		}
	}
	return o.String(), a.String()
}

func FuzzTokens(f *testing.F) {
	f.Add("1 2\n3\n", "1  2 3")
	f.Add("", "\n")
	fuzz(f, "tokens", tokensOracle)
}

func FuzzLines(f *testing.F) {
	f.Add("1 2 \n3\n", "1 2\n3\n\n")
	f.Add("a\v\n", "a")
	fuzz(f, "lines", linesOracle)
}

func FuzzExact(f *testing.F) {
	f.Add("1 2\n", "1 2")
	fuzz(f, "exact", exactOracle)
}

func FuzzYesNo(f *testing.F) {
	f.Add("Yes\n", "YES no")
	fuzz(f, "yesno", yesnoOracle)
}

func FuzzFloats(f *testing.F) {
	f.Add("1.000001 x", "1 x")
	f.Add("123456789012345678901e-20", "1.23456789012345678901")
	fuzz(f, "floats", func(output, answer string) string {
		if strings.Count(output+answer, "e")+strings.Count(output+answer, "E") > 0 && long.MatchString(output+" "+answer) {
			return "" // exponents that fractions cannot hold
		}
		return floatsOracle(output, answer, "0.000001")
	})
}

var long = regexp.MustCompile(`[eE][+-]?[0-9]{4}`)

// fuzz compares a native build of a checker with its oracle.
func fuzz(f *testing.F, name string, oracle func(output, answer string) string) {
	f.Helper()
	exe, dir := build(f, name, "-O2"), f.TempDir()
	protocol := manifest(f, name).Protocol
	f.Fuzz(func(t *testing.T, output, answer string) {
		want := oracle(output, answer)
		if want == "" {
			return
		}
		for file, text := range map[string]string{"input": "", "output": output, "answer": answer} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := finish(t, exec.Command(exe, arguments(protocol, dir, nil)...), dir, protocol).verdict; got != want {
			t.Errorf("%s: output %q against answer %q is %s, want %s", name, output, answer, got, want)
		}
	})
}
