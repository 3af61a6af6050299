package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"deepoj/host/judge"
)

// compilerWatch knows which sources of plugins can be compiled on this machine. To ask
// takes seconds, so it is asked aside.
type compilerWatch struct {
	ask func(context.Context) []judge.Language

	mu    sync.Mutex
	found []judge.Language
}

// compilerPause is how long after a look the next follows, while something is missing.
const compilerPause = time.Minute

// run looks until nothing is missing, and returns when ctx is done.
func (w *compilerWatch) run(ctx context.Context) error {
	for {
		found := w.ask(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was asked to end
		}
		w.mu.Lock()
		w.found = found
		w.mu.Unlock()
		var again <-chan time.Time
		if slices.ContainsFunc(found, func(l judge.Language) bool { return !l.Available }) {
			again = time.After(compilerPause)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		}
	}
}

// known returns what was found last; nothing before the first look.
func (w *compilerWatch) known() []judge.Language {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.found)
}
