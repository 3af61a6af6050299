package spaces

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// FuzzSpace reads what it wrote of every space that it takes.
func FuzzSpace(f *testing.F) {
	f.Add(`{"title": "The Final", "description": "", "opens_at": "2030-01-31T12:00:00+01:00", "closes_at": null, "languages": ["cpp"], "max_source_kib": 64, "max_waiting": 3, "per_minute": 2, "listed": true}`)
	f.Add(`{"title": "x", "opens_at": "2030-01-31T12:00:00Z", "closes_at": "2030-01-31T11:00:00Z", "per_minute": 101}`)
	f.Add(`{"title": "\u0000", "languages": ["a", "a"], "max_waiting": 1e9, "listed": "yes"}`)
	f.Add(`{"title": "x", "opens_at": "2026-10-25T01:30:00Z", "closes_at": "2026-11-01T06:30:00Z"}`)
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai"}
	read := func(body string) (judge.Space, bool) {
		space := judge.Space{Slug: "final"}
		in, err := site.ParseFields([]byte(body), spaceSettings...)
		if err != nil {
			return space, false
		}
		readSpace(in, &space)
		return space, len(in.Wrong) == 0 && len(checkSpace(space)) == 0
	}
	f.Fuzz(func(t *testing.T, body string) {
		space, ok := read(body)
		if !ok || space.Opens != nil && space.Opens.UTC().Year() > 9998 || space.Closes != nil && space.Closes.UTC().Year() > 9998 {
			return // of the last year, not every clock shows all
		}
		zone := zones[len(body)%len(zones)]
		value := func(name string) string {
			times := showTimes(space, locale.Zone(zone))
			return map[string]string{
				"slug": space.Slug, "title": space.Title, "description": space.Description, "zone": times.Zone,
				"opens_at": times.Opens.Text, "opens_at_offset": times.Opens.Offset, "closes_at": times.Closes.Text, "closes_at_offset": times.Closes.Offset,
				"max_source_kib": fmt.Sprint(space.MaxSourceKiB), "max_waiting": fmt.Sprint(space.MaxWaiting),
				"per_minute": fmt.Sprint(space.PerMinute), "listed": map[bool]string{true: "1"}[space.Listed],
			}[name]
		}
		again, _, wrong := spaceForm(value, space.Languages)
		same := func(a, b *time.Time) bool {
			return a == nil && b == nil || a != nil && b != nil && a.Truncate(time.Second).Equal(*b)
		}
		if len(wrong) > 0 || again.Title != strings.TrimSpace(space.Title) || again.Description != strings.ReplaceAll(space.Description, "\r\n", "\n") || !slices.Equal(again.Languages, space.Languages) ||
			!same(space.Opens, again.Opens) || !same(space.Closes, again.Closes) || again.MaxWaiting != space.MaxWaiting || again.PerMinute != space.PerMinute ||
			again.MaxSourceKiB != space.MaxSourceKiB || again.Listed != space.Listed {
			t.Errorf("%+v became %+v, %v", space, again, wrong)
		}
	})
}
