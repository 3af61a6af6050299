package web

import (
	"context"
	"fmt"
	"sync"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
)

const (
	depthAge = 10 * time.Second // how long a count of the whole queue is believed
	flowAge  = 15 * time.Second // how long what came and went in an hour is
)

// kept is an answer that serves everybody for a while, because the question costs
// more than most: as much as the queue is long.
type kept[T any] struct {
	ask func(context.Context) (T, error)
	age time.Duration

	mu     sync.Mutex
	asked  time.Time
	answer T
	err    error // of the last question
}

func (k *kept[T]) read(ctx context.Context) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked.IsZero() || time.Since(k.asked) >= k.age || k.err != nil {
		k.answer, k.err = k.ask(ctx)
		k.asked = time.Now()
	}
	return k.answer, k.err
}

// keptTwice is an answer for staff and one for everybody else.
type keptTwice[T any] struct{ staff, others kept[T] }

func (k *keptTwice[T]) of(v viewer) *kept[T] {
	if v.Staff() {
		return &k.staff
	}
	return &k.others
}

// keepTwice keeps what readers of both kinds answer.
func keepTwice[T any](store *sql.Store, ask func(sql.Reader, context.Context) (T, error), age time.Duration) *keptTwice[T] {
	k := &keptTwice[T]{}
	for staff, one := range map[bool]*kept[T]{true: &k.staff, false: &k.others} {
		one.age, one.ask = age, func(ctx context.Context) (T, error) { return ask(store.For(staff), ctx) }
	}
	return k
}

// placeOf returns where a job stands in the queue as somebody may see it, or nil if
// it does not wait.
func (s *Server) placeOf(ctx context.Context, v viewer, jobID int64, status judge.Status) (*judge.Place, error) {
	if status != judge.Pending {
		return nil, nil //nolint:nilnil // it does not wait
	}
	places, err := s.placesOf(ctx, v, []int64{jobID})
	if err != nil {
		return nil, err
	}
	if p, waits := places[jobID]; waits {
		return &p, nil
	}
	return nil, nil //nolint:nilnil // claimed meanwhile
}

// placesOf returns where those of the jobs stand in the queue that wait.
func (s *Server) placesOf(ctx context.Context, v viewer, jobIDs []int64) (map[int64]judge.Place, error) {
	places, err := s.store.For(v.Staff()).Places(ctx, jobIDs)
	if err != nil {
		return nil, fmt.Errorf("look up places: %w", err)
	}
	for id, p := range places {
		if p.Exact() {
			continue
		}
		n, err := s.depth.of(v).read(ctx)
		if err != nil {
			return nil, fmt.Errorf("look up places: %w", err)
		}
		places[id] = p.AtMost(n)
	}
	return places, nil
}

// placeJSON is where a waiting job stands. Far back in a long queue the position
// is a lower bound, and only known not to be beyond PositionMax.
type placeJSON struct {
	Position    int64   `json:"position"`
	AtLeast     bool    `json:"at_least,omitempty"`
	PositionMax int64   `json:"position_max,omitempty"`
	ETALow      float64 `json:"eta_low_seconds"`
	ETAHigh     float64 `json:"eta_high_seconds"`
	Why         string  `json:"why,omitempty"`
	Language    string  `json:"language,omitempty"` // its name
}

func publicPlace(p judge.Place) *placeJSON {
	out := &placeJSON{Position: p.Position, ETALow: p.ETALow.Seconds(), ETAHigh: p.ETAHigh.Seconds(), Why: p.Why, Language: p.Language}
	if !p.Exact() {
		out.AtLeast, out.PositionMax = true, p.Most
	}
	return out
}

// placeText says where a job stands, in a word or two.
func placeText(p judge.Place) string {
	if p.Exact() {
		return ordinal(p.Position)
	}
	return "behind more than " + fmt.Sprint(p.Position-2)
}

// waitSentence says where a job stands and how long it is expected to wait.
func waitSentence(p judge.Place) string {
	where := ordinal(p.Position) + " in the queue"
	if !p.Exact() {
		where = fmt.Sprintf("More than %d others go first", p.Position-2)
	}
	if why := whyWaiting(p); why != "" {
		return where + "; " + why + "."
	}
	return where + ", expected " + etaText(p) + "."
}

// etaText says how long a job is expected to wait, or why it waits.
func etaText(p judge.Place) string {
	if why := whyWaiting(p); why != "" {
		return why
	}
	if p.ETAHigh <= 0 {
		return "soon"
	}
	low, high := waitText(p.ETALow), waitText(p.ETAHigh)
	if low == high || p.ETALow <= 0 {
		return "within " + high
	}
	return low + " to " + high
}

// whyWaiting puts the reason of a wait into words; "" if it just waits its turn.
func whyWaiting(p judge.Place) string {
	having := ""
	if p.Language != "" {
		having = " that has " + p.Language
	}
	switch p.Why {
	case "paused":
		return "the queue is paused"
	case "not_before":
		return "waits before it is tried again"
	case "group_limit":
		return "its owner's other submissions are being judged"
	case string(judge.ReasonNoLiveWorker):
		return "no worker is running" + having
	case string(judge.ReasonUnfitWorkers):
		return "every worker" + having + " lacks something and takes no jobs until it is back"
	}
	return ""
}
