// Package locale says the sentences of pages in the reader's language and by the reader's clock.
//
// A sentence is its English text, which may hold the verbs of package fmt; it is also its key in the catalogues, of
// which there is one file for each language. Another language is another file: see CONTRIBUTING.
//
//	amount.go     sizes, durations, shares and scores
//	catalogue.go  the sentences of each language, and which language somebody reads
//	clock.go      time zones, and times as pages write them
//	field.go      times as forms write and read them
//	locale.go     sentences and numbers
//	selfname.go   what languages call themselves
//	template.go   what templates and scripts say
//	*.json        the catalogues
package locale

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/number"
)

// Locale is how somebody reads: their language and their clock. A nil Locale is English by UTC, as programs read.
type Locale struct {
	book *book
	zone *time.Location // nil = UTC
	said bool           // the zone is the reader's own, not one that is taken because none is known
}

// For returns how somebody reads who chose one of the languages of [Languages]; anything else is English.
func For(name string) *Locale { return &Locale{book: bookOf(name)} }

// In returns the same language by the clock of a zone.
func (l *Locale) In(zone *time.Location) *Locale {
	return &Locale{book: l.sentences(), zone: zone, said: zone != nil}
}

func (l *Locale) sentences() *book {
	if l == nil || l.book == nil {
		return bookOf("en")
	}
	return l.book
}

// Name is the language as pages declare it, such as zh-Hans.
func (l *Locale) Name() string { return l.sentences().name }

// Tag is the language.
func (l *Locale) Tag() language.Tag { return l.sentences().tag }

type (
	// Word is a sentence by its English text, or a word that is an argument of one. It is translated where it is said.
	// Constants of this type are what the catalogues have to hold: a test finds them by their type, so nothing outside
	// of this package makes a Word of a text that is not constant.
	Word string

	// ID is a number that names something and counts nothing: it is written without separators.
	ID int64

	// When is a time that a sentence names, for the reader's clock.
	When time.Time
)

func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

func (t When) String() string { return (*Locale)(nil).Time(time.Time(t)) }

// Sentence is a sentence that is said later, to whoever reads it then.
type Sentence struct {
	Key  Word
	Args []any
}

// Kept is a sentence that package judge made, which knows no catalogues: A test finds what it is given.
func Kept(key string, args ...any) Sentence { return Sentence{Word(key), args} }

// String returns the sentence in English, by UTC.
func (s Sentence) String() string {
	return (*Locale)(nil).Said(s)
}

// Say returns a sentence in the reader's language. A number chooses the form of the noun that it counts.
func (l *Locale) Say(key Word, args ...any) string {
	b := l.sentences()
	if len(args) == 0 {
		if text, ok := b.plain[string(key)]; ok {
			return text
		}
		return string(key)
	}
	given := make([]any, len(args))
	for i, arg := range args {
		given[i] = l.argument(arg)
	}
	return b.format(string(key), given)
}

// Said returns a sentence that was kept.
func (l *Locale) Said(s Sentence) string { return l.Say(s.Key, s.Args...) }

// Mark is Say for sentences that hold HTML, such as <code>%s</code>. Arguments are text, unless they are HTML already.
func (l *Locale) Mark(key Word, args ...any) template.HTML {
	given := make([]any, len(args))
	for i, arg := range args {
		switch arg := l.argument(arg).(type) {
		case template.HTML:
			given[i] = string(arg)
		case int, int32, int64, float64, uint64:
			given[i] = arg
		default:
			given[i] = html.EscapeString(fmt.Sprint(arg))
		}
	}
	return template.HTML(l.Say(key, given...))
}

// argument returns what a sentence is filled with.
func (l *Locale) argument(arg any) any {
	switch arg := arg.(type) {
	case Word:
		return l.Say(arg)
	case Sentence:
		return l.Said(arg)
	case ID:
		return arg.String()
	case When:
		return l.Time(time.Time(arg))
	case time.Time:
		return l.Time(arg)
	case time.Duration:
		return l.Span(arg)
	case interface{ Listed() []string }: // such as judge.Names
		return l.List(arg.Listed())
	case Bytes:
		return l.Bytes(int64(arg))
	}
	return arg
}

// List writes names one after the other, with the reader's signs between them.
func (l *Locale) List(names []string) string { return l.joined("%s, %s", names) }

// Comma is what stands between two of a list.
func (l *Locale) Comma() string { return l.Say("%s, %s", "", "") }

// Clauses writes parts of a sentence one after the other, which may have commas of their own.
func (l *Locale) Clauses(parts []string) string { return l.joined("%s; %s", parts) }

func (l *Locale) joined(two Word, parts []string) (text string) {
	for i, part := range parts {
		if i == 0 {
			text = part
			continue
		}
		text = l.Say(two, text, part)
	}
	return text
}

// Beside writes a text with another one in brackets behind it.
func (l *Locale) Beside(text, more string) string { return l.Say("%s (%s)", text, more) }

// Named returns the word for a name, or the name itself where there is none: an older or newer program has others.
func Named[K comparable](words map[K]Word, name K) Sentence {
	if word, known := words[name]; known {
		return Sentence{Key: word}
	}
	return Sentence{Key: "%s", Args: []any{fmt.Sprint(name)}}
}

// Number writes a count or an amount.
func (l *Locale) Number(n any) string {
	switch n := n.(type) {
	case int:
		if 0 <= n && n < 1000 {
			return strconv.Itoa(n) // as most are
		}
	case float64:
		return l.sentences().printer.Sprint(number.Decimal(n, number.MaxFractionDigits(6)))
	case *float64:
		if n == nil {
			return "–"
		}
		return l.sentences().printer.Sprint(number.Decimal(*n, number.MaxFractionDigits(6)))
	}
	return l.sentences().printer.Sprintf("%d", n)
}
