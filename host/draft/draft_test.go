package draft_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deepoj/host/draft"
	"deepoj/host/problem"
)

func TestAChangeTouchesTheFilesThatStandForIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files   map[string]string
		changes draft.Changes
		want    string            // the files that differ
		says    map[string]string // what files say then
		is      func(*problem.Package) string
		isWant  string
	}{
		"limits, legacy": {
			files:   legacy,
			changes: draft.Changes{Limits: &draft.Limits{TimeMillis: new(int64(1500)), MemoryMiB: new(int64(64)), OutputMiB: new(int64(4)), CodeKiB: new(int64(32))}},
			want:    "*problem.yaml -.timelimit",
			says:    map[string]string{"problem.yaml": "# ours"},
			is:      limits, isWant: "1.5s 64 4 32",
		},
		"limits, 2025-09": {
			files: newest, changes: draft.Changes{Limits: &draft.Limits{TimeMillis: new(int64(750))}},
			want: "*problem.yaml", is: limits, isWant: "750ms 2048 8 128",
		},
		"limits, Polygon": {
			files: polygon, changes: draft.Changes{Limits: &draft.Limits{TimeMillis: new(int64(3000)), MemoryMiB: new(int64(64))}},
			want: "*problem.xml", is: func(p *problem.Package) string { return fmt.Sprint(p.Limits.CPU, " ", p.Limits.MemoryMiB) }, isWant: "3s 64",
		},
		"no time limit of its own": {
			files: legacy, changes: draft.Changes{Limits: &draft.Limits{TimeMillis: new(int64(0))}},
			want: "-.timelimit", is: func(p *problem.Package) string { return fmt.Sprint(p.Limits.CPUFrom == ".timelimit") }, isWant: "false",
		},
		"a statement, legacy": {
			files: legacy, changes: draft.Changes{Statements: []draft.Statement{{Language: "en", Text: "Now $x^2$.\n"}, {Language: "sv", Text: "Tre.\n"}}},
			want: "*problem_statement/problem.en.md +problem_statement/problem.sv.md",
			says: map[string]string{"problem_statement/problem.sv.md": "Tre."}, is: statement("en"), isWant: "<math",
		},
		"a statement of another kind": {
			files: legacy, changes: draft.Changes{Statements: []draft.Statement{{Language: "en", Format: "tex", Text: "\\textbf{Now}.\n"}}},
			want: "+problem_statement/problem.en.tex -problem_statement/problem.en.md", is: statement("en"), isWant: "<strong>Now",
		},
		"a statement that goes": {
			files:   with(newest, map[string]string{"statement/problem.sv.md": "Tre.\n", "problem.yaml": strings.Replace(newest["problem.yaml"], "name: Triple", "name:\n  en: Triple\n  sv: Trippel", 1)}),
			changes: draft.Changes{Statements: []draft.Statement{{Language: "sv", Remove: true}}},
			want:    "*problem.yaml -statement/problem.sv.md", says: map[string]string{"problem.yaml": "name: Triple"},
		},
		"a statement in a new language brings its name, 2025-09": {
			files: newest, changes: draft.Changes{Statements: []draft.Statement{{Language: "sv", Text: "Tre.\n"}}},
			want: "*problem.yaml +statement/problem.sv.md", says: map[string]string{"problem.yaml": "sv: Triple"}, is: statement("sv"), isWant: "Tre.",
		},
		"names": {
			files: newest, changes: draft.Changes{Names: map[string]string{"en": " Thrice "}},
			want: "*problem.yaml", is: func(p *problem.Package) string { return p.Title }, isWant: "Thrice",
		},
		"languages": {
			files: legacy, changes: draft.Changes{Languages: &[]string{"cpp", "python3"}},
			want: "*problem.yaml", is: func(p *problem.Package) string { return fmt.Sprint(len(p.Languages)) }, isWant: "2",
		},
		"tests are added, replaced and taken away": {
			files: legacy,
			changes: draft.Changes{Tests: []draft.Test{
				{Input: new("5\n"), Answer: new("15\n")}, {Name: "sample/1", Answer: new("03\n")}, {Name: "secret/01", Remove: true}, {Input: new("6\n"), Answer: new("18\n")},
			}},
			want: "*data/sample/1.ans +data/secret/02.ans +data/secret/02.in *data/secret/01.ans *data/secret/01.in -data/secret/01.hint",
			says: map[string]string{"data/secret/01.in": "6\n", "data/secret/02.in": "5\n", "data/sample/1.ans": "03\n"},
		},
		"a test in a group of its own": {
			files: newest, changes: draft.Changes{Tests: []draft.Test{{Name: "secret/big/1", Input: new("9\n"), Answer: new("27\n")}, {Name: "secret/01", Remove: true}}},
			want: "+data/secret/big/1.ans +data/secret/big/1.in -data/secret/01.ans -data/secret/01.in",
		},
		"a test by hand, Polygon": {
			files: polygon, changes: draft.Changes{Tests: []draft.Test{{Input: new("7\n")}}},
			want: "*problem.xml +tests/03", says: map[string]string{"tests/03": "7\n"}, is: count, isWant: "3",
		},
		"a test by a generator, Polygon": {
			files: polygon, changes: draft.Changes{Tests: []draft.Test{{Command: "gen 10"}, {Command: "gen '1<2 3'"}}},
			want: "*problem.xml", says: map[string]string{"problem.xml": `cmd="gen &#39;1&lt;2 3&#39;"`}, is: count, isWant: "4",
		},
		"programs are added, changed and moved": {
			files: legacy,
			changes: draft.Changes{Submissions: []draft.Submission{
				{Place: "time_limit_exceeded", Name: "slow.py", Text: new("while 1: pass\n")},
				{Place: "wrong_answer", Name: "b.py", Text: new("print(5)\n"), To: "rejected"},
				{Place: "accepted", Name: "a.py", Text: new("print(1)\n")},
			}},
			want: "*submissions/accepted/a.py +submissions/rejected/b.py +submissions/time_limit_exceeded/slow.py -submissions/wrong_answer/b.py",
			says: map[string]string{"submissions/rejected/b.py": "print(5)\n"},
		},
		"a program of several files is moved whole": {
			files: legacy, changes: draft.Changes{Submissions: []draft.Submission{{Place: "wrong_answer", Name: "d", To: "run_time_error"}}},
			want: "+submissions/run_time_error/d/x.py +submissions/run_time_error/d/y.py -submissions/wrong_answer/d/x.py -submissions/wrong_answer/d/y.py",
			says: map[string]string{"submissions/run_time_error/d/y.py": "print(4)\n"},
		},
		"a program goes": {
			files: legacy, changes: draft.Changes{Submissions: []draft.Submission{{Place: "wrong_answer", Name: "d", Remove: true}}},
			want: "-submissions/wrong_answer/d/x.py -submissions/wrong_answer/d/y.py",
		},
		"a solution, Polygon": {
			files: polygon, changes: draft.Changes{Submissions: []draft.Submission{{Place: "wrong_answer", Name: "bad.py", Text: new("print(1)\n")}}},
			want: "*problem.xml +solutions/bad.py", is: func(p *problem.Package) string { return fmt.Sprint(len(p.Submissions)) }, isWant: "2",
		},
		"a checker of the platform": {
			files: legacy, changes: draft.Changes{Checker: &draft.Checker{Standard: problem.Standard[1]}},
			want: "*problem.yaml +deepoj.yaml", is: checker, isWant: problem.Standard[1],
		},
		"flags of the default checker": {
			files: legacy, changes: draft.Changes{Checker: &draft.Checker{Standard: "default", Flags: []string{"float_tolerance", "1e-6"}}},
			want: "*problem.yaml", is: checker, isWant: "default float_tolerance 1e-6",
		},
		"a checker of one's own, legacy": {
			files: legacy, changes: draft.Changes{Checker: &draft.Checker{Name: "check.py", Text: "import sys\nsys.exit(42)\n"}},
			want: "*problem.yaml +output_validators/check.py", says: map[string]string{"problem.yaml": "validation: custom"},
		},
		"a checker of one's own, 2025-09": {
			files: newest, changes: draft.Changes{Checker: &draft.Checker{Name: "check.py", Text: "import sys\nsys.exit(42)\n"}},
			want: "+output_validator/check.py",
		},
		"the checker of one's own gives way": {
			files:   with(newest, map[string]string{"output_validator/check.py": "import sys\nsys.exit(42)\n"}),
			changes: draft.Changes{Checker: &draft.Checker{Standard: "default"}},
			want:    "-output_validator/check.py", is: checker, isWant: "default",
		},
		"any file of a folder of tests": {
			files: plain, changes: draft.Changes{Files: []draft.File{{Path: "3.in", Text: new("7\n")}, {Path: "3.out", Base64: []byte("8\n")}, {Path: "2.in", Remove: true}, {Path: "2.out", Remove: true}}},
			want: "+3.in +3.out -2.in -2.out", is: count, isWant: "2",
		},
		"any file of a problem of DMOJ": {
			files:   dmoj,
			changes: draft.Changes{Files: []draft.File{{Path: "data/1.out", Text: new("02\n")}, {Path: "statement.md", Text: new("Add *one*.\n")}}},
			want:    "*data/1.out *statement.md", is: statement("en"), isWant: "<em>one</em>",
		},
		"a file beside other changes of it": {
			files:   legacy,
			changes: draft.Changes{Files: []draft.File{{Path: "problem.yaml", Text: new("name: Fresh\n")}}, Limits: &draft.Limits{MemoryMiB: new(int64(99))}},
			want:    "*problem.yaml", says: map[string]string{"problem.yaml": "name: Fresh\nlimits:\n  memory: 99"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			before := b.keep(c.files)
			after := b.edit(before, c.changes)
			want := strings.Fields(c.want)
			slices.Sort(want)
			if got := differs(before, after); !slices.Equal(got, want) {
				t.Errorf("it changes %q, want %q", got, want)
			}
			for file, text := range c.says {
				if got := b.text(after, file); !strings.Contains(got, text) {
					t.Errorf("%s says %q, want %q", file, got, text)
				}
			}
			if c.is != nil && !strings.Contains(c.is(after), c.isWant) {
				t.Errorf("it is %q, want %q", c.is(after), c.isWant)
			}
		})
	}
}

