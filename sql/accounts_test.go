package sql_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// account makes one whose password hash is "hash".
func account(t *testing.T, s *sqltest.Store, name string, role judge.Role) *judge.User {
	t.Helper()
	sqltest.Must(t, s.CreateUser(t.Context(), sql.NewUser{Name: name, PasswordHash: "hash", Role: role, By: "test"}))
	u, err := s.User(t.Context(), name)
	sqltest.Must(t, err)
	return u
}

func TestAnAccountHasOneNameAndAKnownRole(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	u := account(t, s, "root", judge.RoleAdmin)
	if u.PasswordHash != "hash" || u.Role != judge.RoleAdmin || u.Created.IsZero() || u.Disabled != nil || u.OneTime {
		t.Errorf("user = %+v", u)
	}
	if err := s.CreateUser(t.Context(), sql.NewUser{Name: "root", PasswordHash: "other", Role: judge.RoleAdmin}); !errors.Is(err, sql.ErrExists) {
		t.Errorf("a second root: %v", err)
	}
	if err := s.CreateUser(t.Context(), sql.NewUser{Name: "x", PasswordHash: "hash", Role: "emperor"}); err == nil {
		t.Error("an unknown role was accepted")
	}
	if _, err := s.User(t.Context(), "nobody"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("unknown user: %v", err)
	}
	if n, err := s.CountUsers(t.Context()); err != nil || n != 1 {
		t.Errorf("users = %d, %v", n, err)
	}
}

func TestASessionEndsWithTheRightToHaveIt(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	account(t, s, "root", judge.RoleAdmin)
	known := func(token string) bool {
		t.Helper()
		u, err := s.Session(ctx, token)
		if err != nil && !errors.Is(err, sql.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil && u.Name == "ann"
	}
	ann := account(t, s, "ann", judge.RoleContestant)
	begin := func(tokens ...string) {
		t.Helper()
		u, err := s.User(ctx, "ann")
		sqltest.Must(t, err)
		for _, token := range tokens {
			sqltest.Must(t, s.SaveSession(ctx, token, u, time.Now().Add(time.Hour)))
			if !known(token) {
				t.Fatalf("session %s is not known", token)
			}
		}
	}
	sqltest.Must(t, s.SaveSession(ctx, "stale", ann, time.Now().Add(-time.Hour)))
	begin("1")
	sqltest.Must(t, s.DeleteSession(ctx, "1"))
	if known("stale") || known("1") {
		t.Error("an expired or ended session is known")
	}
	begin("2", "3")
	if err := s.ChangePassword(ctx, "ann", "another hash", "newer", "2"); !errors.Is(err, sql.ErrNotFound) || !known("3") {
		t.Errorf("a change from a password that is not theirs: %v", err)
	}
	sqltest.Must(t, s.ChangePassword(ctx, "ann", "hash", "newer", "2"))
	if !known("2") || known("3") {
		t.Error("a change of the password ends all sessions but the one that changes it")
	}
	if err := s.SaveSession(ctx, "late", ann, time.Now().Add(time.Hour)); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a login that checked the old password: %v", err)
	}
	sqltest.Must(t, s.ResetPassword(ctx, "ann", "given", "root"))
	if u, err := s.User(ctx, "ann"); known("2") || err != nil || !u.OneTime {
		t.Errorf("after a reset: %+v, %v", u, err)
	}
	begin("4")
	sqltest.Must(t, s.ChangePassword(ctx, "ann", "given", "own", "4"))
	if u, err := s.Session(ctx, "4"); err != nil || u.OneTime {
		t.Errorf("after the change of a one-time password: %+v, %v", u, err)
	}
	sqltest.Must(t, s.Disable(ctx, "ann", true, "root"))
	sqltest.Must(t, s.Disable(ctx, "ann", true, "root")) // again: nothing to do
	u, err := s.User(ctx, "ann")
	if err != nil || u.Disabled == nil || known("4") {
		t.Errorf("after disabling: %+v, %v", u, err)
	}
	if err := s.SaveSession(ctx, "5", u, time.Now().Add(time.Hour)); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a login of somebody who is disabled: %v", err)
	}
	sqltest.Must(t, s.Disable(ctx, "ann", false, "root"))
	if known("4") {
		t.Error("enabling revived a session")
	}
	begin("6")
	sqltest.Must(t, s.SetRole(ctx, "ann", judge.RoleStaff, "root"))
	if u, err := s.Session(ctx, "6"); err != nil || u.Role != judge.RoleStaff {
		t.Errorf("another role does not count at once: %+v, %v", u, err)
	}
	for _, change := range []error{
		s.ResetPassword(ctx, "nobody", "x", "root"), s.SetRole(ctx, "nobody", judge.RoleStaff, "root"), s.Disable(ctx, "nobody", true, "root"),
	} {
		if !errors.Is(change, sql.ErrNotFound) {
			t.Errorf("a change of nobody: %v", change)
		}
	}
	const acts = "SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log WHERE subject = 'user:ann'"
	if got := sqltest.One[string](t, s, acts); got != "user_create password user_reset password user_disable user_enable user_role" {
		t.Errorf("the audit log has %s", got)
	}
}

func TestTheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	account(t, s, "root", judge.RoleAdmin)
	if err := s.SetRole(ctx, "root", judge.RoleStaff, "root"); !errors.Is(err, sql.ErrLastAdmin) {
		t.Errorf("demoting the last one: %v", err)
	}
	if err := s.Disable(ctx, "root", true, "root"); !errors.Is(err, sql.ErrLastAdmin) {
		t.Errorf("disabling the last one: %v", err)
	}
	// Two who demote each other at once leave one.
	account(t, s, "other", judge.RoleAdmin)
	for range 10 {
		var wg sync.WaitGroup
		for _, name := range []string{"root", "other"} {
			wg.Go(func() {
				if err := s.SetRole(ctx, name, judge.RoleStaff, "test"); err != nil && !errors.Is(err, sql.ErrLastAdmin) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		admins, err := s.Users(ctx, sql.UserFilter{Role: judge.RoleAdmin})
		if err != nil || len(admins) != 1 {
			t.Fatalf("administrators: %+v, %v", admins, err)
		}
		for _, name := range []string{"root", "other"} {
			sqltest.Must(t, s.SetRole(ctx, name, judge.RoleAdmin, "test"))
		}
	}
	sqltest.Must(t, s.Disable(ctx, "other", true, "root"))
	if err := s.SetRole(ctx, "root", judge.RoleStaff, "root"); !errors.Is(err, sql.ErrLastAdmin) {
		t.Errorf("an administrator who is disabled counts: %v", err)
	}
}

func TestAccountsAreListedByName(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	for _, name := range []string{"cat", "ann", "bob", "ant"} {
		account(t, s, name, judge.RoleContestant)
	}
	sqltest.Must(t, s.SetRole(t.Context(), "bob", judge.RoleSetter, "test"))
	for want, f := range map[string]sql.UserFilter{
		"ann ant bob cat ": {}, "ann ant ": {Prefix: "an"}, "bob ": {Role: judge.RoleSetter}, "bob cat ": {After: "ant"}, "ant bob ": {After: "ann", Limit: 2},
	} {
		list, err := s.Users(t.Context(), f)
		sqltest.Must(t, err)
		got := ""
		for _, u := range list {
			got += u.Name + " "
		}
		if got != want {
			t.Errorf("%+v lists %q, want %q", f, got, want)
		}
	}
}
