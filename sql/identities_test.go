package sql_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func TestAnIdentityGetsOneAccountHoweverOftenItComesAtOnce(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	id := judge.Identity{Issuer: "https://a.example", Subject: "1"}
	if _, err := s.IdentityUser(t.Context(), id); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("an account of nobody: %v", err)
	}
	var made atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			switch err := s.CreateIdentity(t.Context(), id, fmt.Sprintf("ann-%d", i), "x"); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, sql.ErrExists):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n, err := s.CountUsers(t.Context()); err != nil || n != 1 || made.Load() != 1 {
		t.Errorf("%d accounts, made %d times, %v", n, made.Load(), err)
	}
	u, err := s.IdentityUser(t.Context(), id)
	if err != nil || u.Role != judge.RoleContestant {
		t.Errorf("the account is %+v, %v", u, err)
	}
	if err := s.CreateIdentity(t.Context(), judge.Identity{Issuer: "https://b.example", Subject: "1"}, u.Name, "x"); !errors.Is(err, sql.ErrExists) {
		t.Errorf("somebody else took the account over: %v", err)
	}
}

func TestALoginThatWasBegunIsTakenOnceAndInTime(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	l := sql.BegunLogin{Nonce: "n", Verifier: "v", Next: "/"}
	sqltest.Must(t, s.BeginLogin(ctx, "late", "b", l, time.Now().Add(-time.Second)))
	sqltest.Must(t, s.BeginLogin(ctx, "state", "b", l, time.Now().Add(time.Hour)))
	for _, tt := range [][2]string{{"late", "b"}, {"state", "other"}, {"nothing", "b"}} {
		if _, err := s.TakeLogin(ctx, tt[0], tt[1]); !errors.Is(err, sql.ErrNotFound) {
			t.Errorf("%v: %v", tt, err)
		}
	}
	if got, err := s.TakeLogin(ctx, "state", "b"); err != nil || got != l {
		t.Errorf("took %+v, %v", got, err)
	}
	if _, err := s.TakeLogin(ctx, "state", "b"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("took it twice: %v", err)
	}
	if n := sqltest.One[int64](t, s, "SELECT count(*) FROM oidc_logins"); n != 0 {
		t.Errorf("%d logins that are over are kept", n)
	}
}
