package sql_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// field checks that err blames a field.
func field(t *testing.T, err error, name, reason string) {
	t.Helper()
	f, ok := errors.AsType[*judge.FieldError](err)
	if !ok || f.Field != name || f.Reason != reason || f.Remedy == "" {
		t.Errorf("err = %v, want field %s, reason %s", err, name, reason)
	}
}

func TestARefusedSubmitStoresNothing(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	_, err := s.Submit(t.Context(), sqltest.Sub("alice", func(n *sql.NewJob) { n.Problem = "nosuch" }))
	field(t, err, "problem", "unknown")
	_, err = s.Submit(t.Context(), sqltest.Sub("alice", func(n *sql.NewJob) { n.Problem = "" }))
	field(t, err, "problem", "missing")
	_, err = s.Submit(t.Context(), sqltest.Sub("alice", func(n *sql.NewJob) { n.Queue = "nosuch" }))
	field(t, err, "queue", "unknown")
	_, err = s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub("alice"), sqltest.Sub("bob", func(n *sql.NewJob) { n.Problem = "nosuch" })})
	field(t, err, "problem", "unknown")
	_, err = s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub("alice"), sqltest.Sub("bob", func(n *sql.NewJob) { n.Queue = "other" })})
	if err == nil {
		t.Error("one statement served two queues")
	}
	for _, table := range []string{"jobs", "submissions", "job_payloads", "outbox_events", "events", "groups"} {
		if n := sqltest.One[int64](t, s, "SELECT count(*) FROM "+table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
	if rs, err := s.SubmitMany(t.Context(), nil); err != nil || rs != nil {
		t.Errorf("nothing submitted: %v, %v", rs, err)
	}
}

func TestAnIdempotencyKeyMakesOneJob(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice", sqltest.Key("k")))
	again, err := s.Submit(t.Context(), sqltest.Sub("alice", sqltest.Key("k")))
	if err != nil || again != (sql.Receipt{JobID: id, Existing: true}) {
		t.Errorf("again = %+v, %v", again, err)
	}
	other := sqltest.Sub("alice", sqltest.Key("k"))
	other.Sources = []judge.Source{{Name: "main.cpp", Text: "another"}}
	_, err = s.Submit(t.Context(), other)
	field(t, err, "idempotency_key", "reused")
	if bob := sqltest.Submit(t, s, sqltest.Sub("bob", sqltest.Key("k"))); bob == id {
		t.Error("bob got alice's job")
	}
	sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", 1).Attempt, judge.AC)
	if again, err = s.Submit(t.Context(), sqltest.Sub("alice", sqltest.Key("k"))); err != nil || again.JobID != id {
		t.Errorf("after it finished = %+v, %v", again, err)
	}
	many, err := s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub("carol", sqltest.Key("x")), sqltest.Sub("alice", sqltest.Key("k")), sqltest.Sub("carol", sqltest.Key("y"))})
	if err != nil || len(many) != 3 || many[1].JobID != id || !many[1].Existing || many[0].Existing || many[2].JobID <= many[0].JobID {
		t.Errorf("many = %+v, %v", many, err)
	}
	twice, err := s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub("dave", sqltest.Key("z")), sqltest.Sub("erin", sqltest.Key("z")), sqltest.Sub("dave", sqltest.Key("z"))})
	if err != nil || len(twice) != 3 || twice[0].Existing || twice[1].Existing || twice[1].JobID == twice[0].JobID ||
		twice[2] != (sql.Receipt{JobID: twice[0].JobID, Existing: true}) {
		t.Errorf("the same twice in a batch = %+v, %v", twice, err)
	}
	other.IdempotencyKey = "new"
	_, err = s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub("alice"), sqltest.Sub("alice", sqltest.Key("new")), other})
	field(t, err, "idempotency_key", "reused")
	if n := sqltest.One[int](t, s, "SELECT count(*) FROM jobs WHERE idempotency_key = 'new'"); n != 0 {
		t.Errorf("%d jobs of a batch that was refused", n)
	}
	next := sqltest.One[float64](t, s, "SELECT extract(epoch FROM next_at - now())::float8 FROM groups WHERE key = 'alice'")
	if next > 1.1 {
		t.Errorf("repeated submits moved alice's clock %.1f s ahead, want one spacing", next)
	}
}

