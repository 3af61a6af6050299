package rounds_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func accounts(t *testing.T, s *sqltest.Store, names ...string) {
	t.Helper()
	for _, name := range names {
		sqltest.Must(t, s.CreateUser(t.Context(), sql.NewUser{Name: name, PasswordHash: "hash", Role: judge.RoleContestant, By: "test"}))
	}
}

func field(t *testing.T, err error, name, reason string) {
	t.Helper()
	f, ok := errors.AsType[*judge.FieldError](err)
	if !ok || f.Field != name || f.Reason != reason || f.Remedy == "" {
		t.Errorf("err = %v, want field %s, reason %s", err, name, reason)
	}
}

// contestants are those members, as contestants.
func contestants(names ...string) (out []judge.ParticipantMember) {
	for _, n := range names {
		out = append(out, judge.ParticipantMember{User: n, Role: judge.MemberContestant})
	}
	return out
}

func TestWhoTakesPartIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	accounts(t, s, "ann", "bob", "eve")
	org := judge.Organization{
		Code: "uni", ICPCID: "100", Name: "Uni", FormalName: "The University", Country: "NLD", CountrySubdivision: "NL-UT", URL: "https://uni.example", Twitter: "uni",
	}
	group := judge.TeamGroup{Code: "north", ICPCID: "7", Name: "North", Type: "site", Ranked: true, Sort: 3}
	team := judge.Participant{
		Code: "t1", ICPCID: "9", Label: "42", Name: "Team", DisplayName: "The Team", Organization: "uni", Groups: []string{"north", "south"}, Room: "R1",
		Ranked: true, Hidden: true, Status: judge.ParticipantDisqualified, Reason: "why",
		Members: []judge.ParticipantMember{{User: "ann", Role: judge.MemberContestant}, {User: "bob", Role: judge.MemberContestant}, {User: "eve", Role: judge.MemberCoach}},
	}
	for range 2 { // again, it stays what it is
		sqltest.Must(t, s.Rounds.PutOrganizations(t.Context(), "s", []judge.Organization{org, {Code: "other", Name: "Other"}}, "prof"))
		sqltest.Must(t, s.Rounds.PutGroups(t.Context(), "s", []judge.TeamGroup{group, {Code: "south", Name: "South"}}, "prof"))
		sqltest.Must(t, s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{team}, "prof"))
		orgs, err := s.Rounds.Organizations(t.Context(), "s", "other", 0)
		sqltest.Must(t, err)
		groups, err := s.Rounds.Groups(t.Context(), "s", "", 1)
		sqltest.Must(t, err)
		got, err := s.Rounds.Participant(t.Context(), "s", "t1")
		sqltest.Must(t, err)
		org.ID, group.ID, team.ID = orgs[0].ID, groups[0].ID, got.ID
		if !reflect.DeepEqual(orgs, []judge.Organization{org}) || !reflect.DeepEqual(groups, []judge.TeamGroup{group}) || !reflect.DeepEqual(*got, team) {
			t.Errorf("read %+v, %+v, %+v", orgs, groups, got)
		}
	}
	if role, err := s.SpaceRole(t.Context(), sqltest.One[int64](t, s, "SELECT id FROM spaces"), "ann"); err != nil || role != judge.SpaceContestant {
		t.Errorf("a contestant of a team is %q of the space, %v", role, err)
	}
	if role, err := s.SpaceRole(t.Context(), sqltest.One[int64](t, s, "SELECT id FROM spaces"), "eve"); err != nil || role != "" {
		t.Errorf("a coach is %q of the space, %v", role, err)
	}
	// What is changed takes the place of what was.
	team.Members, team.Groups, team.Organization, team.Status, team.Reason = contestants("bob"), []string{}, "", judge.ParticipantActive, ""
	sqltest.Must(t, s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{team}, "prof"))
	if got, err := s.Rounds.Participant(t.Context(), "s", "t1"); err != nil || !reflect.DeepEqual(*got, team) {
		t.Errorf("changed, it is %+v, %v", got, err)
	}
	if n := sqltest.One[int](t, s, "SELECT count(*) FROM round_changes WHERE round_id IS NULL AND kind = 'participant'"); n != 3 {
		t.Errorf("%d changes are told, want 3", n)
	}
}

