package sql_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// roundOf makes a space with a round that began an hour ago and has the problem aplusb, and a team of ann and bob in it.
func roundOf(t *testing.T, s *sqltest.Store, with ...func(*judge.Space)) (r *judge.Round, team int64) {
	t.Helper()
	v := judge.Space{Slug: "s", Title: "S"}
	for _, w := range with {
		w(&v)
	}
	sqltest.Must(t, s.CreateSpace(t.Context(), v, "prof"))
	for _, name := range []string{"ann", "bob", "eve"} {
		account(t, s, name, judge.RoleContestant)
	}
	now := sqltest.One[time.Time](t, s, "SELECT now()")
	sqltest.Must(t, s.Rounds.Create(t.Context(), judge.Round{
		Space: "s", Code: "day1", Title: "Day 1", Kind: judge.RoundContest, Format: "icpc", Start: new(now.Add(-time.Hour)), Duration: new(5 * time.Hour),
	}, "prof"))
	_, err := s.Rounds.ChangeProblems(t.Context(), "day1", "prof", func(judge.Round, []judge.RoundProblem) ([]judge.RoundProblem, error) {
		return []judge.RoundProblem{{Problem: "aplusb", Label: "A"}}, nil
	})
	sqltest.Must(t, err)
	sqltest.Must(t, s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{{Code: "t1", Name: "T1", Members: []judge.ParticipantMember{
		{User: "ann", Role: judge.MemberContestant}, {User: "bob", Role: judge.MemberContestant},
	}}}, "prof"))
	sqltest.Must(t, s.Rounds.Enter(t.Context(), "day1", []string{"t1"}, "prof"))
	r, err = s.Rounds.Round(t.Context(), "day1")
	sqltest.Must(t, err)
	p, err := s.Rounds.Participant(t.Context(), "s", "t1")
	sqltest.Must(t, err)
	return r, p.ID
}

// inRound hands a submission in to a round.
func inRound(r *judge.Round, participant int64) func(*sql.NewJob) {
	return func(n *sql.NewJob) { n.Round, n.Participant = r.ID, participant }
}

// refusedByRound checks that a round refuses a submission for the reason.
func refusedByRound(t *testing.T, s *sqltest.Store, n sql.NewJob, want judge.RoundRefusal) *judge.RoundError {
	t.Helper()
	_, err := s.Submit(t.Context(), n)
	e, ok := errors.AsType[*judge.RoundError](err)
	if !ok || e.Refusal != want {
		t.Errorf("err = %v, want a refusal for %s", err, want)
		return &judge.RoundError{}
	}
	return e
}

