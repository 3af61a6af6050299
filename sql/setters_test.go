package sql_test

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func fileOf(digit string, bytes int64) sql.StoredFile {
	return sql.StoredFile{Digest: "sha256:" + strings.Repeat(digit, 64), Bytes: bytes}
}

func TestWhatOnlyOneSetterHasCountsOnceAndWhatSeveralHaveNotAtAll(t *testing.T) {
	s := sqltest.DB(t)
	ctx := t.Context()
	account(t, s, "olga", judge.RoleSetter)
	account(t, s, "otto", judge.RoleSetter)
	keep := func(slug, version, by string, files ...sql.StoredFile) {
		t.Helper()
		sqltest.Must(t, s.KeepVersion(ctx, judge.Problem{Slug: slug, Version: version, Title: slug}, by, 0))
		sqltest.Must(t, s.KeepFiles(ctx, slug, version, files))
		sqltest.Must(t, s.KeepFiles(ctx, slug, version, files)) // again, as by a second try
	}
	a, b, c, d := fileOf("a", 100), fileOf("b", 20), fileOf("c", 3), fileOf("d", 7)
	keep("one", "v1", "olga", a, b, b)
	keep("one", "v2", "olga", a, c)
	keep("two", "v3", "otto", c, d)
	for name, want := range map[string]int64{"olga": 120, "otto": 7, "nobody": 0} {
		if got, err := s.SetterBytes(ctx, name); err != nil || got != want {
			t.Errorf("%s has %d bytes, %v; want %d", name, got, err, want)
		}
	}
	if all, err := s.SettersBytes(ctx, 0); err != nil || len(all) != 2 || all[0] != (sql.Usage{Name: "olga", Bytes: 120}) || all[1] != (sql.Usage{Name: "otto", Bytes: 7}) {
		t.Errorf("all of them: %+v, %v", all, err)
	}
	e := fileOf("e", 9)
	if n, err := s.NewBytes(ctx, []sql.StoredFile{a, d, e, e}); err != nil || n != 9 {
		t.Errorf("of these %d bytes are new, %v; want 9", n, err)
	}
	if _, err := s.NewBytes(ctx, []sql.StoredFile{{Digest: "sha256:x"}}); err == nil {
		t.Error("what is no digest is taken")
	}
}

