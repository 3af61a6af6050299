package source

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// Bindings reads the keys of deepoj.yaml that every format has. Points says whether the
// checker gives the scores of tests, and flags are what it gets, where nothing else is
// said there.
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
