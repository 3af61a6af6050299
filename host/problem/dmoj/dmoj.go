// Package dmoj reads problems of DMOJ, which have an init.yml: dmoj.go has its keys, cases.go tests and batches,
// match.go tests by the names of files, checkers.go who decides on an output, and groups.go groups and pretests.
package dmoj

import (
	"math"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deepoj/host/problem"
	"deepoj/host/problem/plain"
	"deepoj/host/problem/source"
)

// What DMOJ gives programs where init.yml does not say.
const outputBytes = 25165824

// reader is what several parts of an init.yml have to say.
type reader struct {
	*source.Reader

	archive     string // a folder: "" = there is none
	interactive bool
	answers     bool // some test has one
	bound       bool // deepoj.yaml says who decides
	foreign     bool // a program decides that is refused

	tests          int
	batches        int
	pretestBatches int
	output         float64  // bytes that a program may write
	checker        *checker // of the first test
	checkers       map[*yaml.Node]*checker
	generators     map[*yaml.Node]generator
	turned         []string // files of tests that are text
}

// node is a mapping of init.yml. What it does not say, those above it say.
type node struct {
	*source.Keys
	above *node
}

// with returns the nearest mapping that has a key, nil if none has.
func (n *node) with(key string) *source.Keys {
	for at := n; at != nil; at = at.above {
		if at.Node(key) != nil {
			return at.Keys
		}
	}
	return nil
}

// within returns a mapping below n.
func (n *node) within(prefix string, at *yaml.Node) *node {
	return &node{n.Under(prefix, at), n}
}

// refusedKeys are what cannot be honoured, each with the remedy.
var refusedKeys = map[string]string{
	"custom_judge":     "names a grader in Python for DMOJ's own library, which is not here: write an interactor in C++ with testlib.h (interactive: {files: …, type: testlib}) or a checker (bridged)",
	"signature_grader": "calls a function of the submission, which is not done here: have programs read and write, or import the problem in an ICPC format with include/",
	"generator_in":     "gives a generator an input, which generators here do not get: give it arguments (generator_args), or add the tests",
}

// inherited are the keys that tests have from what is above them, and informational
// those that do not change how a problem is judged.
var (
	inherited     = []string{"in", "out", "points", "checker", "generator", "generator_args", "output_limit_length", "binary_data"}
	informational = []string{"output_prefix_length", "hints", "meta", "short_circuit", "wall_time_factor", "unbuffered"}
)

// Read reads a problem of DMOJ: init.yml and what it names.
func Read(r *source.Reader) {
	r.Package.Format = problem.FormatDMOJ
	d := &reader{Reader: r, checkers: map[*yaml.Node]*checker{}, generators: map[*yaml.Node]generator{}}
	own := r.YAML(problem.NativeYAML)
	plain.Given(r, own)
	samples, _ := own.List("samples", true)
	checker, interactor := r.Bindings(own, false, nil)
	own.RefuseUnknown()
	d.bound = checker != nil || interactor != nil
	root := &node{Keys: r.YAML(source.InitYML)}
	if len(root.Order) == 0 {
		r.Refuse(source.InitYML, "", "holds no keys: it has test_cases at least")
		return
	}
	if name, ok := root.Text("archive"); ok {
		if d.archive = path.Clean(name); !r.Mount(root.Keys, "archive", d.archive) {
			return // the tests are in it
		}
	}
	d.limits(root)
	d.interactive = root.Node("interactive") != nil || interactor != nil
	d.foreign = root.Node("custom_judge") != nil
	items := d.items(root)
	if root.Node("interactive") != nil {
		if t := d.talker(root.Mapping("interactive")); t != nil && interactor == nil {
			interactor = t
		}
	}
	if r.Package.Interactor = interactor; interactor != nil && root.Node("checker") != nil {
		root.Warn("checker", "has no effect: the interactor decides")
	}
	switch {
	case checker != nil:
		r.Package.Checkers = []problem.Checker{*checker}
	case !d.interactive && d.checker != nil:
		r.Package.Checkers = []problem.Checker{d.checker.checker}
	}
	d.unknownKeys(root)
	if len(items) == 0 && r.Refusals == 0 {
		r.Refuse(source.InitYML, "test_cases", "hold no test")
	}
	if r.Refusals == 0 {
		d.layout(items)
		d.samples(samples)
		r.ReadAsText(d.turned, true)
	}
	plain.Submissions(r)
	plain.Statements(r)
	r.ReadSamples()
	r.ReadAttachments()
	d.unused()
}

