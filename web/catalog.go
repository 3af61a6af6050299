package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
)

const (
	catalogAge = time.Second          // how long what workers said is believed without asking again
	longAgo    = 365 * 24 * time.Hour // how far back a language is remembered that nobody serves now
)

// offer is a language and whether it can be submitted in now.
type offer struct {
	judge.Language
	Reason judge.Reason // "" = can be submitted in
	Why    string       // for people, with Reason

	// Builds are what live workers serve it with: one, unless their tool chains
	// differ.
	Builds []build
}

// build is a version of a language's tool chain.
type build struct {
	Version, Command string
	Workers          int // that serve it
}

// add counts a worker that serves the language.
func (o *offer) add(l judge.Language) {
	for i, b := range o.Builds {
		if b.Version == l.Version && b.Command == l.Command {
			o.Builds[i].Workers++
			return
		}
	}
	o.Builds = append(o.Builds, build{l.Version, l.Command, 1})
}

// Open reports whether a program in the language can be submitted now.
func (o offer) Open() bool { return o.Reason == "" }

// reasonUnavailable is the reason of a language whose tool chain is missing.
const reasonUnavailable judge.Reason = "language_unavailable"

// catalog knows which languages live workers serve. It is a cache: the database
// is asked at most once a second.
type catalog struct {
	store *sql.Store
	alive func(ctx context.Context) ([]judge.WorkerInfo, error) // who lives

	mu      sync.Mutex
	asked   time.Time
	err     error // of the last question
	offers  []offer
	workers []judge.WorkerInfo
	known   map[string]judge.Language // every language ever seen by this process
}

func newCatalog(store *sql.Store, alive func(ctx context.Context) ([]judge.WorkerInfo, error)) *catalog {
	return &catalog{store: store, alive: alive, known: map[string]judge.Language{}}
}

// languages returns every language, the ones that can be submitted in and the
// others, by name.
func (g *catalog) languages(ctx context.Context) ([]offer, error) {
	offers, _, err := g.read(ctx)
	return offers, err
}

// live returns the workers that are alive.
func (g *catalog) live(ctx context.Context) ([]judge.WorkerInfo, error) {
	_, workers, err := g.read(ctx)
	return workers, err
}

func (g *catalog) read(ctx context.Context) ([]offer, []judge.WorkerInfo, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.asked.IsZero() && time.Since(g.asked) < catalogAge {
		return g.offers, g.workers, g.err
	}
	g.err = g.ask(ctx)
	g.asked = time.Now() // a failure is believed as long: those who waited for the lock must not each wait for the database
	return g.offers, g.workers, g.err
}

// ask must be called with the lock held.
func (g *catalog) ask(ctx context.Context) error {
	workers, err := g.alive(ctx)
	if err != nil {
		return fmt.Errorf("ask for live workers: %w", err)
	}
	past, err := g.store.Workers(ctx, longAgo)
	if err != nil {
		return fmt.Errorf("ask for workers: %w", err)
	}
	for _, w := range past {
		for _, l := range w.Languages {
			if _, seen := g.known[l.ID]; !seen || l.Available {
				g.known[l.ID] = l
			}
		}
	}
	g.offers, g.workers = offersOf(workers, g.known), workers
	return nil
}

// offersOf merges what live workers serve with what is known from before: a
// language is open if one live worker serves it.
func offersOf(workers []judge.WorkerInfo, known map[string]judge.Language) []offer {
	byID := map[string]offer{}
	for id, l := range known {
		byID[id] = offer{Language: l, Reason: judge.ReasonNoLiveWorker, Why: "No running worker serves " + l.Name + "."}
	}
	for _, w := range workers {
		for _, l := range w.Languages {
			if before, seen := byID[l.ID]; seen && before.Open() {
				if l.Available {
					before.add(l)
					byID[l.ID] = before
				}
				continue
			}
			o := offer{Language: l}
			if !l.Available {
				o.Reason, o.Why = reasonUnavailable, sentence(l.Unavailable)
			} else {
				o.add(l)
			}
			byID[l.ID] = o
		}
	}
	return slices.SortedFunc(maps.Values(byID), func(a, b offer) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
}

// sentence makes a message end like a sentence.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return "Its tool chain is missing."
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
