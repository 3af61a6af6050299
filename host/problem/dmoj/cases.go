package dmoj

import (
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

// item is a test, or a batch of tests, in the order of init.yml.
type item struct {
	at     *node
	points float64
	tests  []*problem.Test
	batch  int   // its number; 0 = it is a test
	needs  []int // batches that must be passed before
}

// items reads the tests: pretests first.
func (d *reader) items(root *node) []item {
	var first []item
	if n := root.Node("pretest_test_cases"); n != nil {
		first = d.pretests(root, n)
	}
	n := root.Node("test_cases")
	switch {
	case n != nil && n.Kind == yaml.SequenceNode:
		return append(first, d.list(root, "test_cases", n)...)
	case n != nil && n.Kind != yaml.MappingNode:
		root.Refuse("test_cases", "must be a list of tests, or a mapping with input_format and output_format")
		return first
	}
	k := root.Mapping("test_cases")
	all := append(first, d.found(root, k)...)
	k.RefuseUnknown()
	return all
}

// pretests reads the tests of pretest_test_cases, which are worth nothing. Their
// batches have no number that others can mean.
func (d *reader) pretests(root *node, n *yaml.Node) []item {
	all := d.list(root, "pretest_test_cases", n)
	for i := range all {
		if all[i].points = 0; all[i].batch > 0 {
			all[i].batch = -all[i].batch
		}
		if len(all[i].needs) > 0 {
			all[i].at.Refuse("dependencies", "are of a pretest, after the first of which that fails nothing is judged anyway: leave them out")
		}
	}
	d.pretestBatches, d.batches = d.batches, 0
	return all
}

// list reads a list of tests.
func (d *reader) list(root *node, key string, n *yaml.Node) []item {
	if n.Kind != yaml.SequenceNode {
		root.Refuse(key, "must be a list of tests")
		return nil
	}
	var all []item
	for i, node := range n.Content {
		at := root.within(fmt.Sprintf("%s[%d]", key, i), source.Target(node))
		it := item{at: at, points: d.points(at)}
		if batched := at.Node("batched"); batched == nil {
			it.tests = d.add(it.tests, at, key, "")
		} else {
			d.batches++
			it.batch = d.batches
			it.needs = d.dependencies(at, it.batch)
			if len(it.needs) > 0 && it.points == 0 && key == "test_cases" {
				at.Refuse("dependencies", "are of a batch that is worth nothing, which stops everything if it fails and nothing if it is not run, which cannot be done here: leave them out, or give it points")
			}
			if batched.Kind != yaml.SequenceNode {
				at.Refuse("batched", "must be a list of tests")
				continue
			}
			for j, sub := range batched.Content {
				within := at.within(fmt.Sprintf("%s[%d].batched[%d]", key, i, j), source.Target(sub))
				if within.Node("batched") != nil {
					d.tests++
					within.Refuse("batched", "is in a batch: a batch has no batches in it")
					continue
				}
				if own := within.Node("points"); own != nil && d.points(within) != it.points {
					within.Refuse("points", "are of a test in a batch, which is worth %s as a whole: write points at the batch only", source.Short(it.points))
				}
				if it.tests = d.add(it.tests, within, key, d.batchName(it.batch, key)); d.tests > source.MaxTests {
					break
				}
			}
			if len(batched.Content) == 0 {
				at.Refuse("batched", "holds no test: put tests into it, or leave it out")
			}
		}
		if it.batch > 0 {
			d.unknownKeys(at)
		}
		if all = append(all, it); d.tests > source.MaxTests {
			d.Refuse(source.InitYML, key, "hold more than %d tests: this platform can honour no more", source.MaxTests)
			break
		}
	}
	return all
}

// batchName is what a group is called.
func (d *reader) batchName(n int, key string) string {
	if key == "pretest_test_cases" {
		return fmt.Sprintf("pretests%d", n)
	}
	return fmt.Sprintf("batch%d", n)
}

// add reads a test and appends it, unless it is refused.
func (d *reader) add(to []*problem.Test, at *node, key, batch string) []*problem.Test {
	d.tests++
	defer d.unknownKeys(at)
	t := d.test(at)
	if t == nil {
		return to
	}
	number := strconv.Itoa(len(to) + 1)
	if batch == "" {
		number = strconv.Itoa(d.tests)
	}
	if key == "pretest_test_cases" && batch == "" {
		number = "pretest" + number
	}
	t.Name = path.Join(batch, number)
	if stem := strings.TrimSuffix(path.Base(t.Input.Path), ".in"); t.Input.Path != "" && t.Input.Path != emptyFile && source.Printable(stem) {
		t.Name += "-" + stem
	}
	return append(to, t)
}

// points returns what a test or batch is worth.
func (d *reader) points(at *node) float64 {
	if k := at.with("points"); k != nil {
		return k.Number("points", 1, 0, source.MaxScore)
	}
	return 1
}

// dependencies reads which batches must be passed before one.
func (d *reader) dependencies(at *node, batch int) []int {
	words, _ := at.List("dependencies", false)
	var all []int
	if len(words) > 0 && d.pretestBatches > 0 {
		at.Refuse("dependencies", "are numbers of batches, and DMOJ counts those of pretest_test_cases, too, of which there are %d: have no batches there", d.pretestBatches)
		return nil
	}
	for _, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || n >= batch {
			at.Refuse("dependencies", "hold %q: each must be the number of a batch before this one, which is number %d, counted from 1", w, batch)
			continue
		}
		all = append(all, n)
	}
	return all
}

