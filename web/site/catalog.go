package site

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/locale"
)

// catalogAge is how long what workers said is believed without asking again.
const catalogAge = time.Second

// Offer is a language and whether it can be submitted in.
type Offer struct {
	judge.Language
	Reason judge.Reason    // "" = can be submitted in
	Why    locale.Sentence // for people, with Reason

	// Waits says for people what a program in the language waits for; without a key its turn.
	Waits locale.Sentence

	// Known says that a worker was able to judge it once, and Withdrawn that staff took it off the list.
	Known, Withdrawn bool

	// Builds are what live workers serve it with: one, unless their tool chains differ.
	Builds []build
}

// build is a version of a language's tool chain.
type build struct {
	Version, Compile, Run string // without Compile nothing is compiled
	Workers               int    // that serve it
}

// add counts a worker that serves the language.
func (o *Offer) add(l judge.Language) {
	run := cmp.Or(l.RunCommand, l.Command) // a worker from before tells one command
	for i, b := range o.Builds {
		if b.Version == l.Version && b.Compile == l.CompileCommand && b.Run == run {
			o.Builds[i].Workers++
			return
		}
	}
	o.Builds = append(o.Builds, build{l.Version, l.CompileCommand, run, 1})
}

// Open reports whether a program in the language is taken.
func (o Offer) Open() bool { return o.Reason == "" }

// The reasons why a language is not open, beside [judge.ReasonNoLiveWorker].
const (
	ReasonUnavailable judge.Reason = "language_unavailable" // no worker ever had its tool chain
	ReasonWithdrawn   judge.Reason = "language_withdrawn"   // staff took it off the list
)

// catalog knows which languages are offered and which live workers serve them. It
// is a cache: the database is asked at most once a second.
type catalog struct {
	store *sql.Site
	alive func(ctx context.Context) ([]judge.WorkerInfo, error) // who lives

	mu      sync.Mutex
	asked   time.Time
	err     error // of the last question
	offers  []Offer
	workers []judge.WorkerInfo
}

func newCatalog(store *sql.Site, alive func(ctx context.Context) ([]judge.WorkerInfo, error)) *catalog {
	return &catalog{store: store, alive: alive}
}

// Languages returns every language, the ones that can be submitted in and the others, by name.
func (g *catalog) Languages(ctx context.Context) ([]Offer, error) {
	offers, _, err := g.read(ctx)
	return offers, err
}

// refusalAge is how old the answer may be by which a language is refused: a worker may just have started.
const refusalAge = 50 * time.Millisecond

// Taking is languages for whoever hands in in one, which is not refused by an old answer.
func (g *catalog) Taking(ctx context.Context, language string) ([]Offer, error) {
	offers, err := g.Languages(ctx)
	if err != nil || language == "" || slices.ContainsFunc(offers, func(o Offer) bool { return o.ID == language && o.Open() }) {
		return offers, err
	}
	g.mu.Lock()
	if time.Since(g.asked) > refusalAge {
		g.asked = time.Time{}
	}
	g.mu.Unlock()
	return g.Languages(ctx)
}

// Runnable returns the languages of programs, for whoever wants to run one in a
// language; "" = all. Answers cannot be run.
func (g *catalog) Runnable(ctx context.Context, language string) ([]Offer, error) {
	offers, err := g.Taking(ctx, language)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(offers), func(o Offer) bool { return o.ID == judge.AnswerLanguage }), nil
}

// Live returns the workers that are alive.
func (g *catalog) Live(ctx context.Context) ([]judge.WorkerInfo, error) {
	_, workers, err := g.read(ctx)
	return workers, err
}

// PublicWorkers returns the workers that are alive without what only staff may
// know: the names of machines, and that they are busy with a rejudge set.
func (s *Site) PublicWorkers(ctx context.Context) ([]judge.WorkerInfo, error) {
	workers, err := s.Catalog.Live(ctx)
	if err != nil {
		return nil, err
	}
	stats, err := s.Store.For(false).QueueStats(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the queue: %w", err)
	}
	out, rest := slices.Clone(workers), int(stats.Running)
	for i := range out {
		out[i].Busy = min(out[i].Busy, rest)
		rest -= out[i].Busy
		out[i].Name = fmt.Sprintf("worker %d", i+1)
		out[i].Sandbox, out[i].UnfitWhy = "", ""
	}
	return out, nil
}

// Forget has the database asked at the next question.
func (g *catalog) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = time.Time{}
}

func (g *catalog) read(ctx context.Context) ([]Offer, []judge.WorkerInfo, error) {
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
	known, err := g.store.Languages(ctx)
	if err != nil {
		return fmt.Errorf("ask for languages: %w", err)
	}
	g.offers, g.workers = offersOf(workers, known), workers
	return nil
}

// offersOf merges what live workers serve with the list of the database: what is on
// it is open, whoever lives, and so is what a worker has that is not listed yet.
func offersOf(workers []judge.WorkerInfo, known []sql.OfferedLanguage) []Offer {
	byID := map[string]*Offer{}
	for _, l := range known {
		o := &Offer{Language: l.Language, Known: true, Withdrawn: l.Withdrawn}
		if l.Withdrawn {
			o.Reason, o.Why = ReasonWithdrawn, locale.Sentence{Key: "%s was taken off the list.", Args: []any{l.Name}}
		}
		byID[l.ID] = o
	}
	takers := map[string]bool{} // languages that a worker has that takes jobs
	for _, w := range workers {
		for _, l := range w.Languages {
			o := byID[l.ID]
			switch {
			case o == nil:
				o = &Offer{Language: l}
				byID[l.ID] = o
			case l.Available && len(o.Builds) == 0: // fresher than what is listed
				o.Language = l
			}
			if l.Available {
				o.add(l)
				takers[l.ID] = takers[l.ID] || w.Unfit == ""
			}
		}
	}
	all := make([]Offer, 0, len(byID))
	for id, o := range byID {
		switch {
		case o.Withdrawn:
		case len(o.Builds) == 0 && !o.Known:
			o.Reason, o.Why = ReasonUnavailable, sentence(o.Unavailable)
		case len(o.Builds) == 0:
			o.Waits = locale.Sentence{Key: "No worker is running that has %s; what is handed in waits for one.", Args: []any{o.Name}}
		case !takers[id]:
			o.Waits = locale.Sentence{Key: "The workers that have %s lack something and take no jobs now; what is handed in waits.", Args: []any{o.Name}}
		}
		all = append(all, *o)
	}
	slices.SortFunc(all, func(a, b Offer) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return all
}

// sentence makes what a worker says, in English, end like a sentence.
func sentence(text string) locale.Sentence {
	text = strings.TrimSpace(text)
	if text == "" {
		return locale.Sentence{Key: "Its tool chain is missing."}
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return locale.Sentence{Key: "%s", Args: []any{text}}
}
