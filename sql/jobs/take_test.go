package jobs_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

// take takes jobs and returns them in the order of their ids.
func take(t *testing.T, s *sqltest.Store, n int, r jobs.PickRequest) (ids []int64) {
	t.Helper()
	jobs, err := s.Take(t.Context(), r, "w1", sqltest.Token(n), sqltest.Lease)
	sqltest.Must(t, err)
	for _, j := range jobs {
		ids = append(ids, j.JobID)
	}
	return ids
}

func TestWhatIsTakenWasNeverDelivered(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	jobs, err := s.Take(t.Context(), jobs.PickRequest{Limit: 5}, "w1", sqltest.Token(1), sqltest.Lease)
	if err != nil || len(jobs) != 1 || jobs[0].ProblemVersion != "sha256:00" || len(jobs[0].Payload) == 0 {
		t.Fatalf("took %+v, %v", jobs, err)
	}
	want := judge.Attempt{JobID: id, Generation: 1, AttemptID: 1, Owner: "w1", Token: sqltest.Token(1)}
	if jobs[0].Attempt != want {
		t.Errorf("took %+v, want %+v", jobs[0].Attempt, want)
	}
	if got := sqltest.Pick(t, s, 5); len(got) != 0 {
		t.Errorf("%v is delivered as well", got)
	}
	sqltest.Finalize(t, s, want, judge.AC)
	if got := sqltest.Kinds(t, s, id); !slices.Equal(got, []string{"submitted", "claimed", "finished"}) {
		t.Errorf("events %v", got)
	}
}

func TestJobsAreTakenInTheOrderOfTheQueue(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	course(t, s)
	s.Exec(t, "UPDATE queues SET group_limit = 2")
	alice := []int64{sqltest.Submit(t, s, sqltest.Sub("alice")), sqltest.Submit(t, s, sqltest.Sub("alice")), sqltest.Submit(t, s, sqltest.Sub("alice"))}
	rust := sqltest.Submit(t, s, sqltest.Sub("carol", func(n *sql.NewJob) { n.Language = "rust" }))
	staff := sqltest.Submit(t, s, sqltest.Sub("bob", func(n *sql.NewJob) { n.Lane = judge.LaneStaff }))
	cpp := jobs.PickRequest{Languages: []string{"cpp"}, Limit: 1}
	var got []int64
	for n := range 4 {
		got = append(got, take(t, s, n+1, cpp)...)
	}
	// Of Alice's three the newest goes first, and no more than two at a time.
	if want := []int64{staff, alice[2], alice[1]}; !slices.Equal(got, want) {
		t.Errorf("took %v, want %v", got, want)
	}
	s.Exec(t, "UPDATE queues SET paused = true")
	if got := take(t, s, 9, jobs.PickRequest{Limit: 9}); len(got) != 0 {
		t.Errorf("took %v from a queue that is paused", got)
	}
	s.Exec(t, "UPDATE queues SET paused = false, group_limit = 0")
	if got := take(t, s, 10, jobs.PickRequest{Limit: 9}); !slices.Equal(got, []int64{alice[0], rust}) {
		t.Errorf("took %v, want %v", got, []int64{alice[0], rust})
	}
}

func TestAQueueThatBecomesLIFOIsSoForJobsThatWait(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	old := []int64{sqltest.Submit(t, s, sqltest.Sub("alice")), sqltest.Submit(t, s, sqltest.Sub("alice"))}
	course(t, s)
	newer := sqltest.Submit(t, s, sqltest.Sub("alice"))
	if got := sqltest.Pick(t, s, 1); !slices.Equal(got, []int64{newer}) {
		t.Errorf("picked %v, want %d", got, newer)
	}
	if got := sqltest.Pick(t, s, 1); !slices.Equal(got, old[1:]) {
		t.Errorf("picked %v, want %v", got, old[1:])
	}
	s.Exec(t, "UPDATE queues SET ordering = 'fifo'")
	if n := sqltest.One[int64](t, s, "SELECT count(*) FROM outbox_events WHERE lifo"); n != 0 {
		t.Errorf("%d jobs of a fifo queue are in the index of lifo queues", n)
	}
}

// Takers lock queue rows before jobs, everybody else jobs before queue rows: none
// may wait for the other, and a job goes to one.
func TestAJobIsTakenOnceWhileOthersClaimAndCancel(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 200)
	var mu sync.Mutex
	owners, cancelled := map[int64]int{}, 0
	note := func(jobs []judge.Claim) {
		mu.Lock()
		defer mu.Unlock()
		for _, j := range jobs {
			owners[j.JobID]++
		}
	}
	var all sync.WaitGroup
	for w := range 3 {
		all.Go(func() {
			for range 40 {
				jobs, err := s.Take(t.Context(), jobs.PickRequest{Limit: 5}, "taker", sqltest.Token(100+w), sqltest.Lease)
				if err != nil {
					t.Error(err)
				}
				note(jobs)
			}
		})
	}
	all.Go(func() {
		for chunk := range slices.Chunk(ids, 5) {
			jobs, _, err := s.Claim(t.Context(), chunk, "claimer", sqltest.Token(1), sqltest.Lease)
			if err != nil {
				t.Error(err)
			}
			note(jobs)
		}
	})
	all.Go(func() {
		for i := 3; i < len(ids); i += 7 {
			if err := s.Withdraw(t.Context(), ids[i], "staff", ""); err == nil {
				cancelled++
			}
		}
	})
	all.Wait()
	note2 := take(t, s, 999, jobs.PickRequest{Limit: len(ids)})
	if got := len(owners) + cancelled + len(note2); got != len(ids) {
		t.Errorf("%d jobs were claimed, %d cancelled and %d left; of %d", len(owners), cancelled, len(note2), len(ids))
	}
	for id, n := range owners {
		if n != 1 {
			t.Errorf("job %d was claimed %d times", id, n)
		}
	}
}

func TestATakeWaitsForWork(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	d := s.Delivery("", "", "d1", nil)
	got := make(chan []judge.Claim, 1)
	began := time.Now()
	go func() {
		jobs, asked, err := d.Take(t.Context(), 1, time.Hour, "w1", sqltest.Token(1), sqltest.Lease)
		if err != nil || asked.Before(began) {
			t.Errorf("asked at %v, %v", asked, err)
		}
		got <- jobs
	}()
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	if jobs := <-got; len(jobs) != 1 || jobs[0].JobID != id {
		t.Errorf("took %v, want %d", jobs, id)
	}
	sqltest.Submit(t, s, sqltest.Sub("bob"))
	// The end of a worker ends no request, so what it took is known.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	jobs, _, err := d.Take(ended, 1, time.Hour, "w1", sqltest.Token(2), sqltest.Lease)
	if err != nil || len(jobs) != 1 {
		t.Errorf("took %v, %v after the end", jobs, err)
	}
	if jobs, _, err = d.Take(ended, 1, time.Hour, "w1", sqltest.Token(3), sqltest.Lease); len(jobs) != 0 || errors.Is(err, context.Canceled) {
		t.Errorf("took %v, %v from an empty queue after the end", jobs, err)
	}
}
