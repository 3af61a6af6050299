package judge0

import (
	"hash/fnv"
	"slices"

	"deepoj/host/judge"
)

// Language is a language as clients see it.
type Language struct {
	ID         int     `json:"id"`
	Name       string  `json:"name"`
	IsArchived bool    `json:"is_archived"` // no worker serves it now
	SourceFile *string `json:"source_file,omitempty"`
	CompileCmd *string `json:"compile_cmd,omitempty"`
	RunCmd     *string `json:"run_cmd,omitempty"`
}

// MultiFile is the language whose program is an archive with scripts in it.
const MultiFile = 89

// wellKnown are the ids by which clients know languages, by ours. The first one
// is listed, the others are taken as well.
var wellKnown = map[string][]int{
	"c":          {50, 48, 49, 75, 103, 104},
	"cpp":        {54, 52, 53, 76, 105},
	"csharp":     {51},
	"go":         {60, 95, 106, 107},
	"java":       {62, 91},
	"javascript": {63, 93, 97, 102},
	"kotlin":     {78, 111},
	"python":     {71, 92, 100, 109},
	"rust":       {73, 108},
	"typescript": {74, 94, 101},
}

// Where the ids of our own begin, and how many there are.
const (
	firstOwn = 100_000
	ownIDs   = 1 << 20
)

// ownID is a number for a language that depends on its id alone.
func ownID(language string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(language)) // never fails
	return firstOwn + int(h.Sum32()%ownIDs)
}

// LanguageID returns the number by which a language is listed.
func LanguageID(language string) int {
	if language == "" {
		return MultiFile
	}
	if ids := wellKnown[language]; len(ids) > 0 {
		return ids[0]
	}
	return ownID(language)
}

// Find returns the language that a number stands for, or nil. The language of [MultiFile] has no id.
func Find(languages []judge.Language, id int) *judge.Language {
	if id == MultiFile {
		return &judge.Language{Name: "Multi-file program", Available: true}
	}
	for i, l := range languages {
		if slices.Contains(wellKnown[l.ID], id) || ownID(l.ID) == id {
			return &languages[i]
		}
	}
	return nil
}

// List returns languages as clients see them, by number, and those that no worker serves only with archived.
func List(languages []judge.Language, archived bool) []Language {
	multi := Find(nil, MultiFile)
	out := []Language{Show(multi, MultiFile)}
	for i, l := range languages {
		if l.Available || archived {
			out = append(out, Show(&languages[i], LanguageID(l.ID)))
		}
	}
	slices.SortFunc(out, func(a, b Language) int { return a.ID - b.ID })
	return out
}

// Show returns a language under a number.
func Show(l *judge.Language, id int) Language {
	name := l.Name
	if l.Version != "" {
		name += " (" + l.Version + ")"
	}
	return Language{ID: id, Name: name, IsArchived: !l.Available}
}

// Describe returns a language with its file and its command.
func Describe(l *judge.Language, id int) Language {
	out := Show(l, id)
	if len(l.Extensions) > 0 {
		file := "main." + l.Extensions[0]
		out.SourceFile = &file
	}
	if l.Command != "" {
		out.CompileCmd = &l.Command
	}
	return out
}
