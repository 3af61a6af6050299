package sql

import (
	"maps"
	"strings"
	"testing"
)

func mutate(t testing.TB, s *Store, name, old, replacement string) {
	t.Helper()
	st := s.stmts[name]
	if st == nil || !strings.Contains(st.text, old) {
		t.Fatalf("statement %s has no %q", name, old)
	}
	changed := *st
	changed.text = strings.ReplaceAll(st.text, old, replacement)
	s.stmts = maps.Clone(s.stmts)
	s.stmts[name] = &changed
}
