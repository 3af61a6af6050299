package conformance

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"deepoj/plugins/abi"
)

// plans looks at the plans for the adapter's own examples and for files whose names are no good.
func (s *suite) plans() (string, error) {
	l := s.module.Manifest.Language
	if len(l.Hello) == 0 {
		return "the manifest brings no example", nil
	}
	p, err := s.plan("hello", l.Hello)
	if err != nil || p == nil {
		return "", err
	}
	if p.Error != nil {
		s.find("plan-fails", "hello is refused: "+p.Error.Message)
		return "", nil
	}
	s.lookAt("hello", p, l.Hello)
	if err := s.diagnostics(p); err != nil {
		return "", err
	}
	if len(l.Broken) > 0 {
		p, err := s.plan("broken", l.Broken)
		if err != nil {
			return "", err
		}
		if p != nil && p.Error == nil {
			s.lookAt("broken", p, l.Broken)
		}
	}
	return "", s.badNames()
}

// plan asks for a plan. It returns nil when the adapter fails, which is recorded.
func (s *suite) plan(name string, sources []abi.Source) (*abi.Plan, error) {
	p, err := s.rt.Plan(s.ctx, s.module, s.request(sources))
	f, err := fault(err)
	if err != nil {
		return nil, err
	}
	if f != nil {
		s.find("plan-fails", fmt.Sprintf("%s: %v %.300q", name, f.Err, f.Message))
		return nil, nil //nolint:nilerr // the guest's fault is recorded
	}
	return &p, nil
}

// lookAt checks one plan.
func (s *suite) lookAt(name string, p *abi.Plan, sources []abi.Source) {
	s.lookAtFiles("plan-files", name, p, sources)
	l := s.module.Manifest.Language
	if l.Compiled != (len(p.Compile) > 0) {
		s.find("plan-step", fmt.Sprintf("%s: compiled is %t and there are %d compile steps", name, l.Compiled, len(p.Compile)))
	}
	for i, step := range p.Compile {
		s.lookAtStep(fmt.Sprintf("%s, compile step %d", name, i+1), step)
	}
	s.lookAtStep(name+", run", p.Run)
	s.lookAtArtifacts(name, p)
}

func (s *suite) lookAtFiles(rule, name string, p *abi.Plan, sources []abi.Source) {
	var paths []string
	for _, f := range p.Files {
		switch {
		case !relative(f.Path) || strings.ContainsAny(f.Path, "\x00\n"):
			s.find(rule, fmt.Sprintf("%s: the file %q leaves the working directory or is no path", name, f.Path))
		case slices.Contains(paths, f.Path):
			s.find(rule, fmt.Sprintf("%s: the file %q is written twice", name, f.Path))
		case f.Source != nil && (*f.Source < 0 || *f.Source >= len(sources)):
			s.find(rule, fmt.Sprintf("%s: the file %q is source %d of %d", name, f.Path, *f.Source, len(sources)))
		}
		paths = append(paths, f.Path)
	}
	if len(p.Files) == 0 {
		s.find(rule, name+": nothing is written")
	}
}

// relative reports whether a path is clean and stays in its folder.
func relative(p string) bool {
	return p != "" && p != "." && !path.IsAbs(p) && path.Clean(p) == p && p != ".." && !strings.HasPrefix(p, "../")
}

var (
	toolName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+_-]*$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// The most that a step may ask for.
const (
	maxStepCPU       = 600_000 // ms
	maxStepMemory    = 16 << 10
	maxStepFile      = 16 << 10
	maxStepProcesses = 4096
)

func (s *suite) lookAtStep(name string, st abi.Step) {
	l := s.module.Manifest.Language
	switch {
	case (st.Tool == "") == (st.Program == ""):
		s.find("plan-step", fmt.Sprintf("%s: the tool is %q and the program %q, exactly one must be set", name, st.Tool, st.Program))
	case st.Program != "" && !relative(strings.TrimPrefix(st.Program, "./")):
		s.find("plan-step", fmt.Sprintf("%s: the program %q is not a path in the working directory", name, st.Program))
	case st.Tool != "" && !toolName.MatchString(st.Tool):
		s.find("plan-tool", fmt.Sprintf("%s: the tool %q is no logical name", name, st.Tool))
	case st.Tool != "" && !slices.ContainsFunc(l.Tools, func(t abi.Tool) bool { return t.Name == st.Tool }):
		s.find("plan-tool", fmt.Sprintf("%s: the tool %q is not listed in the manifest", name, st.Tool))
	}
	for variable, value := range st.Env {
		if !variableName.MatchString(variable) || variable == "PATH" || strings.ContainsRune(value, 0) {
			s.find("plan-environment", fmt.Sprintf("%s: the variable %q", name, variable))
		}
	}
	for _, x := range []struct {
		what       string
		have, most int64
	}{
		{"cpu_ms", st.Limits.CPUMillis, maxStepCPU},
		{"memory_mib", st.Limits.MemoryMiB, maxStepMemory},
		{"extra_memory_mib", st.Limits.ExtraMemoryMiB, maxStepMemory},
		{"processes", int64(st.Limits.Processes), maxStepProcesses},
		{"file_mib", st.Limits.FileMiB, maxStepFile},
	} {
		if x.have < 0 || x.have > x.most {
			s.find("plan-limits", fmt.Sprintf("%s: %s is %d, at most %d", name, x.what, x.have, x.most))
		}
	}
	_, err := regexp.Compile(st.MemoryExit)
	switch {
	case !slices.Contains([]string{"", "cgroup", "runtime+cgroup"}, st.MemoryPolicy):
		s.find("plan-memory", fmt.Sprintf("%s: memory_policy is %q", name, st.MemoryPolicy))
	case err != nil:
		s.find("plan-memory", fmt.Sprintf("%s: memory_exit: %v", name, err))
	case st.MemoryExit != "" && st.MemoryPolicy != "runtime+cgroup":
		s.find("plan-memory", fmt.Sprintf("%s: memory_exit without memory_policy runtime+cgroup", name))
	}
}

