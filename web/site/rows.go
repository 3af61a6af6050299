package site

import (
	"html"
	"html/template"
	"strings"
)

// Cells are the cells of a row of a long list. Each value is work to a template, and
// such a list has hundreds, so its rows are put together here. What comes from
// people is escaped.
type Cells struct{ strings.Builder }

// open begins a cell, of a class if there is one.
func (c *Cells) open(class string) {
	if class == "" {
		c.WriteString("<td>")
		return
	}
	c.WriteString(`<td class="` + class + `">`)
}

// Cell adds a cell whose content is ready.
func (c *Cells) Cell(class string, content template.HTML) {
	c.open(class)
	c.WriteString(string(content) + "</td>")
}

// Text adds a cell of text.
func (c *Cells) Text(class, text string) { c.Cell(class, Escape(text)) }

// Row returns the cells as a row of a table.
func (c *Cells) Row() template.HTML { return template.HTML("<tr>" + c.String() + "</tr>") }

// Escape makes text safe as the content of an element and as the value of an
// attribute.
func Escape(text string) template.HTML { return template.HTML(html.EscapeString(text)) }

// Link is a link with a text. Href has to be a path of ours whose parts were escaped.
func Link(href, text string) template.HTML {
	return `<a href="` + Escape(href) + `">` + Escape(text) + "</a>"
}

// Small is a remark beside something.
func Small(text string) template.HTML {
	if text == "" {
		return ""
	}
	return ` <span class="small muted">` + Escape(text) + "</span>"
}
