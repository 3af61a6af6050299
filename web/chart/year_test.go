package chart_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deepoj/web/chart"
)

func TestAYearHasASquareForEachDayAndEndsToday(t *testing.T) {
	t.Parallel()
	for day := range 7 {
		today := time.Date(2026, 3, 2+day, 23, 0, 0, 0, time.UTC) // the 2nd is a Monday
		date := func(at time.Time) string { return at.UTC().Format("<2 Jan 2006>") }
		y := chart.Year{Title: "Days", Sum: "<some>", Date: date, Last: "<today>", Days: map[int]chart.YearDay{0: {Count: 10, Text: `10 "<b>"`}, 1: {Count: 1}, 500: {Count: 1}}}
		svg := string(y.SVG(today))
		if n, want := strings.Count(svg, "<rect"), 52*7+day+1; n != want {
			t.Errorf("on %s there are %d squares, want %d", today.Weekday(), n, want)
		}
		last := fmt.Sprintf(`<rect class="y4" x="624" y="%d" width="10" height="10" rx="2"><title>10 &#34;&lt;b&gt;&#34;</title></rect></svg>`, 12*day)
		if !strings.Contains(svg, last) || strings.Contains(svg, "<some>") || !strings.Contains(svg, "<span>&lt;today&gt;</span>") || !strings.Contains(svg, "<title>&lt;1 Mar 2026&gt;</title>") || strings.Count(svg, `class="y1"`) != 1 {
			t.Errorf("on %s it is\n%s", today.Weekday(), svg)
		}
	}
}
