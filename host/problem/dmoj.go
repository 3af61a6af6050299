package problem

import (
	"math"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// initYML is what makes a folder a problem of DMOJ.
const initYML = "init.yml"

// What DMOJ gives programs where init.yml does not say.
const dmojOutputBytes = 25165824

// dmoj is what several parts of an init.yml have to say.
type dmoj struct {
	*reader

	archive     string // a folder: "" = there is none
	interactive bool
	answers     bool // some test has one
	bound       bool // deepoj.yaml says who decides
	foreign     bool // a program decides that is refused

	tests          int
	batches        int
	pretestBatches int
	output         float64      // bytes that a program may write
	checker        *dmojChecker // of the first test
	checkers       map[*yaml.Node]*dmojChecker
	generators     map[*yaml.Node]dmojGenerator
	turned         []string // files of tests that are text
}

// dmojNode is a mapping of init.yml. What it does not say, those above it say.
type dmojNode struct {
	*keys
	above *dmojNode
}

// with returns the nearest mapping that has a key, nil if none has.
func (n *dmojNode) with(key string) *keys {
	for at := n; at != nil; at = at.above {
		if at.node(key) != nil {
			return at.keys
		}
	}
	return nil
}

// within returns a mapping below n.
func (n *dmojNode) within(prefix string, node *yaml.Node) *dmojNode {
	return &dmojNode{n.r.mapping(initYML, prefix+".", node), n}
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

// readDMOJ reads a problem of DMOJ: init.yml and what it names.
func (r *reader) readDMOJ() {
	d := &dmoj{reader: r, checkers: map[*yaml.Node]*dmojChecker{}, generators: map[*yaml.Node]dmojGenerator{}}
	own := r.yaml(nativeYAML)
	r.readGiven(own)
	samples, _ := own.list("samples", true)
	checker, interactor := r.bindings(own)
	own.unknownRefused()
	d.bound = checker != nil || interactor != nil
	root := &dmojNode{keys: r.yaml(initYML)}
	if len(root.order) == 0 {
		r.refuse(initYML, "", "holds no keys: it has test_cases at least")
		return
	}
	if name, ok := root.text("archive"); ok {
		if d.archive = path.Clean(name); !r.mount(root.keys, "archive", d.archive) {
			return // the tests are in it
		}
	}
	d.limits(root)
	d.interactive = root.node("interactive") != nil || interactor != nil
	d.foreign = root.node("custom_judge") != nil
	items := d.items(root)
	if root.node("interactive") != nil {
		if t := d.talker(root.mapping("interactive")); t != nil && interactor == nil {
			interactor = t
		}
	}
	if r.p.Interactor = interactor; interactor != nil && root.node("checker") != nil {
		root.warn("checker", "has no effect: the interactor decides")
	}
	switch {
	case checker != nil:
		r.p.Checkers = []Checker{*checker}
	case !d.interactive && d.checker != nil:
		r.p.Checkers = []Checker{d.checker.checker}
	}
	d.unknownKeys(root)
	if len(items) == 0 && r.refusals == 0 {
		r.refuse(initYML, "test_cases", "hold no test")
	}
	if r.refusals == 0 {
		d.layout(items)
		d.samples(samples)
		r.turn(d.turned, true)
	}
	r.plainSubmissions()
	r.plainStatements()
	r.readSamples()
	r.readAttachments()
	d.unused()
}

// limits reads what programs may use.
func (d *dmoj) limits(root *dmojNode) {
	l := &d.p.Limits
	if root.node("time_limit") != nil && l.CPUFrom == Unsaid {
		l.CPU, l.CPUFrom = seconds(root.number("time_limit", plainCPU.Seconds(), 0.001, maxCPUSeconds)), initYML+": time_limit"
	}
	if root.node("memory_limit") != nil && l.MemoryFrom == Unsaid {
		l.MemoryMiB, l.MemoryFrom = mebibytes(root.number("memory_limit", plainMemoryMiB<<10, 1, maxMemoryMiB<<10)), ""
	}
	l.OutputMiB = dmojOutputBytes >> 20
	if root.node("wall_time_factor") != nil {
		root.number("wall_time_factor", 3, 0, 1000)
		root.warn("wall_time_factor", "has no effect: how long programs may wait is the platform's choice")
	}
	if root.node("unbuffered") != nil && root.flag("unbuffered", false) {
		root.warn("unbuffered", "has no effect: programs write to a pipe here, not to a terminal, so those that talk must flush what they say")
	}
}

// outputLimit takes note of how much the programs may write for a test: the most of
// all tests counts.
func (d *dmoj) outputLimit(at *dmojNode) {
	limit := float64(dmojOutputBytes)
	if k := at.with("output_limit_length"); k != nil {
		limit = k.number("output_limit_length", limit, 0, maxOutputMiB<<20)
	}
	if d.output > 0 && limit != d.output && d.tests > 1 {
		d.warnOnce("output_limit_length", "differs between tests: the most counts for all")
	}
	d.output = max(d.output, limit)
	d.p.Limits.OutputMiB = max(1, int64(math.Ceil(d.output/(1<<20))))
}

// warnOnce warns of a key of init.yml, once.
func (d *dmoj) warnOnce(key, reason string) {
	for _, w := range d.warnings.all {
		if w.File == initYML && w.Key == key {
			return
		}
	}
	d.warn(initYML, key, "%s", reason)
}

// unknownKeys says what of a mapping was not read. What could change how the problem is
// judged is refused by name.
func (d *dmoj) unknownKeys(n *dmojNode) {
	for _, key := range slices.Concat(inherited, informational) {
		n.node(key)
	}
	if s := n.mappingOrNil("symlinks"); s != nil && len(s.order) > 0 {
		n.refuse("symlinks", "put files beside programs, which get their input only: put what they need into the input")
	}
	for _, key := range n.order {
		why := refusedKeys[key]
		switch {
		case why != "" && d.bound && key == "custom_judge":
			n.warn(key, "is not run: %s says who decides", nativeYAML)
			n.read[key] = true
		case why != "":
			n.refuse(key, "%s", why)
			n.read[key] = true
		case strings.HasSuffix(key, "+"):
			n.refuse(key, "is a program in Python, which is not run: write out what it makes")
			n.read[key] = true
		}
	}
	n.unknown()
}

// samples marks the tests that deepoj.yaml names.
func (d *dmoj) samples(names []string) {
	for _, name := range names {
		found := false
		for _, t := range d.p.Root.Tests() {
			if t.Name == name {
				t.Sample, found = true, true
			}
		}
		if !found {
			d.refuse(nativeYAML, "samples", "holds %q, which is no test: the first is %s", name, d.p.Root.Tests()[0].Name)
		}
	}
}

// unused says which files are no part of the problem.
func (d *dmoj) unused() {
	used := map[string]bool{nativeYAML: true, initYML: true}
	if d.p.Root != nil {
		for _, t := range d.p.Root.Tests() {
			used[t.Input.Path], used[t.Answer.Path] = true, true
		}
	}
	d.rest(used)
}