func limits(p *problem.Package) string {
	return fmt.Sprint(p.Limits.CPU, " ", p.Limits.MemoryMiB, " ", p.Limits.OutputMiB, " ", p.Limits.CodeKiB)
}

func statement(tag string) func(*problem.Package) string {
	return func(p *problem.Package) string {
		if p.Statements[tag] == "" {
			return p.Statement
		}
		return p.Statements[tag]
	}
}

func count(p *problem.Package) string { return fmt.Sprint(len(p.Tests())) }

func checker(p *problem.Package) string {
	return strings.Join(append([]string{p.Checkers[0].Name()}, p.Checkers[0].Flags...), " ")
}

// What is wrong is said with the field and what to do, all of it at once, and what a
// form of package has no words for leads to its files.
func TestAWrongChangeNamesTheFieldAndTheRemedy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	versions := map[string]*problem.Package{
		"legacy": b.keep(legacy), "2025-09": b.keep(newest), "polygon": b.keep(polygon), "plain": b.keep(plain), "dmoj": b.keep(dmoj), "interactive": b.keep(interactive),
	}
	text := new("x\n")
	all := draft.Changes{
		Limits: &draft.Limits{}, Names: map[string]string{"en": "x"}, Languages: &[]string{}, Statements: []draft.Statement{{Language: "en"}},
		Tests: []draft.Test{{Input: text}}, Submissions: []draft.Submission{{Place: "accepted", Name: "a.py", Text: text}}, Checker: &draft.Checker{Standard: "default"},
	}
	for _, c := range []struct {
		of      string
		changes draft.Changes
		want    []string // each begins what is said of one field, and what follows … is in it
	}{
		{"legacy", draft.Changes{Limits: &draft.Limits{TimeMillis: new(int64(-1)), MemoryMiB: new(int64(0)), OutputMiB: new(int64(5000)), CodeKiB: new(int64(-5))}}, []string{
			"limits.code_kib (invalid): …from 1 to 65536", "limits.memory_mib (invalid): …from 1 to 65536", "limits.output_mib (invalid): …from 1 to 4096", "limits.time_ms (invalid): …600,000 milliseconds",
		}},
		{"legacy", draft.Changes{Names: map[string]string{"English": "x", "en": "two\nlines"}}, []string{"names (invalid): …one line", "names (invalid): …such as en"}},
		{"legacy", draft.Changes{Languages: &[]string{"C++ (new)"}}, []string{"languages (invalid): …such as cpp"}},
		{"legacy", draft.Changes{Statements: []draft.Statement{{Language: "en", Text: "fine"}, {Language: "../en"}, {Language: "en", Format: "pdf"}, {Language: "fi", Remove: true}}}, []string{
			"statements[1].language (invalid): …such as en", "statements[2].format (invalid): …md or tex", "statements[3].language (unknown): …no statement",
		}},
		{"legacy", draft.Changes{Tests: []draft.Test{
			{Name: "../../x", Input: text}, {Name: "sample", Input: text}, {Name: "other/1", Input: text}, {Answer: text}, {Input: text}, {Name: "secret/77", Remove: true}, {Command: "gen 1"},
		}}, []string{
			"tests[0].name (invalid): …such as sample/1", "tests[1].name (invalid): …", "tests[2].name (invalid): …", "tests[3].input (missing): …", "tests[4].answer (missing): …",
			"tests[5].name (unknown): …secret/77", "tests[6].command (not_here): …Send the input",
		}},
		{"legacy", draft.Changes{Submissions: []draft.Submission{
			{Place: "best", Name: "a.py", Text: text},
			{Place: "accepted", Name: "../a.py", Text: text},
			{Place: "accepted", Name: "none.py"},
			{Place: "accepted", Name: "none.py", Remove: true},
			{Place: "wrong_answer", Name: "d", Text: text},
			{Place: "wrong_answer", Name: "b.py", To: "best"},
			{Place: "wrong_answer", Name: "b.py", To: "../../x"},
		}}, []string{
			"submissions[0].place (unknown): …accepted, wrong_answer", "submissions[1].name (invalid): …such as brute.py", "submissions[2].name (unknown): …none.py", "submissions[3].name (unknown): …",
			"submissions[4].text (invalid): …change them under Files", "submissions[5].to (unknown): …", "submissions[6].to (unknown): …",
		}},
		{"legacy", draft.Changes{Submissions: []draft.Submission{{Place: "accepted", Name: "b.py", Text: text}, {Place: "wrong_answer", Name: "b.py", To: "accepted"}}}, []string{"submissions[1].to (duplicate): …submissions/accepted/b.py"}},
		{"legacy", draft.Changes{Checker: &draft.Checker{}}, []string{"checker (missing): …"}},
		{"legacy", draft.Changes{Checker: &draft.Checker{Standard: "best"}}, []string{"checker.standard (unknown): …default"}},
		{"legacy", draft.Changes{Checker: &draft.Checker{Name: "../c.py", Text: "x"}}, []string{"checker.name (invalid): …such as check.cpp"}},
		{"legacy", draft.Changes{Checker: &draft.Checker{Name: "c.py", Text: " "}}, []string{"checker.name (invalid): …"}},
		{"2025-09", draft.Changes{Checker: &draft.Checker{Standard: "default", Flags: []string{"case_sensitive"}}}, []string{"checker.flags (not_here): …legacy"}},
		{"interactive", draft.Changes{Checker: &draft.Checker{Standard: "default"}}, []string{"checker (not_here): …under Files"}},
		{"legacy", draft.Changes{Files: []draft.File{
			{Path: "deepoj-version.json", Text: text},
			{Path: "made/secret/1.in", Text: text},
			{Path: "none.txt", Remove: true},
			{Path: "a.txt"},
			{Path: "a.txt", Text: text, Base64: []byte("x")},
			{Path: "/etc/passwd", Text: text},
			{Path: "a/../b", Text: text},
			{Path: strings.Repeat("a/", 20) + "b", Text: text},
			{Path: "a\\b", Text: text},
			{Path: "", Text: text},
		}}, []string{
			"files[0].path (invalid): …import writes", "files[1].path (invalid): …import writes", "files[2].path (unknown): …no file", "files[3].text (missing): …", "files[4].text (invalid): …either",
			"files[5].path (invalid): …such as", "files[6].path (invalid): …", "files[7].path (invalid): …", "files[8].path (invalid): …", "files[9].path (invalid): …",
		}},
		{"legacy", draft.Changes{Files: []draft.File{{Path: "problem.yaml", Text: new("limits: [\n")}}, Limits: &draft.Limits{MemoryMiB: new(int64(9))}}, []string{"files (invalid): …problem.yaml is no YAML"}},
		{"polygon", draft.Changes{Limits: &draft.Limits{TimeMillis: new(int64(0)), OutputMiB: new(int64(1))}}, []string{"limits (not_here): …time and memory", "limits.time_ms (invalid): …"}},
		{"polygon", draft.Changes{Tests: []draft.Test{{Name: "1", Remove: true}, {}, {Command: "gen 1", Input: text}, {Command: "rm 1"}, {Input: text, Answer: text}, {Command: "gen 1 > x"}, {Command: " "}}}, []string{
			"tests[0] (not_here): …under Files", "tests[1].input (missing): …generator", "tests[2].input (missing): …", "tests[3].command (unknown): …gen", "tests[4] (not_here): …", "tests[5].command (invalid): …it holds '>'", "tests[6].command (unknown): …",
		}},
		{"polygon", draft.Changes{Submissions: []draft.Submission{
			{Place: "accepted", Name: "main.py", Text: text}, {Place: "partially_accepted", Name: "b.py", Text: text}, {Place: "accepted", Name: "b.txt", Text: text}, {Place: "accepted", Name: "main.py", Remove: true},
		}}, []string{"submissions[0] (not_here): …under Files", "submissions[1].place (unknown): …", "submissions[2].name (invalid): …", "submissions[3] (not_here): …"}},
		{"polygon", draft.Changes{Names: all.Names, Languages: all.Languages, Statements: all.Statements, Checker: all.Checker}, []string{
			"checker (not_here): …under Files", "languages (not_here): …under Files", "names (not_here): …under Files", "statements (not_here): …under Files",
		}},
		{"plain", all, []string{
			"checker (not_here): …under Files", "languages (not_here): …", "limits (not_here): …", "names (not_here): …", "statements (not_here): …", "submissions (not_here): …", "tests (not_here): …under Files",
		}},
		{"dmoj", all, []string{
			"checker (not_here): …under Files", "languages (not_here): …", "limits (not_here): …", "names (not_here): …", "statements (not_here): …", "submissions (not_here): …", "tests (not_here): …under Files",
		}},
	} {
		_, said := b.plan(versions[c.of], c.changes)
		fits := len(said) == len(c.want)
		for i := 0; fits && i < len(said); i++ {
			field, remedy, _ := strings.Cut(c.want[i], "…")
			fits = strings.HasPrefix(said[i], field) && strings.Contains(said[i], remedy)
		}
		if !fits {
			t.Errorf("%s: %+v: it is said\n\t%s\nwant\n\t%s", c.of, c.changes, strings.Join(said, "\n\t"), strings.Join(c.want, "\n\t"))
		}
	}
}

