package locale

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
)

// files are the catalogues, one for each language. That of English holds only sentences that have several forms.
//
//go:embed *.json
var files embed.FS

// Entry is what a catalogue says for a key: one text, or the forms of a plural.
type Entry struct {
	Text  string            // if it has no forms
	Forms map[string]string // by their names in CLDR: one, few, other
	Arg   int               // whose number chooses the form, from 1
	Order bool              // the number counts places: first, second
}

// UnmarshalJSON reads a text, or an object with forms and perhaps "arg" and "ordinal".
func (e *Entry) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, &e.Text)
	}
	var forms struct {
		Arg                              int
		Ordinal                          bool
		Zero, One, Two, Few, Many, Other string
	}
	if err := json.Unmarshal(raw, &forms); err != nil {
		return err
	}
	e.Arg, e.Order, e.Forms = max(forms.Arg, 1), forms.Ordinal, map[string]string{}
	for name, text := range map[string]string{"zero": forms.Zero, "one": forms.One, "two": forms.Two, "few": forms.Few, "many": forms.Many, "other": forms.Other} {
		if text != "" {
			e.Forms[name] = text
		}
	}
	return nil
}

// Catalogue returns what the file of a language says, by key.
func Catalogue(name string) (map[string]Entry, error) {
	raw, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, fmt.Errorf("catalogue of %s: %w", name, err)
	}
	entries := map[string]Entry{}
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, fmt.Errorf("catalogue of %s: %w", name, err)
	}
	return entries, nil
}

// Languages are those that pages are read in, English first, by the names of their files.
var Languages = sync.OnceValue(func() []string {
	found, _ := files.ReadDir(".") // it is embedded
	names := []string{"en"}
	for _, file := range found {
		if name := strings.TrimSuffix(file.Name(), path.Ext(file.Name())); name != "en" {
			names = append(names, name)
		}
	}
	return names
})

// Known reports whether there is a language of this name.
func Known(name string) bool { return slices.Contains(Languages(), name) }

// matcher chooses among the languages.
var matcher = sync.OnceValue(func() language.Matcher {
	tags := make([]language.Tag, 0, len(Languages()))
	for _, name := range Languages() {
		tags = append(tags, language.Make(name))
	}
	return language.NewMatcher(tags)
})

// maxAccept bounds the header that is read.
const maxAccept = 400

// Accepted returns the language that the header Accept-Language asks for before all others that there are.
func Accepted(header string) string {
	if header == "" || len(header) > maxAccept {
		return "en"
	}
	wanted, _, err := language.ParseAcceptLanguage(header)
	if err != nil || len(wanted) == 0 {
		return "en"
	}
	_, i, _ := matcher().Match(wanted...)
	return Languages()[i]
}

// book is a language: its sentences, ready to be said.
type book struct {
	name    string
	tag     language.Tag
	plain   map[string]string // sentences that are said as they are
	places  map[string]Entry  // those whose number is a place
	printer *message.Printer
}

// books are made when somebody first reads them.
var books = sync.OnceValue(func() map[string]*book {
	all := map[string]*book{}
	b := catalog.NewBuilder(catalog.Fallback(language.English))
	for _, name := range Languages() {
		all[name] = newBook(b, name)
	}
	return all
})

func bookOf(name string) *book {
	if b, ok := books()[name]; ok {
		return b
	}
	return books()["en"]
}

// newBook adds a language to the catalogue of all. A file that is broken is a mistake of ours that a test finds.
func newBook(b *catalog.Builder, name string) *book {
	out := &book{name: name, tag: language.Make(name), plain: map[string]string{}, places: map[string]Entry{}}
	entries, err := Catalogue(name)
	if err != nil {
		panic(err) //nolint:forbidigo // only a broken file fails, and a test reads all
	}
	for key, e := range entries {
		switch {
		case e.Order:
			out.places[key] = e
		case e.Forms == nil:
			out.plain[key] = e.Text
			err = b.SetString(out.tag, key, e.Text)
		default:
			err = b.Set(out.tag, key, plural.Selectf(e.Arg, "%d", e.cases()...))
		}
		if err != nil {
			panic(fmt.Errorf("catalogue of %s, %q: %w", name, key, err)) //nolint:forbidigo // as above
		}
	}
	out.printer = message.NewPrinter(out.tag, message.Catalog(b))
	return out
}

// cases are the forms in the order in which they are tried.
func (e Entry) cases() []any {
	var out []any
	for _, form := range []string{"zero", "one", "two", "few", "many", "other"} {
		if text, ok := e.Forms[form]; ok {
			out = append(out, form, text)
		}
	}
	return out
}

// format fills a sentence.
func (b *book) format(key string, args []any) string {
	if e, ok := b.places[key]; ok {
		n, _ := strconv.Atoi(fmt.Sprint(args[e.Arg-1]))
		form := formNames[plural.Ordinal.MatchPlural(b.tag, n%10_000_000, 0, 0, 0, 0)]
		text, ok := e.Forms[form]
		if !ok {
			text = e.Forms["other"]
		}
		return b.printer.Sprintf(message.Key("", text), args...)
	}
	return b.printer.Sprintf(key, args...)
}

var formNames = map[plural.Form]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
}
