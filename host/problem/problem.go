// Package problem is the model of a problem as it is judged, and keeps problems by content.
//
// A [Package] says what is judged, by which tests, in which order, by which checker and how scores add up. Packages as
// setters write them are read into it by host/problem/importing, which refuses with a [Finding] for each reason: it
// names the file, the key and what is wrong. What was understood but not honoured is in the [Report].
//
// [Package.Save] puts the package and all its files into a blob store and returns the digest of its manifest. That
// digest is the problem's version: it names the same tests and rules forever. This package judges nothing.
//
// Its files:
//
//	problem.go    the model: package, limits, files, submissions, names, and what a package may be at most
//	group.go      groups and tests, how they are graded and add up, and a package with some of its tests
//	checker.go    checkers and interactors, the standard ones, and one that somebody bound
//	program.go    programs of the judges, their languages and commands
//	expect.go     what submissions of the package must get
//	finding.go    what a setter should know of a package, and what is given with one that does not say it
//	render.go     pages of statements
//	store.go      keeps a package and its files by content
//	arrive.go     takes a package that another process read
//	export.go     writes a version as a ZIP file
package problem

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
)

// NativeYAML is the file in which a package of any format says what that has no word for,
// such as which checker of this platform decides.
const NativeYAML = "deepoj.yaml"

// IncludeDir is the folder of what submissions are compiled with, in folders by language.
const IncludeDir = "include"

// schema is the version of [Package] in the blob store.
const schema = 1

// SampleGroup and SecretGroup are the names of the groups of the whole package: the tests
// that are shown, and those that are not.
const (
	SampleGroup = "sample"
	SecretGroup = "secret"
)

// The formats of packages, as [Package.Format] spells them: those of ICPC and Kattis, of which the first has no
// version, that of Polygon, that of DMOJ, and folders that hold tests and say nothing else.
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

	// Twice says that a program is run twice on each test, and what the second run is
	// told; "" = it is not. The interactor talks with the first one.
	Twice Second `json:"twice,omitempty"`

	// InputFile and OutputFile are the names of files in the working directory
	// that programs read and write; "" = standard input and output.
	InputFile  string `json:"input_file,omitempty"`
	OutputFile string `json:"output_file,omitempty"`

	// Answers says that a submission is no program but the answers to the tests.
	Answers bool `json:"answers,omitempty"`

	// Writable says that programs may write files of their working directory, which nobody reads.
	Writable bool `json:"writable,omitempty"`

	// Interactor talks with the program, which then has no other input. Nil when the problem is not interactive.
	Interactor *Checker `json:"interactor,omitempty"`

	// Checkers decide on each output; all of them must accept it. In an interactive problem the output is what a
	// testlib/1 interactor wrote for them, and there may be none.
	Checkers []Checker `json:"checkers"`

	// Binding says that the checker is none that the package asks for; nil if it is.
	Binding *Binding `json:"binding,omitempty"`

	// Root is the group of the whole package; its children are sample and secret.
	Root *Group `json:"root"`

	// Includes are the files that every submission is compiled with.
	Includes []Include `json:"includes,omitempty"`

	// Statement is HTML, safe to show. Statements has it by language tag.
	Statement  string            `json:"statement"`
	Statements map[string]string `json:"statements,omitempty"`
	Samples    []judge.Sample    `json:"samples,omitempty"`

	// Pictures are what the statements show, by name. Their pages name each as "pictures/" and its name.
	Pictures []Picture `json:"pictures,omitempty"`

	Submissions []Submission `json:"submissions,omitempty"`
	Attachments []File       `json:"attachments,omitempty"`
	Documents   []File       `json:"documents,omitempty"` // statements that are PDF

	// Generators are the programs that make tests. Validators are those that look at inputs; one at least must
	// reject each of Invalid. CheckerTests are what the checkers must say.
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

// Second is what the second run of a program is told in a problem that has two: what the
// interactor wrote in the first, where others write for the checkers.
type Second string

const (
	SecondReads Second = "reads" // as its standard input
	SecondTalks Second = "talks" // by the interactor, whose input it is
)

