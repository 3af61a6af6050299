package importing_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"deepoj/host/problem/importing"
	"deepoj/host/problem/problemtest"
	"deepoj/host/problem/samples"
	"deepoj/host/problem/source"
)

// nasty are pieces that a statement in TeX, or its whole, is made of again and again.
// Each has made a converter look at everything for each of its characters, here or
// elsewhere.
var nasty = map[string]struct{ before, again, after string }{
	"white space without an empty line": {"", "\n\f", "x"},
	"spaces":                            {"", " ", "x"},
	"newlines":                          {"x", "\n", ""},
	"items after white space":           {"\\begin{center}" + strings.Repeat(" ", 8000), "\\item", ""},
	"items in white space":              {"", "\\item   ", ""},
	"options that nothing closes":       {"", "\\label[", ""},
	"options that are closed late":      {"", "\\label[", "]"},
	"arguments that nothing closes":     {"", "\\label{", ""},
	"elements in elements":              {"", "\\textbf{", ""},
	"elements that are closed":          {"", "\\textbf{", strings.Repeat("}", 8000)},
	"environments that nothing ends":    {"", "\\begin{itemize}", ""},
	"ends of nothing":                   {"", "\\end{itemize}", ""},
	"verbatim without an end":           {"", "\\begin{verbatim}", ""},
	"verbatim with an end":              {"", "\\begin{verbatim}\\end{verbatim}", ""},
	"verb without an end":               {"", "\\verb|", ""},
	"examples without an end":           {"", "\\begin{example}", ""},
	"problems without an end":           {"", "\\begin{problem}{", ""},
	"comments":                          {"", "%", "\n"},
	"comments on lines":                 {"", "x%\n", ""},
	"escaped comments":                  {"", "\\%", ""},
	"unknown commands":                  {"", "\\x", ""},
	"one long command":                  {"\\", "x", ""},
	"backslashes":                       {"", "\\", ""},
	"braces":                            {"", "{", ""},
	"dollars":                           {"", "$", ""},
	"indices":                           {"", "_", ""},
	"indices of commands":               {"", "_\\bf", ""},
	"quotes":                            {"", "``", ""},
	"dashes":                            {"", "-", ""},
	"links":                             {"", "\\href{a", ""},
	"headings":                          {"", "\\section{", ""},
	"formulas":                          {"", "$x$ ", ""},
	"formulas that nothing ends":        {"", "${", ""},
	"formulas in formulas":              {"", "\\(", ""},
	"tables":                            {"", "\\begin{tabular}{l}", ""},
	"tables with an end":                {"", "\\begin{tabular}{l}", strings.Repeat("\\end{tabular}", 2000)},
	"cells":                             {"\\begin{tabular}{l}", "&", "\\end{tabular}"},
	"rows":                              {"\\begin{tabular}{l}", "\\\\[1", "\\end{tabular}"},
	"cells of all rows":                 {"\\begin{tabular}{l}", "\\multirow{9}{*}{x}&\\\\", "\\end{tabular}"},
	"columns":                           {"\\begin{tabular}{", "*{9}{l", "}}}x\\end{tabular}"},
	"footnotes":                         {"", "\\footnote{", ""},
	"pictures":                          {"", "\\includegraphics[width=1]{x}", ""},
	"captions":                          {"\\begin{figure}", "\\caption{x}\\label{y}\\ref{y}", ""},
	"conditions":                        {"", "\\iffalse", ""},
	"conditions in conditions":          {"", "\\iftrue\\else", "\\fi"},
	"macros":                            {"", "\\def\\x{", ""},
	"macros of macros":                  {"\\def\\a{\\a\\a}", "\\a", ""},
	"macros that grow":                  {"\\def\\a#1{\\a{#1#1}}", "\\a{x}", ""},
	"formulas of macros":                {"\\def\\a{\\b\\b}\\def\\b{xxxxxxxx}", "$\\a$", ""},
	"descriptions":                      {"\\begin{description}", "\\item[", "]"},
	"definitions":                       {"", "\\newcommand{\\x}[", ""},
	"optional arguments":                {"", "\\\\[", "\n\n]"},
	"accents":                           {"", "\\'", "e"},
	"colours":                           {"", "\\textcolor{red}{", ""},
	"paragraphs of marked text":         {strings.Repeat("{\\bf ", 30), "x\n\n", ""},
	"files":                             {"", "\\input x ", ""},
	"boxes":                             {"", "\\parbox{1cm}{", ""},
	"NUL bytes":                         {"", "\x00", ""},
	"bytes that are no text":            {"", "\xff", ""},
}

