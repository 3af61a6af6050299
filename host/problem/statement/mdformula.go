package statement

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// formulaKind is the kind of the nodes below in the tree of goldmark.
var (
	formulaKind      = ast.NewNodeKind("Formula")
	formulaBlockKind = ast.NewNodeKind("FormulaBlock")
)

// formulaNode is a formula in a line.
type formulaNode struct {
	ast.BaseInline
	tex     string
	display bool
}

func (*formulaNode) Kind() ast.NodeKind            { return formulaKind }
func (n *formulaNode) Dump(source []byte, lvl int) { ast.DumpHelper(n, source, lvl, nil, nil) }

// formulaBlock is a formula with lines of its own.
type formulaBlock struct {
	ast.BaseBlock
	tex    strings.Builder
	close  string // what ends it
	closed bool
}

func (*formulaBlock) Kind() ast.NodeKind            { return formulaBlockKind }
func (n *formulaBlock) Dump(source []byte, lvl int) { ast.DumpHelper(n, source, lvl, nil, nil) }
func (*formulaBlock) IsRaw() bool                   { return true }

// fences are what begins and ends a formula with lines of its own.
var fences = []struct{ open, close string }{{"$$", "$$"}, {`\[`, `\]`}}

// formulaBlocks finds formulas with lines of their own. One ends where it is closed; an empty line ends it, too.
type formulaBlocks struct{}

func (formulaBlocks) Trigger() []byte { return []byte{'$', '\\'} }

func (formulaBlocks) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	begin := bytes.TrimLeft(line, " ")
	for _, f := range fences {
		rest, ok := bytes.CutPrefix(begin, []byte(f.open))
		if !ok {
			continue
		}
		n := &formulaBlock{close: f.close}
		body, after, closed := bytes.Cut(rest, []byte(f.close))
		if closed && len(bytes.TrimSpace(after)) > 0 {
			return nil, parser.NoChildren // it stands in a line with text
		}
		if !closed && !closedBelow(reader, f.close) {
			return nil, parser.NoChildren
		}
		n.tex.Write(body)
		n.closed = closed
		reader.AdvanceToEOL()
		return n, parser.NoChildren
	}
	return nil, parser.NoChildren
}

// maxLines is how many lines a formula may have.
const maxLines = 200

// closedBelow reports whether a formula ends before the next empty line, with nothing behind its end.
func closedBelow(reader text.Reader, end string) bool {
	source := reader.Source()
	_, segment := reader.Position()
	rest := source[min(segment.Stop, len(source)):]
	for range maxLines {
		line := rest
		if at := bytes.IndexByte(rest, '\n'); at >= 0 {
			line, rest = rest[:at], rest[at+1:]
		} else {
			rest = nil
		}
		if len(bytes.TrimSpace(line)) == 0 {
			return false
		}
		if _, after, ok := bytes.Cut(line, []byte(end)); ok {
			return len(bytes.TrimSpace(after)) == 0
		}
	}
	return false
}

func (formulaBlocks) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	n, ok := node.(*formulaBlock)
	if !ok || n.closed {
		return parser.Close
	}
	line, _ := reader.PeekLine()
	body, _, closed := bytes.Cut(line, []byte(n.close))
	if len(bytes.TrimSpace(line)) == 0 {
		return parser.Close
	}
	n.tex.WriteByte('\n')
	n.tex.Write(bytes.TrimRight(body, "\r\n"))
	n.closed = closed
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (formulaBlocks) Close(ast.Node, text.Reader, parser.Context) {}
func (formulaBlocks) CanInterruptParagraph() bool                 { return true }
func (formulaBlocks) CanAcceptIndentedLine() bool                 { return false }

// formulaInlines finds formulas in lines.
type formulaInlines struct{}

func (formulaInlines) Trigger() []byte { return []byte{'$', '\\'} }

// openers are what begins and ends a formula in a line, the longest first.
var openers = []struct {
	open, close string
	display     bool
}{{"$$$$$$", "$$$$$$", true}, {"$$$", "$$$", false}, {"$$", "$$", true}, {"$", "$", false}, {`\[`, `\]`, true}, {`\(`, `\)`, false}}

