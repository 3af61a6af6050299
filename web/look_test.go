package web

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// axe is the accessibility checker of the editor's packages (axe-core, which only
// tests use).
var axe = sync.OnceValues(func() (string, error) {
	code, err := os.ReadFile("editor/node_modules/axe-core/axe.min.js")
	if err != nil {
		return "", fmt.Errorf("the accessibility checker is missing: run `make build`: %w", err)
	}
	return string(code) + "\n;0", nil
})

// obstacles returns what of the page that the browser shows is serious or worse by
// WCAG 2.2, levels A and AA.
func obstacles(ctx context.Context) (string, error) {
	code, err := axe()
	if err != nil {
		return "", err
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[int](code)); err != nil {
		return "", fmt.Errorf("load the accessibility checker: %w", err)
	}
	return chromedp.Run(ctx, chromedp.Evaluate[string](`axe.run(document, {
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"],
	}).then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical")
		.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " (" + n.failureSummary.split("\n").slice(1).join(" ").trim() + ")").join(" | ")).join("\n"))`,
		chromedp.EvalAwaitPromise))
}

// examine looks at the page that the browser shows: it is no wider than the screen,
// everybody can use it, and the console is quiet, unless a complaint is expected.
func examine(ctx context.Context, t *testing.T, look string, console *complaints, complains bool) {
	t.Helper()
	wider, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`))
	if err != nil {
		t.Fatal(err)
	}
	if wider > 0 {
		t.Errorf("the page is %d px wider than the screen", wider)
	}
	if look == "wide-light" || look == "phone-dark" { // each width and each set of colours once
		found, err := obstacles(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if found != "" {
			t.Errorf("the page is hard to use for some:\n%s", found)
		}
	}
	if said := console.take(); len(said) > 0 && !complains {
		t.Errorf("the console complains: %s", strings.Join(said, "; "))
	}
}

// twoLooks are both widths and both sets of colours, each once.
var twoLooks = map[string]look{"wide-light": looks["wide-light"], "phone-dark": {375, 812, "dark"}}

// examineAll looks at pages of a site in several ways.
func (s *stage) examineAll(ctx context.Context, t *testing.T, console *complaints, chosen map[string]look, pages map[string]string) {
	t.Helper()
	for look, l := range chosen {
		s.must(l.set(ctx))
		for name, path := range pages {
			t.Run(look+" "+name, func(t *testing.T) {
				if err := chromedp.Do(ctx, chromedp.Navigate(s.url+path), chromedp.WaitVisible(chromedp.CSS("#theme"))); err != nil {
					t.Fatal(err)
				}
				examine(ctx, t, look, console, false)
				if err := picture(ctx, name+"-"+look); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}
