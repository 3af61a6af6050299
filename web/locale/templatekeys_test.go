package locale_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template/parse"
	"unicode"

	"golang.org/x/net/html"
)

// templateKeys finds the sentences of templates, which t and tm say, and words that people read and neither says.
type templateKeys struct {
	*findings
	file string
	tree *parse.Tree
	flat strings.Builder // what is around the actions, each of which is a hole
}

// hole stands for what an action writes.
const hole = '\uE000'

func findInTemplates(t *testing.T, to *findings) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "web/templates/*.html"))
	if err != nil || len(files) == 0 {
		t.Fatal("no templates", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		findInTemplate(t, to, "web/templates/"+filepath.Base(file), string(body))
	}
}

func findInTemplate(t *testing.T, to *findings, file, body string) {
	t.Helper()
	top := parse.New(file)
	top.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := top.Parse(body, "", "", trees); err != nil {
		t.Fatal(err)
	}
	for _, tree := range trees {
		k := &templateKeys{findings: to, file: file, tree: tree}
		k.walk(tree.Root)
		k.words(k.flat.String())
	}
}

func (k *templateKeys) walk(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, one := range n.Nodes {
				k.walk(one)
			}
		}
	case *parse.TextNode:
		k.flat.Write(n.Text)
	case *parse.ActionNode:
		k.pipe(n.Pipe)
		k.flat.WriteRune(hole)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			k.pipe(n.Pipe)
		}
		k.flat.WriteRune(hole)
	case *parse.IfNode:
		k.branch(&n.BranchNode)
	case *parse.RangeNode:
		k.branch(&n.BranchNode)
	case *parse.WithNode:
		k.branch(&n.BranchNode)
	}
}

func (k *templateKeys) branch(n *parse.BranchNode) {
	k.pipe(n.Pipe)
	k.walk(n.List)
	k.flat.WriteRune(hole)
	k.walk(n.ElseList)
}

// pipe reads the sentences of a pipeline. A sentence stands behind t or tm; another function gets no words.
func (k *templateKeys) pipe(p *parse.PipeNode) {
	for _, c := range p.Cmds {
		name := ""
		if id, ok := c.Args[0].(*parse.IdentifierNode); ok {
			name = id.Ident
		}
		says := name == "t" || name == "tm"
		for i, arg := range c.Args {
			switch arg := arg.(type) {
			case *parse.PipeNode:
				k.pipe(arg)
			case *parse.StringNode:
				switch {
				case says && i == 1:
					k.add(arg.Text, k.at(c), len(c.Args)-2)
				case name == "dict" && i%2 == 1, name == "asset": // a name
				case i > 0 && isWords(arg.Text):
					k.fault(k.at(c), "%q is given to %s without t", arg.Text, name)
				}
			}
		}
		if says && len(c.Args) == 1 {
			k.fault(k.at(c), "%s takes its sentence as its first argument, and not from a pipe", name)
		}
	}
}

func (k *templateKeys) at(n parse.Node) place {
	location, _ := k.tree.ErrorContext(n)
	parts := strings.Split(location, ":")
	line := 0
	for _, r := range parts[1] {
		line = line*10 + int(r-'0')
	}
	return place{k.file, line}
}

// isWords reports whether an argument of a function is for people: it has a blank, or begins like a sentence.
func isWords(s string) bool {
	return regexp.MustCompile(`^[A-Z][a-z]|[a-z] [a-zA-Z]`).MatchString(s)
}

var (
	// read are attributes that people read; value is one of buttons.
	read = []string{"aria-label", "aria-description", "aria-valuetext", "title", "placeholder", "alt", "label", "data-label", "data-text", "data-done", "data-confirm"}

	// unread are elements whose content is code or is not shown.
	unread = []string{"script", "style", "code", "pre", "kbd", "samp"}

	// ours are words that are the same in every language.
	ours = regexp.MustCompile(`Deep-OJ|\bAPI\b|\b(KiB|MiB|GiB|ms|s|ID|IP|URL|CPU|JSON|CSV|ZIP|PDF|HTML|UTC)\b`)
)

// words finds words that are the same in every language though people read them.
func (k *templateKeys) words(text string) {
	z := html.NewTokenizer(strings.NewReader(text))
	var inside []string
	last := ""
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		token := z.Token()
		switch kind { //nolint:exhaustive // the others hold nothing that people read
		case html.StartTagToken, html.SelfClosingTagToken:
			last = token.Data
			if slices.Contains(unread, token.Data) && kind == html.StartTagToken {
				inside = append(inside, token.Data)
			}
			for _, a := range token.Attr {
				if slices.Contains(read, a.Key) || a.Key == "value" && isButton(token) {
					k.letters("the attribute "+a.Key, a.Val)
				}
			}
		case html.EndTagToken:
			if n := len(inside); n > 0 && inside[n-1] == token.Data {
				inside = inside[:n-1]
			}
		case html.TextToken:
			if last == "noscript" && strings.Contains(token.Data, "<") {
				k.words(token.Data) // which the tokenizer leaves as it is
			} else if len(inside) == 0 {
				k.letters("the text", token.Data)
				if strings.ContainsAny(token.Data, ",;()") {
					k.fault(place{k.file, 0}, "the text %q has signs that other languages write otherwise", shown(token.Data))
				}
			}
		}
	}
}

func isButton(token html.Token) bool {
	return token.Data == "input" && slices.ContainsFunc(token.Attr, func(a html.Attribute) bool {
		return a.Key == "type" && (a.Val == "submit" || a.Val == "button" || a.Val == "reset")
	})
}

func (k *templateKeys) letters(where, text string) {
	rest := ours.ReplaceAllString(text, "")
	if strings.ContainsFunc(rest, func(r rune) bool { return unicode.IsLetter(r) && r != hole }) {
		k.fault(place{k.file, 0}, "%s %q is said without t", where, shown(text))
	}
}

// shown is a text with its holes as faults name it.
func shown(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, string(hole), "…")), " ")
}
