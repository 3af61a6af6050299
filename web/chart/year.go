package chart

import (
	"fmt"
	"html"
	"html/template"
	"strings"
	"time"
)

// Year is a square for each day of about a year, in columns of weeks that begin on Monday, the last of which has today.
type Year struct {
	Title string
	Sum   string                 // what it comes to, in words: for people who do not see the squares
	Days  map[int]YearDay        // by how many days ago; those without are empty
	Date  func(time.Time) string // writes a day by UTC
	Last  string                 // what today is called
}

// YearDay is what a square stands for.
type YearDay struct {
	Count int64
	Text  string // as a tooltip; "" = the date
}

// The squares of a year, in the drawing's own units.
const (
	weeks  = 53
	square = 10.0
	pitch  = 12.0 // from square to square
)

// YearDays is how many days a year shows at most.
const YearDays = weeks * 7

// SVG draws the year that ends today as a figure with caption.
func (y Year) SVG(today time.Time) template.HTML {
	today = today.UTC()
	weekday := (int(today.Weekday()) + 6) % 7 // from Monday on
	first := YearDays - 7 + weekday           // days ago
	var w strings.Builder
	fmt.Fprintf(&w, `<figure class="picture year"><figcaption>%s <span class="muted small">%s</span></figcaption>`, html.EscapeString(y.Title), html.EscapeString(y.Sum))
	fmt.Fprintf(&w, `<svg viewBox="0 0 %s %s" role="img" aria-label="%s">`, short(weeks*pitch), short(7*pitch), html.EscapeString(y.Title+": "+y.Sum))
	for ago := first; ago >= 0; ago-- {
		at, d := first-ago, y.Days[ago]
		text := d.Text
		if text == "" {
			text = y.Date(today.AddDate(0, 0, -ago))
		}
		fmt.Fprintf(&w, `<rect class="y%d" x="%s" y="%s" width="%s" height="%s" rx="2"><title>%s</title></rect>`,
			level(d.Count), short(float64(at/7)*pitch), short(float64(at%7)*pitch), short(square), short(square), html.EscapeString(text))
	}
	fmt.Fprintf(&w, `</svg><p class="ends small muted"><span>%s</span><span>%s</span></p></figure>`, html.EscapeString(y.Date(today.AddDate(0, 0, -first))), html.EscapeString(y.Last))
	return template.HTML(w.String()) // all text in it is escaped
}

// level is how strong the colour of a square is.
func level(count int64) int {
	for i, least := range []int64{1, 3, 6, 10} {
		if count < least {
			return i
		}
	}
	return 4
}
