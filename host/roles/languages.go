package roles

import (
	"context"
	"slices"
	"sync"
	"time"

	"deepoj/host/judge"
)

// remembered knows what an answer was that takes seconds: which languages can be judged
// on this machine, or which sources of plugins can be compiled.
type remembered struct {
	ask func(context.Context) []judge.Language

	mu    sync.Mutex
	found []judge.Language
}

// look asks, and remembers the answer.
func (r *remembered) look(ctx context.Context) []judge.Language {
	found := r.ask(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = found
	return slices.Clone(found)
}

// known returns what was found last; nothing before the first look.
func (r *remembered) known() []judge.Language {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.found)
}

// available returns the ids of what was there at the last look.
func (r *remembered) available() []string {
	ids := []string{}
	for _, l := range r.known() {
		if l.Available {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

// lookPause is how long after a look the next follows, while something is missing.
const lookPause = time.Minute

// untilComplete looks until nothing is missing, and returns when ctx is done.
func (r *remembered) untilComplete(ctx context.Context) error {
	for {
		found := r.look(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was asked to end
		}
		var again <-chan time.Time
		if slices.ContainsFunc(found, func(l judge.Language) bool { return !l.Available }) {
			again = time.After(lookPause)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		}
	}
}
