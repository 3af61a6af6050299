// Package safe is the one way out for statements: it writes HTML and SVG again with nothing but what a page may have.
// [Check] knows the same, for whoever gets such HTML from a process that is not trusted.
//
//	clean.go   writes HTML again
//	allow.go   its elements, attributes and classes
//	style.go   what of a style is kept
//	colour.go  colours
//	length.go  lengths
//	img.go     pictures in a page
//	svg.go     pictures in SVG
//	check.go   whether a page is as clean as that
package safe

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// MaxPage is what a page may have at most, in bytes of HTML of one language.
const MaxPage = 4 << 20

// maxDepth is how deep elements may be in each other; deeper ones are left out.
const maxDepth = 64

// ErrTooLong says that a statement becomes more HTML than a page may have.
var ErrTooLong = fmt.Errorf("becomes more than %d MiB of HTML: shorten it", MaxPage>>20)

// Source is what a cleaner asks of whoever wrote the HTML.
type Source struct {
	// Note takes what is left out; what has one %s for the name.
	Note func(what, name string)
	// Picture returns the file name of a picture that the source calls so; "" = it cannot be shown.
	Picture func(name string) string

	// Skip reports whether an element is left out with all that is in it, since the page
	// shows that elsewhere. Nil = none is.
	Skip func(element, class string) bool
	// Rename returns what an element is called instead. Nil = as it is.
	Rename func(element, class string) string
	// Text writes text that is not in code, which may hold formulas, as HTML. Nil = as it is.
	Text func(string) (string, error)
}

// cleaner writes HTML again with what is allowed, well formed. It reads from left to
// right, and what it looks back at has at most [maxDepth] elements.
type cleaner struct {
	Source

	in    *html.Tokenizer
	out   strings.Builder
	open  []string // elements
	real  []string // and what they are called in the source
	code  int      // elements of code around this place
	skips int      // depth of what is left out
	skipn string
	err   error
}

// Clean returns HTML with nothing but what a statement may have.
func Clean(page string, from Source) (string, error) {
	c := &cleaner{Source: from, in: html.NewTokenizer(strings.NewReader(page))}
	for c.err == nil {
		kind := c.in.Next()
		if kind == html.ErrorToken {
			break
		}
		c.token(kind, c.in.Token())
		if c.out.Len() > MaxPage && c.err == nil {
			c.err = ErrTooLong
		}
	}
	c.closeTo(0)
	return c.out.String(), c.err
}

func (c *cleaner) token(kind html.TokenType, t html.Token) {
	name := t.Data
	if c.skips > 0 {
		switch {
		case name == c.skipn && kind == html.StartTagToken:
			c.skips++
		case name == c.skipn && kind == html.EndTagToken:
			c.skips--
		}
		return
	}
	switch kind {
	case html.TextToken:
		c.write(name)
	case html.StartTagToken:
		c.start(t, false)
	case html.SelfClosingTagToken:
		c.start(t, true)
	case html.EndTagToken:
		c.end(name)
	case html.ErrorToken, html.CommentToken, html.DoctypeToken: // nothing to show
	}
}

func (c *cleaner) write(text string) {
	if c.Text != nil && c.code == 0 {
		text, c.err = c.Text(text)
		c.out.WriteString(text)
		return
	}
	c.out.WriteString(html.EscapeString(text))
}

// start writes a start tag, if it may be there.
func (c *cleaner) start(t html.Token, empty bool) {
	name, class := t.Data, ""
	for _, a := range t.Attr {
		if a.Key == "class" {
			class = a.Val
		}
	}
	real := name
	if c.Rename != nil {
		name = c.Rename(name, class)
	}
	own := c.Skip != nil && c.Skip(name, class)
	switch {
	case own || skipped[name]:
		if !own && name != "head" {
			c.Note("holds elements of HTML that are left out with what is in them: %s", "<"+name+">")
		}
		if !empty && !voids[name] {
			c.skips, c.skipn = 1, real
		}
		return
	case name == "html" || name == "body" || name == "font" || name == "center" || name == "nobr" || name == "tt":
		name = map[string]string{"html": "div", "body": "div", "font": "span", "center": "div", "nobr": "span", "tt": "code"}[name]
		if real == "center" {
			t.Attr = append(t.Attr, html.Attribute{Key: "class", Val: "center"})
		}
	case name == "meta" || name == "link" || name == "base" || name == "wbr":
		return
	case !Element(name):
		c.Note("holds elements of HTML that are left out, though not the text in them: %s", "<"+name+">")
		return
	}
	c.implied(name)
	if len(c.open) >= maxDepth {
		c.Note("holds elements in elements in elements, of which the innermost are left out: %s", "<"+name+">")
		return
	}
	if name == "img" {
		c.picture(t.Attr)
		return
	}
	c.out.WriteString("<" + name)
	c.attributes(name, t.Attr)
	if scrolls(name, t.Attr) {
		c.out.WriteString(` tabindex="0"`)
	}
	c.out.WriteByte('>')
	switch {
	case voids[name]:
	case empty:
		c.out.WriteString("</" + name + ">")
	default:
		if name == "code" || name == "pre" {
			c.code++
		}
		c.open, c.real = append(c.open, name), append(c.real, real)
	}
}

