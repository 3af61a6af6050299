package locale

import (
	"fmt"
	"html/template"
)

// Text is what t of templates does: it says a sentence, or one that Go code made, and what fills it.
func (l *Locale) Text(what any, args ...any) (string, error) {
	s, err := sentence(what, args)
	return l.Said(s), err
}

// HTML is what tm of templates does: the sentence is HTML, and what fills it is text.
func (l *Locale) HTML(what any, args ...any) (template.HTML, error) {
	s, err := sentence(what, args)
	return l.Mark(s.Key, s.Args...), err
}

// sentence returns what a template gave. What is neither a constant of the template nor a sentence of Go code stands in
// no catalogue.
func sentence(what any, args []any) (Sentence, error) {
	switch what := what.(type) {
	case Sentence:
		return what, nil
	case Word:
		return Sentence{what, args}, nil
	case string:
		return Sentence{Word(what), args}, nil
	}
	return Sentence{}, fmt.Errorf("%v is a %T, and no sentence of the catalogues", what, what)
}

// Words returns sentences of scripts, by their English text.
func (l *Locale) Words(keys []string) map[string]string {
	words := make(map[string]string, len(keys))
	for _, key := range keys {
		words[key] = l.Say(Word(key))
	}
	return words
}
