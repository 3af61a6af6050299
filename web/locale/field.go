package locale

import (
	"slices"
	"time"
)

// How fields of forms write times, and how they do where the second is not zero.
const (
	fieldLayout  = "2006-01-02T15:04"
	fieldSeconds = "2006-01-02T15:04:05"
)

// FieldText writes a time as a field of a form does, by a clock.
func FieldText(t time.Time, clock *time.Location) string {
	if t = t.In(clock); t.Second() != 0 {
		return t.Format(fieldSeconds)
	}
	return t.Format(fieldLayout)
}

// FieldTime is what the text of a field means by a clock.
type FieldTime struct {
	// At are the moments at which the clock shows it, the earlier first: one; none, where it is skipped when the clock
	// is set; or two, where it is shown again.
	At []time.Time
	// Set is when the clock is set, where the text is skipped.
	Set time.Time
}

// setWithin is more than what clocks are set by, and less than what is between two times that they are.
const setWithin = 25 * time.Hour

// ReadField reads the text of a field. It fails where the text is no time of the calendar.
func ReadField(text string, clock *time.Location) (f FieldTime, err error) {
	layout := fieldLayout
	if len(text) > len(fieldLayout) {
		layout = fieldSeconds // browsers add seconds that are not zero
	}
	shown, err := time.Parse(layout, text) // as a clock of UTC shows it
	if err != nil {
		return f, err
	}
	var at time.Time
	for _, near := range []time.Time{shown.Add(-setWithin), shown.Add(setWithin)} {
		_, ahead := near.In(clock).Zone()
		at = shown.Add(-time.Duration(ahead) * time.Second).In(clock)
		if at.Format(layout) == text && !slices.ContainsFunc(f.At, at.Equal) {
			f.At = append(f.At, at)
		}
	}
	if len(f.At) == 0 { // by the offset that holds afterwards, it is before the clock is set
		_, f.Set = at.ZoneBounds()
	}
	slices.SortFunc(f.At, time.Time.Compare)
	return f, nil
}

// Before is what the clock shows, and by which offset, when it is about to be set.
func (f FieldTime) Before() string { return fieldMoment(f.Set.Add(-time.Nanosecond), f.Set) }

// After is what the clock shows right after that.
func (f FieldTime) After() string { return fieldMoment(f.Set, f.Set) }

// fieldMoment writes a moment by the offset that a clock has at another.
func fieldMoment(by, at time.Time) string {
	name, ahead := by.Zone()
	return at.In(time.FixedZone(name, ahead)).Format("2006-01-02 15:04") + " " + offset(by)
}

// FieldOffset names one of two moments that a clock shows alike: by what the clock is ahead of UTC.
func FieldOffset(t time.Time) (value, text string) { return t.Format("-07:00"), offset(t) }
