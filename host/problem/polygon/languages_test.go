package polygon

import (
	"testing"

	"deepoj/plugins/languagestest"
)

func TestEveryLanguageIsKnownToPolygon(t *testing.T) {
	t.Parallel()
	for _, l := range languagestest.All(t) {
		known := false
		for _, has := range sourceLanguages {
			known = known || has.id == l.ID
		}
		if !known {
			t.Errorf("no language of Polygon is %s", l.ID)
		}
	}
}

func TestTypesOfPolygonAreLanguagesHere(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"cpp.g++17": "cpp", "cpp.gcc14-64-msys2-g++23": "cpp", "cpp.ms2017": "cpp", "cpp.clang++-diagnose": "cpp", "c.gcc11": "c",
		"csharp.mono": "csharp", "csharp.ms": "csharp", "csharp.dotnet-core": "csharp", "csharp.dotnet-sdk-6": "csharp",
		"v8.nodejs": "javascript", "js.nodejs": "javascript", "nodejs": "javascript", "node.18": "javascript", "javascript": "javascript", "javascript.node": "javascript",
		"typescript": "typescript", "typescript.5": "typescript", "ts.node": "typescript",
		"java8": "java", "java21": "java", "kotlin": "kotlin", "kotlin19": "kotlin", "go": "go", "rust": "rust", "rust.2021": "rust",
		"python.3": "python", "python.pypy3-64": "python",
		// What V8's own shell reads and prints with is not there in Node.js.
		"v8.3": "", "js.v8": "", "python.2": "", "python.pypy2": "", "pas.fpc": "", "pas.dpr": "", "d": "", "haskell.ghc": "", "ocaml": "", "php.5": "",
		"perl.5": "", "ruby.3": "", "scala": "",
	} {
		id, known := sourceLanguage(kind)
		if known != (want != "") || known && id != want {
			t.Errorf("a source of type %s is in %q (%t), want %q", kind, id, known, want)
		}
	}
}
