package sql_test

import (
	"errors"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func TestAKeyWorksWhileItAndItsOwnerMayBeUsed(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	account(t, s, "root", judge.RoleAdmin)
	account(t, s, "ann", judge.RoleSetter)
	works := func(hash string) bool {
		t.Helper()
		u, k, err := s.KeyOwner(ctx, hash)
		if err != nil && !errors.Is(err, sql.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil && u.Name == "ann" && u.Role == judge.RoleSetter && k.User == "ann" && k.ID > 0
	}
	give := func(hash string, expires *time.Time) judge.Key {
		t.Helper()
		k, err := s.CreateKey(ctx, judge.Key{User: "ann", Label: hash, Scope: judge.ScopeSubmit, Expires: expires}, hash, "ann")
		sqltest.Must(t, err)
		return k
	}
	first := give("1", nil)
	give("2", new(time.Now().Add(time.Hour)))
	give("3", new(time.Now().Add(-time.Hour)))
	if !works("1") || !works("2") || works("3") || works("4") {
		t.Error("keys work as long as they have not expired")
	}
	if _, err := s.CreateKey(ctx, judge.Key{User: "nobody", Scope: judge.ScopeRead}, "5", "root"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a key of nobody: %v", err)
	}
	if _, err := s.CreateKey(ctx, judge.Key{User: "ann", Scope: "everything"}, "5", "root"); err == nil {
		t.Error("an unknown scope was accepted")
	}
	keys, err := s.Keys(ctx, "ann", 0, 2)
	if err != nil || len(keys) != 2 || keys[0].Label != "3" || keys[0].LastUsed != nil || keys[1].LastUsed == nil || keys[1].Expires == nil {
		t.Fatalf("keys = %+v, %v", keys, err)
	}
	if keys, err = s.Keys(ctx, "ann", keys[1].ID, 2); err != nil || len(keys) != 1 || keys[0].ID != first.ID || keys[0].Scope != judge.ScopeSubmit {
		t.Errorf("the next page = %+v, %v", keys, err)
	}

	if err := s.RevokeKey(ctx, first.ID, "root", "root"); !errors.Is(err, sql.ErrNotFound) || !works("1") {
		t.Errorf("a key of somebody else: %v", err)
	}
	sqltest.Must(t, s.Disable(ctx, "ann", true, "root"))
	if works("1") {
		t.Error("a key of somebody who is disabled works")
	}
	sqltest.Must(t, s.Disable(ctx, "ann", false, "root"))
	sqltest.Must(t, s.ResetPassword(ctx, "ann", "given", "root"))
	if works("1") {
		t.Error("a key works while its owner has to change their password")
	}
	sqltest.Must(t, s.ChangePassword(ctx, "ann", "given", "own", ""))
	if !works("1") {
		t.Error("the key does not work again")
	}
	sqltest.Must(t, s.RevokeKey(ctx, first.ID, "ann", "ann"))
	sqltest.Must(t, s.RevokeKey(ctx, first.ID, "", "root")) // again: nothing to do
	if works("1") || !works("2") {
		t.Error("the key that was revoked works, or another does not")
	}
	const acts = "SELECT string_agg(action || ' ' || actor, ', ' ORDER BY id) FROM audit_log WHERE subject = 'key:1'"
	if got := sqltest.One[string](t, s, acts); got != "key_create ann, key_revoke ann" {
		t.Errorf("the audit log has %s", got)
	}
}

func TestTheUseOfAKeyIsNotedToTheMinute(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	account(t, s, "ann", judge.RoleContestant)
	_, err := s.CreateKey(t.Context(), judge.Key{User: "ann", Scope: judge.ScopeRead}, "1", "ann")
	sqltest.Must(t, err)
	use := func() time.Time {
		t.Helper()
		_, _, err := s.KeyOwner(t.Context(), "1")
		sqltest.Must(t, err)
		return sqltest.One[time.Time](t, s, "SELECT last_used_at FROM api_keys")
	}
	first := use()
	s.Exec(t, "UPDATE api_keys SET last_used_at = $1", first.Add(-30*time.Second))
	if got := use(); !got.Equal(first.Add(-30 * time.Second)) {
		t.Error("a use within a minute of another is written")
	}
	s.Exec(t, "UPDATE api_keys SET last_used_at = $1", first.Add(-2*time.Minute))
	if got := use(); got.Before(first) {
		t.Errorf("a later use is not noted: %v", got)
	}
}
