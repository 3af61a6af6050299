package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/recorder"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func TestTheCommandLineRunsAContestAndWritesItsPackage(t *testing.T) {
	t.Parallel()
	store, call := site(t)
	must := func(err error) { t.Helper(); sqltest.Must(t, err) }
	for name, role := range map[string]judge.Role{"prof": judge.RoleStaff, "ann": judge.RoleContestant} {
		must(store.CreateUser(t.Context(), sql.NewUser{Name: name, PasswordHash: "x", Role: role}))
	}
	must(store.SaveProblem(t.Context(), judge.Problem{Slug: "aplusb", Title: "A plus B", Version: "sha256:01"}, "prof"))
	must(store.CreateSpace(t.Context(), judge.Space{Slug: "cup", Title: "Cup", Listed: true}, "prof"))
	must(store.Rounds.Create(t.Context(), judge.Round{
		Space: "cup", Code: "final", Title: "Final", Kind: judge.RoundContest, Format: "icpc", Start: new(time.Now().Add(time.Hour)), Duration: new(time.Hour), Freeze: new(50 * time.Minute),
	}, "prof"))
	_, err := store.Rounds.ChangeProblems(t.Context(), "final", "prof", func(judge.Round, []judge.RoundProblem) ([]judge.RoundProblem, error) {
		return []judge.RoundProblem{{Problem: "aplusb", Label: "A"}}, nil
	})
	must(err)
	must(store.Rounds.PutParticipants(t.Context(), "cup", []judge.Participant{{Code: "red", Name: "Red", Ranked: true}}, "prof"))
	must(store.Rounds.Enter(t.Context(), "final", []string{"red"}, "prof"))

	call("ann", "contest list", 0, "final  cup    before")
	call("ann", "contest show nosuch", 1, "There is no round")
	call("ann", "contest start final", 1, "Only staff of the space")
	call("prof", "contest pause final", 0, "final has no start")
	call("prof", "contest resume final", 0, "final counts down again")
	call("prof", "contest start final", 0, "final has begun")
	call("prof", "contest extend final soon", 1, "want a length of time")
	call("prof", "contest extend final 30m", 0, "final ends 30m0s later")
	call("prof", "contest freeze final", 0, "final is frozen")
	call("ann", "contest show final", 0, "frozen")
	call("prof", "contest unfreeze final", 0, "final hides nothing")
	call("prof", "contest finalize final", 1, "The round is not over.")
	must(store.TryExec(t.Context(), "UPDATE rounds SET starts_at = starts_at - interval '3 hours'"))
	r, err := recorder.New(recorder.Config{}, store.Rounds)
	must(err)
	look := func() { t.Helper(); sqltest.UpToNow(t, store, func() error { return r.Look(t.Context()) }) }
	call("prof", "contest finalize final --b 2", 0, "the result of final stands")
	look()
	file := filepath.Join(t.TempDir(), "final.zip")
	call("prof", "contest export final -o "+file, 0, "exported final to")
	call("prof", "contest check "+file, 0, "0 findings")
	call("prof", "contest export nosuch -o "+file, 1, "export nosuch")
	call("prof", "contest check "+filepath.Join(t.TempDir(), "none.zip"), 1, "no such file")
	if out := call("prof", "contest check --json "+file, 0, `"findings": []`); !strings.HasPrefix(out, "{") {
		t.Errorf("as JSON: %q", out)
	}
	call("prof", "audit", 0, "contest_log_gap")
}