func TestAKeyFromBeforeAnUpgradeIsKnownAgain(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	n := sqltest.Sub("alice", sqltest.Key("k"))
	id := sqltest.Submit(t, s, n)
	old, err := json.Marshal(judge.Payload{
		SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: n.Problem, Language: n.Language, Sources: n.Sources,
	})
	sqltest.Must(t, err)
	s.Exec(t, "UPDATE job_payloads SET payload = $2 WHERE job_id = $1", id, old)
	if again, err := s.Submit(t.Context(), n); err != nil || again != (sql.Receipt{JobID: id, Existing: true}) {
		t.Errorf("again = %+v, %v", again, err)
	}
	n.Sources = []judge.Source{{Name: "main.cpp", Text: "another"}}
	_, err = s.Submit(t.Context(), n)
	field(t, err, "idempotency_key", "reused")
	run := ownRun("bob", "r")
	sqltest.Submit(t, s, run)
	run.Payload = bytes.Replace(run.Payload, []byte("MQ=="), []byte("Mg=="), 1)
	_, err = s.Submit(t.Context(), run)
	field(t, err, "idempotency_key", "reused")
}

func TestConcurrentSubmitsOfOneKeyMakeOneJob(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	for round := range 5 {
		for name, with := range map[string]func(*sql.NewJob){
			"idempotency key": sqltest.Key(fmt.Sprint("i", round)),
			"job key":         func(n *sql.NewJob) { n.JobKey = fmt.Sprint("j", round) },
			"spec hash":       func(n *sql.NewJob) { n.SpecHash = []byte{byte(round)} },
		} {
			var mu sync.Mutex
			fresh, ids := 0, map[int64]bool{}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					r, err := s.Submit(t.Context(), sqltest.Sub("alice", with))
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					ids[r.JobID] = true
					if !r.Existing {
						fresh++
					}
				})
			}
			wg.Wait()
			if fresh != 1 || len(ids) != 1 {
				t.Errorf("%s: %d new jobs, ids %v", name, fresh, ids)
			}
		}
	}
}

func TestAJobKeyReplacesWhatWaitsAndRepeatsWhatRuns(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	version := func(text string) sql.NewJob {
		return sqltest.Sub("alice", func(n *sql.NewJob) {
			n.JobKey = "essay"
			n.Sources = []judge.Source{{Name: "main.cpp", Text: text}}
		})
	}
	id := sqltest.Submit(t, s, version("one"))
	other := sqltest.Submit(t, s, sqltest.Sub("bob"))
	again := func(text string) {
		t.Helper()
		r, err := s.Submit(t.Context(), version(text))
		if err != nil || r != (sql.Receipt{JobID: id, Existing: true}) {
			t.Fatalf("again = %+v, %v", r, err)
		}
	}
	again("two")
	if v := sqltest.Status(t, s, id, judge.Pending); v.Sources[0].Text != "two" {
		t.Errorf("waiting source = %q, want two", v.Sources[0].Text)
	}
	sqltest.Order(t, s, id, other) // it kept its place
	job := sqltest.Claim(t, s, id, "w1", 1)
	again("three")
	again("four")
	sqltest.Finalize(t, s, job.Attempt, judge.AC)
	if n, err := s.Promote(t.Context()); err != nil || n != 1 {
		t.Fatalf("promote = %d, %v", n, err)
	}
	v := sqltest.Status(t, s, id, judge.Pending)
	if v.Sources[0].Text != "four" || v.Generation != 2 {
		t.Errorf("repeated job = %+v", v)
	}
	sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", 2).Attempt, judge.WA)
	if n, err := s.Promote(t.Context()); err != nil || n != 0 {
		t.Errorf("promote = %d, %v: repeated once too often", n, err)
	}
	if fresh := sqltest.Submit(t, s, version("five")); fresh == id {
		t.Error("a finished job was replaced")
	}
}

func TestASpecHashIsUniqueWhileInFlight(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	with := func(n *sql.NewJob) { n.SpecHash = []byte("spec") }
	id := sqltest.Submit(t, s, sqltest.Sub("alice", with))
	r, err := s.Submit(t.Context(), sqltest.Sub("bob", with))
	if err != nil || r != (sql.Receipt{JobID: id, Existing: true}) {
		t.Errorf("in flight = %+v, %v", r, err)
	}
	sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", 1).Attempt, judge.AC)
	if later := sqltest.Submit(t, s, sqltest.Sub("bob", with)); later == id {
		t.Error("a finished job was given again")
	}
}

