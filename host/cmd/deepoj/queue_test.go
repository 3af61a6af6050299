package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
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
	// call runs a command and checks its status and a part of what it prints.
	call := func(command string, status int, want string) {
		t.Helper()
		var out, errs bytes.Buffer
		e := &env{args: strings.Fields(command), stdout: &out, stderr: &errs, getenv: lookup(map[string]string{"DATABASE_URL": dsn})}
		if got := run(t.Context(), e); got != status || !strings.Contains(out.String()+errs.String(), want) {
			t.Errorf("deepoj %s: status %d, want %d and %q\n%s%s", command, got, status, want, &out, &errs)
		}
	}
	submit := func(author string) int64 {
		t.Helper()
		r, err := s.Submit(t.Context(), sql.NewSubmission{Problem: "aplusb", Language: "cpp", Author: author, Sources: []judge.Source{{Name: "a.cpp"}}})
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

	call("queue", 2, "release JOB...")
	call("queue list", 0, "default  false   fifo      15m0s")
	call("queue set --max-backlog 9 --ordering lifo course", 0, "course   false   lifo")
	call("queue set --ordering random course", 1, "neither fifo nor lifo")
	call("queue pause default", 0, "paused=true")
	call("queue resume default", 0, "paused=false")
	call("queue pause nosuch", 1, "not found")
	call(fmt.Sprint("queue release ", c), 0, "is first")
	call(fmt.Sprint("queue immediate ", a), 0, "is immediate")
	call(fmt.Sprint("queue undo ", a), 0, "is where it was")
	call(fmt.Sprint("queue delay ", a), 0, "is last")
	call(fmt.Sprintf("queue move %d %d", a, b), 0, "right before")
	call(fmt.Sprint("queue undo ", a), 0, "is where it was")
	call(fmt.Sprint("queue delete ", b), 0, "is withdrawn")
	call(fmt.Sprint("queue undo ", b), 0, "is where it was")
	call("queue delay x", 1, "x is no id")
	ts, err := s.Pick(t.Context(), sql.PickRequest{Dispatcher: "d", Limit: 9})
	must(err)
	if len(ts) != 3 || ts[0].JobID != c || ts[1].JobID != b || ts[2].JobID != a {
		t.Errorf("the order is %+v, want %d, %d, %d", ts, c, b, a)
	}

	must(s.Bury(t.Context(), claim(a), judge.ReasonPayload, "schema_version 7"))
	must(s.Bury(t.Context(), claim(b), judge.ReasonPayload, "schema_version 8"))
	call("dlq list", 0, "payload_missing_or_invalid")
	call(fmt.Sprint("dlq show ", a), 0, "schema_version 7")
	call(fmt.Sprint("dlq discard ", b), 1, "say why")
	call(fmt.Sprint("dlq discard --reason duplicate ", b), 0, "is discarded")
	call(fmt.Sprint("dlq discard --reason duplicate ", b), 1, "not found")
	call(fmt.Sprint("dlq show ", b), 0, "discarded by command line: duplicate")
	call("dlq list --all", 0, "discarded")
	call(fmt.Sprint("dlq replay ", a), 0, "is to be judged again")
	call(fmt.Sprint("dlq replay ", a), 1, "not_in_expected_state")
	call("dlq show 99", 1, "not found")

	must(s.Finalize(t.Context(), claim(a), judge.Result{Verdict: judge.WA}))
	must(s.Finalize(t.Context(), claim(c), judge.Result{Verdict: judge.AC}))
	call("rejudge start --reason tests", 1, "choose submissions")
	call("rejudge start --reason tests --problem aplusb --key k", 0, "command line")
	call("rejudge start --reason tests --problem aplusb --key k", 0, "command line")
	call("rejudge apply 1", 1, "under way")
	must(s.Finalize(t.Context(), claim(a), judge.Result{Verdict: judge.AC}))
	must(s.Finalize(t.Context(), claim(c), judge.Result{Verdict: judge.AC}))
	call("rejudge show 1", 0, fmt.Sprintf("%d: WA becomes AC", a))
	call("rejudge apply 1", 0, "1 is applied")
	call("rejudge list", 0, "applied")
	call("rejudge cancel 1", 1, "applied already")
	call(fmt.Sprint("rejudge job ", a, " 99"), 0, "no job 99")
	audit, err := s.Audit(t.Context())
	must(err)
	if !audit.Zero() {
		t.Errorf("audit %+v", audit.Rows())
	}
}
