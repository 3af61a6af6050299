package problem

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
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
	maxPage      = 4 << 20   // bytes of HTML that it becomes
	maxSample    = 64 << 10  // bytes of a sample that are shown
	maxSamples   = 4 << 20   // bytes that are shown of all samples
	maxReasons   = 100       // errors and warnings that are listed
	maxReason    = 2000      // bytes of one of them
)

// Read reads a package in the ICPC formats legacy, 2023-07 and 2025-09, which it
// tells apart by problem_format_version, or one of Polygon, which has a
// problem.xml and no problem.yaml. The error joins the reasons to
// refuse it, each an [*Error]. The content of the tests is not read; it is when
// the package is saved, and fsys must not change until then.
func Read(fsys fs.FS) (*Package, Report, error) {
	r := &reader{
		fsys: fsys,
		p:    &Package{Schema: schema, src: fsys},
		all:  map[string]int64{},
	}
	r.walk(".", 0)
	switch {
	case len(r.errs) > 0:
	case !r.has(problemYAML) && r.has(problemXML):
		r.p.Format = FormatPolygon
		if e := r.xml(problemXML); e != nil {
			r.readPolygon(e)
		}
	case !r.has(problemYAML):
		r.refuse(problemYAML, "", "is missing: it makes a folder a problem package, as does the %s of Polygon", problemXML)
	default:
		k := r.yaml(problemYAML)
		if r.p.Format = r.format(k); r.p.Format == FormatLegacy {
			r.readLegacy(k)
		} else {
			r.readVersioned(k)
		}
	}
	if len(r.errs) == 0 {
		r.restore()
		r.checkMessages()
	}
	if len(r.errs) > 0 {
		return nil, r.report, errors.Join(r.errs...)
	}
	return r.p, r.report, nil
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
	r.readSamples()
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
	r.readGroups()
	r.readSubmissions()
	r.checkStatements(r.readStatements(newStatementDir))
	r.readSamples()
	r.readNewOthers()
}

// reader reads one package. It goes on after an error, to report them all.
type reader struct {
	fsys   fs.FS
	p      *Package
	all    map[string]int64 // size of every file by path
	walked walked
	report Report
	errs   []error

	shownBytes int // of the samples so far

	wasExported bool     // it has a versionFile
	hasStatic   bool     // a group asks to look at the submitted files
	custom      bool     // validation: custom
	passes      bool     // programs may be run several times on a test
	interactive bool     // the custom validator talks with the program
	points      bool     // validation: custom score
	flags       []string // validator_flags
	old         deprecated
	names       map[string]string // of the problem, by language
}

// refuse records a reason to refuse the package.
func (r *reader) refuse(file, key, format string, args ...any) {
	if len(r.errs) < maxReasons {
		r.errs = append(r.errs, &Error{finding(file, key, format, args...)})
	}
}

// warn records something that a setter should know.
func (r *reader) warn(file, key, format string, args ...any) {
	if len(r.report.Warnings) < maxReasons {
		r.report.Warnings = append(r.report.Warnings, finding(file, key, format, args...))
	}
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
