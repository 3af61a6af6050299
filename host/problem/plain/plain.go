// Package plain reads folders of tests that are in no format: pairs.go pairs inputs and answers, names.go tells by a
// name which is which. What such a folder cannot say stands in deepoj.yaml, or is given with it.
package plain

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/icpc"
	"deepoj/host/problem/source"
)

// What folders of tests are taken to mean as far as they do not say.
const (
	CPU       = 2 * time.Second // the limit of CPU time
	MemoryMiB = 256             // the limit of memory
	outputMiB = 64
	codeKiB   = 256
)

// Read reads a folder that holds tests and says little else.
func Read(r *source.Reader) {
	r.Package.Format = problem.FormatPlain
	k := r.YAML(problem.NativeYAML)
	Given(r, k)
	samples, _ := k.List("samples", true)
	binary := k.Flag("binary", false)
	checker(r, k)
	k.RefuseUnknown()
	cases := pairs(r)
	if len(cases) == 0 {
		if r.Refusals == 0 {
			r.Refuse("package", "", "is none that is known: there is no %s of ICPC, no %s of Polygon, no %s of DMOJ, and no tests such as 1.in and 1.out, "+
				"or input/1.txt and output/1.txt", source.ProblemYAML, source.ProblemXML, source.InitYML)
		}
		return
	}
	if !binary {
		readAsText(r, cases)
	}
	root(r, cases, samples)
	Submissions(r)
	Statements(r)
	r.ReadSamples()
	r.ReadAttachments()
	rest(r, cases)
}

// Given reads the keys of deepoj.yaml that say what a folder of tests, or an init.yml, does not.
func Given(r *source.Reader, k *source.Keys) {
	p := r.Package
	p.Title, _ = k.Text("title")
	p.Author, _ = k.Text("author")
	p.Source, _ = k.Text("source")
	p.License, _ = k.Text("license")
	p.Keywords, _ = k.Words("keywords")
	if langs, ok := k.Words("languages"); ok && !slices.Equal(langs, []string{"all"}) {
		p.Languages = source.LanguageIDs(langs)
	}
	l := k.Mapping("limits")
	r.ReadLimits(l)
	p.Limits.Multiplier, p.Limits.SafetyMargin = 2, 1
	if p.Limits.CPUFrom != "" {
		p.Limits.CPUFrom = problem.NativeYAML + ": limits.time_limit"
	} else {
		p.Limits.CPU, p.Limits.CPUFrom = CPU, problem.Unsaid
	}
	for _, other := range []struct {
		key  string
		to   *int64
		MiB  int64
		from *string
	}{
		{"memory", &p.Limits.MemoryMiB, MemoryMiB, &p.Limits.MemoryFrom},
		{"output", &p.Limits.OutputMiB, outputMiB, nil},
		{"code", &p.Limits.CodeKiB, codeKiB, nil},
	} {
		if l.Node(other.key) != nil {
			continue
		}
		if *other.to = other.MiB; other.from != nil {
			*other.from = problem.Unsaid
		}
	}
	l.RefuseUnknown()
}

// decides is how people call programs that decide on outputs.
var decides = regexp.MustCompile(`(?i)^(checker|check|chk|spj|interactor)\.(c|cc|cpp|cxx|py|java|wasm)$`)

// checker finds who decides on outputs.
func checker(r *source.Reader, k *source.Keys) {
	checker, interactor := r.Bindings(k, false, nil)
	for _, c := range []*problem.Checker{checker, interactor} {
		if c != nil && len(c.Sources) == 1 {
			withHeaders(r, c)
		}
	}
	if r.Package.Interactor = interactor; checker != nil {
		r.Package.Checkers = []problem.Checker{*checker}
	}
	if checker != nil || interactor != nil {
		return
	}
	r.Package.Checkers = []problem.Checker{{Standard: "tokens", Protocol: "testlib/1"}}
	for _, f := range r.Package.Files {
		if decides.MatchString(f.Path) {
			r.Refuse(f.Path, "", "may decide on outputs, and nothing says so: write \"checker: {file: %s, protocol: testlib/1}\" into %s (or interactor), or leave the file out", f.Path, problem.NativeYAML)
		}
	}
}

// withHeaders adds the headers beside a source to it.
func withHeaders(r *source.Reader, c *problem.Checker) {
	dir := path.Dir(c.Sources[0].Path)
	for _, f := range r.Package.Files {
		if source.IsHeader(f.Path) && path.Dir(f.Path) == dir {
			c.Sources = append(c.Sources, f)
		}
	}
}

