package locale

import (
	"fmt"
	"html/template"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // machines without a data base of zones know them, too
)

// zoneName is how names of zones look: Asia/Shanghai, America/Argentina/Buenos_Aires, UTC.
var zoneName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)

// zones that were asked for. There are about 600; more are not kept.
var (
	zones  sync.Map
	zoneNo atomic.Int32
)

const maxZones = 1000

// Zone returns the time zone of a name of the IANA data base, such as Asia/Shanghai; nil if there is none.
func Zone(name string) *time.Location {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location)
	}
	if len(name) > 64 || !zoneName.MatchString(name) || name == "Local" {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	if zoneNo.Add(1) <= maxZones {
		zones.Store(name, zone)
	}
	return zone
}

// UsualZones are names of zones that a form suggests. Any of the data base is taken.
func UsualZones() []string {
	return []string{
		"Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi", "America/Argentina/Buenos_Aires", "America/Bogota",
		"America/Chicago", "America/Denver", "America/Halifax", "America/Los_Angeles", "America/Mexico_City", "America/New_York",
		"America/Sao_Paulo", "America/Toronto", "Asia/Bangkok", "Asia/Dhaka", "Asia/Dubai", "Asia/Ho_Chi_Minh", "Asia/Hong_Kong",
		"Asia/Jakarta", "Asia/Karachi", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Manila", "Asia/Seoul", "Asia/Shanghai",
		"Asia/Singapore", "Asia/Taipei", "Asia/Tashkent", "Asia/Tehran", "Asia/Tokyo", "Asia/Urumqi", "Asia/Yerevan",
		"Australia/Perth", "Australia/Sydney", "Europe/Athens", "Europe/Berlin", "Europe/Bucharest", "Europe/Helsinki",
		"Europe/Istanbul", "Europe/Kyiv", "Europe/Lisbon", "Europe/London", "Europe/Madrid", "Europe/Moscow", "Europe/Paris",
		"Europe/Rome", "Europe/Stockholm", "Europe/Warsaw", "Pacific/Auckland", "UTC",
	}
}

// Clock is the reader's time zone.
func (l *Locale) Clock() *time.Location {
	if l == nil || l.zone == nil {
		return time.UTC
	}
	return l.zone
}

// ClockKnown reports whether the zone is the reader's; otherwise it is UTC because nobody said another.
func (l *Locale) ClockKnown() bool { return l != nil && l.said }

// offset writes what a clock is ahead of UTC at a time.
func offset(t time.Time) string {
	_, ahead := t.Zone()
	if ahead == 0 {
		return "UTC"
	}
	sign := "+"
	if ahead < 0 {
		sign, ahead = "\u2212", -ahead
	}
	if minutes := ahead / 60 % 60; minutes != 0 {
		return fmt.Sprintf("UTC%s%d:%02d", sign, ahead/3600, minutes)
	}
	return fmt.Sprintf("UTC%s%d", sign, ahead/3600)
}

// Offset says what the reader's clock is ahead of UTC at a time: UTC+8.
func (l *Locale) Offset(t time.Time) string { return offset(t.In(l.Clock())) }

// The layouts of times are sentences, too: a catalogue may order their parts otherwise.
const (
	layoutTime = Word("2 Jan 2006 15:04:05")
	layoutDay  = Word("2 Jan 2006")
	layoutDate = Word("2 Jan")
)

// Time writes a time by the reader's clock, to the second and with its zone.
func (l *Locale) Time(t time.Time) string {
	t = t.In(l.Clock())
	return t.Format(l.Say(layoutTime)) + " " + offset(t)
}

// Day writes the day of a time.
func (l *Locale) Day(t time.Time) string { return t.In(l.Clock()).Format(l.Say(layoutDay)) }

// Date writes the day of a time without its year.
func (l *Locale) Date(t time.Time) string { return t.In(l.Clock()).Format(l.Say(layoutDate)) }

// Exactly renders a time as pages show one that matters to the second.
func (l *Locale) Exactly(t time.Time) template.HTML {
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `">` + template.HTMLEscapeString(l.Time(t)) + "</time>")
}

// Moment renders how long ago something was. Lists have dozens of these, and to a
// template each part of it is work. None of it comes from people.
func (l *Locale) Moment(t time.Time) template.HTML {
	b := append(make([]byte, 0, 160), `<time datetime="`...)
	b = t.UTC().AppendFormat(b, time.RFC3339)
	b = append(b, `" title="`...)
	b = append(b, l.Time(t)...)
	b = append(b, `">`...)
	b = append(b, l.ago(time.Since(t))...)
	return template.HTML(append(b, "</time>"...))
}

// ago writes how long ago something was.
func (l *Locale) ago(d time.Duration) string {
	switch {
	case d < 5*time.Second:
		return l.Say("just now")
	case d < time.Minute:
		return l.Say("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return l.Say("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return l.Say("%d h ago", int(d.Hours()))
	}
	return l.Say("%d days ago", int(d.Hours()/24))
}

// Span writes a waiting time for people, rounded up.
func (l *Locale) Span(d time.Duration) string {
	switch {
	case d <= time.Second:
		return l.Say("%d s", 1)
	case d < 2*time.Minute:
		return l.Say("%d s", int((d+time.Second-1)/time.Second))
	case d < 2*time.Hour:
		return l.Say("%d min", int((d+time.Minute-1)/time.Minute))
	}
	return l.Say("%d h", int((d+time.Hour-1)/time.Hour))
}
