package problem

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

const problemXML = "problem.xml"

// The limits that Polygon has no words for.
const (
	polygonOutputMiB = 64
	polygonCodeKiB   = 256
)

// polygon is what several parts of a problem.xml have to say.
type polygon struct {
	*reader

	headers []File // of testlib.h and others, which judges' programs include

	ends *textFS // whose tests are read as text

	worthless bool // the tests have points, all of them 0
}

// readPolygon reads a problem.xml and what it names.
func (r *reader) readPolygon(e *element) {
	p := &polygon{reader: r}
	p.readAsText()
	r.p.Slug = e.attr("short-name")
	r.p.Source = e.attr("url")
	e.ignore("@revision", "tutorials", "documents", "materials", "packages", "stresses", "properties")
	p.names(e.child("names"))
	for _, t := range e.child("tags").all("tag") {
		r.p.Keywords = append(r.p.Keywords, t.attr("value"))
	}
	p.files(e.child("files"))
	p.judging(e.child("judging"))
	p.assets(e.child("assets"))
	p.tellTurned()
	p.statements(e.child("statements"))
	r.readSamples()
	e.unknown()
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

func languageTag(name string) string {
	if tag, ok := languageTags[strings.ToLower(name)]; ok {
		return tag
	}
	return strings.ToLower(name)
}

func (p *polygon) names(e *element) {
	all := map[string]string{}
	for i, n := range e.all("name") {
		all[languageTag(n.attr("language"))] = n.attr("value")
		if i == 0 || languageTag(n.attr("language")) == "en" {
			p.p.Title = n.attr("value")
		}
	}
	p.titles(all)
	if p.p.Title == "" {
		e.refuse("", "holds no name: write <name language=\"english\" value=\"…\"/>")
	}
}

// named returns the file that an element names with its attribute path.
func (p *polygon) named(e *element) (File, bool) {
	name := e.attr("path")
	if name == "" || !fs.ValidPath(name) || !p.has(name) {
		e.refuse("path", "is %q: it must be a file of the package", name)
		return File{}, false
	}
	return p.file(name), true
}

// files reads which files are compiled with submissions, and which programs make
// tests.
func (p *polygon) files(e *element) {
	taken := map[string]bool{}
	header := func(name string) {
		if isHeader(name) && !taken[name] {
			taken[name] = true
			p.headers = append(p.headers, p.file(name))
		}
	}
	resources := e.child("resources")
	for _, f := range resources.all("file") {
		if file, ok := p.named(f); ok {
			header(file.Path)
			p.resource(f, file)
		}
	}
	for _, name := range p.below("files") {
		if path.Dir(name) == "files" {
			header(name)
		}
	}
	if p.has(testlibName) && !p.header(testlibName) {
		header(testlibName)
	}
	for _, a := range e.child("attachments").all("file") {
		if file, ok := p.named(a); ok {
			p.p.Attachments = append(p.p.Attachments, file)
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
			p.p.Generators = append(p.p.Generators, g)
		}
	}
	resources.unknown()
	e.unknown()
}

// resource reads whether a file is compiled with submissions.
func (p *polygon) resource(e *element, file File) {
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
	if file.Size > maxInclude {
		e.refuse("path", "is longer than %d KiB: it is compiled with every submission", maxInclude>>10)
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
		at := slices.IndexFunc(p.p.Includes, func(in Include) bool { return in.Language == id })
		if at < 0 {
			at = len(p.p.Includes)
			p.p.Includes = append(p.p.Includes, Include{Language: id})
		}
		p.p.Includes[at].Files = append(p.p.Includes[at].Files, file)
	}
	slices.SortFunc(p.p.Includes, func(a, b Include) int { return strings.Compare(a.Language, b.Language) })
}

// sourceLanguages are our ids of languages by how the types of Polygon begin.
var sourceLanguages = []struct{ begins, id string }{
	{"cpp.", "cpp"},
	{"c.", "c"},
	{"python.2", ""},
	{"python.pypy2", ""},
	{"python.", "python"},
	{"javascript", "javascript"},
	{"java", "java"},
	{"kotlin", "kotlin"},
	{"rust", "rust"},
	{"go", "go"},
	{"csharp.", "csharp"},
	{"typescript", "typescript"},
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
func (p *polygon) program(source *element) (Program, bool) {
	file, ok := p.named(source)
	kind := source.attr("type")
	id, known := sourceLanguage(kind)
	source.unknown()
	if !ok {
		return Program{}, false
	}
	if !known {
		id = kind // running it says that there is no such language
	}
	name := strings.TrimSuffix(path.Base(file.Path), path.Ext(file.Path))
	g := Program{Name: name, Language: id, Dialect: dialect(kind), Files: []File{file}}
	if id == "cpp" || id == "c" {
		g.Files = append(g.Files, p.headers...)
	}
	return g, true
}

// judging reads the limits, the input and output files, and the tests.
func (p *polygon) judging(e *element) {
	if !e.there {
		e.refuse("", "is missing: it holds the limits and tests")
		return
	}
	e.ignore("@cpu-name", "@cpu-speed")
	if n := e.number("run-count", 1, math.MaxInt32); n != nil && *n != 1 {
		e.refuse("run-count", "asks to run programs %s times for each test, which this platform cannot do: write 1 if the problem does without", short(*n))
	}
	p.p.InputFile, p.p.OutputFile = p.working(e, "input-file"), p.working(e, "output-file")
	if p.p.InputFile != "" && p.p.InputFile == p.p.OutputFile {
		e.refuse("output-file", "is %q, as is input-file: they must differ", p.p.OutputFile)
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
func (p *polygon) working(e *element, name string) string {
	s := e.attr(name)
	switch {
	case s == "", s == "stdin" && name == "input-file", s == "stdout" && name == "output-file":
		return ""
	case !plainName.MatchString(s) || strings.Contains(s, "/"):
		e.refuse(name, "is %q: it must be a name of letters, digits, _, . and -", s)
		return ""
	}
	return s
}

func (p *polygon) limits(set *element) {
	l := &p.p.Limits
	*l = Limits{
		Multiplier: 2, SafetyMargin: 1, OutputMiB: polygonOutputMiB, CodeKiB: polygonCodeKiB, MemoryMiB: defaultMemoryMiB,
		CompileCPU: time.Minute, CompileMemoryMiB: 2048, CheckCPU: time.Minute, CheckMemoryMiB: 2048, CheckOutputMiB: 64,
	}
	limit := set.child("time-limit")
	if !limit.there {
		limit.refuse("", "is missing: write the time limit in milliseconds")
	} else if ms := limit.value(1, maxCPUSeconds*1000); ms != nil {
		l.CPU = time.Duration(*ms) * time.Millisecond
		l.CPUFrom = fmt.Sprintf("%s: %s", problemXML, limit.path)
	}
	memory := set.child("memory-limit")
	if !memory.there {
		memory.refuse("", "is missing: write the memory limit in bytes")
	} else if bytes := memory.value(1, maxMemoryMiB<<20); bytes != nil {
		l.MemoryMiB = int64(math.Ceil(*bytes / (1 << 20)))
	}
}
