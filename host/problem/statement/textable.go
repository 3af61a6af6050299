package statement

import (
	"fmt"
	"strings"

	"deepoj/host/problem/statement/macro"
	"deepoj/host/problem/statement/safe"
)

// maxColumns is how many columns a table may have.
const maxColumns = 100

var tables = safe.Names("tabular tabular* tabularx tabulary longtable array supertabular tabu longtabu NiceTabular tblr")

// column is what the description of a table says of one.
type column struct {
	class       string // left, center or right
	left, right bool   // lines beside it

	before, after string // TeX around each of its cells
}

// columns reads the description of the columns.
func columns(spec string) []column {
	var all []column
	left, before := false, ""
	s := macro.NewScanner(spec, "")
	for s.More() && len(all) < maxColumns {
		c := s.Peek()
		s.Skip(1)
		class := ""
		switch c {
		case '|':
			if len(all) == 0 {
				left = true
			} else {
				all[len(all)-1].right = true
			}
			continue
		case 'l', 'p', 'm', 'b', 'X', 'L', 'Y', 'J', 'P', 'M':
			class = "left"
		case 'c', 'C', 'S':
			class = "center"
		case 'r', 'R', 'N', 'n':
			class = "right"
		case '*':
			n, of := s.One(), s.One()
			times := min(int(safe.Number64(n)), maxColumns)
			if len(of)*times < 1000 && len(s.Frames) < 4 {
				s.Push(strings.Repeat(of, max(times, 0)))
			}
			continue
		case '>':
			before += s.One()
			continue
		case '@', '!', '<':
			if text := s.One(); len(all) == 0 {
				before += text
			} else {
				all[len(all)-1].after += text
			}
			continue
		default:
			continue
		}
		if strings.IndexByte("pmbPM", c) >= 0 {
			s.Option()
			s.One()
		}
		all = append(all, column{class: class, left: left, before: before})
		left, before = false, ""
	}
	return all
}

// table reads a table and writes it.
func (t *tex) table(name string) {
	t.Option()
	switch name {
	case "tabular*", "tabularx", "tabulary":
		t.Spaces()
		t.One()
	case "tabu", "longtabu":
		if strings.HasPrefix(t.Rest(), "to") || strings.HasPrefix(t.Rest(), "spread") {
			t.Until('{')
		}
	}
	t.Option()
	t.Spaces()
	spec := columns(t.One())
	body, _ := t.body(name)
	if t.nested >= maxNested {
		t.block("<pre>" + short(body) + "</pre>\n")
		return
	}
	w := tableWriter{t: t, columns: spec}
	w.rows(body)
	table := `<table class="tabular">` + "\n" + w.out.String() + "</table>\n"
	if t.flow {
		t.block(table)
	} else {
		t.text(table)
	}
}

type tableWriter struct {
	t       *tex
	columns []column
	out     strings.Builder
	line    bool         // above the row that comes next
	lines   map[int]bool // above columns of it, from 1
	spans   map[int]int  // rows that cells above still reach into, by column
}

// rows writes the rows of a table.
func (w *tableWriter) rows(body string) {
	for _, row := range split(macro.Uncomment(body), true) {
		rest := w.rules(row)
		if strings.TrimSpace(rest) == "" {
			continue
		}
		w.row(rest)
	}
	if w.line && w.out.Len() > 0 { // a line below the last row
		text := strings.TrimSuffix(w.out.String(), "</tr>\n")
		if at := strings.LastIndex(text, "<tr"); at >= 0 {
			w.out.Reset()
			w.out.WriteString(text[:at])
			row := text[at:]
			if strings.HasPrefix(row, `<tr class="`) {
				row = `<tr class="rows-end ` + row[len(`<tr class="`):]
			} else {
				row = `<tr class="rows-end"` + row[len("<tr"):]
			}
			w.out.WriteString(row + "</tr>\n")
		}
	}
}

// rules takes the lines from the beginning of a row.
func (w *tableWriter) rules(row string) string {
	for {
		row = strings.TrimLeft(row, " \t\r\n")
		s := macro.NewScanner(row, "")
		if row == "" || row[0] != '\\' {
			return row
		}
		switch s.Command() {
		case `\hline`, `\toprule`, `\midrule`, `\bottomrule`, `\hhline`, `\specialrule`, `\Xhline`, `\firsthline`, `\lasthline`:
			w.line = true
			s.Option()
			for s.More() && s.Peek() == '{' {
				s.Group()
			}
		case `\cline`, `\cmidrule`:
			if s.More() && s.Peek() == '(' {
				s.Until('{')
			}
			s.Option()
			w.clines(s.One())
		case `\endhead`, `\endfirsthead`, `\endfoot`, `\endlastfoot`, `\noalign`, `\rowcolor`, `\addlinespace`, `\tabularnewline`, `\centering`, `\rowfont`, `\small`, `\arrayrulecolor`:
			s.Option()
			for s.More() && s.Peek() == '{' {
				s.Group()
			}
		default:
			return row
		}
		row = s.Rest()
	}
}

