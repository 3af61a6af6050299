package source

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// GeneratorsDir is the folder of the programs that make tests.
const GeneratorsDir = "generators"

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
func (r *Reader) readGenerate(k *Keys) {
	r.solution, _ = k.Text(solutionKey)
	m := k.Mapping(generateKey)
	for _, name := range m.Order {
		cmd, _ := m.Text(name)
		words, err := problem.CommandWords(cmd)
		switch {
		case err != nil:
			m.Refuse(name, "is %q: %v", cmd, err)
		case len(words) == 0:
			m.Refuse(name, "is empty: write the name of a file in %s, and its arguments", GeneratorsDir)
		case !strings.HasPrefix(name, problem.SampleGroup+"/") && !strings.HasPrefix(name, problem.SecretGroup+"/") || path.Clean(name) != name:
			m.Refuse(name, "is no name of a test: it must be below sample or secret, such as secret/11-large")
		default:
			r.generate = append(r.generate, madeTest{name, words})
		}
	}
	if len(m.Order) > MaxTests {
		m.Refuse("", "names %d tests: this platform can honour %d", len(m.Order), MaxTests)
	}
}

// PlaceMade puts the tests that are made into their groups. Those that the package holds are as they are.
func (r *Reader) PlaceMade() {
	missing := slices.DeleteFunc(slices.Clone(r.generate), func(m madeTest) bool { return r.Has(path.Join(DataDir, m.name+".in")) })
	if len(r.generate) == 0 || len(missing) == 0 {
		return
	}
	if r.Package.Scoring && r.Package.Format != problem.FormatLegacy {
		r.Refuse(problem.NativeYAML, generateKey, "cannot be used in a scoring package of this format, whose tests share the points of their group: put the tests into %s", DataDir)
		return
	}
	for _, m := range missing {
		g := r.Package.Root.Below(path.Dir(m.name))
		like := (*problem.Test)(nil)
		if g != nil {
			like = r.ordinary(g)
		}
		if like == nil {
			r.Refuse(problem.NativeYAML, generateKey+"."+m.name, "is in a folder that holds no test: put one small test into %s", path.Join(DataDir, path.Dir(m.name)))
			continue
		}
		r.generator(m)
		t := *like
		t.Name, t.Made, t.Input, t.Answer = m.name, m.words, problem.File{}, problem.File{}
		g.Items = append(g.Items, problem.Item{Test: &t})
		slices.SortStableFunc(g.Items, func(a, b problem.Item) int { return strings.Compare(path.Base(a.Name()), path.Base(b.Name())) })
	}
	r.mainSubmission()
}

// ordinary returns a test of a group that has nothing of its own but its files, which
// tells what all tests of the group have; nil if there is none.
func (r *Reader) ordinary(g *problem.Group) *problem.Test {
	for _, it := range g.Items {
		if it.Test != nil && !r.Has(path.Join(DataDir, it.Test.Name+".yaml")) && len(it.Test.Files) == 0 {
			return it.Test
		}
	}
	return nil
}

// generator makes sure that the generator of a test is one of the package.
func (r *Reader) generator(m madeTest) {
	if slices.ContainsFunc(r.Package.Generators, func(g problem.Program) bool { return g.Name == m.words[0] }) {
		return
	}
	file := path.Join(GeneratorsDir, m.words[0])
	if path.Base(file) != m.words[0] || !r.Has(file) {
		r.Refuse(problem.NativeYAML, generateKey+"."+m.name, "begins with %q, which is no file of %s", m.words[0], GeneratorsDir)
		return
	}
	if p := r.Program(file, false, r.Refuse); p != nil {
		p.Name = m.words[0]
		r.Package.Generators = append(r.Package.Generators, *p)
	}
}

// mainSubmission finds the submission whose outputs are the answers.
func (r *Reader) mainSubmission() {
	at := -1
	for i, s := range r.Package.Submissions {
		if s.Path == path.Join(SubmissionsDir, r.solution) || r.solution == "" && at < 0 && path.Dir(s.Path) == SubmissionsDir+"/accepted" {
			at = i
		}
	}
	switch {
	case at >= 0:
		r.Package.Submissions[at].Main = true
	case r.solution == "":
		r.Refuse(problem.NativeYAML, generateKey, "needs a program that gives the answers: put one into submissions/accepted, and name it as %s if there are several", solutionKey)
	default:
		r.Refuse(problem.NativeYAML, solutionKey, "is %q: it must be a submission, such as accepted/fast.cpp", r.solution)
	}
}

// Generates reports whether tests are made.
func (r *Reader) Generates() bool { return len(r.generate) > 0 }

// Bindings reads the keys of deepoj.yaml that every format has. Points says whether the checker gives the scores of
// tests, and flags are what it gets, where nothing else is said there.
func (r *Reader) Bindings(k *Keys, points bool, flags []string) (checker, interactor *problem.Checker) {
	if k.Node("checker") != nil {
		checker = r.binding(k.Mapping("checker"), problem.Standard, points, flags)
	}
	if k.Node("interactor") != nil {
		interactor = r.binding(k.Mapping("interactor"), nil, points, flags)
		if checker != nil && interactor.Protocol == "icpc/1" {
			k.Refuse("checker", "has nothing to decide: an interactor of icpc/1 decides alone")
		}
	}
	choices := make([]string, len(judge.ToldChoices))
	for i, c := range judge.ToldChoices {
		choices[i] = string(c)
	}
	r.readGenerate(k)
	r.Package.CheckerMessages = judge.CheckerMessages(k.Choice(MessagesKey, "", choices...))
	return checker, interactor
}

// binding reads which plugin is meant. Standard are the names of those that come
// with the platform; points and flags are as of [Reader.Bindings].
func (r *Reader) binding(b *Keys, standard []string, points bool, flags []string) *problem.Checker {
	defer b.WarnUnknown()
	c := &problem.Checker{Points: points}
	c.Protocol = b.Choice("protocol", "icpc/1", "icpc/1", "testlib/1")
	c.Flags, _ = b.Words("args")
	if c.Flags == nil {
		c.Flags = flags
	}
	name, named := b.Text("name")
	file, filed := b.Text("file")
	digest, pinned := b.Text("digest")
	switch {
	case named && filed || filed && pinned || named && pinned || !named && !filed && !pinned:
		b.Refuse("", "needs one of name, digest and file")
	case pinned && !PluginDigest.MatchString(digest):
		b.Refuse("digest", "is %q: the digest of a plugin is sha256: and 64 hexadecimal digits", digest)
	case pinned:
		c.Digest = digest
	case named && strings.Contains(name, "."):
		c.Plugin = name
	case named && !slices.Contains(standard, name):
		b.Refuse("name", "is %q: the standard checkers are %s, and the name of an uploaded plugin has a dot", name, strings.Join(problem.Standard, ", "))
	case named:
		c.Standard = name
	case !r.Has(file) || !checkerFile.MatchString(file):
		b.Refuse("file", "is %q: it must be a C, C++ or .wasm file of the package", file)
	case path.Ext(file) == ".wasm":
		f := r.File(file)
		c.Wasm = &f
	default:
		c.Sources = []problem.File{r.File(file)}
	}
	return c
}

// PluginDigest is how the digest of an uploaded plugin is written.
var PluginDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

var checkerFile = regexp.MustCompile(`\.(c|cc|cpp|cxx|wasm)$`)

// MessagesKey is the key of deepoj.yaml that says who reads what the checkers say.
const MessagesKey = "checker_messages"
