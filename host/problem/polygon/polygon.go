// Package polygon reads packages of Polygon, which have a problem.xml: polygon.go has names, files and limits, xml.go
// the elements, tests.go testsets, groups.go groups and their points, assets.go checkers, interactors, validators and
// solutions, statement.go statements, and text.go line ends of tests.
package polygon

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// The limits that Polygon has no words for.
const (
	outputMiB = 64
	codeKiB   = 256
)

// reader is what several parts of a problem.xml have to say.
type reader struct {
	*source.Reader

	headers []problem.File // of testlib.h and others, which judges' programs include

	ends *textFS // whose tests are read as text

	worthless bool // the tests have points, all of them 0
	runs      int  // of programs on each test; 0 = not said
}

// Read reads a problem.xml and what it names.
func Read(r *source.Reader) {
	r.Package.Format = problem.FormatPolygon
	e := parse(r, source.ProblemXML)
	if e == nil {
		return
	}
	p := &reader{Reader: r}
	p.readAsText()
	r.Package.Slug = e.attr("short-name")
	r.Package.Source = e.attr("url")
	e.ignore("@revision", "tutorials", "documents", "materials", "packages", "stresses", "properties")
	p.names(e.child("names"))
	for _, t := range e.child("tags").all("tag") {
		r.Package.Keywords = append(r.Package.Keywords, t.attr("value"))
	}
	p.files(e.child("files"))
	p.judging(e.child("judging"))
	p.assets(e.child("assets"))
	p.tellTurned()
	p.statements(e.child("statements"))
	r.ReadSamples()
	e.unknown()
}

func (p *reader) names(e *element) {
	all := map[string]string{}
	for i, n := range e.all("name") {
		all[problem.LanguageTag(n.attr("language"))] = n.attr("value")
		if i == 0 || problem.LanguageTag(n.attr("language")) == "en" {
			p.Package.Title = n.attr("value")
		}
	}
	p.SetTitles(all)
	if p.Package.Title == "" {
		e.refuse("", "holds no name: write <name language=\"english\" value=\"…\"/>")
	}
}

// named returns the file that an element names with its attribute path.
func (p *reader) named(e *element) (problem.File, bool) {
	name := e.attr("path")
	if name == "" || !fs.ValidPath(name) || !p.Has(name) {
		e.refuse("path", "is %q: it must be a file of the package", name)
		return problem.File{}, false
	}
	return p.File(name), true
}

// files reads which files are compiled with submissions, and which programs make tests.
func (p *reader) files(e *element) {
	taken := map[string]bool{}
	header := func(name string) {
		if source.IsHeader(name) && !taken[name] {
			taken[name] = true
			p.headers = append(p.headers, p.File(name))
		}
	}
	resources := e.child("resources")
	for _, f := range resources.all("file") {
		if file, ok := p.named(f); ok {
			header(file.Path)
			p.resource(f, file)
		}
	}
	for _, name := range p.Below("files") {
		if path.Dir(name) == "files" {
			header(name)
		}
	}
	if p.Has(source.TestlibName) && !p.header(source.TestlibName) {
		header(source.TestlibName)
	}
	for _, a := range e.child("attachments").all("file") {
		if file, ok := p.named(a); ok {
			p.Package.Attachments = append(p.Package.Attachments, file)
		}
		a.ignore("@type", "@location")
	}
	for _, x := range e.child("executables").all("executable") {
		x.ignore("binary", "@name")
		s := x.child("source")
		if !s.there {
			x.warn("", "has no source and is not run")
			continue
		}
		if g, ok := p.program(s); ok {
			p.Package.Generators = append(p.Package.Generators, g)
		}
	}
	resources.unknown()
	e.unknown()
}

// resource reads whether a file is compiled with submissions.
func (p *reader) resource(e *element, file problem.File) {
	e.ignore("@type", "@main")
	var stages, assets []string
	for _, s := range e.child("stages").all("stage") {
		stages = append(stages, s.attr("name"))
	}
	for _, a := range e.child("assets").all("asset") {
		assets = append(assets, a.attr("name"))
	}
	types := e.attr("for-types")
	e.unknownRefused()
	if !slices.Contains(assets, "SOLUTION") {
		return
	}
	if slices.Contains(stages, "RUN") {
		e.child("stages").refuse("", "give the file to running solutions, which get their input only: put it into the input")
		return
	}
	if file.Size > source.MaxInclude {
		e.refuse("path", "is longer than %d KiB: it is compiled with every submission", source.MaxInclude>>10)
		return
	}
	languages := map[string]bool{}
	for t := range strings.FieldsFuncSeq(types, func(c rune) bool { return c == ';' || c == ',' }) {
		id, ok := sourceLanguage(strings.TrimSpace(t))
		if !ok {
			e.warn("for-types", "holds %q, which is no language here", t)
			continue
		}
		languages[id] = true
	}
	if types == "" {
		languages["default"] = true
	}
	for id := range languages {
		at := slices.IndexFunc(p.Package.Includes, func(in problem.Include) bool { return in.Language == id })
		if at < 0 {
			at = len(p.Package.Includes)
			p.Package.Includes = append(p.Package.Includes, problem.Include{Language: id})
		}
		p.Package.Includes[at].Files = append(p.Package.Includes[at].Files, file)
	}
	slices.SortFunc(p.Package.Includes, func(a, b problem.Include) int { return strings.Compare(a.Language, b.Language) })
}

