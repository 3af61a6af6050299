package statement

import (
	"fmt"
	"strings"
)

// notes are the footnotes of a statement.
type notes struct{ texts []string }

// footnote takes a footnote and returns what stands in its place.
func (n *notes) footnote(text string) string {
	n.texts = append(n.texts, text)
	i := len(n.texts)
	return fmt.Sprintf(`<sup id="fnref:%d"><a href="#fn:%d" role="doc-noteref" class="footnote-ref">%d</a></sup>`, i, i, i)
}

// html returns the footnotes as they stand below the text.
func (n *notes) html() string {
	if len(n.texts) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("<div role=\"doc-endnotes\" class=\"footnotes\">\n<hr>\n<ol>\n")
	for i, text := range n.texts {
		fmt.Fprintf(&out, "<li id=\"fn:%d\">%s <a href=\"#fnref:%d\" role=\"doc-backlink\" class=\"footnote-backref\">↩︎</a></li>\n", i+1, text, i+1)
	}
	out.WriteString("</ol>\n</div>\n")
	return out.String()
}