func (s *suite) lookAtArtifacts(name string, p *abi.Plan) {
	if len(p.Compile) > 0 && len(p.Artifacts) == 0 {
		s.find("plan-artifacts", name+": something is compiled and nothing is kept")
	}
	for _, glob := range p.Artifacts {
		if _, err := path.Match(glob, ""); err != nil || !relative(glob) {
			s.find("plan-artifacts", fmt.Sprintf("%s: %q is no glob in the working directory", name, glob))
		}
	}
}

// diagnostics looks at the format of the diagnostics. An adapter that reads them itself must bear any words.
func (s *suite) diagnostics(p *abi.Plan) error {
	switch d := p.Diagnostics; d.Name {
	case "gcc", "javac":
	case "":
		if len(p.Compile) > 0 {
			s.find("plan-diagnostics", "something is compiled and no format is named")
		}
	case "regex":
		re, err := regexp.Compile(d.Pattern)
		if err != nil {
			s.find("plan-diagnostics", err.Error())
			return nil
		}
		for _, group := range []string{"file", "line", "message"} {
			if re.SubexpIndex(group) < 0 {
				s.find("plan-diagnostics", fmt.Sprintf("the pattern %q has no group %s", d.Pattern, group))
			}
		}
	case "plugin":
		return s.words()
	default:
		s.find("plan-diagnostics", fmt.Sprintf("the format is %q", d.Name))
	}
	return nil
}

// words gives the adapter what compilers may say.
func (s *suite) words() error {
	sources := s.module.Manifest.Language.Hello
	for name, words := range map[string]string{
		"no words":            "",
		"words of no meaning": "\x00\x1b[31merror\r\n:::\n  -->\n^\n",
		"a long line":         strings.Repeat("x:1:", 1<<18),
		"many lines":          strings.Repeat(sources[0].Name+":1:1: error: no\n", 1<<14),
		"a huge line number":  sources[0].Name + ":99999999999999999999:1: error: no\n",
	} {
		reply, err := s.rt.Diagnostics(s.ctx, s.module, abi.DiagnosticsRequest{Sources: sources, Stderr: words})
		f, err := fault(err)
		if err != nil {
			return err
		}
		if f != nil {
			s.find("plan-diagnostics", fmt.Sprintf("asked to read %s: %v %.200q", name, f.Err, f.Message))
			continue
		}
		for _, d := range reply.Diagnostics {
			if d.Line < 0 || d.Column < 0 {
				s.find("plan-diagnostics", fmt.Sprintf("asked to read %s it finds line %d, column %d", name, d.Line, d.Column))
				break
			}
		}
	}
	return nil
}

// names are of files that people submit.
var names = [][]string{
	{""},
	{"../../etc/passwd"},
	{"/etc/passwd"},
	{"-zqx"},
	{"a b;$(id).x"},
	{"a\x00b"},
	{"..", "."},
	{"größe"},
	{"a", "a"},
	{"a/b", "a"},
	{"CON", "con"},
	{strings.Repeat("x", 300)},
	{"a\nb"},
}

// badNames asks for plans of files whose names are no good. Refusing them is an answer too.
func (s *suite) badNames() error {
	l := s.module.Manifest.Language
	for _, ns := range names {
		var sources []abi.Source
		for _, n := range ns {
			if n != "" && len(ns) > 1 {
				n += "." + l.Extensions[0]
			}
			sources = append(sources, abi.Source{Name: n, Text: l.Hello[0].Text})
		}
		name := fmt.Sprintf("files named %.60q", ns)
		p, err := s.rt.Plan(s.ctx, s.module, s.request(sources))
		f, err := fault(err)
		if err != nil {
			return err
		}
		switch {
		case f != nil:
			s.find("plan-names", fmt.Sprintf("%s: %v %.200q", name, f.Err, f.Message))
		case p.Error == nil:
			s.lookAtFiles("plan-names", name, &p, sources)
			s.lookAtArguments(name, &p, sources)
		}
	}
	return nil
}

