// Package chart draws bars of numbers as SVG, for pages without scripts.
package chart

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"
)

// Chart is a row of bars.
type Chart struct {
	Title string // what is shown
	Sum   string // what it comes to, in words: for people who do not see the bars
	Top   float64
	First string // what the first bar stands for
	Last  string
	Bars  []Bar
}

// Bar is one bar: parts upon each other, the first at the bottom.
type Bar struct {
	Text  string // what it says, as a tooltip
	Parts []Part
}

// Part is a part of a bar. Its class is one of the style sheet's: plain, good, bad or warn.
type Part struct {
	Value float64 // at least 0
	Class string
}

// The drawing's own units. It is stretched to the width of the page.
const (
	height = 60.0
	step   = 10.0 // from bar to bar
	width  = 8.0
	least  = 1.0 // of a bar that is not zero
)

// SVG draws the chart as a figure with caption; nothing if it has no bars. A Top of zero is that of the highest bar.
func (c Chart) SVG() template.HTML {
	if len(c.Bars) == 0 {
		return ""
	}
	top := c.Top
	if top <= 0 {
		for _, b := range c.Bars {
			top = max(top, b.sum())
		}
	}
	var w strings.Builder
	fmt.Fprintf(&w, `<figure class="picture"><figcaption>%s <span class="muted small">%s</span></figcaption>`, html.EscapeString(c.Title), html.EscapeString(c.Sum))
	fmt.Fprintf(&w, `<svg viewBox="0 0 %s %s" preserveAspectRatio="none" role="img" aria-label="%s">`,
		short(float64(len(c.Bars))*step), short(height), html.EscapeString(c.Title+": "+c.Sum))
	for i, b := range c.Bars {
		x, y := float64(i)*step, height
		w.WriteString("<g>")
		if b.Text != "" {
			fmt.Fprintf(&w, `<title>%s</title>`, html.EscapeString(b.Text))
		}
		// All of the bar's place shows its tooltip.
		fmt.Fprintf(&w, `<rect class="ground" x="%s" width="%s" height="%s"/>`, short(x), short(step), short(height))
		for _, p := range b.Parts {
			if p.Value <= 0 || top <= 0 {
				continue
			}
			h := min(max(p.Value/top*height, least), y)
			y -= h
			fmt.Fprintf(&w, `<rect class="p-%s" x="%s" y="%s" width="%s" height="%s"/>`, html.EscapeString(p.Class), short(x+(step-width)/2), short(y), short(width), short(h))
		}
		w.WriteString("</g>")
	}
	w.WriteString("</svg>")
	if c.First != "" || c.Last != "" {
		fmt.Fprintf(&w, `<p class="ends small muted"><span>%s</span><span>%s</span></p>`, html.EscapeString(c.First), html.EscapeString(c.Last))
	}
	w.WriteString("</figure>")
	return template.HTML(w.String()) // all text in it is escaped
}

func (b Bar) sum() (all float64) {
	for _, p := range b.Parts {
		all += max(p.Value, 0)
	}
	return all
}

// short writes a length with at most one digit behind the point.
func short(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}
