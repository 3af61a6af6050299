package statement

import "strings"

// writer writes paragraphs of marked text. A paragraph begins with its first word, and
// the marks that are open go over from one to the next.
type writer struct {
	out   strings.Builder
	flow  bool   // paragraphs may be here; else all is one line
	bare  bool   // the first paragraph has no element, as in an item of a list
	begun bool   // there is text in the bare paragraph
	open  bool   // in the element of a paragraph
	marks []mark // that the text has
	live  int    // how many of them are open in what is written
	space string // between the last word and the next
}

// mark is an element in a line.
type mark struct{ tag, class string }

func (m mark) begin() string {
	if m.class == "" {
		return "<" + m.tag + ">"
	}
	return "<" + m.tag + ` class="` + m.class + `">`
}

// mono reports whether text is code here.
func (w *writer) mono() bool {
	for _, m := range w.marks {
		if m.tag == "code" {
			return true
		}
	}
	return false
}

// text writes HTML of a line.
func (w *writer) text(html string) {
	if html == "" {
		return
	}
	w.begin()
	w.out.WriteString(html)
}

// blank notes white space, which is written if it is between words.
func (w *writer) blank(space string) {
	if w.space == "" || space == "\n" {
		w.space = space
	}
}

// begin makes what is written next be in a paragraph, with its marks.
func (w *writer) begin() {
	if w.open || w.begun || !w.flow && w.out.Len() > 0 {
		w.out.WriteString(w.space)
	}
	w.space = ""
	switch {
	case !w.flow:
	case w.bare:
		w.begun = true
	case !w.open:
		w.out.WriteString("<p>")
		w.open = true
	}
	for w.live < len(w.marks) {
		w.out.WriteString(w.marks[w.live].begin())
		w.live++
	}
}

// mark makes what follows have a mark.
func (w *writer) mark(tag string) {
	tag, class, _ := strings.Cut(tag, ".")
	if len(w.marks) < maxNested {
		w.marks = append(w.marks, mark{tag, class})
	}
}

// unmark leaves n marks.
func (w *writer) unmark(n int) {
	for len(w.marks) > n {
		if w.live == len(w.marks) {
			w.live--
			w.out.WriteString("</" + w.marks[w.live].tag + ">")
		}
		w.marks = w.marks[:len(w.marks)-1]
	}
}

// suspend closes the marks, which are opened again with the next word.
func (w *writer) suspend() {
	for w.live > 0 {
		w.live--
		w.out.WriteString("</" + w.marks[w.live].tag + ">")
	}
}

// endParagraph ends a paragraph, if there is one.
func (w *writer) endParagraph() {
	if !w.flow {
		w.blank(" ")
		return
	}
	w.space = ""
	switch {
	case w.open:
		w.suspend()
		w.out.WriteString("</p>\n")
		w.open = false
	case w.begun:
		w.suspend()
		w.begun, w.bare = false, false
	}
}

// block writes HTML that is no part of a paragraph.
func (w *writer) block(html string) {
	w.endParagraph()
	w.suspend()
	w.space = ""
	w.bare = w.bare && !w.flow
	w.out.WriteString(html)
}

// place is where a writer is among paragraphs.
type place struct{ flow, bare, begun bool }

// enter begins an element whose first paragraph is bare. What it returns is for leave.
func (w *writer) enter(tag string, flow bool) place {
	w.endParagraph()
	w.suspend()
	was := place{w.flow, false, false}
	w.space = ""
	w.out.WriteString(tag)
	w.flow, w.bare, w.begun, w.open = flow, true, false, false
	return was
}

// leave ends it.
func (w *writer) leave(tag string, was place) {
	if w.open {
		w.suspend()
		w.out.WriteString("</p>")
		w.open = false
	}
	w.suspend()
	w.space = ""
	w.out.WriteString(tag)
	w.flow, w.bare, w.begun = was.flow, was.bare, was.begun
}