// nastyMarkdown are those of a statement in Markdown.
var nastyMarkdown = map[string]struct{ before, again, after string }{
	"quotes":                    {"", ">", "x"},
	"brackets":                  {"", "[", ""},
	"links":                     {"", "[a](", ""},
	"pictures":                  {"", "![a](b){", ""},
	"definitions":               {"", "[a]: x\n", ""},
	"stars":                     {"", "*a_", ""},
	"lines of stars":            {"", "*", ""},
	"ticks":                     {"", "` ``", ""},
	"lists":                     {"", "- ", ""},
	"tables":                    {"|a|b|\n|-|-|\n", "|", ""},
	"tildes":                    {"", "~~a", ""},
	"references":                {"", "&", ""},
	"tags":                      {"", "<a ", ""},
	"elements":                  {"", "<b>", ""},
	"elements with classes":     {"", "<b class=left>", ""},
	"paragraphs of elements":    {strings.Repeat("<b>", 60), "<p>", ""},
	"ends of elements":          {strings.Repeat("<b>", 60), "</i>", ""},
	"attributes":                {"<b ", "a=1 ", ">"},
	"styles":                    {"<b style='", "color:red;", "'>"},
	"comments":                  {"", "<!--", ""},
	"dollars":                   {"", "$", ""},
	"dollars that nothing ends": {"", "$x ", ""},
	"dollars before code":       {"", "$x ", "`$"},
	"formulas":                  {"", "$a$ ", ""},
	"opened formulas":           {"", "\\(", ""},
	"displayed formulas":        {"", "$$\nx\n$$\n", ""},
	"opened displayed formulas": {"", "\\[\n", ""},
	"footnotes":                 {"", "[^1]", "\n\n[^1]: x\n"},
	"many footnotes":            {"", "[^1]: x\n\n", "[^1]"},
	"scripts":                   {"", "<script>", ""},
}

// cost returns the least CPU time that this thread takes to read a package.
func cost(t *testing.T, fsys fs.FS) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(1 /* RUSAGE_THREAD */, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	least := time.Hour
	for range 2 {
		began := now()
		_, _, _ = importing.Read(fsys) // it may be refused
		least = min(least, now()-began)
	}
	return least
}

