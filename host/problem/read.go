package problem

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"deepoj/host/problem/statement"
)

// schema is the version of [Package] in the blob store.
const schema = 1

// What a package may be at most. They bound the work of reading a hostile one.
const (
	maxFiles     = 200_000   // and folders, each as often as links lead to it
	maxDepth     = 16        // folders in folders, also through links
	maxReached   = 64        // ways that links lead to one folder
	maxBytes     = 4 << 30   // of all its files together, each as often as links lead to it
	maxText      = 4 << 20   // bytes of a file that is parsed
	maxStatement = 256 << 10 // bytes of the text of a statement in one language
	maxPage      = statement.MaxPage
	maxSample    = 64 << 10 // bytes of a sample that are shown
	maxSamples   = 4 << 20  // bytes that are shown of all samples
	maxReasons   = 100      // errors and warnings that are listed
	maxReason    = 2000     // bytes of one of them
)

// Read reads a package in the ICPC formats legacy, 2023-07 and 2025-09, which it
// tells apart by problem_format_version, one of Polygon, which has a
// problem.xml and no problem.yaml, one of DMOJ, which has an init.yml, or a folder
// of tests. The error joins the reasons to refuse it, each an [*Error]. The content
// of the tests is kept when the package is saved, and fsys must not change until
// then.
func Read(fsys fs.FS) (*Package, Report, error) {
	r := readAll(fsys)
	if r.refusals == 0 {
		r.placeMade()
		r.restore()
		r.checkMessages()
	}
	if r.refusals > 0 {
		return nil, r.warned(), r.refusal()
	}
	return r.p, r.warned(), nil
}

// warned is the report of what was read.
func (r *reader) warned() Report { return Report{Warnings: r.warnings.ordered()} }

// refusal joins the reasons to refuse the package.
func (r *reader) refusal() error {
	var errs []error
	for _, f := range r.refused.ordered() {
		errs = append(errs, &Error{f})
	}
	return errors.Join(errs...)
}

// readAll reads a package as far as it can be read.
func readAll(fsys fs.FS) *reader {
	r := &reader{
		fsys: fsys,
		p:    &Package{Schema: schema, src: fsys},
		all:  map[string]int64{}, links: map[string]bool{},
	}
	r.walk(".", 0)
	if r.refusals == 0 { // it was walked through
		r.known()
	}
	r.judgeLinks()
	return r
}

func (r *reader) readLegacy(k *keys) {
	r.readProblem(k)
	r.readTimeLimit()
	r.readCheckers()
	r.setPasses()
	r.readValidators()
	r.readIncludes()
	r.readGrader()
	r.readData()
	r.readSubmissions()
	r.readStatements(statementDir)
	r.readPictures()
	r.readTitle()
	r.readSamples()
	r.readShownAlone()
	r.readOthers()
}

func (r *reader) readVersioned(k *keys) {
	r.readNewProblem(k)
	r.readTimeLimit()
	r.readNewCheckers()
	r.setPasses()
	r.readValidators()
	r.readStatic()
	r.readIncludes()
	if r.drafted() {
		r.readDrafted()
	} else {
		r.readGroups()
	}
	r.readSubmissions()
	r.checkStatements(r.readStatements(newStatementDir))
	r.readPictures()
	r.readSamples()
	r.readShownAlone()
	r.readNewOthers()
}

// reader reads one package. It goes on after an error, to report them all.
type reader struct {
	fsys   fs.FS
	p      *Package
	all    map[string]int64 // size of every file by path
	walked walked
	links  map[string]bool // that lead to no file here

	refused, warnings findings
	refusals          int // how often something was refused

	shownBytes int // of the samples so far
	statements *statement.Renderer

	generate []madeTest // tests that deepoj.yaml has made
	solution string     // the submission that makes their answers, below submissions

	wasExported bool     // it has a VersionFile
	hasStatic   bool     // a group asks to look at the submitted files
	custom      bool     // validation: custom
	passes      bool     // programs may be run several times on a test
	interactive bool     // the custom validator talks with the program
	points      bool     // validation: custom score
	flags       []string // validator_flags
	scoringSaid string   // whose arithmetic deepoj.yaml asks for; "" = it does not say
	old         deprecated
	names       map[string]string // of the problem, by language
}

// refuse records a reason to refuse the package.
func (r *reader) refuse(file, key, format string, args ...any) {
	r.refusals++
	r.refused.add(saying(file, key, format, args...))
}

// warn records something that a setter should know.
func (r *reader) warn(file, key, format string, args ...any) {
	r.warnings.add(saying(file, key, format, args...))
}

// saying is a finding, and what it has in common with those of other files.
func saying(file, key, format string, args ...any) (says string, f Finding) {
	f = finding(file, key, format, args...)
	if format == "%s" {
		return f.Reason, f
	}
	return format, f
}

// finding is a finding that is not endless, whatever the names in the package.
func finding(file, key, format string, args ...any) Finding {
	return Finding{File: brief(file), Key: brief(key), Reason: brief(fmt.Sprintf(format, args...))}
}

func brief(s string) string {
	if len(s) <= maxReason {
		return s
	}
	return strings.ToValidUTF8(s[:maxReason], "") + "…"
}

// has reports whether the package has a file.
func (r *reader) has(name string) bool { _, ok := r.all[name]; return ok }

// file returns a file that exists.
func (r *reader) file(name string) File { return File{Path: name, Size: r.all[name]} }

// below returns the paths of the files below a folder, ordered.
func (r *reader) below(dir string) []string {
	var names []string
	at, _ := slices.BinarySearchFunc(r.p.Files, dir+"/", func(f File, name string) int { return cmp.Compare(f.Path, name) })
	for _, f := range r.p.Files[at:] {
		if !strings.HasPrefix(f.Path, dir+"/") {
			break
		}
		names = append(names, f.Path)
	}
	return names
}

// children returns the names of the entries of a folder, ordered, and which of
// them are folders.
func (r *reader) children(dir string) (names []string, folder map[string]bool) {
	folder = map[string]bool{}
	for _, name := range r.below(dir) {
		child, _, deeper := strings.Cut(strings.TrimPrefix(name, dir+"/"), "/")
		if n := len(names); n == 0 || names[n-1] != child { // what is in a folder stands together
			names = append(names, child)
		}
		folder[child] = folder[child] || deeper
	}
	return names, folder
}

// text returns the content of a file, which must not be long. A file that
// cannot be read is refused.
func (r *reader) text(name string) string {
	return r.textOf(name, maxText, "")
}

// textOf returns the content of a file of at most limit bytes. The remedy is told
// of a longer one.
func (r *reader) textOf(name string, limit int64, remedy string) string {
	b, err := r.read(name, limit+1)
	switch {
	case err != nil:
		r.refuse(name, "", "cannot be read: %v", err)
	case int64(len(b)) > limit:
		r.refuse(name, "", "is longer than %d KiB%s", limit>>10, remedy)
		return ""
	}
	return string(b)
}

// read returns at most limit bytes of a file.
func (r *reader) read(name string, limit int64) ([]byte, error) {
	f, err := r.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	return b, errors.Join(err, f.Close())
}
