package statement

import (
	"html"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	markup "github.com/yuin/goldmark/renderer/html"

	"deepoj/host/problem/statement/safe"
)

// Note renders what somebody wrote into a field in Markdown: CommonMark with tables, with addresses as links and lines
// as they were broken, without formulas, pictures and HTML. What cannot be rendered is shown as it was written.
func Note(text string) string {
	plain := "<p>" + html.EscapeString(text) + "</p>"
	if markable(text) != nil {
		return plain
	}
	md := goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.Linkify),
		goldmark.WithRendererOptions(markup.WithHardWraps()),
	)
	out := &bounded{most: 2 * safe.MaxPage}
	if md.Convert([]byte(text), out) != nil {
		return plain
	}
	page, err := safe.Clean(out.String(), safe.Source{Note: func(string, string) {}, Picture: func(string) string { return "" }})
	if err != nil {
		return plain
	}
	return page
}
