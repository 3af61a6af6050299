package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// rects returns what is drawn in each bar, read back from the text, which has to be
// well-formed XML.
func rects(t *testing.T, text string) (bars [][]map[string]string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return bars
		}
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		e, ok := token.(xml.StartElement)
		switch {
		case ok && e.Name.Local == "g":
			bars = append(bars, nil)
		case ok && e.Name.Local == "rect":
			r := map[string]string{}
			for _, a := range e.Attr {
				r[a.Name.Local] = a.Value
			}
			bars[len(bars)-1] = append(bars[len(bars)-1], r)
		}
	}
}

func TestBarsAreAsHighAsTheirNumbers(t *testing.T) {
	for range 200 {
		c := Chart{Title: "x", Top: float64(rand.IntN(3)) * 50}
		top := c.Top
		for range 1 + rand.IntN(40) {
			b := Bar{Parts: []Part{{float64(rand.IntN(30)), "good"}, {float64(rand.IntN(30)), "bad"}}}
			c.Bars = append(c.Bars, b)
			if c.Top == 0 {
				top = max(top, b.sum())
			}
		}
		drawn := rects(t, string(c.SVG()))
		if len(drawn) != len(c.Bars) {
			t.Fatalf("%d bars are drawn of %d", len(drawn), len(c.Bars))
		}
		for i, b := range c.Bars {
			var want float64
			for _, p := range b.Parts {
				want += p.Value
			}
			want = min(want/max(top, 1)*height, height) // a bar ends at the top
			got := 0.0
			for _, r := range drawn[i][1:] {
				h, err := strconv.ParseFloat(r["height"], 64)
				if err != nil {
					t.Fatal(err)
				}
				got += h
			}
			if got < want-0.2 || got > want+2*least+0.2 {
				t.Errorf("a bar of %v with a top of %v is %v high, want %v", b, top, got, want)
			}
		}
	}
}

func TestATextIsNeverMarkup(t *testing.T) {
	evil := `<script>"&'`
	text := string(Chart{Title: evil, Sum: evil, First: evil, Last: evil, Bars: []Bar{{evil, []Part{{1, evil}}}}}.SVG())
	if strings.Contains(text, "<script") {
		t.Error(text)
	}
	rects(t, text)
}

func TestAChartWithoutBarsIsNothing(t *testing.T) {
	if got := (Chart{Title: "x"}).SVG(); got != "" {
		t.Errorf("%q", got)
	}
	if got := rects(t, string(Chart{Bars: []Bar{{}, {Parts: []Part{{-1, "bad"}}}}}.SVG())); len(got[0]) != 1 || len(got[1]) != 1 {
		t.Errorf("bars of nothing: %v", got)
	}
}
