// Package statement shows the statement of a version of a problem: its text in the language that somebody reads, its
// samples, and the pictures, documents and files that come with it. Who may see a version, its callers say.
package statement

import (
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/text/language"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// View is a statement as contestants see it, on the page of its problem, in a preview and in print.
type View struct {
	Problem  *judge.Problem
	Label    string // such as "A", in a set of problems
	Base     string // address below which its pictures, documents and languages are
	Files    string // address below which its files are
	Samples  []samplePair
	Switch   []languageLink // none if there is one language
	Text     string         // of the document, for whom cannot see it; "" without one
	Printing bool           // on paper nothing can be clicked
}

// samplePair is a sample test as the statement shows it.
type samplePair struct{ Input, Output site.Listing }

// languageLink is one of the languages of a statement.
type languageLink struct {
	Tag, Name, Address string
	Chosen             bool
}

// Document is the address of the statement as a PDF; "" if it is none.
func (v View) Document() string {
	if v.Problem.Document == "" {
		return ""
	}
	return v.Base + "/documents/" + v.Problem.Document
}

// Framed reports whether the page holds a document that the browser's viewer shows.
func (v View) Framed() bool { return v.Problem.Document != "" && !v.Printing }

// newView makes the view of a problem whose statement is chosen.
func newView(p *judge.Problem, base, files string, l *locale.Locale) View {
	v := View{Problem: p, Base: base, Files: files}
	for i, sample := range p.Samples {
		n, at := fmt.Sprint(i+1), locale.ID(i+1)
		v.Samples = append(v.Samples, samplePair{
			site.Listing{Title: l.Say("Input %s", at), ID: "sample-in-" + n, Text: sample.Input}, site.Listing{Title: l.Say("Output %s", at), ID: "sample-out-" + n, Text: sample.Output},
		})
	}
	if len(p.Statements) > 1 {
		for _, l := range p.Statements {
			v.Switch = append(v.Switch, languageLink{l.Language, site.OrElse(locale.SelfName(l.Language), l.Language), base + "?lang=" + url.QueryEscape(l.Language), l.Language == p.Language})
		}
	}
	return v
}

// Of is the view of a problem with its statement in the language that the request is for: see [Speak].
func Of(s *site.Site, c *fiber.Ctx, p *judge.Problem, base, files string, strict bool) (View, error) {
	text, err := Speak(s, c, p, base, strict)
	if err != nil {
		return View{}, err
	}
	v := newView(p, base, files, site.LocaleOf(c))
	v.Text = text
	return v, nil
}

// Speak gives the problem the statement of its version that the request is for: in the language that ?lang= names, else
// the one that whoever reads wants most (see [wants]), else English, else the first. To name one that is not there is
// refused, if that is strict; one that is there is remembered. Pictures get addresses below base. It returns the
// document's text.
func Speak(s *site.Site, c *fiber.Ctx, p *judge.Problem, base string, strict bool) (text string, err error) {
	ctx := c.UserContext()
	if p.Statements, err = s.Store.StatementLanguages(ctx, p.Slug, p.Version); err != nil {
		return "", err
	}
	c.Vary(fiber.HeaderAcceptLanguage)
	asked, wanted := c.Query("lang"), wants(c)
	tag, err := chooseLanguage(p.Statements, asked, wanted)
	switch {
	case err != nil && !strict:
		tag, err = chooseLanguage(p.Statements, "", wanted)
	case err == nil && asked != "":
		remember(c, tag)
	}
	if err != nil {
		return "", err
	}
	if tag == "" { // it was never rendered
		p.Statement = placePictures(p.Statement, base)
		return "", nil
	}
	page, err := s.Store.Page(ctx, p.Slug, p.Version, tag)
	if errors.Is(err, sql.ErrNotFound) { // it is being rendered again just now
		p.Statement = placePictures(p.Statement, base)
		return "", nil
	}
	if err != nil {
		return "", err
	}
	c.Set(fiber.HeaderContentLanguage, page.Language)
	p.Title, p.Statement, p.Language, p.Document = site.OrElse(page.Title, p.Title), placePictures(page.HTML, base), page.Language, page.Document
	if page.Document != "" {
		text = page.Text
	}
	return text, nil
}

// chosenCookie remembers in which language somebody chose to read statements.
const chosenCookie = "statements"

// wants returns the languages that somebody reads statements in, best first: the one that they chose at the switch of a
// statement, the one that they chose for pages, and those of the browser. Programs say it by the header alone.
func wants(c *fiber.Ctx) []language.Tag {
	accepted, _, err := language.ParseAcceptLanguage(c.Get(fiber.HeaderAcceptLanguage))
	if err != nil {
		accepted = nil // a header that makes no sense asks for nothing
	}
	if !site.WantsPage(c) {
		return accepted
	}
	var chosen []language.Tag
	for _, name := range []string{c.Cookies(chosenCookie), site.ChosenLanguage(c)} {
		if tag, err := language.Parse(name); err == nil && name != "" && len(name) <= maxTag {
			chosen = append(chosen, tag)
		}
	}
	return append(chosen, accepted...)
}

// maxTag bounds a tag that a cookie holds, in bytes.
const maxTag = 64

// remember keeps which language somebody chose. The page of another site that sends them here chooses nothing for them.
func remember(c *fiber.Ctx, tag string) {
	if from := c.Get("Sec-Fetch-Site"); !site.WantsPage(c) || from != "" && from != "same-origin" || len(tag) > maxTag {
		return
	}
	if _, err := language.Parse(tag); err == nil {
		site.Keep(c, chosenCookie, tag)
	}
}

// chooseLanguage returns the tag of one of the languages; "" if there are none. To name
// one that is not there is refused.
func chooseLanguage(all []judge.StatementLanguage, asked string, wanted []language.Tag) (string, error) {
	tags := make([]string, len(all))
	for i, l := range all {
		tags[i] = l.Language
	}
	if asked != "" {
		for _, tag := range tags {
			if strings.EqualFold(tag, asked) {
				return tag, nil
			}
		}
		f := site.Refuse(fiber.StatusNotFound, "no_such_language", "There is no statement in %q.",
			"It was not written in any language that is known: leave lang out.", site.Shorten(asked))
		if len(tags) > 0 {
			f.Mended("There are: %s.", judge.Names(tags))
		}
		f.Field = "lang"
		return "", f
	}
	if len(tags) == 0 {
		return "", nil
	}
	english := max(0, slices.Index(tags, "en"))
	order := append([]string{tags[english]}, slices.Delete(slices.Clone(tags), english, english+1)...)
	known, places := []language.Tag{}, []string{}
	for _, tag := range order {
		if t, err := language.Parse(tag); err == nil {
			known, places = append(known, t), append(places, tag)
		}
	}
	if len(wanted) == 0 || len(known) == 0 {
		return order[0], nil
	}
	_, i, sure := language.NewMatcher(known).Match(wanted...)
	if sure == language.No {
		return order[0], nil
	}
	return places[i], nil
}

// pictureInPage is where the page of a renderer names a picture.
var pictureInPage = regexp.MustCompile(`(<img [^>]*?src=")(pictures/[0-9a-f]{64}\.[a-z]{3}")`)

// placePictures gives the pictures of a statement their addresses.
func placePictures(page, base string) string {
	if !strings.Contains(page, `src="pictures/`) {
		return page
	}
	return pictureInPage.ReplaceAllString(page, "${1}"+strings.ReplaceAll(html.EscapeString(base), "$", "$$")+"/${2}")
}
