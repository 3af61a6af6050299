package e2e

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// TestOutagesLoseNothingThatWasAccepted kills Redis, then PostgreSQL, of an
// embedded default while submissions are on their way. Everything that was
// accepted gets its verdict; what cannot be accepted is refused with 503.
func TestOutagesLoseNothingThatWasAccepted(t *testing.T) {
	needRoot(t)
	data := filepath.Join(folder(t), "data")
	p, _, c := up(t, data, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var accepted []int64
	hand := func() {
		r, err := c.Submit(ctx, client.NewSubmission{Problem: "aplusb", Language: "python", Sources: []judge.Source{{Name: "a.py", Text: languagePrograms[3].text}}})
		if err != nil {
			var refused *client.Problem
			if !errors.As(err, &refused) || refused.Status != 503 {
				t.Fatalf("a submit during an outage failed with %v, want 503", err)
			}
			return
		}
		accepted = append(accepted, r.JobID)
	}
	for _, victim := range []string{"redis-server", "postgres"} {
		for range 5 {
			hand()
		}
		killed := 0
		for _, pid := range descendants(p.cmd.Process.Pid) {
			// The postmaster's command line names its folder; its backends' do not.
			if line := cmdline(pid); strings.Contains(line, victim) && (victim != "postgres" || strings.Contains(line, " -D ")) {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				killed++
			}
		}
		if killed == 0 {
			t.Fatalf("no %s runs", victim)
		}
		for range 5 {
			hand()
			pause(ctx, t, 200*time.Millisecond)
		}
	}
	before := len(accepted)
	for len(accepted) == before {
		hand() // until the database is back
		pause(ctx, t, 100*time.Millisecond)
	}
	for _, id := range accepted {
		s, err := c.Wait(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if s.Result == nil || s.Result.Verdict != judge.AC {
			t.Errorf("submission %d: %s", id, describe(s))
		}
	}
	if len(accepted) < 10 {
		t.Errorf("only %d submissions were accepted", len(accepted))
	}
	out, errs, status := deepoj(t, nil, "audit", "--data", data)
	if status != 0 {
		t.Errorf("audit: status %d\n%s%s", status, out, errs)
	}
}

// TestWithoutRedisPostgreSQLDelivers runs everything without a redis-server.
func TestWithoutRedisPostgreSQLDelivers(t *testing.T) {
	needRoot(t)
	p, _, c := up(t, filepath.Join(folder(t), "data"), []string{"DELIVERY=postgres"})
	for _, pid := range descendants(p.cmd.Process.Pid) {
		if strings.Contains(cmdline(pid), "redis-server") {
			t.Error("a redis-server runs")
		}
	}
	for _, prog := range verdictPrograms[:2] {
		if s := submitAndWait(t.Context(), t, c, "aplusb", prog); s.Result == nil || s.Result.Verdict != prog.want {
			t.Errorf("%s: %s, want %s", prog.name, describe(s), prog.want)
		}
	}
}
