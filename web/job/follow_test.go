package job

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/web/site"
)

// elsewhere is a database in which other processes change jobs.
type elsewhere struct {
	mu    sync.Mutex
	moves map[int64]int
	asked [][]int64
	away  bool
}

func (e *elsewhere) move(id int64) { e.mu.Lock(); defer e.mu.Unlock(); e.moves[id]++ }

func (e *elsewhere) stamps(_ context.Context, ids []int64) (map[int64]string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, slices.Sorted(slices.Values(ids)))
	if e.away {
		return nil, errors.New("away")
	}
	out := map[int64]string{}
	for id, n := range maps.All(e.moves) {
		if slices.Contains(ids, id) {
			out[id] = strconv.Itoa(n)
		}
	}
	return out, nil
}

func (e *elsewhere) asks() [][]int64 { e.mu.Lock(); defer e.mu.Unlock(); return slices.Clone(e.asked) }

func TestStreamsHearOfWhatOtherProcessesDoToTheirJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &elsewhere{moves: map[int64]int{1: 0, 2: 0}}
		h := newHub(&site.Counters{Streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "streams", Help: "Open streams."})}, 10, 10)
		h.stamps = db.stamps
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { h.follow(ctx); close(ended) }()
		woken := func(w *watch) bool {
			select {
			case <-w.Woken():
				return true
			default:
				return false
			}
		}
		time.Sleep(time.Hour)
		if n := len(db.asks()); n != 0 {
			t.Fatalf("asked %d times while nobody watched", n)
		}
		one, err := h.watch(1, "ann")
		if err != nil {
			t.Fatal(err)
		}
		two, err := h.watch(2, "bob")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		woken(one) // both may look once more when they begin
		woken(two)
		db.move(1)
		time.Sleep(2 * lookLate)
		if !woken(one) || woken(two) {
			t.Error("an event of job 1 has to wake its stream, and no other")
		}
		time.Sleep(time.Hour)
		if woken(one) || woken(two) {
			t.Error("a stream was woken for nothing")
		}
		db.mu.Lock()
		db.away = true
		db.mu.Unlock()
		time.Sleep(time.Minute)
		db.move(2)
		db.mu.Lock()
		db.away = false
		db.mu.Unlock()
		time.Sleep(2 * lookLate)
		if !woken(two) {
			t.Error("what happened while the database was away woke nobody")
		}
		one.leave()
		time.Sleep(time.Second)
		asked := db.asks() // once: it may be asked meanwhile
		if last := asked[len(asked)-1]; !slices.Equal(last, []int64{2}) {
			t.Errorf("jobs %v were looked at, of which only 2 is watched", last)
		}
		two.leave()
		time.Sleep(time.Second)
		before := len(db.asks())
		time.Sleep(time.Hour)
		if n := len(db.asks()); n != before {
			t.Errorf("asked %d times after the last stream had ended", n-before)
		}
		stop()
		<-ended
	})
}