func TestOfManyUploadsAtOnceNoMoreAreTakenThanADayAllows(t *testing.T) {
	s := sqltest.DB(t)
	ctx := t.Context()
	account(t, s, "olga", judge.RoleSetter)
	var taken atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			ok, err := s.TakeVersion(context.WithoutCancel(ctx), "olga", 5, 10, 1000)
			if err != nil {
				t.Error(err)
			}
			if ok {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if taken.Load() != 5 {
		t.Errorf("%d of 20 were taken, want 5", taken.Load())
	}
	sqltest.Must(t, s.CountArchive(ctx, "olga", 995, 1, 0))
	day, err := s.SetterToday(ctx, "olga")
	if err != nil || day.Versions != 4 || day.Bytes != 995 || day.Left <= 0 || day.Left.Hours() > 24 {
		t.Errorf("today: %+v, %v", day, err)
	}
	for bytes, want := range map[int64]bool{6: false, 5: true} {
		if ok, err := s.TakeVersion(ctx, "olga", 5, bytes, 1000); err != nil || ok != want {
			t.Errorf("%d more bytes: %t, %v", bytes, ok, err)
		}
	}
	account(t, s, "otto", judge.RoleSetter)
	if ok, err := s.TakeVersion(ctx, "otto", 5, 1001, 1000); err != nil || ok {
		t.Errorf("a first archive that is too much: %t, %v", ok, err)
	}
}

func TestASaveIsAFurtherOneForHalfAnHourAfterAnotherOfTheSameProblemAndSetter(t *testing.T) {
	s := sqltest.DB(t)
	ctx := t.Context()
	account(t, s, "olga", judge.RoleSetter)
	account(t, s, "otto", judge.RoleSetter)
	further := func(slug, name string, most int32, bytes int64, want bool) {
		t.Helper()
		if ok, err := s.TakeSave(ctx, slug, name, most, bytes); err != nil || ok != want {
			t.Errorf("a save of %s by %s is a further one: %t, %v, want %t", slug, name, ok, err, want)
		}
	}
	for _, name := range []string{"olga", "otto"} {
		_, err := s.TakeVersion(ctx, name, 9, 0, 0)
		sqltest.Must(t, err)
	}
	further("one", "olga", 9, 0, false) // the first
	begun, err := s.BeginEdit(ctx, "one", "v1", "olga")
	if err != nil || !begun {
		t.Fatal(begun, err)
	}
	further("one", "olga", 9, 0, false) // the first is not stored
	sqltest.Must(t, s.EndEdit(ctx, "one", "v1", "olga", 7))
	further("one", "olga", 2, 0, true)
	further("one", "otto", 2, 0, false)
	further("two", "olga", 2, 0, false)
	sqltest.Must(t, s.CountArchive(ctx, "olga", 10, 0, 0))
	further("one", "olga", 2, 10, false)
	further("one", "olga", 2, 11, true)
	further("one", "olga", 2, 0, false)
	sqltest.Must(t, s.CountArchive(ctx, "olga", 0, 0, 1)) // it came to nothing
	s.Exec(t, "UPDATE problem_edits SET at = now() - interval '31 min'")
	further("one", "olga", 2, 0, false)
	if day, err := s.SetterToday(ctx, "olga"); err != nil || day.Versions != 1 || day.Saves != 1 {
		t.Errorf("today: %+v, %v", day, err)
	}
}

func TestOneOfSeveralWhoMakeTheSameProblemAtOnceOwnsIt(t *testing.T) {
	s := sqltest.DB(t)
	ctx := t.Context()
	names := []string{"ann", "bob", "cid", "dan"}
	for _, name := range names {
		account(t, s, name, judge.RoleSetter)
	}
	var may atomic.Int32
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			rights, err := s.ClaimProblem(context.WithoutCancel(ctx), "new", name)
			if err != nil {
				t.Error(err)
			}
			if rights.MayChange() {
				may.Add(1)
			}
		})
	}
	all.Wait()
	people, err := s.ProblemPeople(ctx, "new")
	if err != nil || len(people) != 1 || !people[0].Owner || may.Load() != 1 {
		t.Errorf("%d may make it, the people are %+v, %v", may.Load(), people, err)
	}
	sqltest.Must(t, s.KeepVersion(ctx, judge.Problem{Slug: "sample", Version: "v1", Title: "S"}, "deepoj", 0))
	if rights, err := s.ClaimProblem(ctx, "sample", "ann"); err != nil || rights.MayChange() {
		t.Errorf("a problem of the program itself is claimed: %+v, %v", rights, err)
	}
}

// A database of before gives each problem to whoever made its first version.
func TestProblemsFromBeforeBelongToWhoeverMadeThemFirst(t *testing.T) {
	before := fstest.MapFS{}
	steps, err := fs.Glob(os.DirFS("."), "migrations/*.sql")
	sqltest.Must(t, err)
	for _, name := range steps {
		if strings.HasSuffix(name, "_setters.sql") {
			break
		}
		data, err := os.ReadFile(name)
		sqltest.Must(t, err)
		before[name] = &fstest.MapFile{Data: data}
	}
	s := sqltest.Open(t, sqltest.Empty(t))
	sqltest.Must(t, s.MigrateFiles(t.Context(), before))
	s.Exec(t, `INSERT INTO users (name, password_hash, role) VALUES ('olga', 'x', 'setter'), ('otto', 'x', 'setter')`)
	s.Exec(t, `INSERT INTO problem_versions (slug, version, title, problem, created_by, created_at) VALUES
		('one', 'v2', '', '{}', 'otto', now()), ('one', 'v1', '', '{}', 'olga', now() - interval '1 day'),
		('sample', 'v1', '', '{}', 'deepoj', now() - interval '1 day'), ('sample', 'v2', '', '{}', 'otto', now())`)
	sqltest.Must(t, s.Migrate(t.Context()))
	for slug, want := range map[string]string{"one": "olga", "sample": ""} {
		people, err := s.ProblemPeople(t.Context(), slug)
		sqltest.Must(t, err)
		if got := append(people, sql.ProblemPerson{})[0].Name; got != want {
			t.Errorf("%s belongs to %q, want %q", slug, got, want)
		}
	}
}
