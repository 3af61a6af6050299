package main

import (
	"strings"
	"testing"
)

// The rows of a table are read one at a time.
func TestWhatASettingMeansIsSaidWithoutTheRowAboveIt(t *testing.T) {
	t.Parallel()
	for _, s := range settings {
		if s.doc == "" || strings.HasPrefix(s.doc, "and ") || strings.HasPrefix(s.doc, "or ") || strings.HasPrefix(s.doc, "the same ") {
			t.Errorf("%s is described by %q, which does not stand alone", s.env, s.doc)
		}
	}
}
