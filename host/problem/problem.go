// Package problem reads problem packages and keeps them by content.
//
// [Read] turns a package as a setter wrote it into a [Package]: what is judged,
// by which tests, in which order, by which checker and how scores add up. A
// package is read whole or refused; every refusal names the file, the key and
// the reason, and what was understood but not honoured is in the [Report].
//
// [Package.Save] puts the package and all its files into a blob store and
// returns the digest of its manifest. That digest is the problem's version: it
// names the same tests and rules forever. This package judges nothing.
package problem

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
)

// The formats of packages, as [Package.Format] spells them: those of ICPC and
// Kattis, of which the first has no version, that of Polygon, that of DMOJ, and
// folders that hold tests and say nothing else.
const (
	FormatLegacy  = "icpc-legacy"
	Format202307  = "icpc-2023-07"
	Format202509  = "icpc-2025-09"
	FormatPolygon = "polygon"
	FormatDMOJ    = "dmoj"
	FormatPlain   = "plain"
)

// Package is a problem as it is judged.
type Package struct {
	// Schema is the version of this structure in the blob store: 1.
	Schema int `json:"schema"`

	Format string `json:"format"` // such as [FormatLegacy]
	Slug   string `json:"slug"`   // the short name; the importer sets it
	Title  string `json:"title"`  // in English where there is a choice
	// Titles has it by language tag, where there are several.
	Titles map[string]string `json:"titles,omitempty"`

	UUID     string   `json:"uuid,omitempty"` // the setter's own identity of the problem
	Author   string   `json:"author,omitempty"`
	Source   string   `json:"source,omitempty"`
	License  string   `json:"license,omitempty"`
	Keywords []string `json:"keywords,omitempty"`

	// Languages are the ids of the languages that may be used; empty = all.
	Languages []string `json:"languages,omitempty"`

	// Scoring says that a submission gets points and not only a verdict.
	Scoring bool `json:"scoring,omitempty"`

	// CheckerMessages says who reads what the checkers say; "" = the package does not.
	CheckerMessages judge.CheckerMessages `json:"checker_messages,omitempty"`

	// Minimize says that fewer points are better (grading.objective).
	Minimize bool `json:"minimize,omitempty"`

	Limits Limits `json:"limits"`

	// Passes is how often a program may be run on one test, where its checker or
	// interactor asks for another pass; 0 = it cannot.
	Passes int `json:"passes,omitempty"`

	// InputFile and OutputFile are the names of files in the working directory
	// that programs read and write; "" = standard input and output.
	InputFile  string `json:"input_file,omitempty"`
	OutputFile string `json:"output_file,omitempty"`

	// Answers says that a submission is no program but the answers to the tests.
	Answers bool `json:"answers,omitempty"`

	// Writable says that programs may write files of their working directory, which
	// nobody reads.
	Writable bool `json:"writable,omitempty"`

	// Interactor talks with the program, which then has no other input. Nil
	// when the problem is not interactive.
	Interactor *Checker `json:"interactor,omitempty"`

	// Checkers decide on each output; all of them must accept it. In an
	// interactive problem the output is what a testlib/1 interactor wrote for
	// them, and there may be none.
	Checkers []Checker `json:"checkers"`

	// Binding says that the checker is none that the package asks for; nil if it is.
	Binding *Binding `json:"binding,omitempty"`

	// Root is the group of the whole package; its children are sample and
	// secret.
	Root *Group `json:"root"`

	// Includes are the files that every submission is compiled with.
	Includes []Include `json:"includes,omitempty"`

	// Statement is HTML, safe to show. Statements has it by language tag.
	Statement  string            `json:"statement"`
	Statements map[string]string `json:"statements,omitempty"`
	Samples    []judge.Sample    `json:"samples,omitempty"`

	// Pictures are what the statements show, by name. Their pages name each as
	// "pictures/" and its name.
	Pictures []Picture `json:"pictures,omitempty"`

	Submissions []Submission `json:"submissions,omitempty"`
	Attachments []File       `json:"attachments,omitempty"`
	Documents   []File       `json:"documents,omitempty"` // statements that are PDF

	// Generators are the programs that make tests. Validators are those that look
	// at inputs; one at least must reject each of Invalid. CheckerTests are what the
	// checkers must say.
	Generators   []Program     `json:"generators,omitempty"`
	Validators   []Validator   `json:"validators,omitempty"`
	Invalid      []OwnInput    `json:"invalid,omitempty"`
	CheckerTests []CheckerTest `json:"checker_tests,omitempty"`

	// Static looks at the submitted files, for the groups that ask for it.
	Static *Program `json:"static,omitempty"`

	// Grader turns results into those of groups that ask for it.
	Grader *Program `json:"grader,omitempty"`

	// Files lists every file of the package, ordered by path.
	Files []File `json:"files"`

	// Version is the digest of the manifest. Save and Load set it.
	Version blob.Digest `json:"-"`

	src  fs.FS      // where the files are, after Read
	from blob.Store // where the files are, after Load and Save
}

