package checkers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// noFolder is said by a program that writes tests to files by number: guests have no folder
// for them, and packages' generators are no guests.
const noFolder = "FAIL Unable to write file"

// texts are outputs and answers on which checkers differ: signs, leading zeros, cases,
// white space, numbers that are none, tolerances. "1e" is left out: the C library of
// this machine reads it as a number, and that of WASI does not.
var texts = []string{
	"", "\n", "1\n", "1", "1 \n", "  1\n", "+1\n", "-1\n", "01\n", "-0\n", "0\n", "1 2\n", "1\n2\n", "1 2 3\n", "2 1\n", "1.0\n", "1.00001\n", "1.000001\n",
	"1.0000001\n", "1.0000000001\n", "1.5\n", "nan\n", "inf\n", "1e0\n", "0x1\n", "YES\n", "yes\n", "Yes\n", "NO\n", "no\n", "YES NO\n", "maybe\n",
	"a b\nc\n", "a  b\nc\n", "a b \nc\n", "A B\nC\n", "a b\nc\n\n", "Case 1: 5\n", "case 1: 5\n", "Case #1: 5\n", "x\n", "9223372036854775807\n",
	"9223372036854775808\n", "123456789012345678901234567890\n", "-123456789012345678901234567890\n", "a\r\nb\r\n", "a\nb\n", "\x00\n", "\xff\n",
}

// With TESTLIB naming a folder that holds testlib.h and the folders of its programs,
// all of them are compiled twice and must agree with their native builds.
func TestRealTestlibProgramsAgreeWithNativeBuilds(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("TESTLIB")
	if folder == "" {
		return // nothing to compare: testlib.h is not ours to ship
	}
	kinds := map[string]func(t *testing.T, ask func(stdin string, words ...string)){
		"checkers":    askChecker,
		"validators":  askValidator,
		"generators":  askGenerator,
		"interactors": askInteractor,
	}
	for kind, asks := range kinds {
		sources, err := filepath.Glob(filepath.Join(folder, kind, "*.cpp"))
		if err != nil || len(sources) == 0 {
			t.Errorf("%s holds no %s: %v", folder, kind, err)
		}
		for _, source := range sources {
			t.Run(kind+"/"+filepath.Base(source), func(t *testing.T) {
				t.Parallel()
				module, exe := buildTestlib(t, source, folder), buildNative(t, source, folder)
				asked, differ := 0, 0
				asks(t, func(stdin string, words ...string) {
					there, here := runTestlib(t, module, stdin, words...), runNative(t, exe, stdin, words...)
					if asked++; there != here && !strings.HasPrefix(there.stderr, noFolder) {
						differ++
						t.Errorf("input %q, arguments %q: natively %+v, as a guest %+v", stdin, words, here, there)
					}
				})
				t.Logf("%d runs, %d differ", asked, differ)
			})
		}
	}
}

// askChecker asks about each output with each answer.
func askChecker(_ *testing.T, ask func(string, ...string)) {
	for _, output := range texts {
		for _, answer := range texts {
			ask("", "", output, answer)
		}
	}
}

// askValidator asks about texts and about trees and graphs.
func askValidator(_ *testing.T, ask func(string, ...string)) {
	for _, input := range append([]string{
		"3 2\n1 2\n2 3\n", "3\n1 2\n2 3\n", "3\n1 2\n1 2\n", "4 2 2\n1 1\n2 2\n", "2 1\n1 1\n", "abc\n", "5 abc\n", "100\n", "101\n", "1 1\n", "1 100\n",
	}, texts...) {
		ask(input)
		ask(input, "--testset", "pretests")
		ask(input, "--group", "even")
	}
}

// askGenerator asks for tests with the arguments that the generators of testlib take.
func askGenerator(_ *testing.T, ask func(string, ...string)) {
	for seed := range 8 {
		for _, args := range []string{"", "10", "5 3", "10 100", "1 10 3", "a b", "-n 10", "-test-count 3 -sum-n 20", "-n 7 -t 2", "-n1 5 -n2 4 -m 6", "10 0", "10 1", "10 -1", "100 50 25"} {
			words := append(strings.Fields(args), fmt.Sprint(seed))
			if len(words) == 3 {
				words = append(words, "0") // three words are the names of files elsewhere
			}
			ask("", words...)
		}
	}
}

// askInteractor lets a program answer that does not listen.
func askInteractor(_ *testing.T, ask func(string, ...string)) {
	for _, input := range []string{"1\n1 2\n", "2\n1 2\n3 4\n", "0\n", "x\n", ""} {
		for _, said := range []string{"", "3\n", "3\n7\n", "3 7\n", "x\n", "3\n7\n9\n", "4\n"} {
			ask(said, input, "", "")
		}
	}
}