// lookAtArguments looks for names that are flags.
func (s *suite) lookAtArguments(name string, p *abi.Plan, sources []abi.Source) {
	for _, f := range p.Files {
		if f.Source != nil && strings.HasPrefix(f.Path, "-") {
			s.find("plan-names", fmt.Sprintf("%s: the file %q looks like a flag", name, f.Path))
		}
	}
	for _, st := range append(slices.Clone(p.Compile), p.Run) {
		for _, src := range sources {
			isArg := func(arg string) bool { return src.Name != "" && strings.HasPrefix(arg, src.Name) }
			if strings.HasPrefix(src.Name, "-") && slices.ContainsFunc(st.Args, isArg) {
				s.find("plan-names", fmt.Sprintf("%s: the name is an argument, as if it were a flag", name))
			}
		}
	}
}

// planTwice asks for the same plan several times at once.
func (s *suite) planTwice() (string, error) {
	l := s.module.Manifest.Language
	if len(l.Hello) == 0 {
		return "the manifest brings no example", nil
	}
	answers := make([]string, repeats)
	var g errgroup.Group
	for i := range answers {
		g.Go(func() error {
			p, u, err := s.rt.PlanUsage(s.ctx, s.module, s.request(l.Hello))
			f, err := fault(err)
			if err != nil {
				return err
			}
			if f != nil {
				answers[i] = f.Err.Error()
				return nil //nolint:nilerr // the guest's fault is an answer
			}
			b, err := json.Marshal(p)
			answers[i] = fmt.Sprintf("%s for %d units", b, u.Fuel)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return "", err
	}
	for _, a := range answers[1:] {
		if a != answers[0] {
			s.find("deterministic", fmt.Sprintf("hello: once %.200s, once %.200s", answers[0], a))
			break
		}
	}
	return "", nil
}

// hostileSources gives the adapter sources that it must bear. Refusing them is an answer.
func (s *suite) hostileSources() (string, error) {
	l := s.module.Manifest.Language
	name := "main." + l.Extensions[0]
	many := make([]abi.Source, 500)
	for i := range many {
		many[i] = abi.Source{Name: fmt.Sprintf("f%d.%s", i, l.Extensions[0]), Text: "x\n"}
	}
	for _, h := range []struct {
		name    string
		sources []abi.Source
	}{
		{"an empty source", []abi.Source{{Name: name}}},
		{"a source of NUL bytes", []abi.Source{{Name: name, Text: strings.Repeat("\x00", 1000)}}},
		{"a source that is not UTF-8", []abi.Source{{Name: name, Text: "\xff\xfe\xc3("}}},
		{"a source with carriage returns", []abi.Source{{Name: name, Text: "\r\n\r\rclass\r"}}},
		{"a source of a million brackets", []abi.Source{{Name: name, Text: strings.Repeat("({[", 333_334)}}},
		{"a source with a line of a megabyte", []abi.Source{{Name: name, Text: strings.Repeat("class x ", 1<<17)}}},
		{"a source with an endless comment", []abi.Source{{Name: name, Text: "/*" + strings.Repeat(`/*"'`, 1<<18)}}},
		{"500 files", many},
	} {
		_, err := s.rt.Plan(s.ctx, s.module, s.request(h.sources))
		if err := s.bears(h.name, err, true); err != nil {
			return "", err
		}
	}
	return "", nil
}

// programs compiles and runs the adapter's own examples.
func (s *suite) programs() (string, error) {
	l := s.module.Manifest.Language
	switch {
	case s.Runner == nil:
		return needsSandbox, nil
	case len(l.Hello) == 0 || len(l.Broken) == 0:
		return "the manifest brings no examples", nil
	}
	r, err := s.Runner.Program(s.whole, s.wasm, l.ID, l.Hello)
	if err != nil || r.Missing != "" {
		return r.Missing, err
	}
	if !r.Compiled || r.Verdict != "AC" || r.Output != "hello\n" {
		s.find("run-hello", fmt.Sprintf("compiled: %t, verdict %s, output %q, words %.300q", r.Compiled, r.Verdict, r.Output, r.Words))
	}
	if r, err = s.Runner.Program(s.whole, s.wasm, l.ID, l.Broken); err != nil || r.Missing != "" {
		return r.Missing, err
	}
	if r.Compiled {
		s.find("run-broken", fmt.Sprintf("it compiles, verdict %s, output %q", r.Verdict, r.Output))
		return "", nil
	}
	at := slices.IndexFunc(r.Diagnostics, func(d abi.Diagnostic) bool { return d.Severity == "error" })
	switch {
	case at < 0:
		s.find("run-line", fmt.Sprintf("no error is told; the compiler said %.300q", r.Words))
	case r.Diagnostics[at].Line != l.BrokenLine || r.Diagnostics[at].File != l.Broken[0].Name:
		d := r.Diagnostics[at]
		s.find("run-line", fmt.Sprintf("the first error is told in %q on line %d, want %q on line %d: %s", d.File, d.Line, l.Broken[0].Name, l.BrokenLine, d.Message))
	}
	return "", nil
}
