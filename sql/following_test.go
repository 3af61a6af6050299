package sql_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/recorder"
	"deepoj/host/standings"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// score is a row of a list of scores, or of a board.
type score struct {
	Rank   int
	Name   string
	Solved int
	Points string
}

// scoresOf are those that a space counts by itself, with the ranks that it gives.
func scoresOf(t *testing.T, s *sqltest.Store, slug string) []score {
	t.Helper()
	space, err := s.Space(t.Context(), slug, "")
	sqltest.Must(t, err)
	found, err := s.SpaceScores(t.Context(), space.ID, 0)
	sqltest.Must(t, err)
	var out []score
	for i, v := range found {
		row := score{i + 1, v.Name, int(v.Solved), fmt.Sprintf("%.4f", v.Points)}
		if i > 0 && v.Points == found[i-1].Points && v.Solved == found[i-1].Solved {
			row.Rank = out[i-1].Rank
		}
		out = append(out, row)
	}
	return ordered(out)
}

// boardOf is what everybody sees of a round.
func boardOf(t *testing.T, s *sqltest.Store, code string) []score {
	t.Helper()
	r, err := s.Rounds.Round(t.Context(), code)
	sqltest.Must(t, err)
	rec, err := recorder.New(recorder.Config{}, s.Rounds)
	sqltest.Must(t, err)
	sqltest.UpToNow(t, s, func() error { return rec.Look(t.Context()) })
	var board contest.Board
	sqltest.Must(t, standings.New(standings.Config{}, s.Rounds).Look(t.Context(), r.ID, standings.Public, func(v *standings.Standings) {
		board = v.State.Board(contest.Query{})
	}))
	names := map[int64]string{}
	rows, err := s.Main.Query(t.Context(), "SELECT id, follows FROM participants WHERE follows IS NOT NULL")
	sqltest.Must(t, err)
	defer rows.Close()
	for rows.Next() {
		var id int64
		var name string
		sqltest.Must(t, rows.Scan(&id, &name))
		names[id] = name
	}
	sqltest.Must(t, rows.Err())
	var out []score
	for _, v := range board.Rows {
		out = append(out, score{v.Rank, names[v.Participant], v.Solved, fmt.Sprintf("%.4f", v.Points)})
	}
	return ordered(out)
}

