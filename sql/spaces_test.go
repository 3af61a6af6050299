package sql_test

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
	"deepoj/sql/sqltest"
)

// spaceOf makes a space, changed by with, that ann takes part in.
func spaceOf(t *testing.T, s *sqltest.Store, slug string, with ...func(*judge.Space)) *judge.Space {
	t.Helper()
	v := judge.Space{Slug: slug, Title: "Contest " + slug}
	for _, w := range with {
		w(&v)
	}
	sqltest.Must(t, s.CreateSpace(t.Context(), v, "prof"))
	if _, err := s.User(t.Context(), "ann"); errors.Is(err, sql.ErrNotFound) {
		account(t, s, "ann", judge.RoleContestant)
	}
	made, err := s.Space(t.Context(), slug, "ann")
	sqltest.Must(t, err)
	join(t, s, made.ID, judge.SpaceContestant, "ann")
	sqltest.Must(t, s.PutSpaceProblem(t.Context(), made.ID, "aplusb", 0, nil, "prof"))
	return made
}

func join(t *testing.T, s *sqltest.Store, id int64, role judge.SpaceRole, names ...string) {
	t.Helper()
	unknown, err := s.PutSpaceMembers(t.Context(), id, names, role, "prof")
	if err != nil || len(unknown) > 0 {
		t.Fatalf("%v are unknown, %v", unknown, err)
	}
}

// in hands a submission in to a space.
func in(v *judge.Space) func(*sql.NewJob) {
	return func(n *sql.NewJob) { n.Space = v.ID }
}

func unofficial(n *sql.NewJob) { n.Unofficial = true }

// refused checks that a space refuses a submission for the reason.
func refused(t *testing.T, s *sqltest.Store, n sql.NewJob, want judge.SpaceRefusal) *judge.SpaceError {
	t.Helper()
	_, err := s.Submit(t.Context(), n)
	e, ok := errors.AsType[*judge.SpaceError](err)
	if !ok || e.Refusal != want {
		t.Fatalf("err = %v, want a refusal for %s", err, want)
	}
	return e
}

func TestASpaceTakesSubmissionsOfItsMembersWhileItIsOpen(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	now := sqltest.One[time.Time](t, s, "SELECT now()")
	hour := func(n int) *time.Time { return new(now.Add(time.Duration(n) * time.Hour)) }
	tests := map[string]struct {
		opens, closes *time.Time
		phase         judge.SpacePhase
		want          judge.SpaceRefusal // "" = taken
	}{
		"without times":     {nil, nil, judge.SpaceOpen, ""},
		"open":              {hour(-1), hour(1), judge.SpaceOpen, ""},
		"open for ever":     {hour(-1), nil, judge.SpaceOpen, ""},
		"before it opens":   {hour(1), nil, judge.SpaceBefore, judge.SpaceNotOpen},
		"after it closed":   {nil, hour(-1), judge.SpaceAfter, judge.SpaceClosed},
		"long after it was": {hour(-2), hour(-1), judge.SpaceAfter, judge.SpaceClosed},
		"long before it is": {hour(1), hour(2), judge.SpaceBefore, judge.SpaceNotOpen},
	}
	account(t, s, "ann", judge.RoleContestant)
	account(t, s, "bob", judge.RoleContestant)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := spaceOf(t, s, strings.ReplaceAll(name, " ", "-"), func(v *judge.Space) { v.Opens, v.Closes = tt.opens, tt.closes })
			if v.Phase() != tt.phase {
				t.Errorf("phase = %s, want %s", v.Phase(), tt.phase)
			}
			if tt.want != "" {
				refused(t, s, sqltest.Sub("ann", in(v)), tt.want)
			} else if id := sqltest.Submit(t, s, sqltest.Sub("ann", in(v))); sqltest.One[int64](t, s, fmt.Sprint("SELECT space_id FROM submissions WHERE job_id = ", id)) != v.ID {
				t.Error("the submission is not in the space")
			}
			refused(t, s, sqltest.Sub("bob", in(v)), judge.SpaceNotMember)
			sqltest.Submit(t, s, sqltest.Sub("prof", in(v), unofficial)) // who prepares it can always
		})
	}
	// The time of handing in counts, whatever happens later; and who hands in again
	// what was taken gets it.
	v := spaceOf(t, s, "closing")
	id := sqltest.Submit(t, s, sqltest.Sub("ann", in(v), sqltest.Key("k")))
	v.Closes = new(now)
	sqltest.Must(t, s.UpdateSpace(t.Context(), *v, "prof"))
	refused(t, s, sqltest.Sub("ann", in(v)), judge.SpaceClosed)
	again, err := s.Submit(t.Context(), sqltest.Sub("ann", in(v), sqltest.Key("k")))
	if err != nil || again != (sql.Receipt{JobID: id, Existing: true}) {
		t.Errorf("again = %+v, %v", again, err)
	}
	rs, err := s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub("ann", in(v), sqltest.Key("k")), sqltest.Sub("ann")})
	if err != nil || !rs[0].Existing || rs[1].Existing {
		t.Errorf("together with a repetition: %+v, %v", rs, err)
	}
	_, err = s.Submit(t.Context(), sqltest.Sub("ann", sqltest.Key("k")))
	field(t, err, "idempotency_key", "reused") // the same program elsewhere is another
}

