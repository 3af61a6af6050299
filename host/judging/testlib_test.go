package judging_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// at returns a file under another name.
func at(name string, f sandbox.File) sandbox.File {
	f.Path = name
	return f
}

// edited returns a file in which one text stands for another, which must be in it.
func edited(t *testing.T, f sandbox.File, old, text string) sandbox.File {
	t.Helper()
	if !strings.Contains(string(f.Data), old) {
		t.Fatalf("%s does not hold %q", f.Path, old)
	}
	f.Data = []byte(strings.Replace(string(f.Data), old, text, 1))
	return f
}

// Wherever setters put the sources and the header, a checker for testlib becomes a
// module: two sources that include such a header do not link.
func TestCheckersForTestlibCompileHoweverTheyAreLaidOut(t *testing.T) {
	t.Parallel()
	header, words := testlibLike(t, "testlib.h"), testlibLike(t, "parts/words.cpp")
	declared, program := testlibLike(t, "parts/words.hpp"), testlibLike(t, "parts/main.cpp")
	quoted := func(include string) sandbox.File { return edited(t, program, `#include "../testlib.h"`, include) }
	for name, files := range map[string][]sandbox.File{
		"the header above, two sources":    {header, words, declared, program},
		"all in one folder":                {header, at("words.cpp", words), at("words.hpp", declared), at("main.cpp", quoted(`#include "testlib.h"`))},
		"the header in a folder":           {at("include/testlib.h", header), at("words.cpp", words), at("words.hpp", declared), at("main.cpp", quoted("#include <testlib.h>"))},
		"the header twice":                 {header, at("parts/testlib.h", header), words, declared, quoted("#include \"testlib.h\"\n#include \"../testlib.h\"")},
		"macros that the header asks for":  {header, words, declared, edited(t, program, "#include", "#define PC_BASE_EXIT_CODE 16\n#include")},
		"one source that includes another": {header, at("parts/words.hpp", edited(t, words, `#include "words.hpp"`, "#include <string>")), program},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wasm, c, err := judgingtest.Get(t).Judge.CompilePlugin(t.Context(), files)
			if err != nil || wasm == nil {
				t.Fatalf("%v: %s", err, c.Output)
			}
			for output, want := range map[string]plugin.Outcome{"ABC\n": plugin.Accepted, "abd\n": plugin.Wrong, "": plugin.Presentation, "abc d\n": plugin.Presentation} {
				if o, err := asked(t, wasm, "", output, "abc\n"); err != nil || o.Outcome != want {
					t.Errorf("output %q: %+v, %v", output, o, err)
				}
			}
		})
	}
}

