package sql

import (
	"maps"
	"strings"
	"testing"
)

// mutate changes a statement and those that are variants of it, such as JobTake
// and JobTakePlain.
func mutate(t testing.TB, s *Store, name, old, replacement string) {
	t.Helper()
	s.stmts = maps.Clone(s.stmts)
	found := false
	for variant, st := range s.stmts {
		if !strings.HasPrefix(variant, name) || !strings.Contains(st.text, old) {
			continue
		}
		changed := *st
		changed.text = strings.ReplaceAll(st.text, old, replacement)
		s.stmts[variant], found = &changed, true
	}
	if !found {
		t.Fatalf("statement %s has no %q", name, old)
	}
}