// Picture is a picture of a statement.
type Picture struct {
	// Name is the SHA-256 of the file in the package, in lower-case hex, and the
	// extension of what is shown: ".png", ".jpg", ".gif" or ".svg".
	Name string `json:"name"`

	// File holds it: a file that the setter made or, for SVG, a clean one that was made of it (see [Derived]).
	File File `json:"file"`

	// Type is the media type of what is shown, such as "image/png".
	Type string `json:"type"`

	// Convert says what File is if it is still to be turned into Type: "pdf" or "eps"; "" = it is shown as it is.
	Convert string `json:"convert,omitempty"`
}

// DerivedDir is the folder of the files that reading a package makes. They are files
// of the version, and no part of the package.
const DerivedDir = "deepoj-derived"

// Derived reports whether a file of a version was made of others when the package was
// read. An export leaves it out, since whoever reads the package makes it again.
func Derived(path string) bool { return strings.HasPrefix(path, DerivedDir+"/") }

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
	if parts := strings.SplitN(name, "/", 3); len(parts) == 3 && parts[0] == IncludeDir {
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

// Limits are what a program may use, and what is known of how the time limit came about.
type Limits struct {
	CPU time.Duration `json:"cpu"` // before a language's factor

	// CPUFrom says where CPU comes from: a file and key of the package, or "default" when the package does not say.
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

	// Entry is the file that starts, by its path in the submission, if the package says
	// so; "" = what its language starts.
	Entry string `json:"entry,omitempty"`

	// Expect is what its tests must give, in formats that say so.
	Expect []Expectation `json:"expect,omitempty"`
}

// New returns an empty package.
func New() *Package { return &Package{Schema: schema} }

// From says where the files of a package are that is being read.
func (p *Package) From(fsys fs.FS) { p.src = fsys }

// Short names stand in addresses and in commands.
var (
	shortName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	noShortName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
)

// maxShortName is how many bytes a short name may have.
const maxShortName = 64

// IsShortName reports whether a problem may be called name: letters, digits, dots,
// hyphens and underscores, at most 64, the first of them a letter or digit.
func IsShortName(name string) bool { return len(name) <= maxShortName && shortName.MatchString(name) }

// ShortName returns what a problem is called whose folder or file has a name: "a+b (1)"
// gives "a-b-1". It is "problem" if nothing of the name can stay.
func ShortName(name string) string {
	name = strings.TrimLeft(noShortName.ReplaceAllString(name, "-"), "-._")
	if name = strings.TrimRight(name[:min(len(name), maxShortName)], "-"); name == "" {
		return "problem"
	}
	return name
}

// languageTags are the tags of the languages that Polygon names in full.
var languageTags = map[string]string{
	"english": "en", "russian": "ru", "ukrainian": "uk", "belarusian": "be", "kazakh": "kk", "uzbek": "uz", "kyrgyz": "ky",
	"armenian": "hy", "azerbaijani": "az", "georgian": "ka", "polish": "pl", "czech": "cs", "slovak": "sk", "hungarian": "hu",
	"german": "de", "french": "fr", "spanish": "es", "portuguese": "pt", "italian": "it", "dutch": "nl", "swedish": "sv",
	"turkish": "tr", "persian": "fa", "arabic": "ar", "hebrew": "he", "chinese": "zh", "japanese": "ja", "korean": "ko",
	"vietnamese": "vi", "indonesian": "id", "hindi": "hi", "bulgarian": "bg", "romanian": "ro", "serbian": "sr", "croatian": "hr",
	"lithuanian": "lt", "latvian": "lv", "estonian": "et", "greek": "el", "mongolian": "mn",
}

// LanguageTag returns the tag of a language that Polygon names in full, or else its name in lower case.
func LanguageTag(name string) string {
	if tag, ok := languageTags[strings.ToLower(name)]; ok {
		return tag
	}
	return strings.ToLower(name)
}

// MaxTestFile bounds a file for the working directory of programs, in bytes.
const MaxTestFile = 64 << 20

// MaxCPUSeconds is the longest limit of CPU time that this platform can honour.
const MaxCPUSeconds = 600

// What a package may be at most. They bound the work of reading a hostile one.
const (
	MaxFiles   = 200_000  // and folders, each as often as links lead to it
	MaxBytes   = 4 << 30  // of all its files together, each as often as links lead to it
	MaxSample  = 64 << 10 // bytes of a sample that are shown
	MaxSamples = 4 << 20  // bytes that are shown of all samples
)
