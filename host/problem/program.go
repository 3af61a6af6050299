package problem

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

	// Dialect is what of its language it is written in, such as "gnu++17"; "" = what
	// submissions are.
	Dialect string `json:"dialect,omitempty"`

	Files []File `json:"files"`

	// Answers says of a generator that it writes the answer of the test that it makes
	// to standard error.
	Answers bool `json:"answers,omitempty"`
}

// Validator is a program that reads an input and says by its exit status whether
// it is one of the problem.
type Validator struct {
	Program

	// Protocol says which exit status means that an input is valid: 42 with
	// "icpc/1", 0 with "testlib/1".
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

// each calls f for the files of p.
func (p *Program) each(f func(*File)) {
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
