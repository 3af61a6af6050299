package icpc_test

import (
	"strings"
	"testing"

	"deepoj/host/problem/problemtest"
)

// statement renders a statement file.
func statement(t *testing.T, name, text string) string {
	t.Helper()
	p, _ := problemtest.Read(t, map[string]string{"problem_statement/problem.en.md": "", "problem_statement/" + name: text})
	return p.Statement
}

func TestAStatementIsSafeToShow(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"problem.md": "Hi <script>alert(1)</script> [x](javascript:alert(1)) <img src=x onerror=alert(1)>\n\n<iframe src=x></iframe>\n\n" +
			"![a](data:text/html;base64,x) <a onclick=x>y</a>\n\n```<script>\n</script>\n```\n",
		"problem.tex": `Hi <script>alert(1)</script> \textbf{<img src=x onerror=alert(1)>} \href{javascript:alert(1)}{<b>x</b>} \url{<x>} ` +
			"\n\\begin{verbatim}</pre><script>\\end{verbatim} \\verb|<script>| \\begin{<script>} \\<script>",
	} {
		html := strings.ToLower(statement(t, name, text))
		for _, bad := range []string{"<script", "<img", "<iframe", "<b>", "href=\"javascript", "<x>", "<a onclick"} {
			if strings.Contains(html, bad) {
				t.Errorf("%s: the statement holds %s:\n%s", name, bad, html)
			}
		}
	}
}

func TestMarkdownBecomesHTML(t *testing.T) {
	t.Parallel()
	html := statement(t, "problem.md", "## Input\n\nOne *number*.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n")
	for _, want := range []string{"<h2>Input</h2>", "<em>number</em>", "<td>2</td>"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
}

func TestTeXBecomesHTML(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ tex, want string }{
		"paragraphs":  {"One\ntwo.\n\nThree.\n", "<p>One\ntwo.</p>\n<p>Three.</p>\n"},
		"headings":    {"\\section*{Input}\nA line.", "<h2>Input</h2>\n<p>A line.</p>\n"},
		"mathematics": {"$a_i$", "<p><math><msub><mi>a</mi><mi>i</mi></msub></math></p>\n"},
		"the title":   {"\\problemname{Title}\nText", "<p>Text</p>\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := statement(t, "problem.tex", tt.tex)
			if strings.TrimSpace(got) != strings.TrimSpace(tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestTheEnglishStatementComesFirst(t *testing.T) {
	t.Parallel()
	p, _ := problemtest.Read(t, map[string]string{"problem_statement/problem.en.md": "English\n", "problem_statement/problem.de.md": "Deutsch\n"})
	if !strings.Contains(p.Statement, "English") || !strings.Contains(p.Statements["de"], "Deutsch") {
		t.Errorf("statement is %q, all are %q", p.Statement, p.Statements)
	}
}