// emptyFile stands for inputs and answers that are not there.
const emptyFile = "deepoj-empty"

// test reads one test. It returns nil if it is refused.
func (d *reader) test(at *node) *problem.Test {
	t := &problem.Test{}
	d.outputLimit(at)
	in, hasIn := d.place(at, "in")
	out, hasOut := d.place(at, "out")
	generated := !hasIn && at.with("generator") != nil
	switch {
	case hasIn && at.Node("generator_args") != nil:
		at.Refuse("generator_args", "are of a test that has an input: leave out one of them")
	case hasIn:
		t.Input = in
	case generated:
		if name, args := d.generator(at); name != "" {
			if k := at.with("generator_args"); k != nil {
				args = d.pythonWords(k, "generator_args")
			}
			t.Made = append([]string{name}, args...)
		}
	default:
		t.Input = d.Add(emptyFile, "")
	}
	if hasOut {
		t.Answer, d.answers = out, true
	} else if !generated {
		t.Answer = d.Add(emptyFile, "")
	}
	if !d.interactive && !d.bound && !d.foreign {
		d.decide(at, t, hasOut || generated)
	}
	if binary := at.with("binary_data"); binary == nil || !binary.Flag("binary_data", false) {
		for _, f := range []problem.File{t.Input, t.Answer} {
			if f.Path != "" && f.Path != emptyFile {
				d.turned = append(d.turned, f.Path)
			}
		}
	}
	return t
}

// place returns the file that a key names: one of the package, else of the archive.
func (d *reader) place(at *node, key string) (problem.File, bool) {
	k := at.with(key)
	if k == nil {
		return problem.File{}, false
	}
	name, ok := k.Text(key)
	if !ok || name == "" {
		return problem.File{}, false
	}
	for _, full := range []string{path.Clean(name), path.Join(d.archive, path.Clean(name))} {
		if fs.ValidPath(full) && d.Has(full) {
			return d.File(full), true
		}
	}
	where := "of the package"
	if d.archive != "" {
		where += " or of " + d.archive
	}
	k.Refuse(key, "is %q: it must be a file %s", name, where)
	return problem.File{}, true
}

// decide sets who decides on a test. All must have the same checker, whose arguments may differ.
func (d *reader) decide(at *node, t *problem.Test, answered bool) {
	c := d.checkerOf(at)
	if c == nil {
		return
	}
	if d.checker == nil {
		d.checker = c
	}
	one, other := c.checker.Name(), d.checker.checker.Name()
	if one != other {
		at.Refuse("checker", "differs between tests, which have one checker here: %s and %s; leave one of them", other, one)
		return
	}
	if !answered && c.checker.Standard != "" {
		at.Refuse("out", "is missing: the checker compares with it")
	}
	t.Flags = slices.Clone(c.flags)
}

// found returns the tests whose files were found by their names.
func (d *reader) found(root *node, k *source.Keys) []item {
	worth := d.casePoints(root, k)
	var all []item
	node := func(c matchedCase) *node {
		m := &yaml.Node{Kind: yaml.MappingNode}
		for _, part := range []struct{ key, name string }{{"in", c.in}, {"out", c.out}} {
			if part.name != "" {
				m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: part.key}, &yaml.Node{Kind: yaml.ScalarNode, Value: part.name})
			}
		}
		return root.within(strings.TrimPrefix(c.in, d.archive+"/"), m)
	}
	matches := d.matchCases(k)
	if d.Refusals > 0 {
		return nil
	}
	for i, m := range matches {
		it := item{at: root, points: d.points(root)}
		if worth != nil && i < len(worth) {
			it.points = worth[i]
		}
		batch := ""
		if m.batch {
			d.batches++
			it.batch, batch = d.batches, d.batchName(d.batches, "")
		}
		for _, c := range m.cases {
			it.tests = d.add(it.tests, node(c), "", batch)
		}
		all = append(all, it)
	}
	if worth != nil && len(worth) != len(matches) {
		k.Refuse("case_points", "hold %d numbers for %d tests and batches: make them agree", len(worth), len(matches))
	}
	if d.tests > source.MaxTests {
		k.Refuse("", "are %d: this platform can honour %d", d.tests, source.MaxTests)
	}
	return all
}

// casePoints reads what tests and batches are worth, in their order; nil = all the same.
func (d *reader) casePoints(root *node, k *source.Keys) []float64 {
	words, ok := k.List("case_points", false)
	if !ok {
		return nil
	}
	all := []float64{}
	for _, w := range words {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil || !(x >= 0 && x <= source.MaxScore) {
			k.Refuse("case_points", "holds %q: it must be a number from 0", w)
		}
		all = append(all, x)
	}
	return all
}
