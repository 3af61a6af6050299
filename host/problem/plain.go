package problem

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// What folders of tests are taken to mean as far as they do not say.
const (
	plainCPU       = 2 * time.Second
	plainMemoryMiB = 256
	plainOutputMiB = 64
	plainCodeKiB   = 256
	maxPlainTests  = 10_000
)

// known tells the format of a package and reads it.
func (r *reader) known() {
	switch {
	case r.has(problemYAML):
		k := r.yaml(problemYAML)
		if r.p.Format = r.format(k); r.p.Format == FormatLegacy {
			r.readLegacy(k)
		} else {
			r.readVersioned(k)
		}
	case r.has(problemXML):
		r.p.Format = FormatPolygon
		if e := r.xml(problemXML); e != nil {
			r.readPolygon(e)
		}
	case r.has(initYML):
		r.p.Format = FormatDMOJ
		r.readDMOJ()
	case r.broken():
		r.refuse(problemYAML, "", "is missing: it makes a folder a problem package, as do the %s of Polygon and the %s of DMOJ", problemXML, initYML)
	case r.into():
		r.known()
	default:
		r.p.Format = FormatPlain
		r.readPlain()
	}
}

// broken reports whether the folder is a package of ICPC that lacks its problem.yaml
// and would be another problem without it.
func (r *reader) broken() bool {
	for _, dir := range []string{statementDir, "output_validators", outputValidator, path.Join(dataDir, secretDir)} {
		if len(r.below(dir)) > 0 {
			return true
		}
	}
	return false
}

// into goes into the only folder of a package that has nothing else. It reports
// whether there is one.
func (r *reader) into() bool {
	top := ""
	for _, f := range r.p.Files {
		dir, _, deeper := strings.Cut(f.Path, "/")
		switch {
		case noise(f.Path):
		case !deeper || top != "" && dir != top:
			return false
		default:
			top = dir
		}
	}
	if top == "" {
		return false
	}
	if side, rest := sideOfFolder(top); side != neither && rest == "" {
		return false
	}
	sub, err := fs.Sub(r.fsys, top)
	if err != nil {
		return false
	}
	r.fsys, r.p.src, r.p.Files = sub, sub, nil
	r.all, r.links, r.walked = map[string]int64{}, map[string]bool{}, walked{}
	r.walk(".", 0)
	return r.refusals == 0
}

// readPlain reads a folder that holds tests and says little else.
func (r *reader) readPlain() {
	k := r.yaml(nativeYAML)
	r.readGiven(k)
	samples, _ := k.list("samples", true)
	binary := k.flag("binary", false)
	r.plainChecker(k)
	k.unknownRefused()
	cases := r.plainCases()
	if len(cases) == 0 {
		if r.refusals == 0 {
			r.refuse("package", "", "is none that is known: there is no %s of ICPC, no %s of Polygon, no %s of DMOJ, and no tests such as 1.in and 1.out, "+
				"or input/1.txt and output/1.txt", problemYAML, problemXML, initYML)
		}
		return
	}
	if !binary {
		r.readAsText(cases)
	}
	r.plainRoot(cases, samples)
	r.plainSubmissions()
	r.plainStatements()
	r.readSamples()
	r.readAttachments()
	r.plainRest(cases)
}

// readGiven reads the keys of deepoj.yaml that say what a folder of tests, or an
// init.yml, does not.
func (r *reader) readGiven(k *keys) {
	p := r.p
	p.Title, _ = k.text("title")
	p.Author, _ = k.text("author")
	p.Source, _ = k.text("source")
	p.License, _ = k.text("license")
	p.Keywords, _ = k.words("keywords")
	if langs, ok := k.words("languages"); ok && !slices.Equal(langs, []string{"all"}) {
		p.Languages = languageIDs(langs)
	}
	l := k.mapping("limits")
	r.readCommonLimits(l)
	p.Limits.Multiplier, p.Limits.SafetyMargin = 2, 1
	if p.Limits.CPUFrom != "" {
		p.Limits.CPUFrom = nativeYAML + ": limits.time_limit"
	} else {
		p.Limits.CPU, p.Limits.CPUFrom = plainCPU, Unsaid
	}
	for _, other := range []struct {
		key  string
		to   *int64
		MiB  int64
		from *string
	}{
		{"memory", &p.Limits.MemoryMiB, plainMemoryMiB, &p.Limits.MemoryFrom},
		{"output", &p.Limits.OutputMiB, plainOutputMiB, nil},
		{"code", &p.Limits.CodeKiB, plainCodeKiB, nil},
	} {
		if l.node(other.key) != nil {
			continue
		}
		if *other.to = other.MiB; other.from != nil {
			*other.from = Unsaid
		}
	}
	l.unknownRefused()
}

// Unsaid is where a limit comes from that a package does not state.
const Unsaid = "default"

// decides is how people call programs that decide on outputs.
var decides = regexp.MustCompile(`(?i)^(checker|check|chk|spj|interactor)\.(c|cc|cpp|cxx|py|java|wasm)$`)

// plainChecker finds who decides on outputs.
func (r *reader) plainChecker(k *keys) {
	checker, interactor := r.bindings(k)
	for _, c := range []*Checker{checker, interactor} {
		if c != nil && len(c.Sources) == 1 {
			r.withHeaders(c)
		}
	}
	if r.p.Interactor = interactor; checker != nil {
		r.p.Checkers = []Checker{*checker}
	}
	if checker != nil || interactor != nil {
		return
	}
	r.p.Checkers = []Checker{{Standard: "tokens", Protocol: "testlib/1"}}
	for _, f := range r.p.Files {
		if decides.MatchString(f.Path) {
			r.refuse(f.Path, "", "may decide on outputs, and nothing says so: write \"checker: {file: %s, protocol: testlib/1}\" into %s (or interactor), or leave the file out", f.Path, nativeYAML)
		}
	}
}

