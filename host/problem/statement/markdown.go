package statement

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"deepoj/host/problem/statement/safe"
)

// samplePlace is where a statement wants its samples. The page shows them below it.
var samplePlace = regexp.MustCompile(`\{\{ *(nextsample|remainingsamples) *\}\}`)

// Markdown renders a statement in Markdown: CommonMark with tables, footnotes, formulas in dollars or \( \) and \[ \],
// widths of pictures in braces, and HTML as far as it is safe.
func (r *Renderer) Markdown(file, text string) (string, error) {
	p := r.page(file)
	text = samplePlace.ReplaceAllString(text, "")
	md := goldmark.New(
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough, extension.NewFootnote(),
		),
		goldmark.WithParserOptions(
			parser.WithBlockParsers(util.Prioritized(formulaBlocks{}, 90)),
			parser.WithInlineParsers(util.Prioritized(formulaInlines{}, 90), util.Prioritized(pictureSizes{}, 95)),
		),
		goldmark.WithRendererOptions(
			html.WithUnsafe(), // clean knows what is safe
			renderFormulas(p),
		),
	)
	out := &bounded{most: 2 * safe.MaxPage}
	if err := markable(text); err != nil {
		return "", err
	}
	if err := md.Convert([]byte(text), out); err != nil {
		p.fail(err)
	}
	return p.finish(out.String(), safe.Source{})
}

// bounded is a buffer that is not endless.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(s []byte) (int, error) {
	if b.Len()+len(s) > b.most {
		return 0, safe.ErrTooLong
	}
	return b.Buffer.Write(s)
}
