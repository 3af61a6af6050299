package contest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deepoj/host/judge"
)

// five is a round of five hours that began at start, frozen for the last.
func five() judge.Round {
	return judge.Round{Code: "r1", Title: "R", Kind: judge.RoundContest, Format: "icpc", Start: &start, Duration: new(5 * time.Hour), Freeze: new(4 * time.Hour)}
}

// told is what a round says of its time.
func told(r judge.Round) string {
	span := func(d *time.Duration) string {
		if d == nil {
			return "-"
		}
		return d.String()
	}
	at := func(t *time.Time) string {
		if t == nil {
			return "-"
		}
		return t.Sub(start).String()
	}
	removed := ""
	for _, d := range r.Removed {
		removed += fmt.Sprintf(" %s-%s", at(&d.From), at(&d.To))
		if d.Undone != nil {
			removed += "x"
		}
	}
	return fmt.Sprintf("start %s paused %s lasts %s freeze %s thaw %s thawed %s%s", at(r.Start), span(r.Paused), span(r.Duration), span(r.Freeze), at(r.Thaw), at(r.Thawed), removed)
}

func TestActsChangeTheTimeOfARoundOrSayWhatToDoInstead(t *testing.T) {
	type act func(r judge.Round, now time.Time) (judge.Round, error)
	with := func(changes ...func(*judge.Round)) judge.Round {
		r := five()
		for _, c := range changes {
			c(&r)
		}
		return r
	}
	soon := func(r *judge.Round) { r.Start = new(start.Add(9 * time.Hour)) }
	endless := func(r *judge.Round) { r.Duration, r.Freeze = nil, nil }
	plain := func(r *judge.Round) { r.Freeze = nil }
	unscheduled := func(r *judge.Round) { r.Start = nil }
	thawed := func(r *judge.Round) { r.Thawed = new(start.Add(5 * time.Hour)) }
	finalized := func(r *judge.Round) { r.Finalized = &start }
	follows := func(r *judge.Round) { r.Follows = true }
	less := func(from, to time.Duration) func(*judge.Round) {
		return func(r *judge.Round) {
			r.Removed = append(r.Removed, judge.RoundRemoved{ID: int64(len(r.Removed) + 1), From: start.Add(from), To: start.Add(to)})
		}
	}
	lasting := func(d time.Duration) act {
		return func(r judge.Round, now time.Time) (judge.Round, error) { return SetDuration(r, now, &d) }
	}
	freezing := func(d time.Duration) act {
		return func(r judge.Round, now time.Time) (judge.Round, error) { return SetFreeze(r, now, &d) }
	}
	extending := func(d time.Duration) act {
		return func(r judge.Round, now time.Time) (judge.Round, error) { return Extend(r, now, d) }
	}
	removing := func(from, to time.Duration) act {
		return func(r judge.Round, now time.Time) (judge.Round, error) {
			return Remove(r, now, start.Add(from), start.Add(to), "why")
		}
	}
	giving := func(id int64) act {
		return func(r judge.Round, now time.Time) (judge.Round, error) { return GiveBack(r, now, id) }
	}
	starting := func(d time.Duration) act {
		return func(r judge.Round, now time.Time) (judge.Round, error) { return SetStart(r, now, new(start.Add(d))) }
	}
	thawing := func(d time.Duration) act {
		return func(r judge.Round, now time.Time) (judge.Round, error) { return SetThaw(r, now, new(start.Add(d))) }
	}
	const h, m = time.Hour, time.Minute
	for name, tt := range map[string]struct {
		r    judge.Round
		now  time.Duration // since start
		act  act
		want string // part of what it says then, or of the refusal
	}{
		"thaw a result that stands":           {with(finalized), 6 * h, ThawNow, "thawed 6h0m0s"},
		"start":                               {with(unscheduled), h + 1, StartNow, "start 1h0m0s paused"},
		"start before the time":               {with(soon), h, StartNow, "start 1h0m0s"},
		"start a running one":                 {with(), h, StartNow, "Remove time"},
		"set the start":                       {with(soon), h, starting(2 * h), "start 2h0m0s"},
		"set the start into the past":         {with(soon), h, starting(m), "in the past"},
		"set the start of a running one":      {with(), h, starting(2 * h), "Remove time"},
		"forget the start":                    {with(soon), h, func(r judge.Round, now time.Time) (judge.Round, error) { return SetStart(r, now, nil) }, "start -"},
		"pause":                               {with(soon), h, PauseCountdown, "start - paused 8h0m0s"},
		"pause without a start":               {with(unscheduled), h, PauseCountdown, "no countdown"},
		"pause a running one":                 {with(), h, PauseCountdown, "has begun"},
		"resume":                              {with(unscheduled, func(r *judge.Round) { r.Paused = new(8 * h) }), h, ResumeCountdown, "start 9h0m0s paused -"},
		"resume what was not paused":          {with(soon), h, ResumeCountdown, "not paused"},
		"extend":                              {with(), h, extending(h), "lasts 6h0m0s freeze 5h0m0s"},
		"extend in the freeze":                {with(), 4*h + m, extending(h), "lasts 6h0m0s freeze 4h0m0s"},
		"extend by nothing":                   {with(), h, extending(0), "at least"},
		"extend for ever":                     {with(), h, extending(1<<63 - 1), "at most 36000000000"},
		"extend what has no end":              {with(endless), h, extending(h), "no end"},
		"shorten":                             {with(), h, lasting(4 * h), "lasts 4h0m0s freeze 3h0m0s"},
		"shorten beyond the freeze":           {with(), 3*h + 30*m, lasting(4 * h), "lasts 4h0m0s freeze 3h30m0s"},
		"shorten into the past":               {with(), 3 * h, lasting(2 * h), "earliest is 10800000"},
		"end now":                             {with(), 3 * h, lasting(3 * h), "lasts 3h0m0s freeze 3h0m0s"},
		"shorten in the freeze":               {with(), 4*h + 10*m, lasting(4*h + 20*m), "lasts 4h20m0s freeze 4h0m0s"},
		"without an end":                      {with(plain), h, func(r judge.Round, now time.Time) (judge.Round, error) { return SetDuration(r, now, nil) }, "lasts - freeze -"},
		"no duration":                         {with(), h, lasting(0), "at least a second"},
		"go on after the end":                 {with(), 6 * h, lasting(7 * h), "lasts 7h0m0s freeze 4h0m0s"},
		"freeze earlier":                      {with(), h, freezing(2 * h), "freeze 2h0m0s"},
		"freeze in the past":                  {with(), 3 * h, freezing(2 * h), "would have begun"},
		"freeze behind the end":               {with(), h, freezing(6 * h), "between the start and the end"},
		"freeze later when it has begun":      {with(), 4*h + m, freezing(4*h + 2*m), "Unfreeze"},
		"no freeze when it has begun":         {with(), 4*h + m, func(r judge.Round, now time.Time) (judge.Round, error) { return SetFreeze(r, now, nil) }, "Unfreeze"},
		"freeze from the beginning":           {with(soon), h, freezing(0), "freeze 0s"},
		"freeze now":                          {with(), 2 * h, FreezeNow, "freeze 2h0m0s"},
		"freeze now where time stood still":   {with(less(h, 2*h)), 2 * h, FreezeNow, "freeze 1h0m0.001s"},
		"freeze now twice":                    {with(), 4*h + m, FreezeNow, "is frozen"},
		"freeze before the start":             {with(soon), h, FreezeNow, "has not begun"},
		"freeze after the end":                {with(), 6 * h, FreezeNow, "is over"},
		"unfreeze":                            {with(), 4*h + m, Unfreeze, "freeze -"},
		"unfreeze what is not frozen":         {with(), h, Unfreeze, "not frozen"},
		"unfreeze after the end":              {with(), 6 * h, Unfreeze, "Thaw it"},
		"plan the thaw":                       {with(), h, thawing(6 * h), "thaw 6h0m0s"},
		"plan the thaw in the past":           {with(), 7 * h, thawing(6 * h), "in the past"},
		"thaw":                                {with(), 6 * h, ThawNow, "thawed 6h0m0s"},
		"thaw too early":                      {with(), 4*h + m, ThawNow, "not over"},
		"thaw nothing":                        {with(plain), 6 * h, ThawNow, "Nothing"},
		"thaw twice":                          {with(thawed), 6 * h, ThawNow, "is shown"},
		"extend after the thaw":               {with(thawed), 6 * h, extending(h), "another round"},
		"change a result":                     {with(finalized), h, extending(h), "Reopen"},
		"change one that follows":             {with(follows), h, extending(h), "those of its space"},
		"remove":                              {with(), 2 * h, removing(h, h+30*m), "freeze 4h0m0s thaw - thawed - 1h0m0s-1h30m0s"},
		"remove before the freeze, in it":     {with(), 4*h + 30*m, removing(h, h+30*m), "freeze 3h30m0s"},
		"remove in the freeze":                {with(), 4*h + 30*m, removing(4*h, 4*h+10*m), "freeze 4h0m0s"},
		"remove the beginning of the freeze":  {with(), 4*h + 30*m, removing(3*h, 4*h), "freeze began"},
		"remove what is to come":              {with(), h, removing(m, 2*h), "not over"},
		"remove before the start":             {with(), h, removing(-m, m), "had not begun"},
		"remove behind the end":               {with(), 7 * h, removing(6*h, 7*h), "was over"},
		"remove nothing":                      {with(), h, removing(m, m), "before it begins"},
		"remove twice":                        {with(less(h, 2*h)), 3 * h, removing(h+30*m, 2*h+m), "removed already"},
		"remove beside":                       {with(less(h, 2*h)), 3 * h, removing(2*h, 2*h+m), "1h0m0s-2h0m0s 2h0m0s-2h1m0s"},
		"give back":                           {with(less(h, 2*h)), 3 * h, giving(1), "freeze 4h0m0s thaw - thawed - 1h0m0s-2h0m0sx"},
		"give back so that it would be over":  {with(less(h, 2*h)), 5*h + 30*m, giving(1), "Extend it by 1800000 ms"},
		"give back so that it would freeze":   {with(less(h, 2*h)), 4*h + 30*m, giving(1), "freeze 4h30m0s"},
		"give back when it is frozen":         {with(less(h, 2*h), func(r *judge.Round) { r.Freeze = new(2 * h) }), 3*h + m, giving(1), "freeze 3h0m0s"},
		"give back what was not removed":      {with(less(h, 2*h)), 3 * h, giving(2), "No such interval"},
		"give back what was given back":       {with(less(h, 2*h), func(r *judge.Round) { r.Removed[0].Undone = &start }), 3 * h, giving(1), "No such interval"},
		"remove again what was given back":    {with(less(h, 2*h), func(r *judge.Round) { r.Removed[0].Undone = &start }), 3 * h, removing(h, 2*h), "x 1h0m0s-2h0m0s"},
		"freeze at the end when it is longer": {with(func(r *judge.Round) { r.Freeze = new(5 * h) }), h, extending(h), "freeze 6h0m0s"},
	} {
		before := told(tt.r)
		after, err := tt.act(tt.r, start.Add(tt.now))
		got := told(after)
		if e, ok := errors.AsType[*judge.FieldError](err); ok {
			got = e.Remedy
			if e.Field == "" || e.Reason == "" || told(after) != before {
				t.Errorf("%s: refused with %+v, and it is %s", name, e, told(after))
			}
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if told(tt.r) != before {
			t.Errorf("%s changed what it was given", name)
		}
	}
}

func TestAPhaseFollowsTheOther(t *testing.T) {
	r := five()
	for d, want := range map[time.Duration]Phase{-time.Second: Before, 0: Running, 4*time.Hour - 1: Running, 4 * time.Hour: Frozen, 5*time.Hour - 1: Frozen, 5 * time.Hour: Over} {
		if got := PhaseOf(&r, start.Add(d)); got != want {
			t.Errorf("%s after the start it is %s, want %s", d, got, want)
		}
	}
	r.Thawed = &start
	if got := PhaseOf(&r, start.Add(4*time.Hour)); got != Running {
		t.Errorf("thawed, it is %s", got)
	}
	r.Start = nil
	if got := PhaseOf(&r, start); got != Unscheduled {
		t.Errorf("without a start it is %s", got)
	}
	r.Paused = new(time.Minute)
	if got := PhaseOf(&r, start); got != Paused {
		t.Errorf("paused, it is %s", got)
	}
}

func TestWhatMakesNoSenseOfARoundIsNamed(t *testing.T) {
	for field, change := range map[string]func(*judge.Round){
		"code":        func(r *judge.Round) { r.Code = "x." },
		"title":       func(r *judge.Round) { r.Title = "a\nb" },
		"formal_name": func(r *judge.Round) { r.FormalName = strings.Repeat("x", 201) },
		"kind":        func(r *judge.Round) { r.Kind = "party" },
		"format":      func(r *judge.Round) { r.Format = "chess" },
		"settings":    func(r *judge.Round) { r.Settings = []byte(`{"penalty": 1}`) },
		"duration_ms": func(r *judge.Round) { r.Duration = new(time.Millisecond) },
		"freeze_ms":   func(r *judge.Round) { r.Freeze = new(6 * time.Hour) },
		"thaw_at":     func(r *judge.Round) { r.Thaw = new(start.Add(4 * time.Hour)) },
	} {
		r := five()
		if err := Check(&r); err != nil {
			t.Fatal(err)
		}
		change(&r)
		if e, ok := errors.AsType[*judge.FieldError](Check(&r)); !ok || e.Field != field || e.Remedy == "" {
			t.Errorf("%s: refused with %v", field, e)
		}
	}
}

// TestNoActShowsWhatIsHiddenOrHidesWhatWasShown tries acts in any order, at any time, between submissions.
func TestNoActShowsWhatIsHiddenOrHidesWhatWasShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := five()
		now := start.Add(-time.Hour)
		if rapid.Bool().Draw(t, "no freeze") {
			r.Freeze = nil
		}
		var handed []time.Time // officially
		hidden := func(r *judge.Round, at time.Time) bool {
			c := ClockOf(r)
			return c.c.frozen(c.At(at))
		}
		span := func(name string) time.Duration {
			return time.Duration(rapid.IntRange(1, 400).Draw(t, name)) * time.Minute
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(span("later") / 4)
			c := ClockOf(&r)
			if c.begun(now) && !c.over(now) {
				handed = append(handed, now)
			}
			now = now.Add(time.Duration(rapid.IntRange(1, 90_000).Draw(t, "then")) * time.Millisecond)
			before := r
			var after judge.Round
			var err error
			name := rapid.SampledFrom([]string{"start", "extend", "last", "freeze", "freeze now", "unfreeze", "thaw", "remove", "give back"}).Draw(t, "act")
			switch name {
			case "start":
				after, err = StartNow(r, now)
			case "extend":
				after, err = Extend(r, now, span("by"))
			case "last":
				after, err = SetDuration(r, now, new(span("duration")))
			case "freeze":
				after, err = SetFreeze(r, now, new(span("freeze")))
			case "freeze now":
				after, err = FreezeNow(r, now)
			case "unfreeze":
				after, err = Unfreeze(r, now)
			case "thaw":
				after, err = ThawNow(r, now)
			case "remove":
				from := now.Add(-span("before"))
				after, err = Remove(r, now, from, from.Add(span("long")), "")
			case "give back":
				after, err = GiveBack(r, now, int64(rapid.IntRange(1, 5).Draw(t, "id")))
			}
			if err != nil {
				if told(after) != told(before) {
					t.Fatalf("%s was refused, and changed %s to %s", name, told(before), told(after))
				}
				continue
			}
			for i := range after.Removed {
				after.Removed[i].ID = int64(i + 1)
			}
			for _, at := range handed {
				was, is := hidden(&before, at), hidden(&after, at)
				if was != is && name != "unfreeze" && name != "thaw" {
					t.Fatalf("%s: of %s, what was handed in at %s was hidden: %t, is: %t; %s", name, told(before), at.Sub(start), was, is, told(after))
				}
				if is && (name == "unfreeze" || name == "thaw") {
					t.Fatalf("%s hides what was handed in at %s: %s", name, at.Sub(start), told(after))
				}
				if c := ClockOf(&after); !c.c.official(c.At(at)) {
					t.Fatalf("%s: of %s, what was handed in at %s is late: %s", name, told(before), at.Sub(start), told(after))
				}
			}
			if e := Check(&after); e != nil {
				t.Fatalf("%s makes of %s a round that cannot be: %v", name, told(before), e)
			}
			r = after
		}
	})
}