func (w *tableWriter) clines(which string) {
	from, to, _ := strings.Cut(which, "-")
	if w.lines == nil {
		w.lines = map[int]bool{}
	}
	for i := int(safe.Number64(strings.TrimSpace(from))); i <= min(int(safe.Number64(strings.TrimSpace(to))), maxColumns); i++ {
		w.lines[i] = true
	}
}

func (w *tableWriter) row(row string) {
	if w.line {
		w.out.WriteString(`<tr class="row-line">`)
	} else {
		w.out.WriteString("<tr>")
	}
	w.line = false
	at := 0
	if w.spans == nil {
		w.spans = map[int]int{}
	}
	for _, cell := range split(row, false) {
		if w.spans[at] > 0 {
			if w.spans[at]--; strings.TrimSpace(cell) == "" {
				at++
				continue
			}
		}
		at += w.cell(cell, at)
	}
	w.lines = nil
	w.out.WriteString("</tr>\n")
}

// cell writes a cell in a column, and returns how many columns it takes.
func (w *tableWriter) cell(cell string, at int) int {
	cell = strings.TrimSpace(cell)
	col := column{class: "left"}
	if at < len(w.columns) {
		col = w.columns[at]
	}
	n, rows := 1, 1
	s := macro.NewScanner(cell, "")
	for range 2 {
		if strings.HasPrefix(s.Rest(), `\multicolumn`) {
			s.Command()
			n = min(max(int(safe.Number64(s.One())), 1), maxColumns)
			if own := columns(s.One()); len(own) > 0 {
				col = own[0]
			}
			s.Push(s.One())
		} else if strings.HasPrefix(s.Rest(), `\multirow`) {
			s.Command()
			s.Option()
			rows = min(max(int(safe.Number64(s.One())), 1), 1000)
			s.Option()
			s.One()
			s.Option()
			if w.spans[at] = rows - 1; s.More() {
				s.Push(s.One() + `{}`)
			}
		}
	}
	classes := []string{col.class}
	if col.left {
		classes = append(classes, "line-left")
	}
	if col.right {
		classes = append(classes, "line-right")
	}
	if w.lines[at+1] {
		classes = append(classes, "line-top")
	}
	fmt.Fprintf(&w.out, `<td class="%s"`, strings.Join(classes, " "))
	if n > 1 {
		fmt.Fprintf(&w.out, ` colspan="%d"`, n)
	}
	if rows > 1 {
		fmt.Fprintf(&w.out, ` rowspan="%d"`, rows)
	}
	var text strings.Builder
	for s.More() {
		text.WriteString(s.Rest())
		s.Skip(len(s.Rest()))
	}
	inner := col.before + text.String() + col.after
	w.out.WriteString(">" + strings.TrimSpace(w.t.inner(inner, true)) + "</td>")
	return n
}

// split returns the rows of a table, or the cells of a row. What is in braces, in
// formulas or in environments is not looked at.
func split(text string, rows bool) []string {
	var parts []string
	depth, begin := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
		case '&':
			if !rows && depth <= 0 {
				parts = append(parts, text[begin:i])
				begin = i + 1
			}
		case '\\':
			rest := text[i+1:]
			switch {
			case strings.HasPrefix(rest, "begin{"):
				depth++
			case strings.HasPrefix(rest, "end{"):
				depth--
			case rows && depth <= 0 && (strings.HasPrefix(rest, `\`) || command(rest, "tabularnewline") || command(rest, "cr")):
				parts = append(parts, text[begin:i])
				i++
				for i+1 < len(text) && macro.IsLetter(text[i+1]) && macro.IsLetter(text[i]) {
					i++
				}
				begin = i + 1
				s := macro.NewScanner(text[begin:], "")
				s.Star()
				if s.More() {
					s.Option()
				}
				begin = len(text) - len(s.Rest())
				i = begin - 1
				continue
			}
			i++
		}
	}
	return append(parts, text[begin:])
}

// command reports whether a text begins with a word.
func command(text, word string) bool {
	return strings.HasPrefix(text, word) && (len(text) == len(word) || !macro.IsLetter(text[len(word)]))
}