func TestMembersHandInNoFasterThanTheirSpaceAllows(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	v := spaceOf(t, s, "slow", func(v *judge.Space) { v.PerMinute = 3 })
	account(t, s, "bob", judge.RoleContestant)
	join(t, s, v.ID, judge.SpaceContestant, "bob")
	for range 3 {
		sqltest.Submit(t, s, sqltest.Sub("ann", in(v)))
	}
	s.Exec(t, "UPDATE jobs SET created_at = created_at + interval '10 min'") // however slow this machine is
	e := refused(t, s, sqltest.Sub("ann", in(v)), judge.SpaceTooFast)
	if e.Patience == nil || *e.Patience <= 0 || *e.Patience > 11*time.Minute {
		t.Errorf("patience = %v, want up to a minute and the ten", e.Patience)
	}
	sqltest.Submit(t, s, sqltest.Sub("bob", in(v)))             // others are not slowed down
	sqltest.Submit(t, s, sqltest.Sub("ann"))                    // nor she elsewhere
	sqltest.Submit(t, s, sqltest.Sub("ann", in(v), unofficial)) // nor who prepares it
	s.Exec(t, "UPDATE jobs SET created_at = created_at - interval '20 min' WHERE group_key = 'ann'")
	sqltest.Submit(t, s, sqltest.Sub("ann", in(v)))
}

func TestMembersHaveNoMoreWaitingThanTheirSpaceAllows(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	v := spaceOf(t, s, "patient", func(v *judge.Space) { v.MaxWaiting = 2 })
	first := sqltest.Submit(t, s, sqltest.Sub("ann", in(v)))
	sqltest.Submit(t, s, sqltest.Sub("ann", in(v)))
	refused(t, s, sqltest.Sub("ann", in(v)), judge.SpaceTooManyWaiting)
	sqltest.Must(t, s.Cancel(t.Context(), first, "prof", ""))
	sqltest.Submit(t, s, sqltest.Sub("ann", in(v)))
	refused(t, s, sqltest.Sub("ann", in(v)), judge.SpaceTooManyWaiting)
}

// Submits at the same time, in one statement and in several, are counted exactly.
func TestNoCrowdOfSubmitsGetsPastTheLimitsOfASpace(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	fast := spaceOf(t, s, "fast", func(v *judge.Space) { v.PerMinute = 5 })
	waiting := spaceOf(t, s, "waiting", func(v *judge.Space) { v.MaxWaiting = 5 })
	both := spaceOf(t, s, "both", func(v *judge.Space) { v.MaxWaiting, v.PerMinute = 5, 50 })
	spaces := []*judge.Space{fast, waiting, both}
	names := []string{"ann", "bob", "cid"}
	for _, name := range names[1:] {
		account(t, s, name, judge.RoleContestant)
	}
	for _, v := range spaces {
		join(t, s, v.ID, judge.SpaceContestant, names...)
	}
	var crowd sync.WaitGroup
	for i := range 108 {
		crowd.Go(func() {
			v, name := spaces[i%3], names[i/3%3]
			var err error
			if i < 54 { // together in a few statements, or each in its own
				_, err = s.Submit(t.Context(), sqltest.Sub(name, in(v)))
			} else {
				_, err = s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub(name, in(v))})
			}
			if _, refused := errors.AsType[*judge.SpaceError](err); err != nil && !refused {
				t.Errorf("%s in %s: %v", name, v.Slug, err)
			}
		})
	}
	crowd.Wait()
	for _, v := range spaces {
		for _, name := range names {
			q := fmt.Sprintf("SELECT count(*) FROM submissions WHERE space_id = %d AND author = '%s'", v.ID, name)
			if n := sqltest.One[int64](t, s, q); n != 5 && v != fast || n < 5 {
				t.Errorf("%s handed in %d to %s, want 5", name, n, v.Slug)
			}
		}
	}
	q := fmt.Sprintf(`SELECT max(c) FROM (SELECT count(*) OVER (PARTITION BY author ORDER BY created_at RANGE BETWEEN interval '59.999 s' PRECEDING AND CURRENT ROW) AS c
		FROM submissions WHERE space_id = %d) n`, fast.ID)
	if n := sqltest.One[int64](t, s, q); n != 5 { // a minute later there may be more
		t.Errorf("%d were handed in within a minute, want 5", n)
	}
	if _, err := s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub("dan"), sqltest.Sub("ann", in(fast))}); err == nil {
		t.Error("one that is refused did not refuse its batch")
	}
	if n := sqltest.One[int64](t, s, "SELECT count(*) FROM submissions WHERE author = 'dan'"); n != 0 {
		t.Error("a refused batch was stored by half")
	}
}

