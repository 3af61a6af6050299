package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"deepoj/host/command"
)

// withoutJSON are the verbs that have no --json, with the reason.
var withoutJSON = map[string]string{
	"up":            "it runs until it is told to end",
	"api":           "it runs until it is told to end",
	"scheduler":     "it runs until it is told to end",
	"worker":        "it runs until it is told to end",
	"feed":          "it runs until it is told to end",
	"judge":         "its answer is a line of JSON",
	"plugin run":    "its answer is a line of JSON",
	"problem print": "its answer is a PDF",
	"contest print": "its answer is a PDF",
	"completion":    "its answer is a script of a shell",
}

// flagsOf are the flags that help shows of a verb.
func flagsOf(t *testing.T, v command.Verb) string {
	t.Helper()
	status, said, errs := call(t, nil, append([]string{"help"}, strings.Fields(v.Name)...)...)
	if status != 0 || errs != "" || !strings.HasPrefix(said, "usage: deepoj "+v.Name) {
		t.Errorf("help of %s: status %d, %q, %q", v.Name, status, said, errs)
	}
	return said
}

func TestEveryCommandThatPrintsFactsPrintsThemAsJSON(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, v := range program().Shown() {
		has, why := strings.Contains(flagsOf(t, v), "\n  --json\n"), withoutJSON[v.Name]
		found[v.Name] = true
		if has == (why != "") {
			t.Errorf("%s: it has --json is %t, and the reason why it has not is %q", v.Name, has, why)
		}
	}
	for name := range withoutJSON {
		if !found[name] {
			t.Errorf("%s has no --json for a reason, and there is no such command", name)
		}
	}
}

func TestWhatNeedsNoServerIsJSON(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"version --json", "config --json", "problem new --list --json", "simulate --rate 5 --service 1s --workers 8 --duration 1m --json",
	} {
		status, said, errs := call(t, nil, strings.Fields(args)...)
		if status != 0 || !json.Valid([]byte(said)) {
			t.Errorf("deepoj %s: status %d, %s%s", args, status, said, errs)
		}
	}
}

func TestEveryCommandSaysInASentenceWhatItDoes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, v := range program().Verbs {
		if first := v.Summary[:1]; first != strings.ToUpper(first) || !strings.HasSuffix(v.Summary, ".") || strings.Contains(v.Summary, "\n") {
			t.Errorf("%s: %q is no sentence", v.Name, v.Summary)
		}
		if seen[v.Name] || seen[v.Summary] {
			t.Errorf("%s is there twice, or what it does: %q", v.Name, v.Summary)
		}
		seen[v.Name], seen[v.Summary] = true, true
		if words := strings.Fields(v.Name); len(words) > 1 && !v.Hidden && !seen[words[0]] {
			t.Errorf("%s has no heading %s before it", v.Name, words[0])
		}
	}
}

// TestTheCommandsInTheReadmeAreThoseOfTheProgram compares the list with the table.
func TestTheCommandsInTheReadmeAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := program().Markdown(); !strings.Contains(string(text), "\n\n"+want+"\n") {
		t.Errorf("README.md has not this list of commands:\n%s", want)
	}
}

// TestWhatAFlagTakesIsNamedByOneWord reads every help: a name in back quotes that is no name makes nonsense of its line.
func TestWhatAFlagTakesIsNamedByOneWord(t *testing.T) {
	t.Parallel()
	flags := 0
	for _, v := range program().Shown() {
		for line := range strings.Lines(flagsOf(t, v)) {
			if !strings.HasPrefix(line, "  -") {
				continue
			}
			flags++
			if len(strings.Fields(line)) > 2 {
				t.Errorf("%s: %q", v.Name, line)
			}
		}
	}
	if flags < 100 {
		t.Errorf("only %d flags were looked at", flags)
	}
}
