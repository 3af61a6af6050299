package job

import (
	"context"
	"fmt"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// PlaceOf returns where a job stands in the queue as somebody may see it, or nil if it does not wait.
func (s *Room) PlaceOf(ctx context.Context, v site.Viewer, jobID int64, status judge.Status) (*judge.Place, error) {
	if status != judge.Pending {
		return nil, nil //nolint:nilnil // it does not wait
	}
	places, err := s.PlacesOf(ctx, v, []int64{jobID})
	if err != nil {
		return nil, err
	}
	if p, waits := places[jobID]; waits {
		return &p, nil
	}
	return nil, nil //nolint:nilnil // claimed meanwhile
}

// PlacesOf returns where those of the jobs stand in the queue that wait.
func (s *Room) PlacesOf(ctx context.Context, v site.Viewer, jobIDs []int64) (map[int64]judge.Place, error) {
	places, err := s.Store.For(v.Staff()).Places(ctx, jobIDs)
	if err != nil {
		return nil, fmt.Errorf("look up places: %w", err)
	}
	for id, p := range places {
		if p.Exact() {
			continue
		}
		n, err := s.Depth.Of(v).Read(ctx)
		if err != nil {
			return nil, fmt.Errorf("look up places: %w", err)
		}
		places[id] = p.AtMost(n)
	}
	return places, nil
}

// PlaceJSON is where a waiting job stands. Far back in a long queue the position
// is a lower bound, and only known not to be beyond PositionMax.
type PlaceJSON struct {
	Position    int64   `json:"position"`
	AtLeast     bool    `json:"at_least,omitempty"`
	PositionMax int64   `json:"position_max,omitempty"`
	ETALow      float64 `json:"eta_low_seconds"`
	ETAHigh     float64 `json:"eta_high_seconds"`
	Why         string  `json:"why,omitempty"`
	Language    string  `json:"language,omitempty"` // its name
}

// PublicPlace returns a place as the API shows it.
func PublicPlace(p judge.Place) *PlaceJSON {
	out := &PlaceJSON{Position: p.Position, ETALow: p.ETALow.Seconds(), ETAHigh: p.ETAHigh.Seconds(), Why: p.Why, Language: p.Language}
	if !p.Exact() {
		out.AtLeast, out.PositionMax = true, p.Most
	}
	return out
}

// PlaceText says where a job stands, in a word or two.
func PlaceText(p judge.Place, v site.Viewer) string {
	if p.Exact() {
		return v.Say("%dth", p.Position)
	}
	return v.Say("behind more than %d", p.Position-2)
}

// waitSentence says where a job stands and how long it is expected to wait.
func waitSentence(p judge.Place, v site.Viewer) string {
	what := ETAText(p, v)
	switch waits := whyWaiting(p, v) != ""; {
	case waits && p.Exact():
		return v.Say("%s in the queue; %s.", v.Say("%dth", p.Position), what)
	case waits:
		return v.Say("More than %d others go first; %s.", p.Position-2, what)
	case p.Exact():
		return v.Say("%s in the queue, expected %s.", v.Say("%dth", p.Position), what)
	}
	return v.Say("More than %d others go first, expected %s.", p.Position-2, what)
}

// ETAText says how long a job is expected to wait, or why it waits.
func ETAText(p judge.Place, v site.Viewer) string {
	if why := whyWaiting(p, v); why != "" {
		return why
	}
	if p.ETAHigh <= 0 {
		return v.Say("soon")
	}
	low, high := v.Locale.Span(p.ETALow), v.Locale.Span(p.ETAHigh)
	if low == high || p.ETALow <= 0 {
		return v.Say("within %s", high)
	}
	return v.Say("%s to %s", low, high)
}

// whyWaiting puts the reason of a wait into words; "" if it just waits its turn.
func whyWaiting(p judge.Place, v site.Viewer) string {
	switch p.Why {
	case "paused":
		return v.Say("the queue is paused")
	case "not_before":
		return v.Say("waits before it is tried again")
	case "group_limit":
		return v.Say("its owner's other submissions are being judged")
	case string(judge.ReasonNoLiveWorker):
		if p.Language != "" {
			return v.Say("no worker is running that has %s", p.Language)
		}
		return v.Say("no worker is running")
	case string(judge.ReasonUnfitWorkers):
		if p.Language != "" {
			return v.Say("every worker that has %s lacks something and takes no jobs until it is back", p.Language)
		}
		return v.Say("every worker lacks something and takes no jobs until it is back")
	}
	return ""
}
