package faults

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// client speaks to one api over its socket. The connection is made anew for each
// request, as the api may have died in between.
func client(socket string) *http.Client {
	return &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "unix", socket)
			},
		},
	}
}

// ask sends a request to some api and returns the job that it answers with.
func (w *world) ask(ctx context.Context, path string, form url.Values) (int64, error) {
	apis := w.of("api")
	socket := apis[w.intN(len(apis))].role.Socket
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://api"+path+"?"+form.Encode(), nil)
	if err != nil {
		return 0, err
	}
	a, err := client(socket).Do(q)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return 0, err
	}
	if a.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", a.Status, text)
	}
	return strconv.ParseInt(string(text), 10, 64)
}

// submit hands in the job of key until an api says that it has it, and writes
// down what it said. Now and then it asks again, which must give the same.
func (w *world) submit(ctx context.Context, n int) {
	key := strconv.Itoa(n)
	form := url.Values{"key": {key}, "user": {strconv.Itoa(n % 7)}}
	for again := false; ; again = true {
		id, err := w.ask(ctx, "/submit", form)
		if err != nil {
			w.count("submits without an answer")
			if !pause(ctx, 20*time.Millisecond) {
				return
			}
			continue
		}
		w.mu.Lock()
		before, known := w.told[key]
		w.told[key] = id
		w.mu.Unlock()
		if known && before != id {
			w.wrong("key %s is job %d, and was job %d", key, id, before)
		}
		if again || w.intN(5) > 0 {
			return
		}
	}
}

// submitAll hands in enough jobs, spread over length, and goes on until ended. It
// keeps the queue short enough to be broken in the middle, and returns when all
// have been told.
func (w *world) submitAll(ctx context.Context, enough int, length time.Duration, ended <-chan struct{}) {
	const longest = 200
	const clients, each = 8, 3
	gap := length * clients * each / time.Duration(enough)
	next, over := 0, false
	for !over && pause(ctx, gap) {
		if n, err := w.waiting(ctx); err == nil && n <= longest {
			var all sync.WaitGroup
			for range clients {
				first := next
				next += each
				all.Go(func() {
					for n := range each {
						w.submit(ctx, first+n)
					}
				})
			}
			all.Wait()
		}
		select {
		case <-ended:
			over = next >= enough
		default:
		}
	}
}

// someJob returns a job that somebody was told of, or 0.
func (w *world) someJob() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.told) == 0 {
		return 0
	}
	// Keys are numbers from 0 without gaps but for the newest.
	return w.told[strconv.Itoa(max(0, len(w.told)-1-w.rng.IntN(min(len(w.told), 300))))]
}

// storm has staff rejudge or cancel some jobs, newer ones above all.
func (w *world) storm(ctx context.Context, what string, n int) {
	for range n {
		id := w.someJob()
		if id == 0 {
			continue
		}
		if what == "cancel" {
			w.mu.Lock()
			w.staff[id] = true
			w.mu.Unlock()
		}
		if _, err := w.ask(ctx, "/"+what, url.Values{"id": {strconv.FormatInt(id, 10)}}); err == nil {
			w.count(what + "s")
		}
	}
}

// startSet has some submissions judged again beside what they show, and now and then
// asks again, which must give the same set.
func (w *world) startSet(ctx context.Context) {
	form := url.Values{}
	for range 8 {
		if id := w.someJob(); id != 0 {
			form.Add("id", strconv.FormatInt(id, 10))
		}
	}
	if len(form) == 0 {
		return
	}
	w.mu.Lock()
	w.setKeys++
	key := "set" + strconv.Itoa(w.setKeys)
	w.mu.Unlock()
	form.Set("key", key)
	for range 1 + w.intN(3) {
		id, err := w.ask(ctx, "/set", form)
		if err != nil {
			continue // it may have begun, which the next one is told
		}
		w.mu.Lock()
		before, known := w.sets[key]
		w.sets[key] = id
		w.mu.Unlock()
		if known && before != id {
			w.wrong("the set of key %s is %d, and was %d", key, id, before)
		}
		w.count("sets")
	}
}

// resolve has staff apply or cancel sets, or does nothing with one: what is drawn for
// it from how. It is refused while judgings to be applied are under way, and where
// the set is resolved otherwise.
func (w *world) resolve(ctx context.Context, how ...string) {
	w.mu.Lock()
	sets := slices.Collect(maps.Values(w.sets))
	w.mu.Unlock()
	for _, id := range sets {
		how := how[w.intN(len(how))]
		if how == "" {
			continue
		}
		if _, err := w.ask(ctx, "/resolve", url.Values{"set": {strconv.FormatInt(id, 10)}, "how": {how}}); err == nil {
			w.count("sets to " + how)
		}
	}
}

// applySets applies every set that is still open. Nothing is under way any more, but
// for what a request began that nobody waited for.
func (w *world) applySets(ctx context.Context) {
	for before := int64(0); ; {
		sets, err := w.store.RejudgeSets(ctx, before, 0)
		if err != nil {
			w.wrong("list rejudge sets: %v", err)
		}
		if len(sets) == 0 {
			return
		}
		for _, set := range sets {
			before = set.ID
			if set.Resolution != "" {
				continue
			}
			err := w.store.ApplyRejudge(ctx, set.ID, "staff")
			if err != nil {
				w.settle(ctx, w.patience)
				err = w.store.ApplyRejudge(ctx, set.ID, "staff")
			}
			if err != nil {
				w.wrong("apply set %d: %v", set.ID, err)
			}
		}
	}
}
