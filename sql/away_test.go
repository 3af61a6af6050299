package sql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// Whoever has to do with the database while it is away learns that it is away:
// while connections break, while there are none, and with one that broke unseen.
func TestAnOutageIsSaidToBeOne(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	s := sqltest.Open(t, dsn)
	if err := s.SaveProblem(t.Context(), judge.Problem{Slug: "aplusb", Title: "A + B", Version: "sha256:00", CPUMillis: 1000}, "test"); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for round := range 5 {
		var all sync.WaitGroup
		errs := make(chan error, 2*4)
		ask := func() {
			for n := range 4 {
				all.Go(func() {
					_, err := s.Submit(t.Context(), sqltest.Sub(fmt.Sprint("author ", round, n)))
					errs <- err
				})
			}
		}
		ask() // some of them hold a connection
		restore := sqltest.Cut(t, dsn)
		if round%2 == 0 {
			restore()
			ask() // some of them get a connection that is broken
		} else {
			ask() // none gets one
			all.Wait()
			restore()
		}
		all.Wait()
		close(errs)
		for err := range errs {
			if err == nil {
				continue
			}
			if failed++; !sql.Away(err) {
				t.Errorf("round %d: %v is not said to be an outage", round, err)
			}
		}
	}
	if failed < 4 {
		t.Errorf("only %d of what was asked without a database failed", failed)
	}
}

func TestAMistakeIsNoOutage(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		nil, sql.ErrNotFound, sql.ErrQueueFull, context.Canceled, errors.New("submit: gave up"),
		fmt.Errorf("submit: %w", &pgconn.PgError{Code: "23505"}), &pgconn.PgError{Code: "57014"}, &pgconn.PgError{Code: "42601"},
	} {
		if sql.Away(err) {
			t.Errorf("%v is said to be an outage", err)
		}
	}
	for code := range strings.FieldsSeq("08000 08006 53300 57P01 57P02 57P03") {
		if !sql.Away(fmt.Errorf("claim: %w", &pgconn.PgError{Code: code})) {
			t.Errorf("SQLSTATE %s is not said to be an outage", code)
		}
	}
}
