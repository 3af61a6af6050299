package solve

import (
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode"

	"deepoj/web/locale"
	"deepoj/web/site"
)

// This file shows where an output differs from a right answer.

// sameNumber is by how much two numbers may differ, of the larger, to be one: an output with more digits is not marked.
const sameNumber = 1e-6

// differ marks in both listings what has no equal in the other: line by line, and in a line word by word, as most
// checkers read. It returns where the first difference is, in words; "" if there is none.
func differ(want, got *site.Listing, v site.Viewer) (first string) {
	wants, gots := linesOf(want.Text), linesOf(got.Text)
	var w, g strings.Builder
	for i := range max(len(wants), len(gots)) {
		a, b := lineAt(wants, i), lineAt(gots, i)
		if writeLine(&w, &g, a, b) && first == "" {
			first = firstText(i, len(wants), len(gots), v)
		}
	}
	if first != "" {
		want.Marked, got.Marked = template.HTML(w.String()), template.HTML(g.String())
	}
	return first
}

func firstText(line, wants, gots int, v site.Viewer) string {
	switch {
	case line >= gots:
		return v.Say("Your output ends after %d lines; the answer goes on.", gots)
	case line >= wants:
		return v.Say("The answer ends after %d lines; your output goes on.", wants)
	}
	return v.Say("They first differ in line %s.", locale.ID(line+1))
}

// linesOf are the lines of a text without the empty ones at its end, which no checker minds.
func linesOf(text string) []string {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func lineAt(lines []string, i int) *string {
	if i >= len(lines) {
		return nil
	}
	return &lines[i]
}

// writeLine writes a line of both texts, of which one may have none, and reports whether they differ.
func writeLine(w, g *strings.Builder, a, b *string) (differs bool) {
	as, bs := wordsOf(a), wordsOf(b)
	for i, word := range as {
		other := i < len(bs) && sameWord(word, bs[i])
		differs = differs || !other
		writeWord(w, word, i, !other)
	}
	for i, word := range bs {
		other := i < len(as) && sameWord(word, as[i])
		differs = differs || !other
		writeWord(g, word, i, !other)
	}
	if a != nil {
		w.WriteString("\n")
	}
	if b != nil {
		g.WriteString("\n")
	}
	return differs || (a == nil) != (b == nil)
}

func wordsOf(line *string) []string {
	if line == nil {
		return nil
	}
	return strings.Fields(*line)
}

func writeWord(to *strings.Builder, word string, at int, marked bool) {
	if at > 0 {
		to.WriteString(" ")
	}
	text := template.HTMLEscapeString(word)
	if marked {
		text = "<mark>" + text + "</mark>"
	}
	to.WriteString(text)
}

// sameWord reports whether two words are the same, or numbers that are as good as equal.
func sameWord(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil || !strings.ContainsAny(a+b, ".eE") {
		return false
	}
	return math.Abs(x-y) <= sameNumber*math.Max(1, math.Max(math.Abs(x), math.Abs(y)))
}