func TestARoundTakesWhatItsParticipantsHandInInItsTime(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	sqltest.Must(t, s.SaveProblem(t.Context(), judge.Problem{Slug: "other", Title: "Other", Version: "sha256:01", CPUMillis: 1000}, "test"))
	r, team := roundOf(t, s)
	id := sqltest.Submit(t, s, sqltest.Sub("ann", inRound(r, team)))
	if got := sqltest.One[string](t, s, "SELECT round_id || ' ' || participant_id || ' ' || space_id || ' ' || author FROM job_payloads WHERE job_id = $1", id); got !=
		sqltest.One[string](t, s, "SELECT $1::bigint || ' ' || $2::bigint || ' ' || $3::bigint || ' ann'", r.ID, team, r.SpaceID) {
		t.Errorf("stored %s", got)
	}
	refusedByRound(t, s, sqltest.Sub("ann", inRound(r, team), func(n *sql.NewJob) { n.Problem = "other" }), judge.RoundOtherProblem)
	refusedByRound(t, s, sqltest.Sub("eve", inRound(r, 0)), judge.RoundNoParticipant)
	refusedByRound(t, s, sqltest.Sub("ann", inRound(&judge.Round{ID: r.ID + 1}, team)), judge.RoundOtherProblem)
	set := func(act func(*judge.Round)) {
		t.Helper()
		_, err := s.Rounds.Change(t.Context(), "day1", "prof", "round_test", func(r judge.Round) (judge.Round, error) {
			act(&r)
			return r, nil
		})
		sqltest.Must(t, err)
	}
	now := sqltest.One[time.Time](t, s, "SELECT now()")
	set(func(r *judge.Round) { r.Start = new(now.Add(time.Hour)) })
	refusedByRound(t, s, sqltest.Sub("ann", inRound(r, team)), judge.RoundNotOpen)
	set(func(r *judge.Round) { r.Start = nil })
	refusedByRound(t, s, sqltest.Sub("ann", inRound(r, team)), judge.RoundNotOpen)
	set(func(r *judge.Round) { r.Start = new(now.Add(-6 * time.Hour)) })
	refusedByRound(t, s, sqltest.Sub("ann", inRound(r, team)), judge.RoundClosed)
	sqltest.Submit(t, s, sqltest.Sub("prof", inRound(r, 0), unofficial)) // who prepares it can always
	// Removed time moves the end, and what was given back moves it back.
	set(func(r *judge.Round) {
		r.Removed = []judge.RoundRemoved{{From: now.Add(-4 * time.Hour), To: now.Add(-2 * time.Hour)}}
	})
	sqltest.Submit(t, s, sqltest.Sub("bob", inRound(r, team)))
	set(func(r *judge.Round) { r.Removed[0].Undone = &now })
	refusedByRound(t, s, sqltest.Sub("ann", inRound(r, team)), judge.RoundClosed)
	set(func(r *judge.Round) { r.Duration = nil })
	sqltest.Submit(t, s, sqltest.Sub("ann", inRound(r, team)))
	_, err := s.Rounds.ChangeProblems(t.Context(), "day1", "prof", func(_ judge.Round, list []judge.RoundProblem) ([]judge.RoundProblem, error) {
		list[0].Paused = &now
		return list, nil
	})
	sqltest.Must(t, err)
	refusedByRound(t, s, sqltest.Sub("ann", inRound(r, team)), judge.RoundProblemPaused)
	for _, status := range []judge.ParticipantStatus{judge.ParticipantBanned, judge.ParticipantWithdrawn, judge.ParticipantDisqualified} {
		sqltest.Must(t, s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{{Code: "t1", Name: "T1", Status: status}}, "prof"))
		refusedByRound(t, s, sqltest.Sub("ann", inRound(r, team)), judge.RoundBanned)
	}
	sqltest.Must(t, s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{{Code: "t2", Name: "T2"}}, "prof"))
	other, err := s.Rounds.Participant(t.Context(), "s", "t2")
	sqltest.Must(t, err)
	refusedByRound(t, s, sqltest.Sub("ann", inRound(r, other.ID)), judge.RoundNoParticipant) // has not entered
}

func TestATeamSharesItsLimitsAndItsTurn(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	r, team := roundOf(t, s, func(v *judge.Space) { v.PerMinute = 3; v.MaxWaiting = 2 })
	var taken, tooMany atomic.Int32
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			_, err := s.Submit(t.Context(), sqltest.Sub([]string{"ann", "bob"}[i%2], inRound(r, team)))
			switch e, ok := errors.AsType[*judge.RoundError](err); {
			case err == nil:
				taken.Add(1)
			case ok && e.Refusal == judge.RoundTooManyWaiting:
				tooMany.Add(1)
			case !ok || e.Refusal != judge.RoundTooFast:
				t.Errorf("refused with %v", err)
			}
		})
	}
	all.Wait()
	if taken.Load() != 2 || tooMany.Load() == 0 {
		t.Errorf("%d were taken, %d were too many", taken.Load(), tooMany.Load())
	}
	if groups := sqltest.All[string](t, s, "SELECT DISTINCT group_key FROM outbox_events"); len(groups) != 1 || groups[0] != sqltest.One[string](t, s, "SELECT 'p:' || $1::bigint", team) {
		t.Errorf("they wait in the turns of %v", groups)
	}
	ids := sqltest.All[int64](t, s, "SELECT job_id FROM job_payloads ORDER BY job_id")
	for _, id := range ids {
		c := sqltest.Claim(t, s, id, "w", 1)
		sqltest.Finalize(t, s, c.Attempt, judge.WA)
	}
	sqltest.Submit(t, s, sqltest.Sub("bob", inRound(r, team)))
	if e := refusedByRound(t, s, sqltest.Sub("ann", inRound(r, team)), judge.RoundTooFast); e.Patience == nil || *e.Patience <= 0 || *e.Patience > time.Minute {
		t.Errorf("there is room in %v", e.Patience)
	}
}