// noEnd is where in the context of a parser it says up to where in the source a kind of
// formula is known to have no end.
var noEnd = parser.NewContextKey()

func (formulaInlines) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	for _, o := range openers {
		if !bytes.HasPrefix(line, []byte(o.open)) {
			continue
		}
		if n := inlineFormula(block, pc, o.open, o.close); n != nil {
			n.display = o.display
			return n
		}
		if o.open[0] == '$' && len(o.open) > 1 {
			block.Advance(len(o.open)) // dollars that nothing closes are dollars
			return ast.NewString([]byte(o.open))
		}
		return nil
	}
	return nil
}

// inlineFormula reads a formula that is closed in its block, or nothing.
func inlineFormula(block text.Reader, pc parser.Context, open, end string) *formulaNode {
	ends, _ := pc.Get(noEnd).(map[string]int)
	if ends == nil {
		ends = map[string]int{}
		pc.Set(noEnd, ends)
	}
	savedLine, saved := block.Position()
	if saved.Start < ends[end] {
		return nil
	}
	block.Advance(len(open))
	if line, _ := block.PeekLine(); open == "$" && (len(line) == 0 || line[0] == ' ' || line[0] == '\t' || line[0] == '\n') {
		block.SetPosition(savedLine, saved)
		return nil
	}
	var tex strings.Builder
	for stop := saved.Start; ; {
		line, segment := block.PeekLine()
		at, code := closes(line, end), bytes.IndexByte(line, '`')
		switch {
		case line == nil, code >= 0 && (at < 0 || code < at): // code is no part of a formula
			ends[end] = max(stop, segment.Start+code)
			block.SetPosition(savedLine, saved)
			return nil
		case at >= 0:
			tex.Write(line[:at])
			block.Advance(at + len(end))
			return &formulaNode{tex: tex.String()}
		}
		tex.Write(line)
		stop = segment.Stop
		block.AdvanceLine()
	}
}

// closes returns where in a line a formula ends, or -1. A dollar does not end one
// behind a space or before a digit, so that prices stay what they are.
func closes(line []byte, end string) int {
	for from := 0; from < len(line); {
		at := bytes.Index(line[from:], []byte(end))
		if at < 0 {
			return -1
		}
		at += from
		escaped := end[0] == '$' && at > 0 && line[at-1] == '\\'
		priced := end == "$" && (at == 0 || line[at-1] == ' ' || line[at-1] == '\t' || at+1 < len(line) && line[at+1] >= '0' && line[at+1] <= '9')
		if !escaped && !priced {
			return at
		}
		from = at + 1
	}
	return -1
}

// pictureSizes reads the attributes that pandoc lets a picture have: {width=50%}.
type pictureSizes struct{}

func (pictureSizes) Trigger() []byte { return []byte{'{'} }

func (pictureSizes) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	image, ok := parent.LastChild().(*ast.Image)
	if !ok {
		return nil
	}
	line, _ := block.PeekLine()
	m := attributeForm().FindSubmatch(line)
	if m == nil {
		return nil
	}
	for field := range strings.FieldsSeq(string(m[1])) {
		name, value, _ := strings.Cut(field, "=")
		if name == "width" || name == "height" {
			image.SetAttributeString(name, []byte(strings.Trim(value, `"'`)))
		}
	}
	block.Advance(len(m[0]))
	return ast.NewString(nil)
}

// attributeForm are the attributes of pandoc.
var attributeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\{([^{}\n]{0,200})\}`) })

// renderFormulas returns what writes the nodes above.
func renderFormulas(p *page) renderer.Option {
	return renderer.WithNodeRenderers(util.Prioritized(formulaRenderer{p}, 90))
}

type formulaRenderer struct{ *page }

func (f formulaRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(formulaKind, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if n, ok := node.(*formulaNode); ok && entering {
			_, _ = w.WriteString(f.formula(n.tex, n.display)) // its errors stay until the end
		}
		return ast.WalkSkipChildren, f.err
	})
	r.Register(formulaBlockKind, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if n, ok := node.(*formulaBlock); ok && entering {
			_, _ = w.WriteString("<p>" + f.formula(n.tex.String(), true) + "</p>\n")
		}
		return ast.WalkSkipChildren, f.err
	})
}
