package rounds_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/sql/sqltest"
)

// spaceOf makes a store with the space "s" of prof.
func spaceOf(t *testing.T) *sqltest.Store {
	t.Helper()
	s := sqltest.WithProblem(t)
	sqltest.Must(t, s.CreateSpace(t.Context(), judge.Space{Slug: "s", Title: "S"}, "prof"))
	return s
}

func contest(code string) judge.Round {
	return judge.Round{
		Space: "s", Code: code, Title: "Contest " + code, FormalName: "The contest " + code, Kind: judge.RoundContest, Format: "icpc",
		Settings: []byte(`{"penalty_minutes": 10}`), Start: new(time.Date(2030, 2, 14, 9, 0, 0, 123e6, time.UTC)), Duration: new(5 * time.Hour),
		Freeze: new(time.Duration(0)), Thaw: new(time.Date(2030, 2, 15, 0, 0, 0, 0, time.UTC)), PublicRuns: true, Practice: true,
	}
}

// made makes a contest and returns it as it is read.
func made(t *testing.T, s *sqltest.Store, r judge.Round) *judge.Round {
	t.Helper()
	sqltest.Must(t, s.Rounds.Create(t.Context(), r, "prof"))
	out, err := s.Rounds.Round(t.Context(), r.Code)
	sqltest.Must(t, err)
	return out
}

func plain(r judge.Round) string {
	utc := func(p *time.Time) *time.Time {
		if p != nil {
			p = new(p.UTC())
		}
		return p
	}
	r.Start, r.Thaw, r.Thawed, r.Finalized, r.UpdatesEnd = utc(r.Start), utc(r.Thaw), utc(r.Thawed), utc(r.Finalized), utc(r.UpdatesEnd)
	var b strings.Builder
	for _, d := range r.Removed {
		fmt.Fprintf(&b, " %v-%v %s by %s undone %v", d.From.UTC(), d.To.UTC(), d.Reason, d.By, d.Undone != nil)
	}
	p := func(d *time.Duration) any {
		if d == nil {
			return nil
		}
		return *d
	}
	return fmt.Sprint(r.Space, r.Code, r.Title, r.FormalName, r.Kind, r.Format, string(r.Settings), r.Start, p(r.Paused), p(r.Duration), p(r.Freeze), r.Thaw,
		r.Thawed, r.Finalized, r.FinalizedBy, r.UpdatesEnd, r.PublicRuns, r.Practice) + b.String()
}

func TestARoundIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	whole := made(t, s, contest("whole"))
	if want := contest("whole"); plain(*whole) != plain(want) || whole.By != "prof" || whole.ID == 0 || whole.SpaceID == 0 || whole.Now.IsZero() || whole.Created.IsZero() {
		t.Errorf("read\n%s, want\n%s", plain(*whole), plain(want))
	}
	// In a rehearsal it passes faster, and by whole milliseconds of its own.
	fast := contest("fast")
	fast.Speed = 60
	f := made(t, s, fast)
	for d, want := range map[time.Duration]int64{-time.Second: -60_000, 0: 0, 16 * time.Microsecond: 0, 17 * time.Microsecond: 1, time.Second: 60_000, 61 * time.Second: 3_660_000} {
		if got := sqltest.One[*int64](t, s, "SELECT round_time($1, $2)", f.ID, f.Start.Add(d)); got == nil || *got != want {
			t.Errorf("%s after the start of a rehearsal it is %v ms, want %d", d, got, want)
		}
	}
	bare := judge.Round{Space: "s", Code: "bare", Title: "Bare", Kind: judge.RoundAssignment, Format: "ioi", Paused: new(time.Minute)}
	got := made(t, s, bare)
	bare.Settings = []byte("{}")
	if plain(*got) != plain(bare) {
		t.Errorf("read\n%s, want\n%s", plain(*got), plain(bare))
	}
	if err := s.Rounds.Create(t.Context(), contest("whole"), "prof"); !errors.Is(err, sql.ErrExists) {
		t.Errorf("a code that is taken: %v", err)
	}
	elsewhere := contest("other")
	elsewhere.Space = "nowhere"
	if err := s.Rounds.Create(t.Context(), elsewhere, "prof"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a space that there is not: %v", err)
	}
	if _, err := s.Rounds.Round(t.Context(), "nothing"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a round that there is not: %v", err)
	}
}

