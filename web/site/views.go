package site

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/locale"
)

// views are the pages by name. Each is the layout and the shared parts with one page's own "main" block.
type views struct{ pages map[string]*page }

// page is one page: its template, and copies of it, each of which serves one reader at a time. What its functions say
// is in that reader's language and by their clock.
type page struct {
	whole func() (*template.Template, error) // with the parts; is made once, copied, and never executed
	words []func(*reader) template.FuncMap
	free  chan *copied
}

// reader is for whom a copy says something at the moment.
type reader struct{ *locale.Locale }

type copied struct {
	tmpl *template.Template
	who  *reader
}

// maxCopies bounds the copies of a page that are kept for the next readers.
const maxCopies = 8

// render executes one template of the page for a reader.
func (p *page) render(out io.Writer, part string, l *locale.Locale, data any) error {
	var c *copied
	select {
	case c = <-p.free:
	default:
		tmpl, err := p.copy()
		if err != nil {
			return err
		}
		c = &copied{tmpl, &reader{}}
		for _, words := range p.words {
			tmpl.Funcs(words(c.who))
		}
	}
	c.who.Locale = l
	err := c.tmpl.ExecuteTemplate(out, part, data)
	select {
	case p.free <- c:
	default:
	}
	return err
}

// copy returns a copy of the page's template.
func (p *page) copy() (*template.Template, error) {
	whole, err := p.whole()
	if err != nil {
		return nil, err
	}
	return whole.Clone()
}

// functions are what templates of all rooms call.
func (a *assets) functions(r *reader) template.FuncMap {
	return template.FuncMap{
		"asset":     a.url,
		"words":     func() string { return a.words(r.Name()) },
		"languages": locale.Languages,
		"selfName":  locale.SelfName,
		"zones":     locale.UsualZones,
		"now":       time.Now,
		"t":         func(what any, args ...any) (string, error) { return r.Text(what, args...) },
		"tm":        func(what any, args ...any) (template.HTML, error) { return r.HTML(what, args...) },
		"n":         func(n any) string { return r.Number(n) },
		"comma":     func() string { return r.Comma() },
		"beside":    func(text, more string) string { return r.Beside(text, more) },
		"id":        func(n any) string { return fmt.Sprint(n) },
		"ticking": func(d time.Duration) template.HTML { // which a script counts down
			return `<span class="num" data-clock>` + Escape(r.Span(d)) + "</span>"
		},
		"moment":   func(t time.Time) template.HTML { return r.Moment(t) },
		"exactly":  func(t any) (template.HTML, error) { return r.exactly(t) },
		"mark":     func(v judge.Verdict) template.HTML { return Badge(r.Locale, v) },
		"stamp":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"day":      func(t time.Time) string { return r.Day(t) },
		"dict":     dict,
		"seconds":  func(ms int64) string { return r.Took(time.Duration(ms) * time.Millisecond) },
		"took":     func(d time.Duration) string { return r.Took(d) },
		"used":     func(kib int64) string { return r.Used(kib) },
		"problem":  ProblemURL,
		"points":   func(score any) string { return r.Points(score) },
		"percent":  func(share float64) string { return r.Percent(share) },
		"shape":    shapeOf,
		"lower":    func(v any) string { return strings.ToLower(fmt.Sprint(v)) },
		"markup":   func(s string) template.HTML { return template.HTML(s) }, // statements, made safe by host/problem
		"editor":   a.hasEditor,
		"formulas": func() bool { return a.files[formulaSheet] != nil },
		"duration": func(d time.Duration) string { return r.Span(d) },
		"bytes":    func(n int64) string { return r.Bytes(n) },

		"mebibytes":   func(n int64) string { return r.Bytes(n << 20) },
		"lang":        func() string { return r.Name() },
		"person":      Person,
		"called":      Called,
		"short":       shortDigest,
		"severity":    severityName,
		"verdictName": VerdictName,
		"stateName":   StateName[string],

		"scopeMay":  ScopeMay,
		"scopeName": ScopeName,
		"roleName":  RoleName[judge.Role],
		"spaceRole": RoleName[judge.SpaceRole],

		"lines":   func(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") },
		"verdict": func(s string) judge.Verdict { return judge.Verdict(s) },
		"shortDigest": func(digest string) string {
			_, hex, _ := strings.Cut(digest, ":")
			return hex[:min(len(hex), 12)]
		},
	}
}

// exactly renders a time, which may be a pointer, to the second.
func (r *reader) exactly(t any) (template.HTML, error) {
	switch t := t.(type) {
	case time.Time:
		return r.Exactly(t), nil
	case *time.Time:
		return r.Exactly(*t), nil
	}
	return "", fmt.Errorf("%T is no time", t)
}

// loadViews parses the templates of files. Those whose names begin with "_" are parts that all pages share; a page gets
// its own copy of them when somebody opens it. Words are the functions of rooms, beside those of all.
func loadViews(a *assets, files fs.FS, words template.FuncMap) (*views, error) {
	for name := range a.functions(&reader{}) {
		if _, twice := words[name]; twice {
			return nil, fmt.Errorf("a room gives templates another function %q than that of all rooms", name)
		}
	}
	functions := []func(*reader) template.FuncMap{a.functions, func(*reader) template.FuncMap { return words }}
	shared := template.New("")
	for _, some := range functions {
		shared.Funcs(some(&reader{}))
	}
	shared, err := shared.ParseFS(files, "templates/_*.html")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	v := &views{pages: map[string]*page{}}
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if strings.HasPrefix(name, "_") {
			continue
		}
		own := template.New("")
		for _, some := range functions {
			own.Funcs(some(&reader{}))
		}
		if own, err = own.ParseFS(files, file); err != nil {
			return nil, err
		}
		whole := sync.OnceValues(func() (*template.Template, error) { return together(shared, own) })
		v.pages[name] = &page{whole: whole, words: functions, free: make(chan *copied, maxCopies)}
	}
	return v, nil
}

