package sql_test

import (
	"errors"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func TestTheNewestVersionOfAProblemIsActive(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	p := judge.Problem{Slug: "primes", Title: "Primes", Version: "sha256:01", Statement: "<p>long</p>", Samples: []judge.Sample{{Name: "1", Input: "1\n"}}}
	sqltest.Must(t, s.SaveProblem(t.Context(), p, "setter"))
	p.Version, p.Title = "sha256:02", "Prime numbers"
	sqltest.Must(t, s.SaveProblem(t.Context(), p, "setter"))
	sqltest.Must(t, s.SaveProblem(t.Context(), p, "setter"))
	got, err := s.Problem(t.Context(), "primes")
	if err != nil || got.Version != "sha256:02" || got.Title != "Prime numbers" || got.Samples[0].Input != "1\n" || got.Updated.IsZero() {
		t.Errorf("problem = %+v, %v", got, err)
	}
	list, err := s.Problems(t.Context())
	if err != nil || len(list) != 2 || list[0].Slug != "aplusb" || list[1].Title != "Prime numbers" || list[1].Statement != "" || list[1].Samples != nil {
		t.Errorf("problems = %+v, %v", list, err)
	}
	if n := sqltest.One[int64](t, s, "SELECT count(*) FROM problem_versions WHERE slug = 'primes'"); n != 2 {
		t.Errorf("%d versions kept, want 2", n)
	}
	if _, err := s.Problem(t.Context(), "nosuch"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("unknown problem: %v", err)
	}
	if err := s.SaveProblem(t.Context(), judge.Problem{Slug: "x"}, "setter"); err == nil {
		t.Error("a problem without version was saved")
	}
}

func TestWorkersAreKnownWhileTheyBeat(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	w := judge.WorkerInfo{Name: "w1-ab", Pool: "default", Slots: 2, Started: time.Now(), Languages: []judge.Language{
		{ID: "cpp", Available: true}, {ID: "java", Unavailable: "no JDK"},
	}}
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	java := sqltest.Submit(t, s, sqltest.Sub("bob", func(n *sql.NewJob) { n.Language = "java" }))
	if p, err := s.Place(t.Context(), id); err != nil || p.Why != string(judge.ReasonNoLiveWorker) || p.Position != 1 {
		t.Errorf("place without workers = %+v, %v", p, err)
	}
	sqltest.Must(t, s.WorkerBeat(t.Context(), w))
	w.Busy = 1
	sqltest.Must(t, s.WorkerBeat(t.Context(), w))
	ws, err := s.Workers(t.Context(), time.Minute)
	if err != nil || len(ws) != 1 || ws[0].Busy != 1 || ws[0].Seen.IsZero() || !ws[0].Languages[0].Available || ws[0].Languages[1].Unavailable != "no JDK" {
		t.Fatalf("workers = %+v, %v", ws, err)
	}
	if p, err := s.Place(t.Context(), id); err != nil || p.Why != "" || p.Position != 1 {
		t.Errorf("first place = %+v, %v", p, err)
	}
	if p, err := s.Place(t.Context(), java); err != nil || p.Why != string(judge.ReasonNoLiveWorker) || p.Position != 2 || p.ETAHigh < p.ETALow {
		t.Errorf("place of an unserved language = %+v, %v", p, err)
	}
	sqltest.Pick(t, s, 1)
	if p, err := s.Place(t.Context(), id); err != nil || p.Why != "" || p.Position != 1 {
		t.Errorf("place of a delivered job = %+v, %v", p, err)
	}
	sqltest.Claim(t, s, id, "w1", 1)
	if _, err := s.Place(t.Context(), id); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("place of a running job: %v", err)
	}
	s.Exec(t, "UPDATE workers SET seen_at = now() - interval '1 h'")
	if ws, err = s.Workers(t.Context(), time.Minute); err != nil || len(ws) != 0 {
		t.Errorf("workers after an hour = %+v, %v", ws, err)
	}
	sqltest.Must(t, s.WorkerGone(t.Context(), "w1-ab"))
	if n := sqltest.One[int64](t, s, "SELECT count(*) FROM workers"); n != 0 {
		t.Errorf("%d workers left", n)
	}
}

func TestListsAreFilteredAndPaged(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	var ids []int64
	for i := range 6 {
		ids = append(ids, sqltest.Submit(t, s, sqltest.Sub([]string{"alice", "bob"}[i%2])))
	}
	for n, id := range ids[:3] {
		sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", n).Attempt, []judge.Verdict{judge.AC, judge.WA, judge.AC}[n])
	}
	count := func(f sql.Filter) int {
		t.Helper()
		list, err := s.Submissions(t.Context(), f)
		sqltest.Must(t, err)
		return len(list)
	}
	for want, f := range map[int]sql.Filter{
		6: {}, 3: {Author: "bob"}, 2: {Verdict: judge.AC}, 1: {Author: "bob", Verdict: judge.WA}, 0: {Problem: "nosuch"}, 4: {Before: ids[4], Language: "cpp"},
	} {
		if got := count(f); got != want {
			t.Errorf("%+v chooses %d, want %d", f, got, want)
		}
	}
	list, err := s.Submissions(t.Context(), sql.Filter{Limit: 2, Before: ids[5]})
	if err != nil || len(list) != 2 || list[0].JobID != ids[4] || list[1].JobID != ids[3] {
		t.Errorf("page = %+v, %v", list, err)
	}
	if _, err := s.Submission(t.Context(), 999); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("unknown submission: %v", err)
	}
	es, err := s.Events(t.Context(), ids[0], 0, 0)
	if err != nil || len(es) != 3 {
		t.Fatalf("events = %+v, %v", es, err)
	}
	if es, err = s.Events(t.Context(), ids[0], es[0].ID, 1); err != nil || len(es) != 1 || es[0].Kind != judge.EventClaimed || es[0].AttemptID != 1 {
		t.Errorf("next event = %+v, %v", es, err)
	}
	s.Exec(t, "UPDATE results SET created_at = now() + interval '1 hour'") // as if it were just now, on a slow machine too
	st, err := s.QueueStats(t.Context())
	if err != nil || st.Judged != sqltest.One[int64](t, s, "SELECT count(*) FROM results") || st.Judged == 0 || st.Pending != 3 || st.Lanes[judge.LaneNormal] != 3 || st.Running != 0 || st.Oldest <= 0 {
		t.Errorf("stats = %+v, %v", st, err)
	}
}