func TestOneLineThatIsWrongChangesNobody(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	accounts(t, s, "ann", "bob")
	sqltest.Must(t, s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{{Code: "t1", Name: "T1", Members: contestants("ann")}}, "prof"))
	good := judge.Participant{Code: "t2", Name: "T2", Members: contestants("bob")}
	for name, tt := range map[string]struct {
		bad           judge.Participant
		field, reason string
	}{
		"an organization that there is not":      {judge.Participant{Code: "t3", Name: "T3", Organization: "uni"}, "organization", "unknown"},
		"a group that there is not":              {judge.Participant{Code: "t3", Name: "T3", Groups: []string{"g"}}, "groups", "unknown"},
		"an account that there is not":           {judge.Participant{Code: "t3", Name: "T3", Members: contestants("eve")}, "members", "unknown"},
		"somebody who is in a team":              {judge.Participant{Code: "t3", Name: "T3", Members: contestants("ann")}, "members", "in_two"},
		"somebody who is in two of the list":     {judge.Participant{Code: "t3", Name: "T3", Members: contestants("bob")}, "members", "in_two"},
		"a code that is there twice in the list": {judge.Participant{Code: "t2", Name: "T2"}, "code", "duplicate"},
	} {
		field(t, s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{good, tt.bad}, "prof"), tt.field, tt.reason)
		if list, err := s.Rounds.Participants(t.Context(), "s", "", 0); err != nil || len(list) != 1 {
			t.Errorf("%s: %d participants, %v", name, len(list), err)
		}
	}
	if err := s.Rounds.PutParticipants(t.Context(), "none", nil, "prof"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a space that there is not: %v", err)
	}
	// A whole list may swap who is where, and a coach coaches several.
	sqltest.Must(t, s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{good}, "prof"))
	both := judge.ParticipantMember{User: "ann", Role: judge.MemberCoach}
	sqltest.Must(t, s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{
		{Code: "t1", Name: "T1", Members: contestants("bob")},
		{Code: "t2", Name: "T2", Members: []judge.ParticipantMember{both}},
		{Code: "t3", Name: "T3", Members: []judge.ParticipantMember{both}},
	}, "prof"))
}

func TestWhatIsInUseStays(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	r := made(t, s, contest("ca"))
	sqltest.Must(t, s.Rounds.PutOrganizations(t.Context(), "s", []judge.Organization{{Code: "uni", Name: "Uni"}}, "prof"))
	sqltest.Must(t, s.Rounds.PutGroups(t.Context(), "s", []judge.TeamGroup{{Code: "g", Name: "G"}}, "prof"))
	sqltest.Must(t, s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{{Code: "t1", Name: "T1", Organization: "uni", Groups: []string{"g"}}}, "prof"))
	sqltest.Must(t, s.Rounds.Enter(t.Context(), "ca", []string{"t1"}, "prof"))
	p, err := s.Rounds.Participant(t.Context(), "s", "t1")
	sqltest.Must(t, err)
	id := sqltest.Submit(t, s, sqltest.Sub("ann"))
	s.Exec(t, "UPDATE job_payloads SET round_id = $1, participant_id = $2 WHERE job_id = $3", r.ID, p.ID, id)
	removals := []struct {
		what   string
		remove func() error
	}{
		{"an entry", func() error { return s.Rounds.Leave(t.Context(), "ca", "t1", "prof") }},
		{"a participant", func() error { return s.Rounds.RemoveParticipant(t.Context(), "s", "t1", "prof") }},
		{"an organization", func() error { return s.Rounds.RemoveOrganization(t.Context(), "s", "uni", "prof") }},
		{"a group", func() error { return s.Rounds.RemoveGroup(t.Context(), "s", "g", "prof") }},
	}
	for _, r := range removals {
		if err := r.remove(); !errors.Is(err, sql.ErrInUse) {
			t.Errorf("%s that is in use: %v", r.what, err)
		}
	}
	s.Exec(t, "UPDATE job_payloads SET round_id = NULL, participant_id = NULL")
	for _, r := range removals {
		if err := r.remove(); err != nil {
			t.Errorf("%s: %v", r.what, err)
		}
		if err := r.remove(); !errors.Is(err, sql.ErrNotFound) {
			t.Errorf("%s again: %v", r.what, err)
		}
	}
}