func TestASpaceHasMembersAndProblemsInOrder(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	for _, slug := range []string{"p1", "p2", "p3"} {
		sqltest.Must(t, s.SaveProblem(ctx, judge.Problem{Slug: slug, Title: slug, Version: "sha256:" + slug}, "sue"))
	}
	v := spaceOf(t, s, "course", func(v *judge.Space) { v.Languages = []string{"cpp"} })
	if err := s.CreateSpace(ctx, *v, "prof"); !errors.Is(err, sql.ErrExists) {
		t.Errorf("a second space of the name: %v", err)
	}
	if unknown, err := s.PutSpaceMembers(ctx, v.ID, []string{"ann", "zoe", "yan"}, judge.SpaceStaff, "prof"); err != nil || fmt.Sprint(unknown) != "[yan zoe]" {
		t.Errorf("unknown = %v, %v", unknown, err)
	}
	if role, err := s.SpaceRole(ctx, v.ID, "ann"); err != nil || role != judge.SpaceContestant {
		t.Errorf("after a list with names that nobody has, ann is %q, %v", role, err)
	}
	account(t, s, "bob", judge.RoleContestant)
	join(t, s, v.ID, judge.SpaceStaff, "bob", "bob")
	join(t, s, v.ID, judge.SpaceSetter, "bob")
	members, err := s.SpaceMembers(ctx, v.ID, "", 0)
	if err != nil || len(members) != 2 || members[1].Name != "bob" || members[1].Role != judge.SpaceSetter {
		t.Errorf("members = %+v, %v", members, err)
	}
	order := func() string {
		t.Helper()
		list, err := s.SpaceProblems(ctx, v.ID, "ann")
		sqltest.Must(t, err)
		var names []string
		for _, p := range list {
			names = append(names, p.Slug)
		}
		return strings.Join(names, " ")
	}
	for _, step := range []struct {
		problem string
		place   int
		want    string
	}{
		{"p1", 0, "aplusb p1"},
		{"p2", 1, "p2 aplusb p1"},
		{"p3", 2, "p2 p3 aplusb p1"},
		{"p2", 0, "p2 p3 aplusb p1"},
		{"p2", 99, "p3 aplusb p1 p2"},
		{"p1", 1, "p1 p3 aplusb p2"},
	} {
		sqltest.Must(t, s.PutSpaceProblem(ctx, v.ID, step.problem, step.place, new(2.5), "prof"))
		if got := order(); got != step.want {
			t.Errorf("%s at place %d: %s, want %s", step.problem, step.place, got, step.want)
		}
	}
	sqltest.Must(t, s.RemoveSpaceProblem(ctx, v.ID, "p3", "prof"))
	if got := order(); got != "p1 aplusb p2" {
		t.Errorf("without p3: %s", got)
	}
	for what, err := range map[string]error{
		"a problem that is not there":    s.RemoveSpaceProblem(ctx, v.ID, "p3", "prof"),
		"a problem that does not exist":  s.PutSpaceProblem(ctx, v.ID, "nosuch", 0, nil, "prof"),
		"a space that does not exist":    s.PutSpaceProblem(ctx, v.ID+99, "p1", 0, nil, "prof"),
		"somebody who is no member":      s.RemoveSpaceMember(ctx, v.ID, "zoe", "prof"),
		"settings of a space that is no": s.UpdateSpace(ctx, judge.Space{Slug: "nosuch", Title: "x"}, "prof"),
		"deleting what does not exist":   s.DeleteSpace(ctx, "nosuch", "prof"),
	} {
		if !errors.Is(err, sql.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	d, err := s.SpaceDesk(ctx, "course", "p1", "bob")
	if err != nil || d.Place != 1 || d.Problem.Slug != "p1" || d.Space.Role != judge.SpaceSetter || d.Space.Languages[0] != "cpp" {
		t.Errorf("desk = %+v, %v", d, err)
	}
	if d, err := s.SpaceDesk(ctx, "course", "p3", "zoe"); err != nil || d.Place != 0 || d.Problem != nil || d.Space.Role != "" {
		t.Errorf("desk of another problem = %+v, %v", d, err)
	}
	sqltest.Submit(t, s, sqltest.Sub("ann", in(v)))
	if err := s.DeleteSpace(ctx, "course", "prof"); !errors.Is(err, sql.ErrInUse) {
		t.Errorf("a space with submissions was deleted: %v", err)
	}
	other := spaceOf(t, s, "other")
	sqltest.Must(t, s.DeleteSpace(ctx, "other", "prof"))
	if again := spaceOf(t, s, "other"); again.ID == other.ID {
		t.Error("the id of a space was used again")
	}
	log, err := s.AuditLog(ctx, sql.AuditFilter{Subject: "space:course", Limit: 200})
	sqltest.Must(t, err)
	var acts []string
	for _, e := range log {
		acts = append(acts, e.Action)
	}
	slices.Sort(acts)
	if got := strings.Join(slices.Compact(acts), " "); got != "space_create space_member space_problem space_problem_remove" {
		t.Errorf("the log has %s", got)
	}
}

func TestSpacesAreListedToThoseTheyAreFor(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	account(t, s, "bob", judge.RoleContestant)
	spaceOf(t, s, "public", func(v *judge.Space) { v.Listed = true })
	spaceOf(t, s, "private")
	sqltest.Must(t, s.CreateSpace(ctx, judge.Space{Slug: "empty", Title: "x"}, "prof"))
	list := func(f sql.SpaceFilter) string {
		t.Helper()
		found, err := s.Spaces(ctx, f)
		sqltest.Must(t, err)
		var names []string
		for _, v := range found {
			names = append(names, fmt.Sprint(v.Slug, ":", v.Role, v.Members, v.Problems))
		}
		return strings.Join(names, " ")
	}
	for name, tt := range map[string]struct {
		f    sql.SpaceFilter
		want string
	}{
		"a member":      {sql.SpaceFilter{Viewer: "ann"}, "private:contestant1 1 public:contestant1 1"},
		"somebody else": {sql.SpaceFilter{Viewer: "bob"}, "public:1 1"},
		"staff":         {sql.SpaceFilter{Viewer: "bob", All: true}, "empty:0 0 private:1 1 public:1 1"},
		"a page":        {sql.SpaceFilter{Viewer: "bob", All: true, Limit: 1}, "empty:0 0"},
		"the next page": {sql.SpaceFilter{Viewer: "bob", All: true, Before: "empty", Limit: 1}, "private:1 1"},
	} {
		if got := list(tt.f); got != tt.want {
			t.Errorf("%s sees %s, want %s", name, got, tt.want)
		}
	}
}

func TestAHiddenProblemIsLentToMembersOfAnOpenSpace(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	sqltest.Must(t, s.HideProblem(ctx, "aplusb", true, "sue"))
	sqltest.Must(t, s.HideProblem(ctx, "aplusb", true, "sue"))
	if p, err := s.Problem(ctx, "aplusb"); err != nil || !p.Hidden {
		t.Errorf("problem = %+v, %v", p, err)
	}
	if ps, err := s.Problems(ctx); err != nil || !ps[0].Hidden {
		t.Errorf("problems = %+v, %v", ps, err)
	}
	now := sqltest.One[time.Time](t, s, "SELECT now()")
	v := spaceOf(t, s, "later", func(v *judge.Space) { v.Opens = new(now.Add(time.Hour)) })
	for _, name := range []string{"bob", "sue"} {
		account(t, s, name, judge.RoleContestant)
	}
	join(t, s, v.ID, judge.SpaceSetter, "sue")
	lent := func(viewer string, prepares, want bool) {
		t.Helper()
		if got, err := s.ProblemLent(ctx, "aplusb", viewer, prepares); err != nil || got != want {
			t.Errorf("%s sees it: %t, %v, want %t", viewer, got, err, want)
		}
	}
	lent("ann", true, false)
	lent("sue", true, true)
	lent("sue", false, false)
	v.Opens = nil
	sqltest.Must(t, s.UpdateSpace(ctx, *v, "prof"))
	lent("ann", true, true)
	lent("bob", true, false)
	v.Closes = new(now)
	sqltest.Must(t, s.UpdateSpace(ctx, *v, "prof"))
	lent("ann", true, false)
	sqltest.Must(t, s.HideProblem(ctx, "aplusb", false, "sue"))
	if p, err := s.Problem(ctx, "aplusb"); err != nil || p.Hidden {
		t.Errorf("problem = %+v, %v", p, err)
	}
	log, err := s.AuditLog(ctx, sql.AuditFilter{Subject: "problem:aplusb"})
	if err != nil || len(log) != 2 || log[0].Action != "problem_show" || log[1].Action != "problem_hide" {
		t.Errorf("the log has %+v, %v", log, err)
	}
}

func TestTheScoreboardCountsTheBestOfEachContestantOfficially(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ctx := t.Context()
	sqltest.Must(t, s.SaveProblem(ctx, judge.Problem{Slug: "stairs", Title: "Stairs", Version: "sha256:01", Scoring: true, MaxScore: 100}, "sue"))
	v := spaceOf(t, s, "contest")
	other := spaceOf(t, s, "other")
	for _, name := range []string{"bob", "cid", "sue"} {
		account(t, s, name, judge.RoleContestant)
	}
	join(t, s, v.ID, judge.SpaceContestant, "bob", "cid")
	join(t, s, v.ID, judge.SpaceStaff, "sue")
	sqltest.Must(t, s.PutSpaceProblem(ctx, v.ID, "stairs", 0, new(10.0), "prof"))
	verdict := func(author, problem string, verdict judge.Verdict, score *float64, with ...func(*sql.NewJob)) {
		t.Helper()
		with = append(with, func(n *sql.NewJob) { n.Problem = problem })
		id := sqltest.Submit(t, s, sqltest.Sub(author, with...))
		sqltest.Pick(t, s, 10)
		sqltest.Must(t, s.Finalize(ctx, sqltest.Claim(t, s, id, "w", int(id)).Attempt, judge.Result{Verdict: verdict, Score: score}))
	}
	verdict("ann", "aplusb", judge.WA, nil, in(v))
	verdict("ann", "aplusb", judge.AC, nil, in(v))
	verdict("ann", "aplusb", judge.WA, nil, in(v))
	verdict("ann", "stairs", judge.WA, new(30.0), in(v))
	verdict("ann", "stairs", judge.WA, new(50.0), in(v))
	verdict("ann", "stairs", judge.AC, new(100.0), in(other)) // somewhere else
	verdict("bob", "stairs", judge.AC, new(100.0), in(v))
	verdict("bob", "aplusb", judge.AC, nil) // nowhere
	verdict("cid", "aplusb", judge.JE, nil, in(v))
	verdict("cid", "aplusb", judge.AC, nil, in(v), unofficial)
	verdict("sue", "aplusb", judge.AC, nil, in(v), unofficial)
	scores, err := s.SpaceScores(ctx, v.ID, 0)
	if want := "[{bob  1 1 10} {ann  1 2 6} {cid  0 0 0}]"; err != nil || fmt.Sprint(scores) != want {
		t.Errorf("scores = %v, %v, want %s", scores, err, want)
	}
	list, err := s.SpaceProblems(ctx, v.ID, "ann")
	if err != nil || len(list) != 2 || list[0].Solved != 1 || list[0].Verdict != judge.AC || list[0].Tries != 2 || *list[1].Score != 50 || list[1].Tries != 2 || list[1].Solved != 1 {
		t.Errorf("problems as ann sees them: %+v, %v", list, err)
	}
	subs, err := s.Submissions(ctx, sql.Filter{Space: v.ID})
	if err != nil || len(subs) != 9 || subs[0].Space != "contest" || !subs[0].Unofficial || subs[8].Author != "ann" {
		t.Errorf("submissions: %d, %v", len(subs), err)
	}
	one, err := s.Submission(ctx, subs[8].JobID)
	if err != nil || one.Space != "contest" || one.SpaceID != v.ID || one.Unofficial {
		t.Errorf("submission = %+v, %v", one, err)
	}
}