func TestAChangeOfARoundIsKeptWholeAndLogged(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	r := made(t, s, contest("ca"))
	from := r.Start.Add(time.Hour)
	after, err := s.Rounds.Change(t.Context(), "ca", "jury", "round_test", func(r judge.Round) (judge.Round, error) {
		r.Title, r.FormalName, r.Kind, r.Format, r.Settings = "Other", "", judge.RoundAssignment, "ioi", []byte(`{"mode": "max"}`)
		r.Start, r.Paused, r.Duration, r.Freeze, r.Thaw = nil, new(time.Minute), nil, nil, nil
		r.Thawed, r.Finalized, r.FinalizedBy, r.UpdatesEnd = &from, &from, "jury", &from
		r.PublicRuns, r.Practice = false, false
		r.Removed = []judge.RoundRemoved{{From: from, To: from.Add(time.Minute), Reason: "power"}}
		r.ID, r.SpaceID, r.Space, r.Code = 7, 8, "x", "y" // stay what they are
		return r, nil
	})
	sqltest.Must(t, err)
	read, err := s.Rounds.Round(t.Context(), "ca")
	sqltest.Must(t, err)
	if plain(*read) != plain(*after) || after.Title != "Other" || after.Code != "ca" || read.ID != r.ID || len(read.Removed) != 1 || read.Removed[0].By != "jury" || read.Removed[0].ID == 0 {
		t.Errorf("read\n%s, was told\n%s", plain(*read), plain(*after))
	}
	_, err = s.Rounds.Change(t.Context(), "ca", "prof", "round_back", func(r judge.Round) (judge.Round, error) {
		r.Removed[0].Undone = &from
		return r, nil
	})
	sqltest.Must(t, err)
	if read, err = s.Rounds.Round(t.Context(), "ca"); err != nil || read.Removed[0].Undone == nil || !read.Removed[0].Undone.Equal(from) || read.Removed[0].By != "jury" {
		t.Errorf("given back: %+v, %v", read.Removed, err)
	}
	logged := sqltest.All[string](t, s, "SELECT actor || ' ' || action FROM audit_log WHERE subject = 'round:ca' ORDER BY id")
	if want := []string{"prof round_create", "jury round_test", "prof round_back"}; !slices.Equal(logged, want) {
		t.Errorf("logged %v, want %v", logged, want)
	}
	if n := sqltest.One[int](t, s, "SELECT count(*) FROM round_changes WHERE round_id = $1 AND kind = 'round' AND object = 'ca'", r.ID); n != 3 {
		t.Errorf("%d changes are told, want 3", n)
	}
	if detail := sqltest.One[string](t, s, "SELECT (detail -> 'removed')::text FROM audit_log WHERE action = 'round_back'"); !strings.Contains(detail, "null") {
		t.Errorf("the log of what was given back is %s", detail)
	}
}

func TestWhatIsRefusedOrChangesNothingIsNotLogged(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	r := made(t, s, contest("ca"))
	_, err := s.Rounds.Change(t.Context(), "ca", "prof", "round_test", func(r judge.Round) (judge.Round, error) {
		r.Title = "Other"
		return r, judge.Wrong("title", "bad", "give it another title")
	})
	if f, ok := errors.AsType[*judge.FieldError](err); !ok || f.Field != "title" {
		t.Errorf("refused with %v", err)
	}
	// Settings that are only written differently are the same.
	_, err = s.Rounds.Change(t.Context(), "ca", "prof", "round_test", func(r judge.Round) (judge.Round, error) {
		r.Settings = []byte("{ \"penalty_minutes\" :10 }")
		return r, nil
	})
	sqltest.Must(t, err)
	after, err := s.Rounds.Round(t.Context(), "ca")
	if err != nil || plain(*after) != plain(*r) {
		t.Errorf("it is %s, %v", plain(*after), err)
	}
	if n := sqltest.One[int](t, s, "SELECT count(*) FROM audit_log WHERE action = 'round_test'"); n != 0 {
		t.Errorf("%d acts that changed nothing are logged", n)
	}
	if _, err := s.Rounds.Change(t.Context(), "none", "prof", "x", func(r judge.Round) (judge.Round, error) { return r, nil }); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a round that there is not: %v", err)
	}
}