// asked asks a module about an output.
func asked(t *testing.T, wasm []byte, input, output, answer string) (plugin.Opinion, error) {
	t.Helper()
	r := judgingtest.Get(t).Runtime
	m, err := r.Load(t.Context(), wasm, &abi.Manifest{Judge: abi.Version, Kind: abi.Checker, Name: "org.example.test", Version: "1", Protocol: abi.Testlib1})
	if err != nil {
		t.Fatal(err)
	}
	var files [3]*os.File
	for i, text := range []string{input, output, answer} {
		name := filepath.Join(t.TempDir(), "file")
		err := os.WriteFile(name, []byte(text), 0o600)
		if err == nil {
			files[i], err = os.Open(name)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer files[i].Close()
	}
	return r.Check(t.Context(), m, plugin.Check{Input: files[0], Output: files[1], Answer: files[2]})
}

// legacyPackage stores a package of ICPC with two tests, whose answers are 1 and 2.
func legacyPackage(t *testing.T, more string, files map[string]string) *problem.Package {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range map[string]string{
		"submissions/accepted/a.py": "print(1)\n", "problem.yaml": "name: Words\nvalidation: custom\n" + more, ".timelimit": "5\n", "problem_statement/problem.md": "Say it.\n",
		"data/secret/1.in": "1\n", "data/secret/1.ans": "1\n", "data/secret/2.in": "1\n", "data/secret/2.ans": "2\n",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	pkg, report, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Warnings) > 0 {
		t.Errorf("warnings: %v", report.Warnings)
	}
	pkg.Slug = "words"
	if _, err := pkg.Save(t.Context(), judgingtest.Get(t).Blobs); err != nil {
		t.Fatal(err)
	}
	return pkg
}

// icpcCodes make a checker for testlib one of ICPC, as packages do.
const icpcCodes = "#define OK_EXIT_CODE 42\n#define WA_EXIT_CODE 43\n#define PE_EXIT_CODE 43\n"

func TestPackagesKeepTestlibWhereTheyLike(t *testing.T) {
	t.Parallel()
	const checker = `#include "testlib.h"
int main(int argc, char *argv[])
{
	if (argc < 4)
		return 1;
	inf.init(argv[1], _input);
	ans.init(argv[2], _answer);
	ouf.init(stdin, _output);
	if (ouf.readInt() != ans.readInt())
		quitf(_wa, "another number");
	quitf(_ok, "the number");
}
`
	header := string(testlibLike(t, "testlib.h").Data)
	const validator = "#include \"testlib.h\"\nint main(int c, char **v) { registerValidation(c, v); inf.readInt(1, 1, \"n\"); inf.readEoln(); inf.readEof(); return 42; }\n"
	for name, place := range map[string]string{
		"beside the checker":       "output_validators/check/testlib.h",
		"beside all checkers":      "output_validators/testlib.h",
		"in the root":              "testlib.h",
		"in include":               "include/default/testlib.h",
		"with the input validator": "input_validators/testlib.h",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pkg := legacyPackage(t, "", map[string]string{
				place: header, "output_validators/check/check.cpp": icpcCodes + checker, "input_validators/valid.cpp": validator,
			})
			r := judged(t, judgingtest.Get(t).Judge, python("print(1)\n"), pkg)
			if verdicts(r) != "AC WA" || strings.Contains(r.Checker, "native:") {
				t.Errorf("%s by %s: %s", verdicts(r), r.Checker, r.JudgeNote)
			}
			in, err := judgingtest.Get(t).Judge.File(t.Context(), pkg.Tests()[0].Input)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			p, err := judgingtest.Get(t).Judge.Program(t.Context(), pkg, pkg.Validators[0].Program)
			if err != nil {
				t.Fatal(err)
			}
			if said, err := p.Run(t.Context(), nil, in, nil); err != nil || said.Exit != 42 {
				t.Errorf("the validator: %+v, %v", said, err)
			}
		})
	}
}

// A checker may give text for a scorer in the place of points. There is no scorer, so
// it is shown, and no test fails of it.
func TestPointsInfoIsTextAndNoFailure(t *testing.T) {
	t.Parallel()
	files := map[string]string{"files/testlib.h": string(testlibLike(t, "testlib.h").Data), "files/points.cpp": string(testlibLike(t, "points.cpp").Data)}
	const one, worth = `<tests><test method="manual"/></tests>`, `<tests><test method="manual" points="40" group="a"/></tests><groups><group name="a" points-policy="each-test"/></groups>`
	for name, tt := range map[string]struct {
		tests, program, verdict, message string
		score                            float64
		note                             string
	}{
		"without scores":       {one, "print('info')\n", "AC", "points points_info=pa=1,ja=2 half of it", 0, ""},
		"alone":                {one, "print('bare')\n", "AC", "points points_info=pa=1", 0, ""},
		"where points count":   {worth, "print('info')\n", "AC", "points points_info=pa=1,ja=2 half of it", 0, "text for a scorer"},
		"points that are ones": {worth, "print('12.5')\n", "AC", "points 12.5 of what there is", 12.5, ""},
		"no points at all":     {one, "print('12.5')\n", "JE", "", 0, "gives points, but the problem has no scores"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pkg := polygon(t, "", tt.tests, `><source path="files/points.cpp" type="cpp.g++17"/>`, []string{"1\n"}, files)
			r := judged(t, judgingtest.Get(t).Judge, python(tt.program), pkg)
			notes := r.JudgeNote
			for _, test := range r.Tests {
				notes += test.JudgeNote
			}
			if r.Tests[0].Verdict != judge.Verdict(tt.verdict) || r.Tests[0].Message != tt.message || !strings.Contains(notes, tt.note) {
				t.Errorf("%s, notes %q", told(r), notes)
			}
			if tt.tests == worth && (r.Score == nil || *r.Score != tt.score) {
				t.Errorf("score %v, want %g", r.Score, tt.score)
			}
		})
	}
}
