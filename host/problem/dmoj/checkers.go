package dmoj

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// checker is who decides on the output of a test.
type checker struct {
	checker problem.Checker
	flags   []string
	points  bool // wants to be told what the test is worth
}

// standard are the names of DMOJ's own checkers.
var standard = []string{"standard", "easy", "floats", "floatsabs", "floatsrel", "identical", "linecount", "rstripped", "sorted", "unordered", "bridged"}

// pythonRemedy is told of what is written in Python for DMOJ's own library.
const pythonRemedy = "write it in C++ with testlib.h (checker: {name: bridged, args: {files: …, lang: CPP17, type: testlib}}), or bind another in " + problem.NativeYAML

// checkerOf reads the checker of a test, each node once. It returns nil if it is refused.
func (d *reader) checkerOf(at *node) *checker {
	k := at.with("checker")
	if k == nil {
		return d.standardChecker(nil, "standard", d.Mapping(source.InitYML, "", nil))
	}
	n := k.Node("checker")
	if c, known := d.checkers[n]; known {
		return c
	}
	name, args := "", d.Mapping(source.InitYML, "", nil)
	if n.Kind == yaml.MappingNode {
		m := k.Mapping("checker")
		name, _ = m.Text("name")
		args = m.Mapping("args")
		m.RefuseUnknown()
	} else {
		name, _ = k.Text("checker")
	}
	c := d.standardChecker(k, name, args)
	if c != nil {
		args.RefuseUnknown()
	}
	d.checkers[n] = c
	return c
}

// standardChecker returns what does the same as a checker of DMOJ.
func (d *reader) standardChecker(k *source.Keys, name string, args *source.Keys) *checker {
	own := func(standard string, flags ...string) *checker {
		return &checker{checker: problem.Checker{Standard: standard, Protocol: "testlib/1"}, flags: flags}
	}
	switch name {
	case "standard":
		return own("rows")
	case "easy":
		return own("letters")
	case "floats", "floatsabs", "floatsrel":
		mode := map[string]string{"floatsabs": "absolute", "floatsrel": "relative"}[name]
		if mode == "" {
			mode = args.Choice("error_mode", "default", "default", "absolute", "relative")
		}
		flag := map[string]string{"default": "--eps", "absolute": "--absolute", "relative": "--relative"}[mode]
		return own("rows", fmt.Sprintf("%s=1e-%d", flag, int(args.Number("precision", 6, 0, 300))))
	case "identical":
		args.Flag("pe_allowed", true) // is about the message
		return own("exact")
	case "linecount":
		args.Flag("feedback", true)
		c := own("linecount")
		c.points = true
		return c
	case "rstripped":
		if args.Flag("filter_new_line", false) {
			args.Refuse("filter_new_line", "leaves blank lines out and looks at spaces within others, which no checker here does: leave it out, or use the checker standard")
		}
		return own("lines", "--blank-lines")
	case "sorted":
		if args.Choice("split_on", "lines", "lines", "whitespace") == "whitespace" {
			return own("sorted", "--words")
		}
		return own("sorted")
	case "unordered":
		return own("sorted", "--words")
	case "bridged":
		return d.bridged(args)
	}
	if strings.Contains(name, ".") {
		k.Refuse("checker", "is %s, a program for DMOJ's own library in Python, which is not here: %s", name, pythonRemedy)
	} else {
		k.Refuse("checker", "is %q, which is not here: those of DMOJ that are, are %s", name, strings.Join(standard, ", "))
	}
	return nil
}

// bridged reads a checker that the package brings.
func (d *reader) bridged(args *source.Keys) *checker {
	c := d.guest(args, "a checker", "{input_file} {output_file} {answer_file}", []string{"testlib", "default"})
	if c == nil {
		return nil
	}
	return &checker{checker: *c}
}

// talker reads the interactor.
func (d *reader) talker(k *source.Keys) *problem.Checker {
	k.Number("preprocessing_time", 2, 0, problem.MaxCPUSeconds) // its limit is that of checkers
	if k.Node("unbuffered") != nil {
		k.Flag("unbuffered", true)
	}
	types := []string{"testlib"}
	if !d.answers {
		types = append(types, "default") // looks for the answer where those of testlib have the output
	}
	c := d.guest(k, "an interactor", "{input_file} {output_file} {answer_file}", types)
	k.RefuseUnknown()
	return c
}