// together returns a copy of the shared parts, in which the page's own take the place of those of the same name.
func together(shared, own *template.Template) (*template.Template, error) {
	whole, err := shared.Clone()
	if err != nil {
		return nil, err
	}
	for _, t := range own.Templates() {
		if _, err := whole.AddParseTree(t.Name(), t.Tree); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// dict gives a part of a page several values by their names.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("%d arguments are no pairs", len(pairs))
	}
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("argument %d is no name", i+1)
		}
		m[name] = pairs[i+1]
	}
	return m, nil
}

// frame is what the layout shows around every page.
type frame struct {
	Title   string
	Locale  *locale.Locale
	Name    string // of the page, such as "problem"
	Viewer  Viewer
	Version string
	Nonce   string      // for the style sheet of the source editor, where there is one
	Done    locale.Word // what the form before has done; "" = nothing
	At      string      // its address
	Refresh int         // seconds after which a browser without JavaScript reloads; 0 = never
	Main    any
}

// Badge renders a verdict with its shape. Like moments, it is in every row of a list.
func Badge(l *locale.Locale, v judge.Verdict) template.HTML {
	code := html.EscapeString(string(v))
	return template.HTML(`<span class="badge v-` + strings.ToLower(code) + `"><svg aria-hidden="true"><use href="#s-` + shapeOf(v) +
		`"/></svg><abbr title="` + html.EscapeString(l.Said(VerdictName(v))) + `">` + code + `</abbr></span>`)
}

// Page renders a page inside the layout. Its title is a sentence, which the arguments fill; "%s" alone is for a name.
func (s *Site) Page(c *fiber.Ctx, status int, name string, title locale.Word, main any, args ...any) error {
	f := frame{Title: LocaleOf(c).Say(title, args...), Locale: LocaleOf(c), Name: name, Viewer: ViewerOf(c), At: c.OriginalURL(), Version: s.Config.Version, Main: main}
	if r, ok := main.(interface{ Refresh() int }); ok {
		f.Refresh = r.Refresh()
	}
	if name == "problem" {
		f.Nonce = people.NewToken(16)
		c.Set("Content-Security-Policy", csp(f.Nonce))
	}
	if d, ok := main.(interface{ Framed() bool }); ok && d.Framed() {
		c.Set("Content-Security-Policy", csp(f.Nonce)+"; object-src 'self'; frame-src 'self'")
	}
	f.Done = takeDone(c)
	return s.Render(c, status, name, "layout", f)
}

// Render executes one template of a page. It renders into memory first: a page that fails must not be sent by half.
func (s *Site) Render(c *fiber.Ctx, status int, page, part string, data any) error {
	var out bytes.Buffer
	l := LocaleOf(c)
	if err := s.views.pages[page].render(&out, part, l, data); err != nil {
		return fmt.Errorf("render %s: %w", page, err)
	}
	if len(c.Response().Header.Peek(fiber.HeaderContentLanguage)) == 0 { // a statement has said its own
		c.Set(fiber.HeaderContentLanguage, l.Name())
	}
	c.Append(fiber.HeaderVary, fiber.HeaderAcceptLanguage, fiber.HeaderCookie)
	c.Status(status).Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Send(out.Bytes())
}

// Listing is a text with a title and a copy button. Marked is the same text with what is to be seen in it; "" = nothing is.
type Listing struct {
	Title, ID, Text string
	Marked          template.HTML
}

// Cells are the cells of a row of a long list. Each value is work to a template, and such a list has hundreds, so its
// rows are put together here. What comes from people is escaped.
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

// Escape makes text safe as the content of an element and as the value of an attribute.
func Escape(text string) template.HTML { return template.HTML(html.EscapeString(text)) }

// Link is a link with a text. Href has to be a path of ours whose parts were escaped.
func Link(href, text string) template.HTML {
	return `<a href="` + Escape(href) + `">` + Escape(text) + "</a>"
}

// shortDigest is a digest by its first digits, of which there are enough to tell versions apart.
func shortDigest(digest string) template.HTML {
	_, hex, _ := strings.Cut(digest, ":")
	return `<code class="digest" title="` + Escape(digest) + `">` + Escape(hex[:min(len(hex), 12)]) + "</code>"
}

// Small is a remark beside something.
func Small(text string) template.HTML {
	if text == "" {
		return ""
	}
	return ` <span class="small muted">` + Escape(text) + "</span>"
}