// What was made of files that change is made again, and what was measured is measured
// again; a statement changes neither.
func TestOnlyWhatIsJudgedMakesTestsAndLimitsAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pkg := b.keep(legacy)
	for what, c := range map[string]struct {
		changes draft.Changes
		deep    bool
		unbound bool
	}{
		"a statement":    {draft.Changes{Statements: []draft.Statement{{Language: "en", Text: "x"}}}, false, false},
		"names":          {draft.Changes{Names: map[string]string{"en": "x"}}, false, false},
		"an attachment":  {draft.Changes{Files: []draft.File{{Path: "attachments/x.txt", Text: new("x")}}}, false, false},
		"a file of data": {draft.Changes{Files: []draft.File{{Path: "data/secret/01.in", Text: new("x")}}}, true, false},
		"a file beside":  {draft.Changes{Files: []draft.File{{Path: "attachments", Text: new("x")}}}, true, false},
		"a limit":        {draft.Changes{Limits: &draft.Limits{MemoryMiB: new(int64(9))}}, true, false},
		"languages":      {draft.Changes{Languages: &[]string{"cpp"}}, true, false},
		"a test":         {draft.Changes{Tests: []draft.Test{{Name: "secret/01", Answer: new("x")}}}, true, false},
		"a program":      {draft.Changes{Submissions: []draft.Submission{{Place: "accepted", Name: "a.py", Text: new("x")}}}, true, false},
		"a checker":      {draft.Changes{Checker: &draft.Checker{Standard: "default"}}, true, true},
	} {
		rev, wrong := b.plan(pkg, c.changes)
		if len(wrong) > 0 || rev.Remade != c.deep || rev.Measure != c.deep || rev.Unbound != c.unbound {
			t.Errorf("%s: made again %v, measured again %v, unbound %v, %q", what, rev.Remade, rev.Measure, rev.Unbound, wrong)
		}
	}
}
