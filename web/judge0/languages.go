package judge0

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"

	"deepoj/host/judge"
)

// Language is a language as clients see it. What compiles has %s where options of the compiler go.
type Language struct {
	ID         int     `json:"id"`
	Name       string  `json:"name"`
	IsArchived bool    `json:"is_archived"` // no worker serves it now
	SourceFile *string `json:"source_file"`
	CompileCmd *string `json:"compile_cmd"`
	RunCmd     *string `json:"run_cmd"`
}

// The languages whose programs bring all that they need, and which no adapter has.
const (
	Executable = 44 // a program of the sandbox's architecture
	MultiFile  = 89 // an archive with scripts in it
)

// How an executable is run. It takes the place of the shell, so that a signal ends the one that is looked at.
const (
	executableFile = "a.out"
	executableRun  = "exec ./" + executableFile + ` "$@"`
)

// executable returns the files of a run of an executable.
func executable(program []byte) []judge.RunFile {
	return []judge.RunFile{{Name: executableFile, Data: program, Exec: true}, {Name: "run", Data: []byte(executableRun + "\n")}}
}

// wellKnown are the ids by which clients know languages, by ours: those of every version of a language that ours can
// stand for. The first is the language's own.
var wellKnown = map[string][]int{
	"c":          {50, 48, 49, 75, 103, 104, 110},
	"cpp":        {54, 52, 53, 76, 105},
	"csharp":     {51},
	"go":         {60, 95, 106, 107},
	"java":       {62, 91},
	"javascript": {63, 93, 97, 102},
	"kotlin":     {78, 111},
	"python":     {71, 92, 100, 109, 113},
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

// ids are all numbers of a language.
func ids(language string) []int {
	if known := wellKnown[language]; len(known) > 0 {
		return known
	}
	return []int{ownID(language)}
}

// ListedID is the number of a language that is its own; one without an adapter has no id.
func ListedID(language string) int {
	if language == "" {
		return MultiFile
	}
	return ids(language)[0]
}

// bare are the languages without an adapter.
var bare = map[int]judge.Language{
	Executable: {Name: "Executable", Extensions: []string{}, RunCommand: executableRun, Available: true},
	MultiFile:  {Name: "Multi-file program", Extensions: []string{}, Available: true}, // clients know it by this name
}

// Find returns the language that a number stands for, or nil. One without an adapter has no id.
func Find(languages []judge.Language, id int) *judge.Language {
	if l, ok := bare[id]; ok {
		return &l
	}
	for i, l := range languages {
		if slices.Contains(wellKnown[l.ID], id) || ownID(l.ID) == id {
			return &languages[i]
		}
	}
	return nil
}

// List returns languages as clients see them, under each of their numbers, by name and number, and those that no worker
// serves only with archived.
func List(languages []judge.Language, archived bool) []Language {
	var out []Language
	for id, l := range bare {
		out = append(out, Show(&l, id))
	}
	for i, l := range languages {
		if !l.Available && !archived {
			continue
		}
		for _, id := range ids(l.ID) {
			out = append(out, Show(&languages[i], id))
		}
	}
	slices.SortFunc(out, func(a, b Language) int { return cmp.Or(strings.Compare(a.Name, b.Name), a.ID-b.ID) })
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

// Describe returns a language with its file and its commands.
func Describe(l *judge.Language, id int) Language {
	out := Show(l, id)
	if file := sourceFile(l); file != "" {
		out.SourceFile = &file
	}
	if id == Executable {
		out.SourceFile = new(executableFile)
	}
	if compile := withOptions(l); compile != "" {
		out.CompileCmd = &compile
	}
	if l.RunCommand != "" {
		out.RunCmd = &l.RunCommand
	}
	return out
}

// sourceFile returns the name that a program in a language is handed in by; "" where it has none.
func sourceFile(l *judge.Language) string {
	if l == nil || len(l.Extensions) == 0 {
		return ""
	}
	return "main." + l.Extensions[0]
}

// withOptions returns what compiles a program in a language, with %s before the first file; "" = nothing is compiled.
func withOptions(l *judge.Language) string {
	words := strings.Fields(l.CompileCommand)
	at := slices.IndexFunc(words, func(word string) bool {
		return slices.ContainsFunc(l.Extensions, func(extension string) bool { return strings.HasSuffix(word, "."+extension) })
	})
	if len(words) == 0 {
		return ""
	}
	if at < 0 {
		at = len(words)
	}
	return strings.Join(slices.Insert(words, at, "%s"), " ")
}
