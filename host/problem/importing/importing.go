// Package importing reads the package of a problem in whichever format it has. A package is
// read whole or refused. restore.go gives one that was exported what its files do not say.
package importing

import (
	"io/fs"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/dmoj"
	"deepoj/host/problem/icpc"
	"deepoj/host/problem/plain"
	"deepoj/host/problem/polygon"
	"deepoj/host/problem/source"
)

// Read reads a package in the ICPC formats legacy, 2023-07 and 2025-09, which it tells apart by problem_format_version,
// one of Polygon, which has a problem.xml and no problem.yaml, one of DMOJ, which has an init.yml, or a folder of
// tests. The error joins the reasons to refuse it, each a [*problem.Error]. The content of the tests is kept when the
// package is saved, and fsys must not change until then.
func Read(fsys fs.FS) (*problem.Package, problem.Report, error) {
	r := readAll(fsys)
	if r.Refusals == 0 {
		r.PlaceMade()
		restore(r)
		checkMessages(r)
	}
	if r.Refusals > 0 {
		return nil, r.Report(), r.Err()
	}
	return r.Package, r.Report(), nil
}

// Statements reads of a package what its pages show: names, statements, pictures and PDFs. Whatever else is wrong with
// it does not matter: it may be one that was taken in when rules were others. Only warnings of statements are in the
// report. A package that can be read and has no statement shows none.
func Statements(fsys fs.FS) (*problem.Package, problem.Report, error) {
	r := readAll(fsys)
	report := r.Report().OfStatements()
	if r.Refusals > 0 && !r.Package.HasStatement() {
		return nil, report, r.Err()
	}
	for _, f := range r.Refused() {
		if problem.AboutStatement(f.File) {
			return nil, report, r.Err()
		}
	}
	return r.Package.Shown(), report, nil
}

// readAll reads a package as far as it can be read.
func readAll(fsys fs.FS) *source.Reader {
	r := source.New(fsys)
	if r.Refusals == 0 { // it was walked through
		known(r)
	}
	r.JudgeLinks(icpc.Reads)
	return r
}

// known tells the format of a package and reads it.
func known(r *source.Reader) {
	switch {
	case r.Has(source.ProblemYAML):
		icpc.Read(r)
	case r.Has(source.ProblemXML):
		polygon.Read(r)
	case r.Has(source.InitYML):
		dmoj.Read(r)
	case icpc.Unnamed(r):
		r.Refuse(source.ProblemYAML, "", "is missing: it makes a folder a problem package, as do the %s of Polygon and the %s of DMOJ", source.ProblemXML, source.InitYML)
	case into(r):
		known(r)
	default:
		plain.Read(r)
	}
}

// into goes into the only folder of a package that has nothing else. It reports whether there is one.
func into(r *source.Reader) bool {
	top := ""
	for _, f := range r.Package.Files {
		dir, _, deeper := strings.Cut(f.Path, "/")
		switch {
		case plain.Noise(f.Path):
		case !deeper || top != "" && dir != top:
			return false
		default:
			top = dir
		}
	}
	if top == "" || plain.IsSide(top) {
		return false
	}
	sub, err := fs.Sub(r.FS, top)
	if err != nil {
		return false
	}
	return r.Again(sub)
}
