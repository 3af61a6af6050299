package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"deepoj": main})
}

// TestTheCommandLineSaysWhatItWants runs the scripts in testdata/script.
func TestTheCommandLineSaysWhatItWants(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
