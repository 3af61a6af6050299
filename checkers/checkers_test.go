// Package checkers_test runs the standard checkers twice: as programs of this
// machine, under the sanitizers, and as the committed WebAssembly modules.
package checkers_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deepoj/plugins/abi"
)

// names are the checkers in this folder.
var names = []string{"default", "exact", "floats", "letters", "linecount", "lines", "rows", "sorted", "tokens", "yesno"}

func TestEveryFolderIsTested(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("*/manifest.json")
	if err != nil || len(found) != len(names) {
		t.Errorf("there are %d checkers (%v), the tests know %q", len(found), err, names)
	}
}

func TestManifestsAreComplete(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		m := manifest(t, name)
		if m.Judge != abi.Version || m.Kind != abi.Checker || m.Name != "deepoj."+name || m.Version == "" || len(m.Tests) < 8 {
			t.Errorf("manifest of %s is %+v", name, m)
		}
		for _, expect := range []string{"accepted", "wrong", "failed"} {
			if !slices.ContainsFunc(m.Tests, func(tt abi.Test) bool { return tt.Expect == expect }) {
				t.Errorf("no test of %s expects %q", name, expect)
			}
		}
	}
}

func TestCheckersPassTheirOwnTests(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		for i, tt := range manifest(t, name).Tests {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				t.Parallel()
				o := check(t, name, tt.Output, tt.Answer, tt.Args...)
				if o.verdict != tt.Expect {
					t.Errorf("%+v: the verdict is %s, message %q", tt, o.verdict, o.team)
				}
			})
		}
	}
}

// A manifest that promises it lets the host skip the checker for equal files.
func TestEqualOutputsAreAcceptedWherePromised(t *testing.T) {
	t.Parallel()
	texts := []string{"", "\n", " ", "1", "1\n", "nan", "1e999 -inf", "a b\r\n", "\x00\xff\n", "maybe", strings.Repeat("9", 100_000)}
	for _, name := range names {
		if !manifest(t, name).EqualAccepts {
			continue
		}
		for _, text := range texts {
			if o := check(t, name, text, text); o.verdict != "accepted" {
				t.Errorf("%s: %.20q against itself is %s: %s", name, text, o.verdict, o.team)
			}
		}
	}
}

// Teams are told where, but not what the answer holds.
func TestOutcomesAndMessagesAreThoseOfTheVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Checker      string   `json:"checker"`
		Output       string   `json:"output"`
		Answer       string   `json:"answer"`
		Args         []string `json:"args"`
		Outcome      string   `json:"outcome"`
		Message      string   `json:"message"`
		JudgeMessage string   `json:"judge_message"`
	}
	for i, v := range vectors[vector](t, "checks.json") {
		t.Run(fmt.Sprintf("%d-%s", i, v.Checker), func(t *testing.T) {
			t.Parallel()
			want := opinion{v.Outcome, v.Message, v.JudgeMessage}
			if got := check(t, v.Checker, v.Output, v.Answer, v.Args...); got != want {
				t.Errorf("%q against %q: %+v, want %+v", v.Output, v.Answer, got, want)
			}
			if strings.Contains(v.Message, "SECRET") {
				t.Errorf("the message gives the answer away: %s", v.Message)
			}
		})
	}
}

func TestMessagesArePrintable(t *testing.T) {
	t.Parallel()
	o := check(t, "yesno", "\xff\x00\x1b[31m\n", "yes\n")
	if want := `word 1: expected yes or no, read "???[31m"`; o.team != want {
		t.Errorf("yesno says %q, want %q", o.team, want)
	}
	o = check(t, "floats", strings.Repeat("x", 1000), "1\n")
	if want := `token 1 (line 1): expected a number, read "` + strings.Repeat("x", 40) + `..."`; o.team != want {
		t.Errorf("floats says %q, want %q", o.team, want)
	}
}

func TestAMissingFileIsTheJudgesFault(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		dir := t.TempDir()
		if o := native(t, name, dir, "", manifest(t, name).Protocol, nil); o.verdict != "failed" {
			t.Errorf("%s without files is %s", name, o.verdict)
		}
		cmd := exec.Command(program(t, name))
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() == 43 || cmd.ProcessState.ExitCode() == 42 {
			t.Errorf("%s without arguments ends with %v", name, err)
		}
	}
}