// guest reads a program that decides. Types are those of its protocols that can be honoured.
func (d *reader) guest(k *source.Keys, what, arguments string, types []string) *problem.Checker {
	kind, told := k.Text("type")
	kind = cmp.Or(kind, "default")
	if !slices.Contains(types, kind) {
		why := "is " + kind
		if !told {
			why = "is missing, which means default"
		}
		k.Refuse("type", "%s, whose arguments or exit codes cannot be honoured for %s here: write it for testlib (exit codes 0, 1, 2, 3, and 7 with \"points N\" on standard error) and say type: testlib", why, what)
	}
	if text, ok := k.Text("args_format_string"); ok && text != arguments {
		k.Refuse("args_format_string", "is %q: %s is given its files as %q here", text, what, arguments)
	}
	if k.Node("feedback") != nil {
		k.Flag("feedback", true) // who reads what it says is said by checker_messages
	}
	if k.Node("cached") != nil {
		k.Flag("cached", true) // what is compiled is kept anyway
	}
	d.compileFlags(k)
	d.judgesLimits(k)
	p := d.judges(k, "files", "lang", what)
	switch {
	case p == nil:
		return nil
	case p.Language != "c" && p.Language != "cpp":
		return &problem.Checker{Protocol: "testlib/1", Program: p}
	}
	return &problem.Checker{Protocol: "testlib/1", Sources: p.Files}
}

// harmless are the compiler's flags without which a program is the same.
func harmless(flag string) bool {
	return flag == "-pipe" || flag == "-lm" || flag == "-static" || strings.HasPrefix(flag, "-O") || strings.HasPrefix(flag, "-W") || strings.HasPrefix(flag, "-std=") || strings.HasPrefix(flag, "-g")
}

func (d *reader) compileFlags(k *source.Keys) {
	flags, _ := k.Words("flags")
	for _, flag := range flags {
		if !harmless(flag) {
			k.Refuse("flags", "holds %s, which the compiler is not given here: write it into the source, such as #define", flag)
		}
	}
}

// judgesLimits reads what a program of the judges may use. Theirs are one for all, so the largest counts.
func (d *reader) judgesLimits(k *source.Keys) {
	l := &d.Package.Limits
	l.CheckCPU = max(l.CheckCPU, source.Seconds(k.Number("time_limit", 0, 0, problem.MaxCPUSeconds)))
	l.CheckMemoryMiB = max(l.CheckMemoryMiB, mebibytes(k.Number("memory_limit", 0, 0, source.MaxMemoryMiB<<10)))
	l.CompileCPU = max(l.CompileCPU, source.Seconds(k.Number("compiler_time_limit", 0, 0, problem.MaxCPUSeconds)))
}

// mebibytes rounds a number of KiB up.
func mebibytes(kib float64) int64 { return (int64(kib) + 1<<10 - 1) >> 10 }

// languages are our ids of languages by how those of DMOJ begin.
var languages = []struct{ begins, id string }{
	{"CPP", "cpp"},
	{"CLANGX", "cpp"},
	{"CLANG", "c"},
	{"C11", "c"},
	{"PY2", ""},
	{"PYPY2", ""},
	{"PY", "python"},
	{"JAVA", "java"},
	{"KOTLIN", "kotlin"},
	{"RUST", "rust"},
	{"GO", "go"},
	{"MONOCS", "csharp"},
	{"V8JS", "javascript"},
	{"NODE", "javascript"},
	{"TS", "typescript"},
}

// languageOf returns the language of an id such as "CPP17".
func languageOf(id string) (string, bool) {
	if strings.EqualFold(id, "C") {
		return "c", true
	}
	for _, l := range languages {
		if strings.HasPrefix(strings.ToUpper(id), l.begins) {
			return l.id, l.id != ""
		}
	}
	return id, false
}