func TestAResultStandsWhenNothingIsInTheWay(t *testing.T) {
	over := start.Add(6 * time.Hour)
	for name, tt := range map[string]struct {
		now  time.Time
		u    judge.RoundUnsettled
		want judge.RoundOpenError
	}{
		"it goes on":      {start.Add(time.Hour), judge.RoundUnsettled{}, judge.RoundOpenError{Running: true}},
		"all at once":     {start.Add(time.Hour), judge.RoundUnsettled{Unjudged: 1, Errors: 2, InSets: 3}, judge.RoundOpenError{Running: true, RoundUnsettled: judge.RoundUnsettled{Unjudged: 1, Errors: 2, InSets: 3}}},
		"judging errors":  {over, judge.RoundUnsettled{Errors: 2}, judge.RoundOpenError{RoundUnsettled: judge.RoundUnsettled{Errors: 2}}},
		"nothing is open": {over, judge.RoundUnsettled{}, judge.RoundOpenError{}},
	} {
		r := five()
		r.Title, r.Code, r.Kind, r.Format = "T", "day1", judge.RoundContest, "icpc"
		r.Settings = []byte(`{"penalty_minutes": 10}`)
		got, err := Finalize(r, tt.now, "prof", new(3), tt.u)
		open, refused := errors.AsType[*judge.RoundOpenError](err)
		if refused != (tt.want != judge.RoundOpenError{}) || refused && *open != tt.want {
			t.Errorf("%s: %v, %+v", name, err, open)
		}
		if refused {
			continue
		}
		if err != nil || got.Finalized == nil || got.FinalizedBy != "prof" || string(got.Settings) != `{"b":3,"penalty_minutes":10}` {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if _, err := Finalize(got, tt.now, "prof", nil, tt.u); err == nil {
			t.Error("a result stands twice")
		}
		if got, err = Reopen(got); err != nil || got.Finalized != nil || got.FinalizedBy != "" {
			t.Errorf("reopened: %+v, %v", got, err)
		}
		if _, err := Reopen(got); err == nil {
			t.Error("what does not stand was reopened")
		}
	}
	r := five()
	r.Format = "ioi"
	if _, err := Finalize(r, over, "prof", new(1), judge.RoundUnsettled{}); err == nil {
		t.Error("the format ioi got medals")
	}
}

// The moment of a contest time is the first at which it is that, at any speed and with any time taken out, as finely as the database
// keeps moments.
func TestTheMomentOfAContestTimeIsTheFirstOfIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := time.Date(2030, 2, 14, 9, 0, 0, 0, time.UTC)
		r := judge.Round{Start: &start, Speed: rapid.IntRange(0, 1000).Draw(t, "speed")}
		at := start
		for range rapid.IntRange(0, 3).Draw(t, "removed") {
			from := at.Add(time.Duration(rapid.IntRange(1, 1e7).Draw(t, "before")) * time.Millisecond)
			at = from.Add(time.Duration(rapid.IntRange(1, 1e7).Draw(t, "long")) * time.Millisecond)
			r.Removed = append(r.Removed, judge.RoundRemoved{From: from, To: at})
		}
		c := ClockOf(&r)
		d := time.Duration(rapid.IntRange(1, 1e8).Draw(t, "ms")) * time.Millisecond
		when := c.When(d)
		if got := c.At(when); got != d || !when.Equal(when.Truncate(time.Microsecond)) {
			t.Fatalf("at %v, the moment of %v, it is %v", when, d, got)
		}
		if got := c.At(when.Add(-time.Microsecond)); got >= d {
			t.Fatalf("a microsecond before the moment of %v it is %v", d, got)
		}
	})
}
