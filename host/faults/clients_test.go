package faults

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
