package statement

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deepoj/host/problem/statement/macro"
	"deepoj/host/problem/statement/safe"
)

func TestAFormulaThatIsTooMuchIsShownAsItIsWritten(t *testing.T) {
	t.Parallel()
	for name, tex := range map[string]string{
		"long":           `\begin{align}` + strings.Repeat("x+", macro.MaxFormula) + `\end{align}`,
		"deep":           "$" + strings.Repeat("{", 200) + "x" + strings.Repeat("}", 200) + "$",
		"a large table":  `$\begin{array}{l}` + strings.Repeat(`\\`, 1000) + strings.Repeat("&", 1000) + `\end{array}$`,
		"endless macros": `$\def\a{\a\a}\a$`,
		"growing macros": `$\def\a#1{\a{#1#1}}\a{x}$`,
		"later macros":   `$\def\a#1{#1#1#1#1#1#1#1#1#1#1}\a{\a{\a{\a{\a{x}}}}}$`,
		"the library's":  `$\let\a\b\def\b{\a}\b$`,
	} {
		html, said, err := render("a.tex", tex)
		if err != nil || !strings.Contains(html, `class="source"`) {
			t.Errorf("%s becomes %.300s, %v", name, html, err)
		}
		if len(said) == 0 {
			t.Errorf("nothing is said of %s", name)
		}
	}
}

func TestFormulasEndWhenTheirTimeIsOver(t *testing.T) {
	t.Parallel()
	e, err := newEngine()
	if err != nil {
		t.Fatal(err)
	}
	e.left = time.Nanosecond
	if _, err := e.formula(strings.Repeat(`\frac{1}{2}`, 500), true); !errors.Is(err, errSlow) {
		t.Errorf("a formula that has no time ends with %v", err)
	}
	pkg := &kept{}
	r := New(pkg)
	r.math = e
	if _, err := r.TeX("a.tex", "$x$"); !errors.Is(err, errSlow) {
		t.Errorf("a statement whose formulas have no time ends with %v", err)
	}
}

func TestAStatementThatBecomesTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{
		"a.tex": strings.Repeat("{\\bf ", 30) + strings.Repeat("x\n\n", 60_000),
		"a.md":  strings.Repeat("<b class='left right center nowrap'>x</b>\n\n", 90_000),
	} {
		if html, _, err := render(file, text); !errors.Is(err, safe.ErrTooLong) {
			t.Errorf("%s becomes %d bytes, %v", file, len(html), err)
		}
	}
}

func TestWhatMarkdownWouldTakeTooLongIsRefused(t *testing.T) {
	t.Parallel()
	for text, bad := range map[string]bool{
		strings.Repeat("*a_", 2000):                              true,
		strings.Repeat(">", 100) + "x":                           true,
		strings.Repeat("- ", 100) + "x":                          true,
		strings.Repeat("[a]: b\n", 1000):                         true,
		"```\n" + strings.Repeat("a[i] *b_c*\n", 1000) + "```\n": false,
		strings.Repeat("*a* and _b_\n\n", 1000):                  false,
		"---\n\n* a\n  * b\n    * c\n\n10. x\n":                  false,
	} {
		_, _, err := render("a.md", text)
		if (err != nil) != bad {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