func TestTheSameProgramInAnotherRoundIsAnother(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	r, team := roundOf(t, s)
	key := sqltest.Key("k")
	id := sqltest.Submit(t, s, sqltest.Sub("ann", inRound(r, team), key))
	again, err := s.Submit(t.Context(), sqltest.Sub("ann", inRound(r, team), key))
	if err != nil || again != (sql.Receipt{JobID: id, Existing: true}) {
		t.Errorf("again = %+v, %v", again, err)
	}
	second := *r
	second.Code = "day2"
	sqltest.Must(t, s.Rounds.Create(t.Context(), second, "prof"))
	other, err := s.Rounds.Round(t.Context(), "day2")
	sqltest.Must(t, err)
	sqltest.Must(t, s.Rounds.Enter(t.Context(), "day2", []string{"t1"}, "prof"))
	_, err = s.Submit(t.Context(), sqltest.Sub("ann", inRound(other, team), key))
	field(t, err, "idempotency_key", "reused")
	rs, err := s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub("ann", inRound(r, team), key), sqltest.Sub("bob", inRound(r, team))})
	if err != nil || !rs[0].Existing || rs[1].Existing {
		t.Errorf("together with a repetition: %+v, %v", rs, err)
	}
	if _, err = s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub("ann", inRound(r, team)), sqltest.Sub("bob")}); err == nil {
		t.Error("one statement served a round and what is in none")
	}
	specs := map[string]bool{}
	for _, n := range []sql.NewJob{sqltest.Sub("ann"), sqltest.Sub("ann", inRound(r, team)), sqltest.Sub("ann", inRound(&judge.Round{ID: 99}, team))} {
		sum, err := n.Spec()
		sqltest.Must(t, err)
		specs[string(sum)] = true
	}
	if len(specs) != 3 {
		t.Errorf("three rounds are %d specifications", len(specs))
	}
	if !slices.Equal(sqltest.All[int64](t, s, "SELECT DISTINCT round_id FROM job_payloads WHERE round_id IS NOT NULL"), []int64{r.ID}) {
		t.Error("something is in another round")
	}
}

func TestARoundTakesAProblemSoOftenAndSoLongAfterTheLast(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	sqltest.Must(t, s.SaveProblem(t.Context(), judge.Problem{Slug: "other", Title: "Other", Version: "sha256:01", CPUMillis: 1000}, "test"))
	r, team := roundOf(t, s)
	_, err := s.Rounds.ChangeProblems(t.Context(), "day1", "prof", func(_ judge.Round, list []judge.RoundProblem) ([]judge.RoundProblem, error) {
		return append(list, judge.RoundProblem{Problem: "other", Label: "B"}), nil
	})
	sqltest.Must(t, err)
	n := 0
	with := func(problem string, apart time.Duration, most int, more ...func(*sql.NewJob)) sql.NewJob {
		n++
		return sqltest.Sub("ann", append([]func(*sql.NewJob){inRound(r, team), sqltest.Key(strconv.Itoa(n)), func(v *sql.NewJob) {
			v.Problem, v.Apart, v.Most = problem, apart, most
		}}, more...)...)
	}
	sqltest.Submit(t, s, with("aplusb", time.Minute, 2))
	e := refusedByRound(t, s, with("aplusb", time.Minute, 2), judge.RoundTooSoon)
	if e.Patience == nil || *e.Patience <= 0 || *e.Patience > time.Minute {
		t.Errorf("it is to wait for %v", e.Patience)
	}
	sqltest.Submit(t, s, with("other", time.Minute, 2)) // another problem has its own
	s.Exec(t, "UPDATE jobs SET created_at = created_at - interval '2 minutes'")
	sqltest.Submit(t, s, with("aplusb", time.Minute, 2))
	s.Exec(t, "UPDATE jobs SET created_at = created_at - interval '2 minutes'")
	refusedByRound(t, s, with("aplusb", time.Minute, 2), judge.RoundTooMany)
	sqltest.Submit(t, s, with("aplusb", time.Minute, 2, func(v *sql.NewJob) { v.At = time.Now() })) // by staff
	sqltest.Submit(t, s, with("aplusb", 0, 0))                                                      // without limits
	// Who hands in a second time with the same key gets the first.
	again := with("other", 0, 2)
	first := sqltest.Submit(t, s, again)
	again.Apart = time.Hour
	if second, err := s.Submit(t.Context(), again); err != nil || second.JobID != first {
		t.Errorf("the same once more is %+v (%v), was %d", second, err, first)
	}
}

// TestAtOnceARoundTakesNoMoreThanItMay has several hand in at the same moment.
func TestAtOnceARoundTakesNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	r, team := roundOf(t, s)
	var taken atomic.Int32
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			_, err := s.Submit(t.Context(), sqltest.Sub("ann", inRound(r, team), sqltest.Key(strconv.Itoa(i)), func(v *sql.NewJob) { v.Most = 3 }))
			if _, refused := errors.AsType[*judge.RoundError](err); err == nil {
				taken.Add(1)
			} else if !refused {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := taken.Load(); n != 3 {
		t.Errorf("%d were taken, want 3", n)
	}
}