// packed is a package as an archive, in which a folder is found without a look at all
// others.
func packed(t *testing.T, files fstest.MapFS) fs.FS {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	err := w.AddFS(files)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := source.Unzip(z)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// grows compares what a package costs with one that is eight times as long. What looks
// at everything for everything takes 64 times as long then; 24 leave room for caches
// and the collector.
func grows(t *testing.T, sized func(int) fstest.MapFS) {
	t.Helper()
	const floor, tries = 4 * time.Millisecond, 5
	short, long := packed(t, sized(1)), packed(t, sized(8))
	small, large := cost(t, short), cost(t, long)
	// What a noisy machine adds comes and goes; what a reader does too often comes again.
	for again := 1; again < tries && large > 24*max(small, floor); again++ {
		large = min(large, cost(t, long))
	}
	if large > 24*max(small, floor) {
		t.Errorf("a package takes %s to read, and one that is eight times as long %s", small, large)
	}
}

func TestNoStatementTakesMuchLongerThanItIsLong(t *testing.T) {
	const most = 256 << 10
	polygon := archived(t, filepath.Join("testdata", "packages", "polygon", "small.txtar"))
	page := archived(t, filepath.Join("testdata", "packages", "polygon", "statement_html.txtar"))
	for name, n := range nastyMarkdown {
		t.Run("Markdown/"+name, func(t *testing.T) {
			grows(t, func(eighths int) fstest.MapFS {
				room := most*eighths/8 - len(n.before) - len(n.after) - 64
				text := n.before + strings.Repeat(n.again, room/len(n.again)) + n.after
				return problemtest.Pack(map[string]string{"problem_statement/problem.en.md": text})
			})
		})
	}
	for name, n := range nasty {
		text := func(eighths int) string {
			room := most*eighths/8 - 2*(len(n.before)+len(n.after)) - 64
			return n.before + strings.Repeat(n.again, max(room, 0)/len(n.again)) + n.after
		}
		t.Run("TeX/"+name, func(t *testing.T) {
			grows(t, func(n int) fstest.MapFS {
				return problemtest.Pack(map[string]string{"problem_statement/problem.en.md": "", "problem_statement/problem.en.tex": text(n)})
			})
		})
		t.Run("page of Polygon/"+name, func(t *testing.T) {
			grows(t, func(n int) fstest.MapFS {
				fsys := maps.Clone(page)
				fsys["statements/.html/english/problem.html"] = &fstest.MapFile{Data: []byte("<p>$$$" + strings.ReplaceAll(text(n), "$", "$$$")), Mode: 0o644}
				return fsys
			})
		})
		t.Run("Polygon/"+name, func(t *testing.T) {
			grows(t, func(n int) fstest.MapFS {
				fsys := maps.Clone(polygon)
				fsys["statement-sections/english/legend.tex"] = &fstest.MapFile{Data: []byte(text(n)), Mode: 0o644}
				return fsys
			})
		})
	}
}

func TestNoPackageTakesMuchLongerThanItIsLarge(t *testing.T) {
	for name, sized := range map[string]func(n int) map[string]string{
		"of many tests": func(n int) map[string]string {
			files := map[string]string{}
			for i := range 500 * n {
				files[fmt.Sprintf("data/secret/%d.in", i)], files[fmt.Sprintf("data/secret/%d.ans", i)] = "1\n", "1\n"
			}
			return files
		},
		"of many groups": func(n int) map[string]string {
			files := map[string]string{}
			for i := range 500 * n {
				files[fmt.Sprintf("data/secret/g%d/1.in", i)], files[fmt.Sprintf("data/secret/g%d/1.ans", i)] = "1\n", "1\n"
			}
			return files
		},
		"of many submissions": func(n int) map[string]string {
			files := map[string]string{}
			for i := range 500 * n {
				files[fmt.Sprintf("submissions/accepted/%d.py", i)] = "print()\n"
			}
			return files
		},
		"of many files that mean nothing": func(n int) map[string]string {
			files := map[string]string{}
			for i := range 1000 * n {
				files[fmt.Sprintf("other/%d", i)], files[fmt.Sprintf("top%d", i)] = "x", "x"
			}
			return files
		},
		"of many keys": func(n int) map[string]string {
			var b strings.Builder
			b.WriteString("name: Small\n")
			for i := range 1000 * n {
				fmt.Fprintf(&b, "key%d: 1\n", i)
			}
			return map[string]string{"problem.yaml": b.String()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			grows(t, func(n int) fstest.MapFS { return problemtest.Pack(sized(n)) })
		})
	}
}

// What a reader sends is what it read, for every good package of these tests.
func TestAPackageArrivesAsItWasRead(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/packages/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	good := 0
	for _, name := range archives {
		fsys := archived(t, name)
		if p, _, err := importing.Read(fsys); err == nil {
			problemtest.Arrives(t, p)
			good++
		}
	}
	for _, slug := range samples.Slugs() {
		fsys, err := samples.FS(slug)
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := importing.Read(fsys)
		if err != nil {
			t.Fatal(err)
		}
		problemtest.Arrives(t, p)
	}
	if good < 10 {
		t.Errorf("only %d packages are good", good)
	}
}
