package contest

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"deepoj/host/judge"
)

// What staff do to the time of a round. Each act returns the round as it is afterwards, or a [*judge.FieldError] that
// says how to do it instead. They keep what was promised to those who look:
//
//   - What was shown stays shown: no freeze begins in the past.
//   - What is hidden is shown by Unfreeze and ThawNow alone: a freeze that has begun keeps its moment, whatever happens
//     to the contest time at which that is.
//   - What was handed in in time stays so.
//
// Times are cut to milliseconds, which are the grain of contest time.

// changeable refuses to change the times of a round of which the result stands, or which follows its space.
func changeable(r *judge.Round) error {
	switch {
	case r.Finalized != nil:
		return judge.Wrong("finalized_at", "finalized", "The result of the round stands. Reopen it first.")
	case r.Follows:
		return judge.Wrong("follows", "follows", "The times of the round are those of its space. Change them there.")
	}
	return nil
}

// unshown refuses to change the times of a round whose hidden judgements were shown.
func unshown(r *judge.Round) error {
	if err := changeable(r); err != nil {
		return err
	}
	if r.Thawed != nil {
		return judge.Wrong("thawed_at", "thawed", "What was hidden is shown, so its time stays as it is. Make another round.")
	}
	return nil
}

// StartNow has a round begin.
func StartNow(r judge.Round, now time.Time) (judge.Round, error) {
	if err := notBegun(&r, now); err != nil {
		return r, err
	}
	r.Start, r.Paused = new(now.Truncate(time.Millisecond)), nil
	return r, nil
}

// notBegun refuses to change the start of a round that has begun.
func notBegun(r *judge.Round, now time.Time) error {
	if err := unshown(r); err != nil {
		return err
	}
	if ClockOf(r).begun(now) {
		return judge.Wrong("starts_at", "begun", "The round has begun. Remove time from it instead.")
	}
	return nil
}

// SetStart has a round begin at a time to come, or nil: at one that nobody knows yet. A countdown that was stopped ends.
func SetStart(r judge.Round, now time.Time, start *time.Time) (judge.Round, error) {
	if err := notBegun(&r, now); err != nil {
		return r, err
	}
	if start != nil {
		if start.Before(now) {
			return r, judge.Wrong("starts_at", "past", "The start is in the past. Start the round now, or later.")
		}
		start = new(start.Truncate(time.Millisecond))
	}
	r.Start, r.Paused = start, nil
	return r, nil
}

// PauseCountdown stops the countdown of a round: its start is not known until it goes on.
func PauseCountdown(r judge.Round, now time.Time) (judge.Round, error) {
	if err := notBegun(&r, now); err != nil {
		return r, err
	}
	if r.Start == nil {
		return r, judge.Wrong("starts_at", "unscheduled", "There is no countdown: the round has no start, or it is paused.")
	}
	r.Start, r.Paused = nil, new(r.Start.Sub(now).Truncate(time.Millisecond))
	return r, nil
}

// ResumeCountdown has the countdown go on with what was left.
func ResumeCountdown(r judge.Round, now time.Time) (judge.Round, error) {
	if err := notBegun(&r, now); err != nil {
		return r, err
	}
	if r.Paused == nil {
		return r, judge.Wrong("paused_ms", "not_paused", "The countdown was not paused.")
	}
	r.Start, r.Paused = new(now.Add(*r.Paused).Truncate(time.Millisecond)), nil
	return r, nil
}

// Extend has a round end later.
func Extend(r judge.Round, now time.Time, by time.Duration) (judge.Round, error) {
	switch {
	case r.Duration == nil:
		return r, judge.Wrong("by_ms", "endless", "The round has no end.")
	case by <= 0:
		return r, judge.Wrong("by_ms", "invalid", "An extension is at least a millisecond. Change the duration to end earlier.")
	case by > longest-*r.Duration:
		return r, judge.Wrong("by_ms", "invalid", "A round lasts at most %d.", longest.Milliseconds())
	}
	return SetDuration(r, now, new(*r.Duration+by))
}