// judges reads a program of the judges from the keys that name its files and its
// language. It returns nil if it is refused.
func (d *reader) judges(k *source.Keys, files, lang, what string) *problem.Program {
	names, _ := k.List(files, true)
	language, told := k.Text(lang)
	if len(names) == 0 {
		k.Refuse(files, "is missing: it names the source of %s", what)
		return nil
	}
	p := &problem.Program{}
	bad := false
	for _, name := range names {
		if !fs.ValidPath(name) || !d.Has(name) {
			k.Refuse(files, "holds %q, which must be a file of the package", name)
			bad = true
			continue
		}
		if id := problem.LanguageOf(name); id != "" && p.Name == "" {
			p.Name, p.Language = strings.TrimSuffix(path.Base(name), path.Ext(name)), id
		}
		p.Files = append(p.Files, d.File(name))
	}
	if bad {
		return nil
	}
	if told && language != "" {
		id, known := languageOf(language)
		if !known {
			k.Refuse(lang, "is %q, and there is no such language here: write %s in C++, C, Java, Python 3 or another language of submissions", language, what)
			return nil
		}
		p.Language = id
	}
	if p.Name == "" {
		k.Refuse(files, "names no source of a language that is known here: %s", strings.Join(names, ", "))
		return nil
	}
	if p.Language == "c" || p.Language == "cpp" {
		if !d.testlib(k, files, p) {
			return nil
		}
	}
	return p
}

// testlib adds testlib.h to the files of a program that includes it. It reports whether it was found.
func (d *reader) testlib(k *source.Keys, key string, p *problem.Program) bool {
	if slices.ContainsFunc(p.Files, func(f problem.File) bool { return path.Base(f.Path) == "testlib.h" }) {
		return true
	}
	for _, f := range p.Files {
		if !strings.Contains(d.Text(f.Path), "testlib.h") {
			continue
		}
		beside := path.Join(path.Dir(f.Path), "testlib.h")
		if !d.Has(beside) {
			k.Refuse(key, "holds %s, which includes testlib.h: DMOJ's judges have it, here it is the package's: add it beside", f.Path)
			return false
		}
		p.Files = append(p.Files, d.File(beside))
		return true
	}
	return true
}

// generator reads the program that makes the tests of a node, each once, and returns its name; "" if it is refused.
func (d *reader) generator(at *node) (name string, flags []string) {
	k := at.with("generator")
	n := k.Node("generator")
	if g, known := d.generators[n]; known {
		return g.name, g.args
	}
	var p *problem.Program
	var args []string
	if n.Kind == yaml.MappingNode {
		m := k.Mapping("generator")
		d.compileFlags(m)
		d.judgesLimits(m)
		args = d.pythonWords(m, "args")
		p = d.judges(m, "source", "language", "a generator")
		m.RefuseUnknown()
	} else {
		p = d.judges(k, "generator", "", "a generator")
	}
	made := generator{args: args}
	if p != nil {
		for i := 2; slices.ContainsFunc(d.Package.Generators, func(g problem.Program) bool { return g.Name == p.Name }); i++ {
			p.Name = strings.TrimRight(p.Name, "0123456789") + strconv.Itoa(i)
		}
		made.name, p.Answers = p.Name, true
		d.Package.Generators = append(d.Package.Generators, *p)
	}
	d.generators[n] = made
	return made.name, made.args
}

// generator is a generator that was read, with the arguments of tests that name none.
type generator struct {
	name string
	args []string
}

// pythonWords returns the values of a list as Python prints them.
func (d *reader) pythonWords(k *source.Keys, key string) []string {
	n := k.Node(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		k.Refuse(key, "must be a list")
		return nil
	}
	words := []string{}
	for _, item := range n.Content {
		item = source.Target(item)
		word, err := pythonWord(item)
		if err != "" {
			k.Refuse(key, "holds %q, %s: write it in quotes", item.Value, err)
		}
		words = append(words, word)
	}
	return words
}

// pythonWord is a value as Python prints it, or why that cannot be told.
func pythonWord(n *yaml.Node) (word, why string) {
	if n.Kind != yaml.ScalarNode {
		return "", "which is no single value"
	}
	plain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch lower := strings.ToLower(n.Value); {
	case !plain:
		return n.Value, ""
	case lower == "true" || lower == "yes" || lower == "on":
		return "True", ""
	case lower == "false" || lower == "no" || lower == "off":
		return "False", ""
	case n.Tag == "!!null":
		return "None", ""
	case n.Tag == "!!int":
		if x, err := strconv.ParseInt(n.Value, 10, 64); err == nil && strconv.FormatInt(x, 10) == n.Value {
			return n.Value, ""
		}
		return "", "a number that Python may print otherwise"
	case n.Tag == "!!float":
		if x, err := strconv.ParseFloat(n.Value, 64); err == nil && strconv.FormatFloat(x, 'f', -1, 64) == n.Value {
			return n.Value, ""
		}
		return "", "a number that Python may print otherwise"
	case n.Tag == "!!timestamp":
		return "", "which is a date"
	}
	return n.Value, ""
}