// sourceLanguages are our ids of languages by how the types of Polygon begin, the first
// that fits. "v8.3" is V8's own shell, whose readline and print Node.js has not.
var sourceLanguages = []struct{ begins, id string }{
	{"cpp.", "cpp"},
	{"c.", "c"},
	{"python.2", ""},
	{"python.pypy2", ""},
	{"python.", "python"},
	{"v8.node", "javascript"},
	{"nodejs", "javascript"},
	{"node.", "javascript"},
	{"js.v8", ""},
	{"js.", "javascript"},
	{"javascript", "javascript"},
	{"java", "java"},
	{"kotlin", "kotlin"},
	{"rust", "rust"},
	{"go", "go"},
	{"csharp", "csharp"},
	{"typescript", "typescript"},
	{"ts.", "typescript"},
}

// sourceLanguage returns the language of a type such as "cpp.g++17".
func sourceLanguage(kind string) (id string, known bool) {
	for _, l := range sourceLanguages {
		if strings.HasPrefix(kind, l.begins) {
			return l.id, l.id != ""
		}
	}
	return kind, false
}

// gnu is how types of Polygon say which C++ a source is written in.
var gnu = regexp.MustCompile(`^cpp\..*\+\+(\d\d)$`)

// dialect returns what C++ a type such as "cpp.g++17" means; "" is that of submissions.
func dialect(kind string) string {
	if kind == "cpp.g++" { // older than the types with numbers
		return "gnu++11"
	}
	if m := gnu.FindStringSubmatch(kind); m != nil {
		return "gnu++" + m[1]
	}
	return ""
}

// program reads a source that is run in the sandbox, with the headers.
func (p *reader) program(src *element) (problem.Program, bool) {
	file, ok := p.named(src)
	kind := src.attr("type")
	id, known := sourceLanguage(kind)
	src.unknown()
	if !ok {
		return problem.Program{}, false
	}
	if !known {
		id = kind // running it says that there is no such language
	}
	name := strings.TrimSuffix(path.Base(file.Path), path.Ext(file.Path))
	g := problem.Program{Name: name, Language: id, Dialect: dialect(kind), Files: []problem.File{file}}
	if id == "cpp" || id == "c" {
		g.Files = append(g.Files, p.headers...)
	}
	return g, true
}

// judging reads the limits, the input and output files, and the tests.
func (p *reader) judging(e *element) {
	if !e.there {
		e.refuse("", "is missing: it holds the limits and tests")
		return
	}
	e.ignore("@cpu-name", "@cpu-speed")
	if n := e.number("run-count", 1, math.MaxInt32); n != nil {
		if p.runs = int(*n); *n != 1 && *n != 2 {
			e.refuse("run-count", "asks to run programs %s times for each test: they are run once, or twice", source.Short(*n))
		}
	}
	p.Package.InputFile, p.Package.OutputFile = p.working(e, "input-file"), p.working(e, "output-file")
	if p.Package.InputFile != "" && p.Package.InputFile == p.Package.OutputFile {
		e.refuse("output-file", "is %q, as is input-file: they must differ", p.Package.OutputFile)
	}
	var set *element
	for _, s := range e.all("testset") {
		if set == nil || s.attr("name") == "tests" {
			set = s
		}
	}
	if set == nil {
		e.child("testset").refuse("", "is missing: it holds the tests")
		return
	}
	for _, s := range e.all("testset") {
		if s != set {
			s.warn("", "is not judged: the tests are in the testset %q", set.attr("name"))
		}
	}
	p.limits(set)
	p.tests(set)
	e.unknownRefused()
}

// working reads the name of a file in the working directory of programs.
func (p *reader) working(e *element, name string) string {
	s := e.attr(name)
	switch {
	case s == "", s == "stdin" && name == "input-file", s == "stdout" && name == "output-file":
		return ""
	case !source.PlainName.MatchString(s) || strings.Contains(s, "/"):
		e.refuse(name, "is %q: it must be a name of letters, digits, _, . and -", s)
		return ""
	}
	return s
}

func (p *reader) limits(set *element) {
	l := &p.Package.Limits
	*l = problem.Limits{
		Multiplier: 2, SafetyMargin: 1, OutputMiB: outputMiB, CodeKiB: codeKiB, MemoryMiB: source.DefaultMemoryMiB,
		CompileCPU: time.Minute, CompileMemoryMiB: 2048, CheckCPU: time.Minute, CheckMemoryMiB: 2048, CheckOutputMiB: 64,
	}
	limit := set.child("time-limit")
	if !limit.there {
		limit.refuse("", "is missing: write the time limit in milliseconds")
	} else if ms := limit.value(1, problem.MaxCPUSeconds*1000); ms != nil {
		l.CPU = time.Duration(*ms) * time.Millisecond
		l.CPUFrom = fmt.Sprintf("%s: %s", source.ProblemXML, limit.path)
	}
	memory := set.child("memory-limit")
	if !memory.there {
		memory.refuse("", "is missing: write the memory limit in bytes")
	} else if bytes := memory.value(1, source.MaxMemoryMiB<<20); bytes != nil {
		l.MemoryMiB = int64(math.Ceil(*bytes / (1 << 20)))
	}
}
