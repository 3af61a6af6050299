package problem

import (
	"fmt"
	"path"
	"strings"
)

// The languages of programs that are no language of submissions.
const (
	LanguageShell   = "sh"     // a shell script alone
	LanguageScripts = "script" // a folder with a script build, a program or script run, or both
)

// Program is a program of the judges that runs in the sandbox and not as a
// plugin, in any language that submissions may be in.
type Program struct {
	// Name is what commands call it, such as "gen" for files/gen.cpp.
	Name string `json:"name"`

	// Language is the id of its language; "" = by the extensions of its files.
	Language string `json:"language,omitempty"`

	// Dialect is what of its language it is written in, such as "gnu++17"; "" = what submissions are.
	Dialect string `json:"dialect,omitempty"`

	Files []File `json:"files"`

	// Answers says of a generator that it writes the answer of the test that it makes to standard error.
	Answers bool `json:"answers,omitempty"`
}

// Validator is a program that reads an input and says by its exit status whether it is one of the problem.
type Validator struct {
	Program

	// Protocol says which exit status means that an input is valid: 42 with "icpc/1", 0 with "testlib/1".
	Protocol string `json:"protocol"`

	// Tests are inputs of which is known what it must say.
	Tests []ValidatorTest `json:"tests,omitempty"`
}

// ValidatorTest is an input of which is known whether it is valid.
type ValidatorTest struct {
	Input File     `json:"input"`
	Flags []string `json:"flags,omitempty"`
	Valid bool     `json:"valid,omitempty"`
}

// OwnInput is an input that only the package's own programs see, with the flags that
// validators get for it, as those of a [Test].
type OwnInput struct {
	File

	Flags   []string            `json:"input_flags,omitempty"`
	FlagsBy map[string][]string `json:"input_flags_of,omitempty"`
}

// FlagsOf returns the flags that a validator gets for the input.
func (in OwnInput) FlagsOf(validator string) []string {
	if flags, ok := in.FlagsBy[validator]; ok {
		return flags
	}
	return in.Flags
}

// CheckerTest is an output of which is known what the checkers must say.
type CheckerTest struct {
	Input  File `json:"input"`
	Output File `json:"output"`
	Answer File `json:"answer"`

	Flags []string `json:"flags,omitempty"`

	// Valid says that the validators must accept the input.
	Valid *OwnInput `json:"valid,omitempty"`

	// Wants is what they must say: "accepted", "rejected", "partial", or "failed"
	// if a checker must find that the judges are at fault.
	Wants string `json:"wants"`
}

// EachFile calls f for the files of p.
func (p *Program) EachFile(f func(*File)) {
	for i := range p.Files {
		f(&p.Files[i])
	}
}

// Complete reports whether each test of p has its input and answer. Those of
// others are to be made by p's own programs before p is judged.
func (p *Package) Complete() bool {
	for _, t := range p.Tests() {
		if t.Input.Path == "" || t.Answer.Path == "" {
			return false
		}
	}
	return true
}

// FlagsOf returns the flags that a validator gets for the test.
func (t *Test) FlagsOf(validator string) []string {
	if flags, ok := t.InputFlagsOf[validator]; ok {
		return flags
	}
	return t.InputFlags
}

// CommandWords splits the command of a test into its words. Quotes keep words together; what a
// shell would do besides is refused.
func CommandWords(cmd string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun := false
	quote := rune(0)
	for _, c := range cmd {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, begun = c, true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		case strings.ContainsRune("|<>&;`$\x00", c):
			return nil, fmt.Errorf("it holds %q, and only a generator with its arguments can be run", c)
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// programLanguages are the languages of the judges' programs by the extensions of
// their files, as the manifests of the adapters have them. Others than these only
// come along.
var programLanguages = map[string]string{
	".py": "python", ".py3": "python", ".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".c++": "cpp", ".C": "cpp",
	".java": "java", ".go": "go", ".rs": "rust", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
	".ts": "typescript", ".kt": "kotlin", ".cs": "csharp",
}

// LanguageOf returns the language of a program of the judges by the extension of its
// file, or "".
func LanguageOf(file string) string { return programLanguages[path.Ext(file)] }
