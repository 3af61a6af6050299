package site

import (
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/web/locale"
)

// TimeField is a field of a form that takes a time, by a clock whose zone stands beside it. The form sends the zone, too:
// whoever reads by another clock meanwhile means the time that they saw.
type TimeField struct {
	Name   string
	Text   string // as it was typed, or as it is
	Offset string // which of two moments is meant, where the clock shows the text twice; "" = nobody said

	clock *time.Location
}

// ZoneField is the field of a form that names the zone of its clock.
const ZoneField = "zone"

// FormClock is the clock of a form. One that names no zone is by UTC.
func FormClock(value func(string) string) (*time.Location, *judge.FieldError) {
	name := value(ZoneField)
	if name == "" {
		return time.UTC, nil
	}
	if clock := locale.Zone(name); clock != nil {
		return clock, nil
	}
	return time.UTC, WrongField(ZoneField, ReasonUnknown, "There is no time zone %q.", Shorten(name))
}

// ShowTime is the field of a time that is kept; nil is none.
func ShowTime(name string, at *time.Time, clock *time.Location) TimeField {
	f := TimeField{Name: name, clock: clock}
	if at != nil {
		f.Text = locale.FieldText(*at, clock)
		f.Offset, _ = locale.FieldOffset(at.In(clock))
	}
	return f
}

// ReadTime reads such a field; nil is none. A time that there is not, or twice, is refused, until it is said which.
func ReadTime(name string, value func(string) string, clock *time.Location) (f TimeField, at *time.Time, wrong *judge.FieldError) {
	f = TimeField{Name: name, Text: strings.TrimSpace(value(name)), Offset: value(name + "_offset"), clock: clock}
	if f.Text == "" {
		return f, nil, nil
	}
	read, err := locale.ReadField(f.Text, clock)
	switch {
	case err != nil:
		return f, nil, WrongField(name, ReasonInvalid, "The time has to be like 2030-01-31T12:00.")
	case len(read.At) == 0:
		return f, nil, WrongField(name, ReasonInvalid,
			"Clocks in %s never show this time: from %s they go on to %s. Take a time before or after.", clock.String(), read.Before(), read.After())
	case len(read.At) == 1:
		return f, new(read.At[0].UTC()), nil
	}
	var both []any
	for _, one := range read.At {
		offset, text := locale.FieldOffset(one)
		if offset == f.Offset {
			return f, new(one.UTC()), nil
		}
		both = append(both, text)
	}
	return f, nil, WrongField(name, ReasonInvalid,
		"Clocks in %s show this time twice, by %s and again by %s. Choose which is meant.", append([]any{clock.String()}, both...)...)
}

// Zone names the zone of the clock.
func (f TimeField) Zone() string { return f.clock.String() }

// TimeChoice is one of two moments that a clock shows alike.
type TimeChoice struct {
	Value, Text string // its offset, for the form and for people
	Chosen      bool
}

// Choices are the two moments that the text may mean, where the clock shows it twice.
func (f TimeField) Choices() (out []TimeChoice) {
	read, err := locale.ReadField(f.Text, f.clock)
	if err != nil || len(read.At) < 2 {
		return nil
	}
	for _, at := range read.At {
		value, text := locale.FieldOffset(at)
		out = append(out, TimeChoice{value, text, value == f.Offset})
	}
	return out
}
