package main

import (
	"fmt"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

func TestTheCommandLineControlsTheQueue(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	s := sqltest.Open(t, dsn)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.SaveProblem(t.Context(), judge.Problem{Slug: "aplusb", Version: "sha256:00"}, "test"))
	// do runs a command and checks its status and a part of what it prints.
	do := func(command string, status int, want string) {
		t.Helper()
		got, out, errs := call(t, map[string]string{"DATABASE_URL": dsn}, strings.Fields(command)...)
		if got != status || !strings.Contains(out+errs, want) {
			t.Errorf("deepoj %s: status %d, want %d and %q\n%s%s", command, got, status, want, out, errs)
		}
	}
	submit := func(author string) int64 {
		t.Helper()
		r, err := s.Submit(t.Context(), sql.NewJob{Problem: "aplusb", Language: "cpp", Author: author, Sources: []judge.Source{{Name: "a.cpp"}}})
		must(err)
		return r.JobID
	}
	tries := 0
	claim := func(id int64) judge.Attempt {
		t.Helper()
		tries++
		jobs, _, err := s.Claim(t.Context(), []int64{id}, "w1", fmt.Sprintf("00000000-0000-4000-8000-%012d", tries), 1e12)
		must(err)
		if len(jobs) != 1 {
			t.Fatalf("job %d cannot be claimed", id)
		}
		return jobs[0].Attempt
	}
	a, b, c := submit("ann"), submit("bob"), submit("cat")

	do("queue", 0, "release JOB...")
	do("queue list", 0, "default  false   fifo      15m0s")
	do("queue set --max-backlog 9 --ordering lifo course", 0, "course   false   lifo")
	do("queue set --ordering random course", 1, "neither fifo nor lifo")
	do("queue pause default", 0, "paused=true")
	do("queue resume default", 0, "paused=false")
	do("queue pause nosuch", 1, "not found")
	do(fmt.Sprint("queue release ", c), 0, "is first")
	do(fmt.Sprint("queue immediate ", a), 0, "is immediate")
	do(fmt.Sprint("queue undo ", a), 0, "is where it was")
	do(fmt.Sprint("queue delay ", a), 0, "is last")
	do(fmt.Sprintf("queue move %d %d", a, b), 0, "right before")
	do(fmt.Sprint("queue undo ", a), 0, "is where it was")
	do(fmt.Sprint("queue delete ", b), 0, "is withdrawn")
	do(fmt.Sprint("queue undo ", b), 0, "is where it was")
	do("queue delay x", 1, "x is no id")
	ts, err := s.Pick(t.Context(), jobs.PickRequest{Dispatcher: "d", Limit: 9})
	must(err)
	if len(ts) != 3 || ts[0].JobID != c || ts[1].JobID != b || ts[2].JobID != a {
		t.Errorf("the order is %+v, want %d, %d, %d", ts, c, b, a)
	}

	must(s.Bury(t.Context(), claim(a), judge.ReasonPayload, "schema_version 7"))
	must(s.Bury(t.Context(), claim(b), judge.ReasonPayload, "schema_version 8"))
	do("dlq list", 0, "payload_missing_or_invalid")
	do(fmt.Sprint("dlq show ", a), 0, "schema_version 7")
	do(fmt.Sprint("dlq discard ", b), 1, "say why")
	do(fmt.Sprint("dlq discard --reason duplicate ", b), 0, "is discarded")
	do(fmt.Sprint("dlq discard --reason duplicate ", b), 1, "not found")
	do(fmt.Sprint("dlq show ", b), 0, "discarded by command line: duplicate")
	do("dlq list --all", 0, "discarded")
	do(fmt.Sprint("dlq replay ", a), 0, "is to be judged again")
	do(fmt.Sprint("dlq replay ", a), 1, "not_in_expected_state")
	do("dlq show 99", 1, "not found")

	must(s.Finalize(t.Context(), claim(a), judge.Result{Verdict: judge.WA}))
	must(s.Finalize(t.Context(), claim(c), judge.Result{Verdict: judge.AC}))
	do("rejudge start --reason tests", 1, "choose submissions")
	do("rejudge start --reason tests --problem aplusb --key k", 0, "command line")
	do("rejudge start --reason tests --problem aplusb --key k", 0, "command line")
	do("rejudge apply 1", 1, "under way")
	must(s.Finalize(t.Context(), claim(a), judge.Result{Verdict: judge.AC}))
	must(s.Finalize(t.Context(), claim(c), judge.Result{Verdict: judge.AC}))
	do("rejudge show 1", 0, fmt.Sprintf("%d: WA becomes AC", a))
	do("rejudge apply 1", 0, "1 is applied")
	do("rejudge list", 0, "applied")
	do("rejudge cancel 1", 1, "applied already")
	do(fmt.Sprint("rejudge job ", a, " 99"), 0, "no job 99")
	audit, err := s.Audit(t.Context())
	must(err)
	if !audit.Zero() {
		t.Errorf("audit %+v", audit.Rows())
	}
}
