package sql_test

import (
	"encoding/json"
	"errors"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// kept keeps a version of the problem primes, which job 7 brought.
func kept(t *testing.T, s *sqltest.Store, version string) {
	t.Helper()
	sqltest.Must(t, s.KeepVersion(t.Context(), judge.Problem{Slug: "primes", Title: "Primes", Version: version}, "sue", 7))
}

func TestAVersionGoesLiveOnlyWhenItIsProvedOrSomebodyOverridesThat(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	go1 := sql.Activation{Problem: "primes", Version: "sha256:01", By: "sue"}
	if err := s.ActivateVersion(ctx, go1); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a version that is not there: %v", err)
	}
	kept(t, s, "sha256:01")
	if _, err := s.Problem(ctx, "primes"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a version that is only kept is live: %v", err)
	}
	for _, proved := range []string{"without a proof", "with a proof that failed"} {
		var field *judge.FieldError
		if err := s.ActivateVersion(ctx, go1); !errors.As(err, &field) || field.Reason != "not_proved" {
			t.Errorf("%s: %v", proved, err)
		}
		sqltest.Must(t, s.ProveVersion(ctx, "primes", "sha256:01", false, json.RawMessage(`{"rows":[]}`), 7))
	}
	v, err := s.ProblemVersion(ctx, "primes", "sha256:01")
	if err != nil || v.Proved == nil || *v.Proved || v.Live || v.ImportJob != 7 || v.ProofJob != 7 || v.By != "sue" || string(v.Report) != `{"rows": []}` {
		t.Errorf("version %+v, %v", v, err)
	}
	go1.Override, go1.By = true, "stan"
	sqltest.Must(t, s.ActivateVersion(ctx, go1))
	sqltest.Must(t, s.ActivateVersion(ctx, go1)) // it is live already
	if p, err := s.Problem(ctx, "primes"); err != nil || p.Version != "sha256:01" {
		t.Errorf("live is %+v, %v", p, err)
	}
	if n := sqltest.One[int64](t, s, `SELECT count(*) FROM audit_log WHERE actor = 'stan' AND action = 'activate_unproved' AND subject = 'problem:primes'`); n != 1 {
		t.Errorf("%d notes of the override, want 1", n)
	}
	sqltest.Must(t, s.ProveVersion(ctx, "primes", "sha256:01", true, json.RawMessage(`{}`), 9))
	sqltest.Must(t, s.ProveVersion(ctx, "primes", "sha256:01", false, json.RawMessage(`{}`), 8))
	if v, err := s.ProblemVersion(ctx, "primes", "sha256:01"); err != nil || !*v.Proved || !v.Live || v.ProofJob != 9 {
		t.Errorf("an older job wrote over the newest proof: %+v, %v", v, err)
	}
	sqltest.Must(t, s.ProveVersion(ctx, "primes", "sha256:01", false, json.RawMessage(`{}`), 0))
	if v, err := s.ProblemVersion(ctx, "primes", "sha256:01"); err != nil || *v.Proved || v.ProofJob != 0 {
		t.Errorf("a proof of no job is not the newest: %+v, %v", v, err)
	}
}

func TestAnImportMakesItsVersionLiveOnceAndARollBackHolds(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	if _, err := s.RollBackProblem(ctx, "primes", "sue", false); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("nothing to roll back to: %v", err)
	}
	sqltest.Must(t, s.SaveProblem(ctx, judge.Problem{Slug: "primes", Version: "sha256:00"}, "command line"))
	kept(t, s, "sha256:01")
	if v, err := s.VersionOfImport(ctx, 7); err != nil || v != "sha256:01" {
		t.Errorf("job 7 brought %q, %v", v, err)
	}
	if v, err := s.VersionOfImport(ctx, 8); err != nil || v != "" {
		t.Errorf("job 8 brought %q, %v", v, err)
	}
	sqltest.Must(t, s.ProveVersion(ctx, "primes", "sha256:01", true, json.RawMessage(`{}`), 7))
	by7 := sql.Activation{Problem: "primes", Version: "sha256:01", By: "sue", JobID: 7}
	sqltest.Must(t, s.ActivateVersion(ctx, by7))
	live := func(want string) {
		t.Helper()
		if p, err := s.Problem(ctx, "primes"); err != nil || p.Version != want {
			t.Errorf("live is %+v, %v, want %s", p, err, want)
		}
	}
	live("sha256:01")
	if v, err := s.RollBackProblem(ctx, "primes", "stan", false); err != nil || v != "sha256:00" {
		t.Errorf("rolled back to %q, %v", v, err)
	}
	sqltest.Must(t, s.ActivateVersion(ctx, by7)) // the job is tried again after its worker was lost
	live("sha256:00")
	changes, err := s.ProblemChanges(ctx, "primes", 9)
	if err != nil || len(changes) != 3 || changes[0].Version != "sha256:00" || changes[0].Previous != "sha256:01" || changes[0].By != "stan" ||
		changes[2].Previous != "" || changes[2].By != "command line" {
		t.Errorf("changes %+v, %v", changes, err)
	}
	sqltest.Must(t, s.ProveVersion(ctx, "primes", "sha256:01", false, json.RawMessage(`{}`), 8))
	var field *judge.FieldError
	if _, err := s.RollBackProblem(ctx, "primes", "sue", false); !errors.As(err, &field) {
		t.Errorf("a roll-back to a version whose proof failed: %v", err)
	}
	if _, err := s.RollBackProblem(ctx, "primes", "stan", true); err != nil {
		t.Errorf("staff roll back anyway: %v", err)
	}
	live("sha256:01")
	list, err := s.ProblemVersions(ctx, "primes")
	if err != nil || len(list) != 2 || list[0].Report != nil {
		t.Errorf("versions %+v, %v", list, err)
	}
}