func TestChangesOfARoundAtOnceComeOneAfterAnother(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	made(t, s, contest("ca"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := s.Rounds.Change(t.Context(), "ca", "prof", "round_test", func(r judge.Round) (judge.Round, error) {
				r.Duration = new(*r.Duration + time.Minute)
				return r, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if r, err := s.Rounds.Round(t.Context(), "ca"); err != nil || *r.Duration != 5*time.Hour+8*time.Minute {
		t.Errorf("it lasts %v, %v", r.Duration, err)
	}
}

func TestRoundsAreListedToWhoMayKnowOfThem(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	sqltest.Must(t, s.CreateSpace(t.Context(), judge.Space{Slug: "open", Title: "Open", Listed: true}, "prof"))
	sqltest.Must(t, s.CreateUser(t.Context(), sql.NewUser{Name: "ann", PasswordHash: "hash", Role: judge.RoleContestant, By: "test"}))
	space, err := s.Space(t.Context(), "s", "")
	sqltest.Must(t, err)
	for _, code := range []string{"c1", "c2", "c3"} {
		sqltest.Must(t, s.Rounds.Create(t.Context(), contest(code), "prof"))
	}
	listed := contest("d1")
	listed.Space = "open"
	sqltest.Must(t, s.Rounds.Create(t.Context(), listed, "prof"))
	_, err = s.Rounds.Change(t.Context(), "c2", "prof", "round_test", func(r judge.Round) (judge.Round, error) {
		r.Removed = []judge.RoundRemoved{{From: *r.Start, To: r.Start.Add(time.Minute)}}
		return r, nil
	})
	sqltest.Must(t, err)
	see := func(f rounds.Filter, want ...string) []judge.Round {
		t.Helper()
		found, err := s.Rounds.Rounds(t.Context(), f)
		got := []string{}
		for _, r := range found {
			got = append(got, r.Code)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v lists %v, %v; want %v", f, got, err, want)
		}
		return found
	}
	see(rounds.Filter{}, "d1")
	see(rounds.Filter{Viewer: "ann"}, "d1")
	see(rounds.Filter{All: true}, "d1", "c3", "c2", "c1")
	_, err = s.PutSpaceMembers(t.Context(), space.ID, []string{"ann"}, judge.SpaceContestant, "prof")
	sqltest.Must(t, err)
	see(rounds.Filter{Viewer: "ann"}, "d1", "c3", "c2", "c1")
	see(rounds.Filter{Viewer: "ann", Space: "open"}, "d1")
	see(rounds.Filter{Viewer: "ann", Limit: 2}, "d1", "c3")
	if found := see(rounds.Filter{Viewer: "ann", Before: "c3"}, "c2", "c1"); len(found[0].Removed) != 1 || len(found[1].Removed) != 0 {
		t.Errorf("removed from them: %v", found)
	}
}

func TestOnlyARoundThatNobodyHandedInToIsDeleted(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	r := made(t, s, contest("ca"))
	id := sqltest.Submit(t, s, sqltest.Sub("ann"))
	s.Exec(t, "UPDATE job_payloads SET round_id = $1 WHERE job_id = $2", r.ID, id)
	if err := s.Rounds.Delete(t.Context(), "ca", "prof"); !errors.Is(err, sql.ErrInUse) {
		t.Errorf("with a submission: %v", err)
	}
	s.Exec(t, "UPDATE job_payloads SET round_id = NULL")
	sqltest.Must(t, s.Rounds.Delete(t.Context(), "ca", "prof"))
	if err := s.Rounds.Delete(t.Context(), "ca", "prof"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("again: %v", err)
	}
}

func TestTheTimeOfARoundIsTheSameInTheDatabase(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	r := made(t, s, contest("ca"))
	at := func(d time.Duration) *int64 {
		return sqltest.One[*int64](t, s, "SELECT round_time($1, $2)", r.ID, r.Start.Add(d))
	}
	_, err := s.Rounds.Change(t.Context(), "ca", "prof", "round_test", func(r judge.Round) (judge.Round, error) {
		back := r.Start.Add(9 * time.Hour)
		r.Removed = []judge.RoundRemoved{
			{From: r.Start.Add(time.Hour), To: r.Start.Add(2 * time.Hour)},
			{From: r.Start.Add(3 * time.Hour), To: r.Start.Add(4 * time.Hour), Undone: &back},
		}
		return r, nil
	})
	sqltest.Must(t, err)
	_, err = s.Rounds.Change(t.Context(), "ca", "prof", "round_test", func(r judge.Round) (judge.Round, error) {
		r.Removed[1].Undone = &r.Now
		return r, nil
	})
	sqltest.Must(t, err)
	for d, want := range map[time.Duration]time.Duration{
		-time.Minute: -time.Minute, -1500 * time.Microsecond: -2 * time.Millisecond, 0: 0, 1999 * time.Microsecond: time.Millisecond,
		time.Hour: time.Hour, 90 * time.Minute: time.Hour, 2 * time.Hour: time.Hour, 5 * time.Hour: 4 * time.Hour,
	} {
		if got := at(d); got == nil || *got != want.Milliseconds() {
			t.Errorf("%s after the start it is %v ms, want %s", d, got, want)
		}
	}
	bare := judge.Round{Space: "s", Code: "bare", Title: "Bare", Kind: judge.RoundContest, Format: "icpc"}
	if got := sqltest.One[*int64](t, s, "SELECT round_time($1, now())", made(t, s, bare).ID); got != nil {
		t.Errorf("without a start it is %d ms", *got)
	}
}
