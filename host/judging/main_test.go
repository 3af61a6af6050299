package judging_test

import (
	"context"
	"os"
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/plugins"
	"deepoj/sandbox"
)

// judgeCommand makes the test binary the one-shot command.
const judgeCommand = "judge"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == judgeCommand {
		os.Exit(sandbox.Judge(context.Background(), os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(judgingtest.Main(m, "judging", 0, nil))
}

// brokenProgram is an adapter's example of a program that does not compile.
type brokenProgram struct {
	text string
	line int
}

// broken returns the example of a language.
func broken(t *testing.T, id string) brokenProgram {
	t.Helper()
	adapters, err := plugins.Languages()
	if err != nil {
		t.Fatal(err)
	}
	module, err := judgingtest.Get(t).Runtime.Load(t.Context(), adapters[id], nil)
	if err != nil {
		t.Fatal(err)
	}
	l := module.Manifest.Language
	return brokenProgram{l.Broken[0].Text, l.BrokenLine}
}
