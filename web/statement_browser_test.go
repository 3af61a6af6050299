package web

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/host/problem/statement"
)

// shelf is a package that holds one picture, under every name.
type shelf struct{ *testing.T }

func (shelf) Has(name string) bool { return strings.HasSuffix(name, ".svg") }

func (shelf) Read(string, int64) ([]byte, error) {
	return []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><path d="M2 18L20 2L38 18z" fill="none" stroke="black"/></svg>`), nil
}

func (s shelf) Warn(file, reason string) { s.Errorf("%s: %s", file, reason) }

const statementTeX = `
Given $\frac{a}{b}$, $\sqrt[3]{x_1^2 + \dots + x_n^2}$, \textcolor{red}{red} words, ` + "``quotes''" + ` and $\binom{n}{k} \bmod (10^9+7)$:
\illustration{0.3}{hill.svg}{A hill. \href{https://example.org/hill}{Somebody}}
\begin{align*}
  f(n) &= \begin{cases} 1 & \text{if } n \le 1 \\ f(n-1) + f(n-2) & \text{otherwise} \end{cases} \\
  A &= \begin{pmatrix} a & b & c \\ d & e & f \\ g & h & i \end{pmatrix}, \qquad \sum_{i=1}^{n} \left\lfloor \frac{n}{i} \right\rfloor + \int_0^\infty e^{-x^2} \,dx + \prod_{p \mid n} \left(1 - \frac{1}{p}\right)
\end{align*}
and $\left[ \begin{array}{c|cc} 1 & 2 & 3 \\ \hline 4 & 5 & 6 \end{array} \right]$, $\boxed{x} \cancel{y} \color{blue} z$.
\section*{Scoring}
\begin{center}
\begin{tabular}{|l|r|c|p{6cm}|}
\hline
\textbf{Group} & \textbf{Points} & \textbf{Bounds} & \textbf{More} \\ \hline
1 & 20 & $1 \le n \le 10$ & A long text in a cell that must be broken into several lines on a narrow screen. \\
\cline{2-3}
2 & 80 & $n \le 2 \cdot 10^5$ & None.\footnote{None at all, with $x$.} \\ \hline
\end{tabular}
\end{center}
\begin{figure}\includegraphics[width=0.5\textwidth]{hill.svg}\caption{A hill again.}\end{figure}
\begin{enumerate} \item One \item Two \begin{itemize} \item inner \end{itemize} \end{enumerate}
\begin{verbatim}
for i in range(n): print(i)
\end{verbatim}
`

const statementMarkdown = "Is $\\sum_{i=0}^{\\infty} \\frac{1}{2^i} = 2$?\n\n$$\n\\lim_{n \\to \\infty} \\left(1 + \\frac{1}{n}\\right)^n = e, \\quad " +
	"\\mathcal{O}(n \\log n), \\quad \\mathbb{R}, \\quad \\vec{v} \\cdot \\widehat{abc}\n$$\n\n| left | centre | right |\n|:--|:-:|--:|\n| a | $b$ | 1 |\n| longer | longer | 10000 |\n\n![A hill](hill.svg){width=30%}\n\n" +
	"A note[^1] and `code` and H<sub>2</sub>O.\n\n[^1]: It is here.\n"

// A statement with formulas, tables and pictures fits every screen, everybody can use
// it, and the browser complains of nothing, as it would of a style attribute.
func TestStatementsFitTheScreen(t *testing.T) {
	s := newStage(t)
	pages := map[string]string{}
	r := statement.New(shelf{t})
	for slug, render := range map[string]func() (string, error){
		"statement-tex":      func() (string, error) { return r.TeX("problem.tex", statementTeX) },
		"statement-markdown": func() (string, error) { return r.Markdown("problem.md", statementMarkdown) },
	} {
		html, err := render()
		s.must(err)
		// The picture of this test is one that the server has anyway.
		html = regexp.MustCompile(`"pictures/[^"]*"`).ReplaceAllString(html, `"`+s.asset("icon.svg")+`"`)
		s.must(s.store.SaveProblem(s.Context(), judge.Problem{Slug: slug, Title: slug, Version: "sha256:" + strings.Repeat("b2", 32), CPUMillis: 1000, MemoryMiB: 256, Statement: html}, "test"))
		pages[slug] = "/problems/" + slug
	}
	_, err := siteFiles.Open("static/dist/math.css")
	formulas := err == nil // `make build` made them
	ctx, console := browser(t)
	for name, l := range looks {
		s.must(l.set(ctx))
		for slug, path := range pages {
			t.Run(name+" "+slug, func(t *testing.T) {
				s.must(chromedp.Do(ctx, chromedp.Navigate(s.url+path), chromedp.WaitVisible(chromedp.CSS("#theme"))))
				examine(ctx, t, name, console, false)
				font, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.fonts.ready.then(() => document.fonts.check("16px 'Deep-OJ Mathematics'"))`, chromedp.EvalAwaitPromise))
				s.must(err)
				if !font && formulas {
					t.Error("the font of formulas is not loaded")
				}
				s.must(picture(ctx, slug+"-"+name))
			})
		}
	}
}