// ordered sorts equal ranks by name.
func ordered(list []score) []score {
	slices.SortStableFunc(list, func(a, b score) int {
		if a.Rank != b.Rank {
			return a.Rank - b.Rank
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// TestEachSpaceOfBeforeHasARoundThatCountsAsItsScoresDo upgrades a database with spaces that were worked in, and changes
// them further: after each step the board of the round is the list of scores, row by row.
func TestEachSpaceOfBeforeHasARoundThatCountsAsItsScoresDo(t *testing.T) {
	t.Parallel()
	s := sqltest.Open(t, sqltest.Empty(t))
	sqltest.Must(t, s.MigrateFiles(t.Context(), earlier(t, 36)))
	random := rand.New(rand.NewPCG(7, 25))
	problems := []string{"sum", "stairs", "tree", "maze", "away"}
	for slug, highest := range map[string]float64{"sum": 0, "stairs": 100, "tree": 40, "maze": 0, "away": 0} {
		s.Exec(t, `INSERT INTO problem_versions (slug, version, title, problem, created_by) VALUES ($1::text, 'v1', $1, jsonb_build_object('slug', $1::text, 'scoring', $2::float8 > 0, 'max_score', $2::float8), 'x')`, slug, highest)
		s.Exec(t, `INSERT INTO problems (slug, version) VALUES ($1, 'v1')`, slug)
	}
	for i := range 40 {
		s.Exec(t, `INSERT INTO users (name, display_name, password_hash, role) VALUES ($1, $2, '', 'contestant')`, fmt.Sprintf("u%02d", i), strings.Repeat("Ann ", i%2))
	}
	long := strings.Repeat("long", 12)
	s.Exec(t, `INSERT INTO spaces (slug, title, opens_at, closes_at, created_by) VALUES ('course', 'Course', now() - interval '10 days', now() + interval '10 days', 'x'),
	  ($1, 'Long', NULL, NULL, 'x'), ('x', 'X', NULL, now() + interval '1 hour', 'x'), ('own', 'Own', NULL, NULL, 'x'), ('idle', 'Idle', NULL, NULL, 'x')`, long)
	s.Exec(t, `INSERT INTO rounds (space_id, code, title, kind, format, created_by) SELECT id, 'own-1', 'Own', 'contest', 'icpc', 'x' FROM spaces WHERE slug = 'own'`)
	s.Exec(t, `INSERT INTO space_members (space_id, user_name, role) SELECT s.id, u.name, CASE WHEN u.name > 'u35' THEN 'staff' ELSE 'contestant' END FROM spaces s, users u`)
	s.Exec(t, `INSERT INTO space_problems (space_id, problem, place, points) SELECT s.id, p.slug, p.place, p.points FROM spaces s,
	  (VALUES ('sum', 1, NULL), ('stairs', 2, 30), ('tree', 3, NULL), ('maze', 4, 7.5)) p(slug, place, points)`)
	jobs := 0
	hand := func(space, author, problem string, score *float64, v judge.Verdict) {
		t.Helper()
		jobs++
		s.Exec(t, `INSERT INTO jobs (job_id, queue, language, max_tries, status, attempt_id, started_at, finished_at, live_generation, verdict, score, created_at)
		  VALUES ($1, 'default', 'cpp', 5, 'finished', 1, now(), now(), 1, $2, $3, now() - interval '2 days')`, jobs, string(v), score)
		s.Exec(t, `INSERT INTO job_payloads (job_id, payload, problem, author, space_id, unofficial) SELECT $1, '{}', $2, $3::text, id, $3 > 'u35' FROM spaces WHERE slug = $4`, jobs, problem, author, space)
		s.Exec(t, `INSERT INTO results (job_id, generation, attempt_id, verdict, score, result, worker, token, started_at)
		  VALUES ($1, 1, 1, $2, $3, '{}', 'w', gen_random_uuid(), now())`, jobs, string(v), score)
	}
	some := func(space string, n int) {
		t.Helper()
		for range n {
			problem := problems[random.IntN(len(problems))]
			var points *float64
			v := []judge.Verdict{judge.AC, judge.WA, judge.CE, judge.JE, judge.TLE, judge.RE}[random.IntN(6)]
			if problem == "stairs" || problem == "tree" {
				highest := map[string]float64{"stairs": 100, "tree": 40}[problem]
				if v == judge.AC {
					points = new(highest)
				}
				if v == judge.WA {
					points, v = new(float64(random.IntN(int(highest)*10))/10), judge.PA
				}
			}
			hand(space, fmt.Sprintf("u%02d", random.IntN(34)), problem, points, v)
			if random.IntN(20) == 0 {
				hand(space, "u38", problem, points, v)
			}
		}
	}
	some("course", 300)
	some(long, 40)
	some("x", 20)
	codes := map[string]string{"course": "course", long: fmt.Sprintf("%s-%d", long[:28], 2), "x": "x-3"}
	before := map[string][]score{}
	for slug := range codes {
		before[slug] = scoresOf(t, s, slug)
	}
	s.Exec(t, `SELECT setval(pg_get_serial_sequence('jobs', 'job_id'), $1)`, jobs)
	sqltest.Must(t, s.Migrate(t.Context()))
	same := func(after string) {
		t.Helper()
		for slug, code := range codes {
			want, got := scoresOf(t, s, slug), boardOf(t, s, code)
			if after == "the upgrade" && !slices.Equal(want, before[slug]) {
				t.Errorf("%s: the scores of %s changed: %v, were %v", after, slug, want, before[slug])
			}
			if !slices.Equal(got, want) {
				t.Errorf("after %s the board of %s is\n%v\nand the scores of the space\n%v", after, code, got, want)
			}
		}
	}
	same("the upgrade")
	if n := sqltest.One[int](t, s, "SELECT count(*) FROM rounds WHERE follows"); n != 4 {
		t.Errorf("%d rounds follow, want 4: a space with a round has its own", n)
	}
	if n := sqltest.One[int](t, s, "SELECT count(*) FROM contest_log WHERE kind = 'run'"); n != 0 {
		t.Errorf("the logs tell of %d tests: they are on the pages of submissions", n)
	}

	space, err := s.Space(t.Context(), "course", "")
	sqltest.Must(t, err)
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"a problem with other points", func() error { return s.PutSpaceProblem(t.Context(), space.ID, "stairs", 1, new(12.0), "prof") }},
		{"a problem more, of which there are submissions", func() error { return s.PutSpaceProblem(t.Context(), space.ID, "away", 2, nil, "prof") }},
		{"a problem less", func() error { return s.RemoveSpaceProblem(t.Context(), space.ID, "tree", "prof") }},
		{"it again, as the last", func() error { return s.PutSpaceProblem(t.Context(), space.ID, "tree", 5, nil, "prof") }},
		{"a contestant who prepares from now on", func() error {
			_, err := s.PutSpaceMembers(t.Context(), space.ID, []string{"u03", "u04"}, judge.SpaceSetter, "prof")
			return err
		}},
		{"one who is a contestant again", func() error {
			_, err := s.PutSpaceMembers(t.Context(), space.ID, []string{"u03"}, judge.SpaceContestant, "prof")
			return err
		}},
		{"one who is gone", func() error { return s.RemoveSpaceMember(t.Context(), space.ID, "u05", "prof") }},
		{"one who came", func() error {
			s.Exec(t, `INSERT INTO users (name, password_hash, role) VALUES ('new@school', '', 'contestant'), ('somebody-of-a-rather-long-name-1', '', 'contestant'), ('somebody-of-a-rather-long-name-2', '', 'contestant')`)
			_, err := s.PutSpaceMembers(t.Context(), space.ID, []string{"new@school", "somebody-of-a-rather-long-name-1", "somebody-of-a-rather-long-name-2"}, judge.SpaceContestant, "prof")
			return err
		}},
		{"an account that is no more", func() error { s.Exec(t, `DELETE FROM users WHERE name = 'u06'`); return nil }},
		{"a version that gives more", func() error {
			s.Exec(t, `INSERT INTO problem_versions (slug, version, title, problem, created_by) VALUES ('stairs', 'v2', 'Stairs', '{"slug": "stairs", "scoring": true, "max_score": 200}', 'x')`)
			s.Exec(t, `UPDATE problems SET version = 'v2' WHERE slug = 'stairs'`)
			return nil
		}},
		{"something handed in", func() error {
			id := sqltest.Submit(t, s, sqltest.Sub("k", func(n *sql.NewJob) { n.Space, n.Problem, n.Author = space.ID, "sum", "new@school" }))
			sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w", 1).Attempt, judge.AC)
			return nil
		}},
	} {
		sqltest.Must(t, step.do())
		same(step.what)
	}
	if got := boardOf(t, s, "course"); !slices.ContainsFunc(got, func(v score) bool { return v.Name == "new@school" && v.Solved == 1 }) {
		t.Errorf("what was handed in last is not on the board: %v", got)
	}

	space.Title, space.Opens, space.Closes = "Other", new(space.Now.Add(-5*24*time.Hour).Truncate(time.Millisecond)), nil
	sqltest.Must(t, s.UpdateSpace(t.Context(), *space, "prof"))
	r, err := s.Rounds.Round(t.Context(), "course")
	sqltest.Must(t, err)
	if r.Title != "Other" || !r.Start.Equal(*space.Opens) || r.Duration != nil {
		t.Errorf("the round is %+v, and its space from %v on without an end", r, space.Opens)
	}
	space.Opens = new(space.Now.Add(time.Hour))
	sqltest.Must(t, s.UpdateSpace(t.Context(), *space, "prof"))
	same("it opens again later")
	refused := map[string]error{
		"a time of its own": func() error {
			_, err := s.Rounds.Change(t.Context(), "course", "prof", "x", func(r judge.Round) (judge.Round, error) { return contest.Extend(r, r.Now, time.Hour) })
			return err
		}(),
		"a participant less": s.Rounds.Leave(t.Context(), "course", "u07", "prof"),
		"a participant more": s.Rounds.Enter(t.Context(), "course", []string{"u07"}, "prof"),
		"other points": func() error {
			_, err := s.Rounds.ChangeProblems(t.Context(), "course", "prof", func(_ judge.Round, list []judge.RoundProblem) ([]judge.RoundProblem, error) {
				list = slices.Clone(list)
				list[0].Points = new(99.0)
				return list, nil
			})
			return err
		}(),
		"its end":                      s.Rounds.Delete(t.Context(), "course", "prof"),
		"a participant's end":          s.Rounds.RemoveParticipant(t.Context(), "own", "u07", "prof"),
		"a team called as a member is": s.Rounds.PutParticipants(t.Context(), "course", []judge.Participant{{Code: "u07", Name: "Sevens"}}, "prof"),
		"a member's, of course":        s.Rounds.RemoveParticipant(t.Context(), "course", "u07", "prof"),
	}
	for what, err := range refused {
		if err == nil {
			t.Errorf("a round that follows its space takes %s", what)
		}
	}
	if teams, err := s.Rounds.Participants(t.Context(), "course", "", 100); err != nil || len(teams) != 0 {
		t.Errorf("the teams of the course are %v, %v", teams, err)
	}
	sqltest.Must(t, s.DeleteSpace(t.Context(), "idle", "prof")) // with its members, problems and round
	_, err = s.Rounds.ChangeProblems(t.Context(), "course", "prof", func(_ judge.Round, list []judge.RoundProblem) ([]judge.RoundProblem, error) {
		list = slices.Clone(list)
		i := slices.IndexFunc(list, func(p judge.RoundProblem) bool { return p.Problem == "stairs" })
		list[i].Version, list[i].RGB = "v1", "#ff0000"
		return list, nil
	})
	if err != nil {
		t.Errorf("a version is not pinned: %v", err)
	}
}
