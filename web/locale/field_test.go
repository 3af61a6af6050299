package locale

import (
	"strings"
	"testing"
	"time"
)

func TestATimeOfAFormIsOneMomentOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		zone, text string
		want       string // the moments, by UTC
		set        string // where there is none: what the clock shows before it is set, and after
	}{
		{"Asia/Shanghai", "2026-11-23T13:36", "2026-11-23T05:36:00Z", ""},
		{"Asia/Shanghai", "2026-11-23T13:36:07", "2026-11-23T05:36:07Z", ""},
		{"Asia/Shanghai", "2026-03-29T02:30", "2026-03-28T18:30:00Z", ""}, // whose clocks are not set any more
		{"UTC", "2026-03-29T02:30", "2026-03-29T02:30:00Z", ""},
		{"UTC", "9999-12-31T23:59", "9999-12-31T23:59:00Z", ""},

		{"Europe/Berlin", "2026-03-29T01:59", "2026-03-29T00:59:00Z", ""},
		{"Europe/Berlin", "2026-03-29T02:00", "", "2026-03-29 02:00 UTC+1, 2026-03-29 03:00 UTC+2"},
		{"Europe/Berlin", "2026-03-29T02:59", "", "2026-03-29 02:00 UTC+1, 2026-03-29 03:00 UTC+2"},
		{"Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00:00Z", ""},
		{"Europe/Berlin", "2026-10-25T01:59", "2026-10-24T23:59:00Z", ""},
		{"Europe/Berlin", "2026-10-25T02:00", "2026-10-25T00:00:00Z 2026-10-25T01:00:00Z", ""},
		{"Europe/Berlin", "2026-10-25T02:59:59", "2026-10-25T00:59:59Z 2026-10-25T01:59:59Z", ""},
		{"Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00:00Z", ""},

		{"America/New_York", "2027-03-14T02:30", "", "2027-03-14 02:00 UTC−5, 2027-03-14 03:00 UTC−4"},
		{"America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00Z 2026-11-01T06:30:00Z", ""},
		{"America/New_York", "2026-11-01T00:30", "2026-11-01T04:30:00Z", ""},

		// The clocks of this island are set by half an hour.
		{"Australia/Lord_Howe", "2026-10-04T02:15", "", "2026-10-04 02:00 UTC+10:30, 2026-10-04 02:30 UTC+11"},
		{"Australia/Lord_Howe", "2026-10-04T02:45", "2026-10-03T15:45:00Z", ""},
		{"Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45:00Z 2026-04-04T15:15:00Z", ""},
		{"Australia/Lord_Howe", "2026-04-05T01:15", "2026-04-04T14:15:00Z", ""},

		// This one had no 30 December.
		{"Pacific/Apia", "2011-12-30T12:00", "", "2011-12-30 00:00 UTC−10, 2011-12-31 00:00 UTC+14"},
		{"Pacific/Apia", "2011-12-29T12:00", "2011-12-29T22:00:00Z", ""},
		{"Pacific/Apia", "2011-12-31T12:00", "2011-12-30T22:00:00Z", ""},
	} {
		f, err := ReadField(tt.text, Zone(tt.zone))
		if err != nil {
			t.Errorf("%s in %s: %v", tt.text, tt.zone, err)
			continue
		}
		var got []string
		for _, at := range f.At {
			got = append(got, at.UTC().Format(time.RFC3339))
			if back := FieldText(at, Zone(tt.zone)); back != tt.text {
				t.Errorf("%s in %s is written as %s", tt.text, tt.zone, back)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s in %s is %s, want %s", tt.text, tt.zone, got, tt.want)
		}
		if tt.want != "" {
			continue
		}
		if set := f.Before() + ", " + f.After(); set != tt.set {
			t.Errorf("for %s the clock of %s is set from %s, want %s", tt.text, tt.zone, set, tt.set)
		}
	}
	for _, text := range []string{"2026-13-01T00:00", "2026-02-30T00:00", "tomorrow", "", "2026-11-23T13:36Z", "2026-11-23 13:36"} {
		if f, err := ReadField(text, time.UTC); err == nil {
			t.Errorf("%q is the time %v", text, f.At)
		}
	}
}

// FuzzField reads what it wrote of every moment by every clock.
func FuzzField(f *testing.F) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai", "UTC", "Pacific/Apia", "Africa/Casablanca"} {
		for _, at := range []string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-11-01T06:30:01Z", "2026-04-04T15:15:00Z", "2011-12-30T10:00:00Z"} {
			moment, _ := time.Parse(time.RFC3339, at)
			f.Add(moment.Unix(), zone)
		}
	}
	f.Fuzz(func(t *testing.T, seconds int64, zone string) {
		clock, at := Zone(zone), time.Unix(seconds, 0)
		if clock == nil || at.Year() < 2000 || at.Year() > 9998 {
			return
		}
		text := FieldText(at, clock)
		read, err := ReadField(text, clock)
		if err != nil {
			t.Fatalf("%s is written as %s in %s: %v", at, text, zone, err)
		}
		found := false
		for _, got := range read.At {
			found = found || got.Equal(at)
		}
		if !found || len(read.At) > 2 {
			t.Errorf("%s is written as %s in %s, and read as %s", at.UTC(), text, zone, read.At)
		}
	})
}
