package sql

import (
	"context"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
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

// MigrateFiles is Migrate of a program that has these migrations.
func (s *Store) MigrateFiles(ctx context.Context, files fs.FS) error { return s.migrate(ctx, files) }

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

// FinalizeTogether finalizes attempts in one go, and returns the answer to each.
func (s *Store) FinalizeTogether(ctx context.Context, v judge.Verdict, attempts ...judge.Attempt) (errs []error) {
	var fs []final
	for _, a := range attempts {
		fs = append(fs, final{a, &judge.Result{Verdict: v}})
	}
	for _, a := range s.finalizeTogether(ctx, fs) {
		errs = append(errs, a.err)
	}
	return errs
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

// Assemble puts the parts of a statement together.
func Assemble(body string, parts map[string]string) (string, error) { return assemble(body, parts) }

// Number numbers the parameters of a statement.
func Number(name, body string) (text string, params []string) {
	st := number(name, body)
	return st.text, st.params
}

// Bind orders parameters.
func Bind(params []string, a map[string]any) ([]any, error) {
	return (&statement{name: "X", params: params}).bind(a)
}

// Scan is how a plan reads a table.
type Scan struct{ Node, Table, Index, Condition string }

// PlanWhenEmpty returns how PostgreSQL reads tables for a statement of the queue
// without looking at its parameters.
func (s *Store) PlanWhenEmpty(t *testing.T, text string) []Scan {
	t.Helper()
	params := 0
	for strings.Contains(text, "$"+strconv.Itoa(params+1)) {
		params++
	}
	nulls := strings.TrimSuffix(strings.Repeat("NULL,", params), ",")
	if nulls != "" {
		nulls = "(" + nulls + ")"
	}
	c, err := s.queue.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	if _, err := c.Exec(t.Context(), "PREPARE planned AS "+text); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = c.Exec(t.Context(), "DEALLOCATE planned") }()
	var plan []map[string]any
	if err := c.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) EXECUTE planned"+nulls).Scan(&plan); err != nil {
		t.Fatal(err)
	}
	var scans []Scan
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			node, _ := v["Node Type"].(string)
			table, _ := v["Relation Name"].(string)
			condition, _ := v["Index Cond"].(string)
			if table != "" && strings.Contains(node, "Scan") {
				index, _ := v["Index Name"].(string)
				scans = append(scans, Scan{node, table, index, condition})
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	for _, p := range plan {
		walk(p)
	}
	return scans
}