// withHeaders adds the headers beside a source to it.
func (r *reader) withHeaders(c *Checker) {
	dir := path.Dir(c.Sources[0].Path)
	for _, f := range r.p.Files {
		if isHeader(f.Path) && path.Dir(f.Path) == dir {
			c.Sources = append(c.Sources, f)
		}
	}
}

// plainRoot makes the tests, samples first, in the order in which people count.
func (r *reader) plainRoot(cases []*plainCase, samples []string) {
	r.p.Root = &Group{Grading: Grading{Break: true, Verdict: FirstError, Score: Sum, AcceptScore: 1}}
	slices.SortStableFunc(cases, func(a, b *plainCase) int { return natural(a.name, b.name) })
	named := map[string]bool{}
	for _, first := range []bool{true, false} {
		for _, c := range cases {
			named[c.name] = true
			if sample := c.sample || slices.Contains(samples, c.name); sample == first {
				r.p.Root.Items = append(r.p.Root.Items, Item{Test: &Test{Name: c.name, Sample: sample, Input: r.file(c.input), Answer: r.file(c.answer)}})
			}
		}
	}
	for _, name := range samples {
		if !named[name] {
			r.refuse(nativeYAML, "samples", "holds %q, which is no test: the first is %s", name, cases[0].name)
		}
	}
	r.gaps(cases)
}

// solutions is how people call the program that solves the problem.
var solutions = regexp.MustCompile(`(?i)^(solution|sol|solve|std|model|main)\.[a-z0-9]+$`)

// plainSubmissions lists the programs that prove the problem: those of the folder
// submissions, and one at the top that bears such a name.
func (r *reader) plainSubmissions() {
	names, _ := r.children(submissionsDir)
	if len(names) > 0 {
		r.readSubmissions()
		return
	}
	for _, f := range r.p.Files {
		if solutions.MatchString(f.Path) && programLanguages[path.Ext(f.Path)] != "" {
			r.warn(f.Path, "", "is taken for a program that must be accepted, because of its name: put programs into %s/accepted, %s/wrong_answer and so on to say so", submissionsDir, submissionsDir)
			r.p.Submissions = append(r.p.Submissions, Submission{Path: f.Path, Files: []File{f}, Allowed: standings["accepted"].allowed})
		}
	}
	if len(r.p.Submissions) == 0 {
		r.warn(submissionsDir, "", "is not there: nothing proves that the problem can be solved; put a program into %s/accepted", submissionsDir)
	}
}

// plainStatement is the name of a statement: group 1 is the language tag, group 2
// the kind of file.
var plainStatement = regexp.MustCompile(`(?i)^(?:(?:statement|problem_statement)/)?(?:statement|problem)(?:\.([a-z]{2,3}(?:-[a-z0-9]+)?))?\.(md|tex|pdf)$`)

// plainStatements turns the statements at the top into HTML.
func (r *reader) plainStatements() {
	r.p.Statements = map[string]string{}
	for _, f := range r.p.Files {
		m := plainStatement.FindStringSubmatch(f.Path)
		if m == nil {
			continue
		}
		lang := strings.ToLower(m[1])
		if lang == "" {
			lang = "en"
		}
		switch kind := strings.ToLower(m[2]); {
		case kind == "pdf":
			r.p.Documents = append(r.p.Documents, f)
		case r.p.Statements[lang] != "":
			r.warn(f.Path, "", "has no effect: there is another statement in this language")
		case kind == "md":
			r.p.Statements[lang] = r.markdown(f.Path)
		default:
			r.p.Statements[lang] = r.tex(f.Path)
		}
	}
	switch r.chooseStatement(); {
	case r.p.Statement != "":
	case len(r.p.Documents) > 0:
		r.warn(r.p.Documents[0].Path, "", "is the only statement: the page has a link to it, and no text")
	default:
		r.warn("statement.md", "", "is missing, as are problem.md, statement.tex and statement.pdf: the page will have no statement")
	}
}

// plainRest says which files are no part of the problem.
func (r *reader) plainRest(cases []*plainCase) {
	used := map[string]bool{nativeYAML: true}
	for _, c := range cases {
		used[c.input], used[c.answer] = true, true
	}
	r.rest(used)
}

// rest warns of the files that are neither used nor known.
func (r *reader) rest(used map[string]bool) {
	for _, s := range r.p.Submissions {
		for _, f := range s.Files {
			used[f.Path] = true
		}
	}
	all := r.p.Checkers
	if r.p.Interactor != nil {
		all = append(slices.Clone(all), *r.p.Interactor)
	}
	for i := range all {
		all[i].each(func(f *File) { used[f.Path] = true })
	}
	for i := range r.p.Generators {
		r.p.Generators[i].each(func(f *File) { used[f.Path] = true })
	}
	var left []string
	for _, f := range r.p.Files {
		top, _, _ := strings.Cut(f.Path, "/")
		if !used[f.Path] && !noise(f.Path) && !plainStatement.MatchString(f.Path) && top != "attachments" && top != submissionsDir {
			left = append(left, f.Path)
		}
	}
	for _, file := range left {
		r.warn(file, "", "is kept and is no part of a test")
	}
}
