package conformance_test

import (
	"testing"

	"deepoj/host/plugin/conformance"
	"deepoj/plugins/abi"
)

// bisecting is a program that guesses rightly, and stubborn one that does not.
const (
	bisecting = `#include <stdio.h>
int main(void)
{
	char said[10];
	int low = 0, high = 1000;
	for (;;) {
		int guess = (low + high) / 2;
		printf("%d\n", guess);
		fflush(stdout);
		if (scanf("%9s", said) != 1 || said[0] == 'r')
			return 0;
		if (said[0] == 'm')
			low = guess + 1;
		else
			high = guess - 1;
	}
}
`
	stubborn = `#include <stdio.h>
int main(void)
{
	char said[10];
	do {
		puts("5");
		fflush(stdout);
	} while (scanf("%9s", said) == 1);
	return 0;
}
`
)

// guessing are the options of an interactor that is tried on a package. The
// package's own rejects everybody.
func guessing(p abi.Protocol) func(*testing.T) conformance.Options {
	return func(t *testing.T) conformance.Options {
		t.Helper()
		o := submissions(map[string]string{"accepted/a.c": bisecting, "wrong_answer/a.c": stubborn},
			map[string]string{
				"problem.yaml": "name: Guess\nvalidation: custom interactive\n", "output_validators/no.c": "int main(void) { return 43; }\n",
				"data/secret/1.in": "777\n", ".timelimit": "0.5\n",
			})(t)
		m := checker(p)
		m.Kind = abi.Interactor
		o.Manifest, o.LargeBytes = m, 1_000_000
		return o
	}
}

// guess builds the interactor that breaks a rule.
func guess(macros ...string) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		t.Helper()
		var flags []string
		for _, m := range macros {
			flags = append(flags, "-D"+m)
		}
		return buildC(t, "guess", flags...)
	}
}

// talkViolations are interactors, one for each rule about their conversations.
var talkViolations = map[string]violation{
	"talk-accepted":     {wasm: guess("BAD_STRICT"), opts: guessing(abi.Testlib1), want: []string{"talk-accepted"}},
	"talk-wrong":        {wasm: guess("BAD_GENEROUS", "ICPC"), opts: guessing(abi.ICPC1), want: []string{"talk-wrong"}},
	"talk-partner":      {wasm: guess("BAD_PARTNER", "ICPC"), opts: guessing(abi.ICPC1), want: []string{"hostile-exit", "talk-partner"}},
	"nothing":           {wasm: guess(), opts: guessing(abi.Testlib1)},
	"nothing in icpc/1": {wasm: guess("ICPC"), opts: guessing(abi.ICPC1)},
}

func TestEachBadInteractorIsCaughtByItsRule(t *testing.T) {
	t.Parallel()
	needRoot(t)
	caught(t, talkViolations)
}
