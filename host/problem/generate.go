package problem

import (
	"path"
	"slices"
	"strings"
)

const generatorsDir = "generators"

// The keys of deepoj.yaml that say how tests are made which the package does not hold.
const (
	generateKey = "generate"
	solutionKey = "solution"
)

// madeTest is a test that deepoj.yaml has made.
type madeTest struct {
	name  string   // such as "secret/11-deep"
	words []string // the name of a file in generators, and its arguments
}

// readGenerate reads how tests are made, and by which submission their answers.
func (r *reader) readGenerate(k *keys) {
	r.solution, _ = k.text(solutionKey)
	m := k.mapping(generateKey)
	for _, name := range m.order {
		cmd, _ := m.text(name)
		words, err := CommandWords(cmd)
		switch {
		case err != nil:
			m.refuse(name, "is %q: %v", cmd, err)
		case len(words) == 0:
			m.refuse(name, "is empty: write the name of a file in %s, and its arguments", generatorsDir)
		case !strings.HasPrefix(name, sampleDir+"/") && !strings.HasPrefix(name, secretDir+"/") || path.Clean(name) != name:
			m.refuse(name, "is no name of a test: it must be below sample or secret, such as secret/11-large")
		default:
			r.generate = append(r.generate, madeTest{name, words})
		}
	}
	if len(m.order) > maxPolygonTests {
		m.refuse("", "names %d tests: this platform can honour %d", len(m.order), maxPolygonTests)
	}
}

// placeMade puts the tests that are made into their groups. Those that the package
// holds are as they are.
func (r *reader) placeMade() {
	missing := slices.DeleteFunc(slices.Clone(r.generate), func(m madeTest) bool { return r.has(path.Join(dataDir, m.name+".in")) })
	if len(r.generate) == 0 || len(missing) == 0 {
		return
	}
	if r.p.Scoring && r.p.Format != FormatLegacy {
		r.refuse(nativeYAML, generateKey, "cannot be used in a scoring package of this format, whose tests share the points of their group: put the tests into %s", dataDir)
		return
	}
	for _, m := range missing {
		g := r.p.Root.below(path.Dir(m.name))
		like := (*Test)(nil)
		if g != nil {
			like = r.ordinary(g)
		}
		if like == nil {
			r.refuse(nativeYAML, generateKey+"."+m.name, "is in a folder that holds no test: put one small test into %s", path.Join(dataDir, path.Dir(m.name)))
			continue
		}
		r.generator(m)
		t := *like
		t.Name, t.Made, t.Input, t.Answer = m.name, m.words, File{}, File{}
		g.Items = append(g.Items, Item{Test: &t})
		slices.SortStableFunc(g.Items, func(a, b Item) int { return strings.Compare(path.Base(a.name()), path.Base(b.name())) })
	}
	r.mainSubmission()
}

// below returns the group of a name at any depth, or nil.
func (g *Group) below(name string) *Group {
	if g.Name == name {
		return g
	}
	for _, it := range g.Items {
		if it.Group != nil {
			if found := it.Group.below(name); found != nil {
				return found
			}
		}
	}
	return nil
}

// name is that of a test or group.
func (it Item) name() string {
	if it.Group != nil {
		return it.Group.Name
	}
	return it.Case().Name
}

// ordinary returns a test of a group that has nothing of its own but its files, which
// tells what all tests of the group have; nil if there is none.
func (r *reader) ordinary(g *Group) *Test {
	for _, it := range g.Items {
		if it.Test != nil && !r.has(path.Join(dataDir, it.Test.Name+".yaml")) && len(it.Test.Files) == 0 {
			return it.Test
		}
	}
	return nil
}

// generator makes sure that the generator of a test is one of the package.
func (r *reader) generator(m madeTest) {
	if slices.ContainsFunc(r.p.Generators, func(g Program) bool { return g.Name == m.words[0] }) {
		return
	}
	file := path.Join(generatorsDir, m.words[0])
	if path.Base(file) != m.words[0] || !r.has(file) {
		r.refuse(nativeYAML, generateKey+"."+m.name, "begins with %q, which is no file of %s", m.words[0], generatorsDir)
		return
	}
	if p := r.program(file, false, r.refuse); p != nil {
		p.Name = m.words[0]
		r.p.Generators = append(r.p.Generators, *p)
	}
}

// mainSubmission finds the submission whose outputs are the answers.
func (r *reader) mainSubmission() {
	at := -1
	for i, s := range r.p.Submissions {
		if s.Path == path.Join(submissionsDir, r.solution) || r.solution == "" && at < 0 && path.Dir(s.Path) == submissionsDir+"/accepted" {
			at = i
		}
	}
	switch {
	case at >= 0:
		r.p.Submissions[at].Main = true
	case r.solution == "":
		r.refuse(nativeYAML, generateKey, "needs a program that gives the answers: put one into submissions/accepted, and name it as %s if there are several", solutionKey)
	default:
		r.refuse(nativeYAML, solutionKey, "is %q: it must be a submission, such as accepted/fast.cpp", r.solution)
	}
}