// SetDuration has a round end at another contest time, not before now, or nil: never. A freeze that has not begun keeps
// its distance from the end, as far as it is not in the past then.
func SetDuration(r judge.Round, now time.Time, d *time.Duration) (judge.Round, error) {
	if err := unshown(&r); err != nil {
		return r, err
	}
	c := ClockOf(&r)
	if d != nil {
		switch {
		case *d <= 0:
			return r, judge.Wrong("duration_ms", "invalid", "A round lasts at least a second.")
		case c.begun(now) && *d < c.fresh(now) && (r.Duration == nil || *d < *r.Duration):
			return r, judge.Wrong("duration_ms", "past", "It would have ended already. The earliest is %d, which is now.", c.fresh(now).Milliseconds())
		}
	}
	if r.Freeze != nil && r.Duration != nil && d != nil && !c.frozen(now) {
		r.Freeze = new(max(*r.Freeze+*d-*r.Duration, 0))
		if c.begun(now) {
			r.Freeze = new(max(*r.Freeze, min(c.fresh(now), *d)))
		}
	}
	if r.Freeze != nil && d != nil && *r.Freeze > *d {
		r.Freeze = d
	}
	r.Duration = d
	return r, nil
}

// SetFreeze has judgements hidden from another contest time on that has not come yet, or nil: never.
func SetFreeze(r judge.Round, now time.Time, freeze *time.Duration) (judge.Round, error) {
	if err := unshown(&r); err != nil {
		return r, err
	}
	c := ClockOf(&r)
	switch {
	case c.frozen(now):
		return r, judge.Wrong("freeze_ms", "begun", "The freeze has begun. Unfreeze the round first, which shows what is hidden.")
	case freeze == nil:
	case *freeze < 0 || r.Duration != nil && *freeze > *r.Duration:
		return r, judge.Wrong("freeze_ms", "invalid", "The freeze begins between the start and the end.")
	case c.begun(now) && *freeze < c.fresh(now):
		return r, judge.Wrong("freeze_ms", "past", "The freeze would have begun already, and what was shown stays shown. Freeze the round now, or later.")
	}
	r.Freeze = freeze
	return r, nil
}

// FreezeNow hides what is judged of submissions from now on.
func FreezeNow(r judge.Round, now time.Time) (judge.Round, error) {
	if err := running(&r, now); err != nil {
		return r, err
	}
	c := ClockOf(&r)
	if c.frozen(now) {
		return r, judge.Wrong("freeze_ms", "begun", "The round is frozen.")
	}
	r.Freeze = new(c.fresh(now))
	return r, nil
}

// Unfreeze shows what is hidden while the round goes on. There is no freeze any more.
func Unfreeze(r judge.Round, now time.Time) (judge.Round, error) {
	if err := running(&r, now); err != nil {
		return r, err
	}
	if !ClockOf(&r).frozen(now) {
		return r, judge.Wrong("freeze_ms", "not_frozen", "The round is not frozen.")
	}
	r.Freeze = nil
	return r, nil
}

// running refuses what is done while a round goes on.
func running(r *judge.Round, now time.Time) error {
	if err := unshown(r); err != nil {
		return err
	}
	switch c := ClockOf(r); {
	case !c.begun(now):
		return judge.Wrong("starts_at", "not_begun", "The round has not begun. Set its freeze instead.")
	case c.over(now):
		return judge.Wrong("ends_at", "over", "The round is over. Thaw it to show what is hidden.")
	}
	return nil
}

// SetThaw plans when what is hidden will be shown, not before the end, or nil: when somebody says so.
func SetThaw(r judge.Round, now time.Time, thaw *time.Time) (judge.Round, error) {
	if err := unshown(&r); err != nil {
		return r, err
	}
	if thaw != nil && thaw.Before(now) {
		return r, judge.Wrong("thaw_at", "past", "The thaw is in the past. Thaw the round now, or later.")
	}
	r.Thaw = thaw
	return r, nil
}

// ThawNow shows what is hidden after the end, for good, also where the result stands already.
func ThawNow(r judge.Round, now time.Time) (judge.Round, error) {
	before := r
	before.Finalized = nil
	if err := unshown(&before); err != nil {
		return r, err
	}
	switch c := ClockOf(&r); {
	case !c.over(now):
		return r, judge.Wrong("ends_at", "not_over", "The round is not over. Unfreeze it to show what is hidden.")
	case r.Freeze == nil:
		return r, judge.Wrong("freeze_ms", "not_frozen", "Nothing of the round is hidden.")
	}
	r.Thawed = new(now.Truncate(time.Millisecond))
	return r, nil
}