// Picture is a picture of a statement.
type Picture struct {
	// Name is the SHA-256 of the file in the package, in lower-case hex, and the
	// extension of what is shown: ".png", ".jpg", ".gif" or ".svg".
	Name string `json:"name"`

	// File holds it: a file that the setter made or, for SVG, a clean one that was made
	// of it (see [Derived]).
	File File `json:"file"`

	// Type is the media type of what is shown, such as "image/png".
	Type string `json:"type"`

	// Convert says what File is if it is still to be turned into Type: "pdf" or "eps";
	// "" = it is shown as it is.
	Convert string `json:"convert,omitempty"`
}

// derivedDir is the folder of the files that reading a package makes. They are files
// of the version, and no part of the package.
const derivedDir = "deepoj-derived"

// Derived reports whether a file of a version was made of others when the package was
// read. An export leaves it out, since whoever reads the package makes it again.
func Derived(path string) bool { return strings.HasPrefix(path, derivedDir+"/") }

// Include is what submissions in a language are compiled with. The files of the
// language "default" are for all, and those of another go before them.
type Include struct {
	Language string `json:"language"`
	Files    []File `json:"files"`
}

// Included returns the files that submissions in a language are compiled with,
// by the names that they get, in the order of these.
func (p *Package) Included(language string) []NamedFile {
	byName := map[string]File{}
	for _, from := range []string{"default", language} {
		for _, in := range p.Includes {
			if in.Language != from {
				continue
			}
			for _, f := range in.Files {
				byName[includedAs(f.Path)] = f
			}
		}
	}
	var all []NamedFile
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, NamedFile{Name: name, File: byName[name]})
	}
	return all
}

// includedAs is the name that a file gets beside a submission: with its folders below
// include/LANGUAGE, or without any from elsewhere.
func includedAs(name string) string {
	if parts := strings.SplitN(name, "/", 3); len(parts) == 3 && parts[0] == includeDir {
		return parts[2]
	}
	return path.Base(name)
}

// File is a file of a package. Digest is empty until the package is saved.
type File struct {
	Path   string      `json:"path"`
	Size   int64       `json:"size"`
	Digest blob.Digest `json:"digest"`
}

// NamedFile is a file of a package with the name that it has elsewhere.
type NamedFile struct {
	Name string `json:"name"` // relative, such as "words.txt"
	File File   `json:"file"`
}

// Limits are what a program may use, and what is known of how the time limit
// came about.
type Limits struct {
	CPU time.Duration `json:"cpu"` // before a language's factor

	// CPUFrom says where CPU comes from: a file and key of the package, or
	// "default" when the package does not say.
	CPUFrom string `json:"cpu_from"`

	Multiplier   float64 `json:"multiplier"`    // time_multiplier: slowest accepted submission to limit
	SafetyMargin float64 `json:"safety_margin"` // time_safety_margin: limit to fastest rejected submission

	// Resolution is the step of a time limit that is found by measuring; 0 in formats
	// that always state one, and in the legacy format where one is stated.
	Resolution time.Duration `json:"resolution,omitempty"`

	MemoryMiB int64 `json:"memory_mib"`

	// MemoryFrom is [Unsaid] or [GivenWith] if the package is of a format that need not
	// state the limit of memory, and does not.
	MemoryFrom string `json:"memory_from,omitempty"`

	OutputMiB int64 `json:"output_mib"`
	CodeKiB   int64 `json:"code_kib"`

	CompileCPU       time.Duration `json:"compile_cpu"`
	CompileMemoryMiB int64         `json:"compile_memory_mib"`

	CheckCPU       time.Duration `json:"check_cpu"`
	CheckMemoryMiB int64         `json:"check_memory_mib"`
	CheckOutputMiB int64         `json:"check_output_mib"`
}

// Checker is one program that decides on outputs, or an interactor. Exactly one of Standard,
// Plugin, Digest, Wasm, Sources and Program is set.
type Checker struct {
	Standard string `json:"standard,omitempty"` // name of a checker that comes with the platform, such as "default"
	Plugin   string `json:"plugin,omitempty"`   // name of an uploaded plugin: the version that is active when a job is judged
	Digest   string `json:"digest,omitempty"`   // an uploaded plugin, "sha256:<hex>"
	Wasm     *File  `json:"wasm,omitempty"`     // a module of the package
	Sources  []File `json:"sources,omitempty"`  // C or C++ files and headers of the package, to be compiled to WASI
	Dialect  string `json:"dialect,omitempty"`  // of Sources, as that of a [Program]

	// Program is of another language, or has scripts of its own: it runs natively.
	Program *Program `json:"program,omitempty"`

	Protocol string   `json:"protocol"`         // "icpc/1" or "testlib/1"
	Flags    []string `json:"flags,omitempty"`  // come before the flags of the test
	Points   bool     `json:"points,omitempty"` // its score.txt is the score of a test
}

