package sqltest

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Exec runs a statement on the general pool, to bring the database into a state that takes too long to wait for.
func (s *Store) Exec(t testing.TB, text string, a ...any) int64 {
	t.Helper()
	tag, err := s.Main.Exec(t.Context(), text, a...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return tag.RowsAffected()
}

// TryExec is Exec for a statement that may be refused.
func (s *Store) TryExec(ctx context.Context, text string, a ...any) error {
	_, err := s.Main.Exec(ctx, text, a...)
	return err
}

// One returns the one value that a query gives.
func One[T any](t testing.TB, s *Store, text string, a ...any) T {
	t.Helper()
	vs := All[T](t, s, text, a...)
	if len(vs) != 1 {
		t.Fatalf("%s: %d values, want one", text, len(vs))
	}
	return vs[0]
}

// All returns the values that a query gives.
func All[T any](t testing.TB, s *Store, text string, a ...any) []T {
	t.Helper()
	rs, err := s.Main.Query(t.Context(), text, a...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	vs, err := pgx.CollectRows(rs, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return vs
}

// Mutate changes a named statement of this store only, and those that are variants of it, such as JobTake and
// JobTakePlain, for tests that prove that tests would notice.
func (s *Store) Mutate(t testing.TB, name, old, replacement string) {
	t.Helper()
	changed := maps.Clone(s.Statements)
	found := false
	for variant, st := range changed {
		if !strings.HasPrefix(variant, name) || !strings.Contains(st.Text, old) {
			continue
		}
		other := *st
		other.Text = strings.ReplaceAll(st.Text, old, replacement)
		changed[variant], found = &other, true
	}
	if !found {
		t.Fatalf("statement %s has no %q", name, old)
	}
	s.Statements = changed
}

// UpToNow calls look until all that was committed before is older than every transaction that still runs on the server, also
// those of other tests: what follows a feed sees it then.
func UpToNow(t testing.TB, s *Store, look func() error) {
	t.Helper()
	next := One[int64](t, s, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		old := One[bool](t, s, "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= $1", next)
		if err := look(); err != nil {
			t.Fatal(err)
		}
		if old {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("an old transaction does not end")
		case <-tick.C:
		}
	}
}