// Remove takes an interval of the past out of the time of a round: the end moves by as much.
func Remove(r judge.Round, now, from, to time.Time, reason string) (judge.Round, error) {
	if err := unshown(&r); err != nil {
		return r, err
	}
	from, to = from.Truncate(time.Millisecond), to.Truncate(time.Millisecond)
	c := ClockOf(&r)
	frozen, end := time.Time{}, c.End()
	if c.frozen(now) {
		frozen = c.Freezes()
	}
	switch {
	case !c.begun(now) || from.Before(*r.Start):
		return r, judge.Wrong("from", "before_start", "The round had not begun then. The earliest is its start.")
	case !from.Before(to):
		return r, judge.Wrong("to", "invalid", "The interval ends before it begins.")
	case to.After(now):
		return r, judge.Wrong("to", "future", "The interval is not over. Remove what has passed, and the rest afterwards.")
	case !end.IsZero() && !from.Before(end):
		return r, judge.Wrong("from", "after_end", "The round was over then.")
	case !frozen.IsZero() && from.Before(frozen) && !to.Before(frozen):
		return r, judge.Wrong("to", "freeze", "The freeze began in that interval, and contest time stands still in it. Remove what is before the freeze, or behind its beginning.")
	}
	for _, d := range r.Removed {
		if d.Undone == nil && from.Before(d.To) && d.From.Before(to) {
			return r, judge.Wrong("from", "overlaps", "Some of that was removed already. Give that back first, or remove the rest.")
		}
	}
	r.Removed = append(slices.Clone(r.Removed), judge.RoundRemoved{From: from, To: to, Reason: reason})
	if !frozen.IsZero() {
		r.Freeze = new(ClockOf(&r).At(frozen))
	}
	return r, nil
}

// GiveBack undoes a removal. It may not end the round before now: what was handed in in time stays so.
func GiveBack(r judge.Round, now time.Time, id int64) (judge.Round, error) {
	if err := unshown(&r); err != nil {
		return r, err
	}
	i := slices.IndexFunc(r.Removed, func(d judge.RoundRemoved) bool { return d.ID == id && d.Undone == nil })
	if i < 0 {
		return r, judge.Wrong("id", "unknown", "No such interval is removed.")
	}
	was, before := r, ClockOf(&r)
	r.Removed = slices.Clone(r.Removed)
	r.Removed[i].Undone = new(now.Truncate(time.Millisecond))
	after := ClockOf(&r)
	if d := after.fresh(now); r.Duration != nil && d > *r.Duration {
		return was, judge.Wrong("id", "ends", "With that, the round would have ended already. Extend it by %d ms first.", (d - *r.Duration).Milliseconds())
	}
	switch {
	case before.frozen(now):
		r.Freeze = new(after.At(before.Freezes()))
	case r.Freeze != nil:
		r.Freeze = new(max(*r.Freeze, after.fresh(now)))
		if r.Duration != nil {
			r.Freeze = new(min(*r.Freeze, *r.Duration))
		}
	}
	return r, nil
}

// Finalize has the result of a round stand, with so many more bronze medals; nil leaves them. What is in the way is a
// [*judge.RoundOpenError], which names all of it. What a freeze hides may be shown before or after.
func Finalize(r judge.Round, now time.Time, by string, bronze *int, u judge.RoundUnsettled) (judge.Round, error) {
	if err := changeable(&r); err != nil {
		return r, err
	}
	open := judge.RoundOpenError{Running: !ClockOf(&r).over(now), RoundUnsettled: u}
	if open != (judge.RoundOpenError{}) {
		return r, &open
	}
	if bronze != nil {
		var err error
		if r.Settings, err = withB(r, *bronze); err != nil {
			return r, err
		}
	}
	r.Finalized, r.FinalizedBy = new(now.Truncate(time.Millisecond)), by
	return r, Check(&r)
}

// withB returns the settings of the format icpc with another number of further bronze medals.
func withB(r judge.Round, b int) ([]byte, error) {
	if r.Format != string(ICPC) {
		return nil, judge.Wrong("b", "invalid", "Only the format icpc has medals.")
	}
	all := map[string]json.RawMessage{}
	if len(r.Settings) > 0 {
		if err := json.Unmarshal(r.Settings, &all); err != nil {
			return nil, err
		}
	}
	all["b"] = json.RawMessage(strconv.Itoa(b))
	return json.Marshal(all)
}

// Reopen has the result of a round stand no more.
func Reopen(r judge.Round) (judge.Round, error) {
	if r.Finalized == nil {
		return r, judge.Wrong("finalized_at", "not_finalized", "The result of the round does not stand yet.")
	}
	r.Finalized, r.FinalizedBy, r.UpdatesEnd = nil, "", nil
	return r, nil
}