// limits reads what programs may use.
func (d *reader) limits(root *node) {
	l := &d.Package.Limits
	if root.Node("time_limit") != nil && l.CPUFrom == problem.Unsaid {
		l.CPU, l.CPUFrom = source.Seconds(root.Number("time_limit", plain.CPU.Seconds(), 0.001, problem.MaxCPUSeconds)), source.InitYML+": time_limit"
	}
	if root.Node("memory_limit") != nil && l.MemoryFrom == problem.Unsaid {
		l.MemoryMiB, l.MemoryFrom = mebibytes(root.Number("memory_limit", plain.MemoryMiB<<10, 1, source.MaxMemoryMiB<<10)), ""
	}
	l.OutputMiB = outputBytes >> 20
	if root.Node("wall_time_factor") != nil {
		root.Number("wall_time_factor", 3, 0, 1000)
		root.Warn("wall_time_factor", "has no effect: how long programs may wait is the platform's choice")
	}
	if root.Node("unbuffered") != nil && root.Flag("unbuffered", false) {
		root.Warn("unbuffered", "has no effect: programs write to a pipe here, not to a terminal, so those that talk must flush what they say")
	}
}

// outputLimit takes note of how much the programs may write for a test: the most of all tests counts.
func (d *reader) outputLimit(at *node) {
	limit := float64(outputBytes)
	if k := at.with("output_limit_length"); k != nil {
		limit = k.Number("output_limit_length", limit, 0, source.MaxOutputMiB<<20)
	}
	if d.output > 0 && limit != d.output && d.tests > 1 {
		d.warnOnce("output_limit_length", "differs between tests: the most counts for all")
	}
	d.output = max(d.output, limit)
	d.Package.Limits.OutputMiB = max(1, int64(math.Ceil(d.output/(1<<20))))
}

// warnOnce warns of a key of init.yml, once.
func (d *reader) warnOnce(key, reason string) {
	if !d.Warned(source.InitYML, key) {
		d.Warn(source.InitYML, key, "%s", reason)
	}
}

// unknownKeys says what of a mapping was not read. What could change how the problem is judged is refused by name.
func (d *reader) unknownKeys(n *node) {
	for _, key := range slices.Concat(inherited, informational) {
		n.Node(key)
	}
	if s := n.MappingOrNil("symlinks"); s != nil && len(s.Order) > 0 {
		n.Refuse("symlinks", "put files beside programs, which get their input only: put what they need into the input")
	}
	for _, key := range n.Order {
		why := refusedKeys[key]
		switch {
		case why != "" && d.bound && key == "custom_judge":
			n.Warn(key, "is not run: %s says who decides", problem.NativeYAML)
			n.Read[key] = true
		case why != "":
			n.Refuse(key, "%s", why)
			n.Read[key] = true
		case strings.HasSuffix(key, "+"):
			n.Refuse(key, "is a program in Python, which is not run: write out what it makes")
			n.Read[key] = true
		}
	}
	n.WarnUnknown()
}

// samples marks the tests that deepoj.yaml names.
func (d *reader) samples(names []string) {
	for _, name := range names {
		found := false
		for _, t := range d.Package.Root.Tests() {
			if t.Name == name {
				t.Sample, found = true, true
			}
		}
		if !found {
			d.Refuse(problem.NativeYAML, "samples", "holds %q, which is no test: the first is %s", name, d.Package.Root.Tests()[0].Name)
		}
	}
}

// unused says which files are no part of the problem.
func (d *reader) unused() {
	used := map[string]bool{problem.NativeYAML: true, source.InitYML: true}
	if d.Package.Root != nil {
		for _, t := range d.Package.Root.Tests() {
			used[t.Input.Path], used[t.Answer.Path] = true, true
		}
	}
	plain.Rest(d.Reader, used)
}