// root makes the tests, samples first, in the order in which people count.
func root(r *source.Reader, cases []*pair, samples []string) {
	r.Package.Root = &problem.Group{Grading: problem.Grading{Break: true, Verdict: problem.FirstError, Score: problem.Sum, AcceptScore: 1}}
	slices.SortStableFunc(cases, func(a, b *pair) int { return natural(a.name, b.name) })
	named := map[string]bool{}
	for _, first := range []bool{true, false} {
		for _, c := range cases {
			named[c.name] = true
			if sample := c.sample || slices.Contains(samples, c.name); sample == first {
				r.Package.Root.Items = append(r.Package.Root.Items, problem.Item{Test: &problem.Test{Name: c.name, Sample: sample, Input: r.File(c.input), Answer: r.File(c.answer)}})
			}
		}
	}
	for _, name := range samples {
		if !named[name] {
			r.Refuse(problem.NativeYAML, "samples", "holds %q, which is no test: the first is %s", name, cases[0].name)
		}
	}
	gaps(r, cases)
}

// solutions is how people call the program that solves the problem.
var solutions = regexp.MustCompile(`(?i)^(solution|sol|solve|std|model|main)\.[a-z0-9]+$`)

// Submissions lists the programs that prove the problem: those of the folder
// submissions, and one at the top that bears such a name.
func Submissions(r *source.Reader) {
	names, _ := r.Children(source.SubmissionsDir)
	if len(names) > 0 {
		icpc.Submissions(r)
		return
	}
	for _, f := range r.Package.Files {
		if solutions.MatchString(f.Path) && problem.LanguageOf(f.Path) != "" {
			r.Warn(f.Path, "", "is taken for a program that must be accepted, because of its name: put programs into %s/accepted, %s/wrong_answer and so on to say so", source.SubmissionsDir, source.SubmissionsDir)
			r.Package.Submissions = append(r.Package.Submissions, problem.Submission{Path: f.Path, Files: []problem.File{f}, Allowed: []judge.Verdict{judge.AC}})
		}
	}
	if len(r.Package.Submissions) == 0 {
		r.Warn(source.SubmissionsDir, "", "is not there: nothing proves that the problem can be solved; put a program into %s/accepted", source.SubmissionsDir)
	}
}

// statementFile is the name of a statement: group 1 is the language tag, group 2 the kind of file.
var statementFile = regexp.MustCompile(`(?i)^(?:(?:statement|problem_statement)/)?(?:statement|problem)(?:\.([a-z]{2,3}(?:-[a-z0-9]+)?))?\.(md|tex|pdf)$`)

// Statements turns the statements at the top into HTML.
func Statements(r *source.Reader) {
	r.Package.Statements = map[string]string{}
	for _, f := range r.Package.Files {
		m := statementFile.FindStringSubmatch(f.Path)
		if m == nil {
			continue
		}
		lang := strings.ToLower(m[1])
		lang = cmp.Or(lang, "en")
		switch kind := strings.ToLower(m[2]); {
		case kind == "pdf":
			r.Package.Documents = append(r.Package.Documents, f)
		case r.Package.Statements[lang] != "":
			r.Warn(f.Path, "", "has no effect: there is another statement in this language")
		case kind == "md":
			r.Package.Statements[lang] = r.Markdown(f.Path)
		default:
			r.Package.Statements[lang] = r.TeX(f.Path)
		}
	}
	switch r.ChooseStatement(); {
	case r.Package.Statement != "":
	case len(r.Package.Documents) > 0:
		r.Warn(r.Package.Documents[0].Path, "", "is the only statement: the page has a link to it, and no text")
	default:
		r.Warn("statement.md", "", "is missing, as are problem.md, statement.tex and statement.pdf: the page will have no statement")
	}
}

// rest says which files are no part of the problem.
func rest(r *source.Reader, cases []*pair) {
	used := map[string]bool{problem.NativeYAML: true}
	for _, c := range cases {
		used[c.input], used[c.answer] = true, true
	}
	Rest(r, used)
}

// Rest warns of the files that are neither used nor known.
func Rest(r *source.Reader, used map[string]bool) {
	for _, s := range r.Package.Submissions {
		for _, f := range s.Files {
			used[f.Path] = true
		}
	}
	all := r.Package.Checkers
	if r.Package.Interactor != nil {
		all = append(slices.Clone(all), *r.Package.Interactor)
	}
	for i := range all {
		all[i].EachFile(func(f *problem.File) { used[f.Path] = true })
	}
	for i := range r.Package.Generators {
		r.Package.Generators[i].EachFile(func(f *problem.File) { used[f.Path] = true })
	}
	var left []string
	for _, f := range r.Package.Files {
		top, _, _ := strings.Cut(f.Path, "/")
		if !used[f.Path] && !Noise(f.Path) && !statementFile.MatchString(f.Path) && top != "attachments" && top != source.SubmissionsDir {
			left = append(left, f.Path)
		}
	}
	for _, file := range left {
		r.Warn(file, "", "is kept and is no part of a test")
	}
}