func TestARoundHasTheParticipantsThatEnteredIt(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	r := made(t, s, contest("ca"))
	accounts(t, s, "ann", "eve")
	var list []judge.Participant
	for i := range 60 {
		list = append(list, judge.Participant{Code: fmt.Sprintf("t%02d", i), Name: "T"})
	}
	list[0].Members = append(contestants("ann"), judge.ParticipantMember{User: "eve", Role: judge.MemberCoach})
	sqltest.Must(t, s.Rounds.PutParticipants(t.Context(), "s", list, "prof"))
	field(t, s.Rounds.Enter(t.Context(), "ca", []string{"t00", "x"}, "prof"), "participants", "unknown")
	e, err := s.Rounds.Entry(t.Context(), r.ID, "ann")
	if err != nil || e.Entered || e.Code != "t00" || e.Status != judge.ParticipantActive {
		t.Errorf("before it enters: %+v, %v", e, err)
	}
	var all []string
	for _, p := range list {
		all = append(all, p.Code)
	}
	for range 2 {
		sqltest.Must(t, s.Rounds.Enter(t.Context(), "ca", all, "prof"))
	}
	if e, err = s.Rounds.Entry(t.Context(), r.ID, "ann"); err != nil || !e.Entered {
		t.Errorf("after it entered: %+v, %v", e, err)
	}
	if _, err = s.Rounds.Entry(t.Context(), r.ID, "eve"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a coach hands in: %v", err)
	}
	first, err := s.Rounds.Entries(t.Context(), r.ID, "", 0)
	sqltest.Must(t, err)
	rest, err := s.Rounds.Entries(t.Context(), r.ID, first[len(first)-1], 0)
	sqltest.Must(t, err)
	if !slices.Equal(slices.Concat(first, rest), all) || len(first) != 50 {
		t.Errorf("it lists %d and %d", len(first), len(rest))
	}
}

func TestProblemsOfARoundAreAListInOrder(t *testing.T) {
	t.Parallel()
	s := spaceOf(t)
	r := made(t, s, contest("ca"))
	for _, slug := range []string{"b", "c"} {
		sqltest.Must(t, s.SaveProblem(t.Context(), judge.Problem{Slug: slug, Title: "Title of " + slug, Version: "sha256:" + slug, CPUMillis: 1000}, "test"))
	}
	set := func(list ...judge.RoundProblem) ([]judge.RoundProblem, error) {
		return s.Rounds.ChangeProblems(t.Context(), "ca", "prof", func(_ judge.Round, _ []judge.RoundProblem) ([]judge.RoundProblem, error) { return list, nil })
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	whole := judge.RoundProblem{Problem: "b", Version: "sha256:b", Label: "A", Points: new(2.5), RGB: "#ff0000", Color: "red", Paused: &now}
	got, err := set(whole, judge.RoundProblem{Problem: "aplusb", Label: "B"})
	sqltest.Must(t, err)
	got[0].Paused = new(got[0].Paused.UTC())
	whole.Title = "Title of b"
	if want := []judge.RoundProblem{whole, {Problem: "aplusb", Title: "A + B", Label: "B"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
	// Labels may change places.
	got, err = set(judge.RoundProblem{Problem: "aplusb", Label: "A"}, judge.RoundProblem{Problem: "c", Label: "C"}, judge.RoundProblem{Problem: "b", Label: "B"})
	if err != nil || got[0].Problem != "aplusb" || got[1].Problem != "c" || got[2].Version != "" {
		t.Errorf("in another order: %+v, %v", got, err)
	}
	_, err = set(judge.RoundProblem{Problem: "none", Label: "A"})
	field(t, err, "problem", "unknown")
	_, err = set(judge.RoundProblem{Problem: "b", Version: "sha256:c", Label: "A"})
	field(t, err, "version", "unknown")
	if _, err = set(judge.RoundProblem{Problem: "b", Label: "A"}, judge.RoundProblem{Problem: "c", Label: "A"}); !errors.Is(err, sql.ErrExists) {
		t.Errorf("two of one label: %v", err)
	}
	id := sqltest.Submit(t, s, sqltest.Sub("ann"))
	s.Exec(t, "UPDATE job_payloads SET round_id = $1 WHERE job_id = $2", r.ID, id)
	if _, err = set(judge.RoundProblem{Problem: "b", Label: "A"}); !errors.Is(err, sql.ErrInUse) {
		t.Errorf("without one that somebody handed in to: %v", err)
	}
	if got, err = s.Rounds.Problems(t.Context(), r.ID); err != nil || len(got) != 3 {
		t.Errorf("after all that: %+v, %v", got, err)
	}
}
