package statement

import (
	"html"
	"strconv"
	"strings"

	"deepoj/host/problem/statement/macro"
)

// numbers are those that figures and tables have on paper, for what refers to them.
type numbers struct {
	figures, tables int
	last            string            // of the caption that came last
	labels          map[string]string // numbers by label
	asked           bool              // something refers to one
}

func newNumbers() *numbers { return &numbers{labels: map[string]string{}} }

// Places in the text in which a number goes that is not known yet. They are characters that no text has.
const (
	numberBegin = "\uE000"
	numberEnd   = "\uE001"
)

// next counts a caption, and returns what stands before it.
func (n *numbers) next(table bool) string {
	count := &n.figures
	if table {
		count = &n.tables
	}
	*count++
	n.last = strconv.Itoa(*count)
	return numberBegin + "=" + n.last + numberEnd
}

// label makes a label mean the last number.
func (n *numbers) label(name string) {
	if n.last != "" && len(n.labels) < macro.MaxMacros {
		n.labels[strings.TrimSpace(name)] = n.last
	}
}

// reference returns what stands for a reference until all labels are known.
func (n *numbers) reference(command, label string) string {
	n.asked = true
	return numberBegin + html.EscapeString(command+" "+label) + numberEnd
}

// fill puts the numbers where they belong. Captions have theirs only if something refers to one.
func (n *numbers) fill(p *page, text string) string {
	if !strings.Contains(text, numberBegin) {
		return text
	}
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, numberBegin)
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		what, after, _ := strings.Cut(rest, numberEnd)
		number, caption := strings.CutPrefix(what, "=")
		command, label, _ := strings.Cut(html.UnescapeString(what), " ")
		switch known := n.labels[label]; {
		case caption && n.asked:
			out.WriteString("<strong>" + number + ".</strong> ")
		case caption:
		case known != "":
			out.WriteString(known)
		default:
			p.note("refers to numbers that only paper has, for which the page shows the name: %s", "\\"+command+"{"+label+"}")
			out.WriteString(html.EscapeString("[" + label + "]"))
		}
		text = after
	}
}