// Group is a group of tests with the rules by which their results become one.
type Group struct {
	Name    string  `json:"name"` // such as "secret/group1"; "" is the whole package
	Grading Grading `json:"grading"`
	Items   []Item  `json:"items"` // in judging order
}

// Item is a test or a group; exactly one of its fields is set.
type Item struct {
	Test  *Test  `json:"test,omitempty"`
	Group *Group `json:"group,omitempty"`

	// Static is a test of the submitted files by the package's Static: it has no
	// input and no answer, and nothing is run on it. It comes before the others of
	// its group.
	Static *Test `json:"static,omitempty"`
}

// Case returns the test that it is, of either kind, or nil if it is a group.
func (it Item) Case() *Test {
	if it.Static != nil {
		return it.Static
	}
	return it.Test
}

// Test is one input with its answer.
type Test struct {
	Name   string   `json:"name"` // such as "secret/group1/01"
	Sample bool     `json:"sample,omitempty"`
	Input  File     `json:"input"`
	Answer File     `json:"answer"`
	Flags  []string `json:"flags,omitempty"` // output_validator_flags or _args that apply here

	// Args are the arguments that programs get, and Files what is in their working
	// directory besides. Validators of inputs get both, too.
	Args  []string    `json:"args,omitempty"`
	Files []NamedFile `json:"files,omitempty"`

	// InputFlags are those of the validators of inputs, and InputFlagsOf those of
	// one of them by its name, which count instead.
	InputFlags   []string            `json:"input_flags,omitempty"`
	InputFlagsOf map[string][]string `json:"input_flags_of,omitempty"`

	// Points are what the test is worth when it is accepted, the most for one of the
	// submitted files; nil = what the group gives for each.
	Points *float64 `json:"points,omitempty"`

	// Made is how its input is made, if the package does not hold it: the name of
	// a generator and its arguments.
	Made []string `json:"made,omitempty"`
}

// VerdictMode says how the verdicts of a group's items become one.
type VerdictMode string

// The verdict modes of the legacy default grader.
const (
	WorstError   VerdictMode = "worst_error"
	FirstError   VerdictMode = "first_error"
	AlwaysAccept VerdictMode = "always_accept"
)

// ScoreMode says how the scores of a group's items become one.
type ScoreMode string

// The score modes: those of the legacy default grader, and the one of the newer
// formats that looks at verdicts only.
const (
	Sum      ScoreMode = "sum"
	Avg      ScoreMode = "avg"
	Min      ScoreMode = "min"
	Max      ScoreMode = "max"
	PassFail ScoreMode = "pass-fail" // the highest score if all is accepted, else 0
)

// Grading is how a group is graded (testdata.yaml, or test_group.yaml).
type Grading struct {
	// Break says that the rest of the group is not judged after its first
	// rejected item.
	Break bool `json:"break"`

	Verdict      VerdictMode `json:"verdict"`
	Score        ScoreMode   `json:"score"`
	IgnoreSample bool        `json:"ignore_sample,omitempty"` // at the root: secret alone counts
	AcceptAny    bool        `json:"accept_any,omitempty"`    // accepted if any item is

	AcceptScore float64  `json:"accept_score"` // of a test that is accepted
	RejectScore float64  `json:"reject_score"` // of a test that is not
	Low         *float64 `json:"low,omitempty"`
	High        *float64 `json:"high,omitempty"` // bounds of the group's score; nil = none

	// Custom says that the package's Grader decides, with GraderFlags.
	Custom      bool     `json:"custom,omitempty"`
	GraderFlags []string `json:"grader_flags,omitempty"`

	// Rule says what a checker may say about scores.
	Rule ScoreRule `json:"rule,omitempty"`

	// Requires are the names of groups before this one. If one of them is not
	// accepted, this one is not judged: its score is 0 and it is not accepted.
	Requires []string `json:"requires,omitempty"`
}

// Submission is a program that the package brings to prove itself.
type Submission struct {
	Path  string `json:"path"` // such as "submissions/accepted/fast.cpp"
	Files []File `json:"files"`

	// Allowed lists the verdicts it may get; empty = the package does not say.
	Allowed []judge.Verdict `json:"allowed,omitempty"`

	Score   *float64 `json:"score,omitempty"`   // the exact score it must get
	Partial bool     `json:"partial,omitempty"` // it must get less than the highest score
	Main    bool     `json:"main,omitempty"`    // its outputs are the answers

	// Language is the id of its language, if the package names one.
	Language string `json:"language,omitempty"`

	// Dialect is what of its language it is written in, as that of a [Program].
	Dialect string `json:"dialect,omitempty"`

	// Expect is what its tests must give, in formats that say so.
	Expect []Expectation `json:"expect,omitempty"`
}
