package sql

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Exec runs a statement on the general pool, to bring the database into a
// state that takes too long to wait for.
func (s *Store) Exec(t *testing.T, text string, a ...any) int64 {
	t.Helper()
	tag, err := s.main.Exec(t.Context(), text, a...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return tag.RowsAffected()
}

// TryExec is Exec for a statement that may be refused.
func (s *Store) TryExec(ctx context.Context, text string, a ...any) error {
	_, err := s.main.Exec(ctx, text, a...)
	return err
}

// One returns the one value that a query gives.
func One[T any](t *testing.T, s *Store, text string, a ...any) T {
	t.Helper()
	rs, err := s.main.Query(t.Context(), text, a...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	v, err := pgx.CollectExactlyOneRow(rs, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// All returns the values that a query gives.
func All[T any](t *testing.T, s *Store, text string, a ...any) []T {
	t.Helper()
	rs, err := s.main.Query(t.Context(), text, a...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	vs, err := pgx.CollectRows(rs, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return vs
}

// Mutate changes the text of a named statement of this store only, for tests
// that prove that the tests would notice.
func (s *Store) Mutate(t testing.TB, name, old, replacement string) {
	t.Helper()
	mutate(t, s, name, old, replacement)
}

// Statements returns the statements that pgx runs as they stand, by name.
func (s *Store) Statements() map[string]string {
	out := map[string]string{}
	for name, st := range s.stmts {
		out[name] = st.text
	}
	return out
}

// Number numbers the parameters of a statement.
func Number(name, body string) (text string, params []string) {
	st := number(name, body)
	return st.text, st.params
}

// Bind orders parameters.
func Bind(params []string, a map[string]any) ([]any, error) {
	return (&statement{name: "X", params: params}).bind(a)
}
