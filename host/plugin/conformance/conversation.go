package conformance

import (
	"fmt"

	"deepoj/plugins/abi"
)

// partners are programs that an interactor must get the better of: whatever it
// asks, they answer nothing that helps. They know no problem and are in C.
var partners = []abi.Source{
	{Name: "silent.c", Text: `#include <unistd.h>
int main(void)
{
	for (;;)
		pause();
}
`},
	{Name: "ends.c", Text: `int main(void) { return 0; }
`},
	{Name: "deaf.c", Text: `#include <unistd.h>
int main(void)
{
	close(0);
	close(1);
	for (;;)
		pause();
}
`},
	{Name: "flood.c", Text: `#include <string.h>
#include <unistd.h>
int main(void)
{
	static char text[1 << 16];
	for (unsigned i = 0; i < sizeof text; i++)
		text[i] = "7 \n-1 x\n"[i % 9];
	while (write(1, text, sizeof text) > 0) {}
	return 0;
}
`},
	{Name: "endless-word.c", Text: `#include <string.h>
#include <unistd.h>
int main(void)
{
	static char text[1 << 16];
	memset(text, '9', sizeof text);
	while (write(1, text, sizeof text) > 0) {}
	return 0;
}
`},
	{Name: "noise.c", Text: `#include <unistd.h>
int main(void)
{
	char text[4096];
	for (unsigned i = 0, x = 1; i < sizeof text; i++, x = x * 1664525 + 1013904223)
		text[i] = (char)(x >> 24);
	return write(1, text, sizeof text) < 0;
}
`},
}

const noInteractiveProblem = "it needs the package of an interactive problem"

// conversation has an interactor talk with live programs: the submissions of a
// package, and partners that nobody should accept.
func (s *suite) conversation() (string, error) {
	switch {
	case s.Problem == nil || s.Problem.Interactor == nil:
		return noInteractiveProblem, nil
	case s.Runner == nil:
		return needsSandbox, nil
	}
	all, err := s.Runner.Submissions(s.whole, s.Problem, s.wasm, s.module.Manifest, partners)
	if err != nil {
		return "", err
	}
	kinds := map[string]int{}
	missing := ""
	for _, j := range all {
		if j.Missing != "" {
			missing = fmt.Sprintf("%s: %s", j.Path, j.Missing)
			continue
		}
		got := fmt.Sprintf("%s gets %s: %s", j.Path, j.Verdict, j.Message)
		switch {
		case j.Other:
			kinds["partner"]++
			if j.Verdict == "AC" || j.Verdict == "JE" {
				s.find("talk-partner", got)
			}
		case j.Right:
			kinds["accepted"]++
			if j.Verdict == "WA" || j.Verdict == "JE" {
				s.find("talk-accepted", got)
			}
		default:
			kinds["wrong"]++
			if j.Verdict == "AC" || j.Verdict == "JE" {
				s.find("talk-wrong", got)
			}
		}
	}
	switch {
	case missing != "":
		return missing, nil
	case kinds["accepted"] == 0 || kinds["wrong"] == 0:
		return "it needs a package with an accepted and a wrong submission", nil
	}
	return "", nil
}