// scrolls reports whether an element may be wider than a screen, so that it scrolls:
// then it can be reached by keyboard.
func scrolls(name string, attrs []html.Attribute) bool {
	return name == "table" || name == "math" && slices.ContainsFunc(attrs, func(a html.Attribute) bool { return a.Key == "display" && a.Val == "block" })
}

// end closes an element, and what is open in it.
func (c *cleaner) end(name string) {
	for i, v := range slices.Backward(c.real) {
		if v == name {
			c.closeTo(i)
			return
		}
	}
}

// closeTo closes elements until n are open.
func (c *cleaner) closeTo(n int) {
	for len(c.open) > n {
		last := c.open[len(c.open)-1]
		if last == "code" || last == "pre" {
			c.code--
		}
		c.out.WriteString("</" + last + ">")
		c.open, c.real = c.open[:len(c.open)-1], c.real[:len(c.real)-1]
	}
}

// impliedEnds are elements that end others by beginning, and where that stops.
var impliedEnds = map[string]struct{ ends, stop map[string]bool }{
	"li": {Names("li"), Names("ul ol")},
	"dt": {Names("dt dd"), Names("dl")}, "dd": {Names("dt dd"), Names("dl")},
	"td": {Names("td th"), Names("tr table")}, "th": {Names("td th"), Names("tr table")},
	"tr":    {Names("tr"), Names("table")},
	"tbody": {Names("thead tbody tfoot"), Names("table")}, "thead": {Names("thead tbody tfoot"), Names("table")}, "tfoot": {Names("thead tbody tfoot"), Names("table")},
}

var paragraphStop = Names("li dd td th div section blockquote figure figcaption details table caption summary math")

// implied closes what an element ends by beginning.
func (c *cleaner) implied(name string) {
	if blocks[name] || name == "li" || name == "dt" || name == "dd" {
		for i := len(c.open) - 1; i >= 0 && !paragraphStop[c.open[i]]; i-- {
			if c.open[i] == "p" {
				c.closeTo(i)
				break
			}
		}
	}
	rule, ok := impliedEnds[name]
	if !ok {
		return
	}
	for i := len(c.open) - 1; i >= 0 && !rule.stop[c.open[i]]; i-- {
		if rule.ends[c.open[i]] {
			c.closeTo(i)
			return
		}
	}
}

// quiet are attributes that nobody misses.
var quiet = Names("tabindex style class id border cellpadding cellspacing rel target loading name xmlns frameborder decoding charset")

// attributes writes those that an element may have. Style becomes classes.
func (c *cleaner) attributes(element string, all []html.Attribute) {
	var class []string
	seen := map[string]bool{}
	for _, a := range all {
		if seen[a.Key] {
			continue // browsers take the first
		}
		seen[a.Key] = true
		switch {
		case a.Key == "class":
			class = append(class, allowedClasses(a.Val)...)
		case a.Key == "style":
			class = append(class, c.styles(element, a.Val)...)
		case a.Key == "mathcolor" || a.Key == "mathbackground" || a.Key == "bgcolor" || a.Key == "color" && element == "span":
			property := map[bool]string{true: "color", false: "background-color"}[strings.HasSuffix(a.Key, "color") && a.Key != "bgcolor"]
			class = append(class, c.styles(element, property+":"+a.Val)...)
		case a.Key == "align" && !mathElements[element]:
			class = append(class, allowedClasses(strings.ToLower(a.Val))...)
		case a.Key == "href" && element == "a" && !plainAddress(a.Val):
			c.Note("has links to where no page may lead, which are left out: %s", a.Val)
		case a.Key != "tabindex" && allowed(element, a.Key, a.Val):
			fmt.Fprintf(&c.out, ` %s="%s"`, a.Key, html.EscapeString(a.Val))
		case !quiet[a.Key] && !strings.HasPrefix(a.Key, "data-") && !strings.HasPrefix(a.Key, "aria-"):
			c.Note("has attributes of HTML that are left out: %s", element+"."+a.Key)
		}
	}
	slices.Sort(class)
	if class = slices.Compact(class); len(class) > 0 {
		class = class[:min(len(class), maxClasses)]
		fmt.Fprintf(&c.out, ` class="%s"`, strings.Join(class, " "))
	}
}