func TestASpecIsTheSameForTheSameWorkOnly(t *testing.T) {
	t.Parallel()
	base := func() sql.NewJob {
		return sql.NewJob{Problem: "p", Language: "c", Author: "alice", Sources: []judge.Source{{Name: "a.c", Text: "x"}, {Name: "b.c", Text: "y"}}}
	}
	spec := func(change func(*sql.NewJob)) string {
		n := base()
		change(&n)
		hash, err := n.Spec()
		if err != nil || len(hash) != 32 {
			t.Fatalf("spec of %+v: %x, %v", n, hash, err)
		}
		return string(hash)
	}
	want := spec(func(*sql.NewJob) {})
	for name, change := range map[string]func(*sql.NewJob){
		"the defaults by name": func(n *sql.NewJob) {
			n.Queue, n.Kind, n.GroupKey = judge.DefaultQueue, judge.KindSubmission, "alice"
		},
		"another key": func(n *sql.NewJob) { n.IdempotencyKey, n.TraceID, n.Priority, n.Lane = "k", "t", 3, judge.LaneStaff },
	} {
		if spec(change) != want {
			t.Errorf("%s: another spec", name)
		}
	}
	seen := map[string]string{want: "as it is"}
	for name, change := range map[string]func(*sql.NewJob){
		"problem":    func(n *sql.NewJob) { n.Problem = "q" },
		"language":   func(n *sql.NewJob) { n.Language = "cpp" },
		"queue":      func(n *sql.NewJob) { n.Queue = "q" },
		"kind":       func(n *sql.NewJob) { n.Kind = judge.KindRun },
		"group":      func(n *sql.NewJob) { n.GroupKey = "team" },
		"text":       func(n *sql.NewJob) { n.Sources[1].Text = "z" },
		"file name":  func(n *sql.NewJob) { n.Sources[1].Name = "c.c" },
		"order":      func(n *sql.NewJob) { n.Sources[0], n.Sources[1] = n.Sources[1], n.Sources[0] },
		"fewer":      func(n *sql.NewJob) { n.Sources = n.Sources[:1] },
		"joined":     func(n *sql.NewJob) { n.Sources = []judge.Source{{Name: "a.c", Text: "xb.cy"}} },
		"payload":    func(n *sql.NewJob) { n.Payload = []byte(`{}`) },
		"other text": func(n *sql.NewJob) { n.Sources[0].Text = "" },
	} {
		hash := spec(change)
		if was, ok := seen[hash]; ok {
			t.Errorf("%s: the same spec as %s", name, was)
		}
		seen[hash] = name
	}
}

func TestAFullQueueTakesNoMore(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	s.Exec(t, "UPDATE queues SET max_backlog = 3")
	ids := []int64{sqltest.Submit(t, s, sqltest.Sub("alice", sqltest.Key("a"))), sqltest.Submit(t, s, sqltest.Sub("bob"))}
	if _, err := s.SubmitMany(t.Context(), []sql.NewJob{sqltest.Sub("carol"), sqltest.Sub("dave")}); !errors.Is(err, sql.ErrQueueFull) {
		t.Errorf("two more: %v", err)
	}
	ids = append(ids, sqltest.Submit(t, s, sqltest.Sub("carol")))
	if _, err := s.Submit(t.Context(), sqltest.Sub("dave")); !errors.Is(err, sql.ErrQueueFull) {
		t.Errorf("one more: %v", err)
	}
	if r, err := s.Submit(t.Context(), sqltest.Sub("alice", sqltest.Key("a"))); err != nil || r.JobID != ids[0] {
		t.Errorf("a repeated submit = %+v, %v", r, err)
	}
	if got := sqltest.Pick(t, s, 1); !slices.Equal(got, ids[:1]) {
		t.Fatalf("picked %v", got)
	}
	sqltest.Submit(t, s, sqltest.Sub("dave")) // what is delivered does not wait
}

func TestManySubmissionsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	var ns []sql.NewJob
	for i := range 100 {
		ns = append(ns, sqltest.Sub(fmt.Sprintf("user%d", i%5), sqltest.Key(fmt.Sprint(i))))
	}
	rs, err := s.SubmitMany(t.Context(), ns)
	if err != nil || len(rs) != 100 {
		t.Fatalf("receipts = %v, %v", rs, err)
	}
	for i, r := range rs {
		v := sqltest.Status(t, s, r.JobID, judge.Pending)
		if want := fmt.Sprintf("user%d", i%5); v.Author != want {
			t.Fatalf("job %d is by %s, want %s", r.JobID, v.Author, want)
		}
	}
	got := sqltest.Pick(t, s, 100)
	for i := range 100 {
		if want := rs[i].JobID; got[i] != want { // turns of five groups are the order of submission
			t.Fatalf("place %d is job %d, want %d", i, got[i], want)
		}
	}
}

func TestEveryKindOfWorkIsAJob(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	for _, k := range judge.Kinds {
		n := sqltest.Sub("alice", func(n *sql.NewJob) { n.Kind = k })
		if k != judge.KindSubmission && k != judge.KindRun {
			n.Problem, n.Language, n.Sources, n.Payload = "", "", nil, []byte(`{"schema_version":1,"kind":"`+string(k)+`"}`)
		}
		job := sqltest.Claim(t, s, sqltest.Submit(t, s, n), "w1", 1)
		if job.Kind != k || len(job.Payload) == 0 {
			t.Errorf("%s became %+v", k, job)
		}
		sqltest.Finalize(t, s, job.Attempt, judge.AC)
	}
	list, err := s.Submissions(t.Context(), sql.Filter{})
	if err != nil || len(list) != 1 {
		t.Errorf("%d submissions are listed (%v), want the one that counts", len(list), err)
	}
}
