package rounds

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/web/site"
)

// settings are the fields of the settings of a round.
var settings = []string{"title", "formal_name", "kind", "format", "settings", "starts_at", "duration_ms", "freeze_ms", "thaw_at", "public_runs", "practice"}

// mostMillis bounds a duration, so that it fits into one.
const mostMillis = 1 << 42

// read changes all settings of a round that has no past to those that the JSON names.
func read(f *site.Fields, r *judge.Round) {
	readPlain(f, r)
	f.Moment("starts_at", &r.Start)
	if _, there := f.Raw["duration_ms"]; there {
		r.Duration = span(f, "duration_ms")
	}
	if _, there := f.Raw["freeze_ms"]; there {
		r.Freeze = span(f, "freeze_ms")
	}
	f.Moment("thaw_at", &r.Thaw)
}

// readPlain changes the settings that have nothing to do with time.
func readPlain(f *site.Fields, r *judge.Round) {
	if f.Has("title") {
		r.Title = f.Text("title")
	}
	if f.Has("formal_name") {
		r.FormalName = f.Text("formal_name")
	}
	if f.Has("kind") {
		r.Kind = judge.RoundKind(f.Text("kind"))
	}
	if f.Has("format") {
		r.Format = f.Text("format")
	}
	if f.Has("settings") {
		if site.KindOf(f.Raw["settings"]) != "an object" {
			f.Wrong.Add(site.WrongField("settings", site.ReasonWrong, "The field has to be %s, not %s.", "an object", site.KindOf(f.Raw["settings"])))
		}
		r.Settings = json.RawMessage(bytes.Clone(f.Raw["settings"]))
	}
	f.Value("public_runs", "a truth value", &r.PublicRuns)
	f.Value("practice", "a truth value", &r.Practice)
}

// update changes what the JSON names of a round: times by the acts for them, which look at what was shown.
func update(f *site.Fields, r judge.Round) (judge.Round, error) {
	wrong := slices.Clone(f.Wrong)
	defer func() { f.Wrong = wrong }()
	readPlain(f, &r)
	start, thaw := r.Start, r.Thaw
	f.Moment("starts_at", &start)
	f.Moment("thaw_at", &thaw)
	duration, freeze := r.Duration, r.Freeze
	if _, there := f.Raw["duration_ms"]; there {
		duration = span(f, "duration_ms")
	}
	if _, there := f.Raw["freeze_ms"]; there {
		freeze = span(f, "freeze_ms")
	}
	if err := f.Wrong.Err(); err != nil {
		return r, err
	}
	var err error
	step := func(differs bool, act func() (judge.Round, error)) {
		if err == nil && differs {
			r, err = act()
		}
	}
	_, frozen := f.Raw["freeze_ms"]
	step(!sameTime(start, r.Start), func() (judge.Round, error) { return contest.SetStart(r, r.Now, start) })
	// Another end moves the freeze along, unless that is said, too: then it is out of the way until the end is known.
	if frozen && !sameSpan(duration, r.Duration) && contest.ClockOf(&r).Frozen(r.Now) == nil {
		step(r.Freeze != nil, func() (judge.Round, error) { return contest.SetFreeze(r, r.Now, nil) })
	}
	step(!sameSpan(duration, r.Duration), func() (judge.Round, error) { return contest.SetDuration(r, r.Now, duration) })
	step(frozen && !sameSpan(freeze, r.Freeze), func() (judge.Round, error) { return contest.SetFreeze(r, r.Now, freeze) })
	step(!sameTime(thaw, r.Thaw), func() (judge.Round, error) { return contest.SetThaw(r, r.Now, thaw) })
	if err == nil {
		err = contest.Check(&r)
	}
	return r, err
}

func sameTime(a, b *time.Time) bool { return (a == nil) == (b == nil) && (a == nil || a.Equal(*b)) }

func sameSpan(a, b *time.Duration) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// span reads a duration in milliseconds; nil where it is null or missing.
func span(f *site.Fields, name string) *time.Duration {
	if !f.Has(name) {
		return nil
	}
	var ms int64
	before := len(f.Wrong)
	f.Value(name, "a whole number", &ms)
	if len(f.Wrong) > before {
		return nil
	}
	if ms < -mostMillis || ms > mostMillis {
		f.Wrong.Add(site.WrongField(name, site.ReasonInvalid, "So many milliseconds are more than a hundred years."))
		return nil
	}
	return new(time.Duration(ms) * time.Millisecond)
}
