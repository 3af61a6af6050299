package main

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"deepoj/host/command"
	"deepoj/host/embedded/accounttest"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/reading"
	"deepoj/host/restore/reader"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == reading.Command {
		os.Exit(reading.Child(os.Args[1:]))
	}
	if len(os.Args) > 1 && os.Args[1] == reader.Command {
		os.Exit(reader.Child(os.Args[1:]))
	}
	if err := accounttest.Main(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testscript.Main(judges{m}, map[string]func(){"deepoj": main})
}

// judges are tests of which one has a machine judge.
type judges struct{ *testing.M }

func (j judges) Run() int { return judgingtest.Main(j.M, "cli", 67400, nil) }

// TestTheCommandLineSaysWhatItWants runs the scripts in testdata/script.
func TestTheCommandLineSaysWhatItWants(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: ownEtc})
}

// ownEtc lets what a script starts find itself where this process is.
func ownEtc(env *testscript.Env) error {
	env.Setenv(accounttest.Entered, os.Getenv(accounttest.Entered))
	return nil
}

// call runs a command and returns its status and what it prints.
func call(t *testing.T, env map[string]string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := &command.Process{Out: &out, Err: &errs, Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	status = program().Run(t.Context(), p, args)
	return status, out.String(), errs.String()
}
