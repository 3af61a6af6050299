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

// cutControls returns what of the page one can click or fill in that lies beyond the
// screen, or beyond an element around it that scrolls sideways or cuts off: who looks at
// the page as it comes does not see that it is there. What lines of code are too long for is
// read by scrolling and is no control.
const cutControls = `(() => {
	const out = [], wide = document.documentElement.clientWidth;
	for (const e of document.querySelectorAll("button, input:not([type=hidden]), select, textarea, summary, a[href]")) {
		const box = e.getBoundingClientRect();
		if (!e.checkVisibility({ visibilityProperty: true }) || box.width < 2 || e.closest("pre, .code-scroll, .cm-editor, .visually-hidden")) continue;
		let left = 0, right = wide;
		for (let up = e.parentElement; up; up = up.parentElement) {
			if (getComputedStyle(up).overflowX === "visible") continue;
			const frame = up.getBoundingClientRect();
			left = Math.max(left, frame.left), right = Math.min(right, frame.right);
		}
		const last = e.closest("tr")?.querySelector("td:last-child:has(button)"); // stays while the rest scrolls under it
		if (last && !last.contains(e)) right = Math.min(right, last.getBoundingClientRect().left);
		if (box.left < left - 1 || box.right > right + 1) {
			out.push(e.outerHTML.slice(0, 160) + " is at " + Math.round(box.left) + " to " + Math.round(box.right) + " of " + Math.round(left) + " to " + Math.round(right));
		}
	}
	return out.join("\n");
})()`

// touching returns the framed parts of the page between which there is no space.
const touching = `(() => {
	const out = [], framed = [...document.querySelectorAll(".panel, .version, .table-scroll")].filter((e) => e.checkVisibility());
	for (const e of framed) for (const next of framed) {
		const a = e.getBoundingClientRect(), b = next.getBoundingClientRect();
		if (e === next || e.contains(next) || next.contains(e) || a.right <= b.left || b.right <= a.left) continue;
		if (b.top > a.top && b.top - a.bottom < 6) out.push(e.outerHTML.slice(0, 80) + " and " + next.outerHTML.slice(0, 80) + " are " + Math.round(b.top - a.bottom) + " px apart");
	}
	return out.join("\n");
})()`

// examine looks at the page that the browser shows: it is no wider than the screen, no
// control lies beyond it, nothing touches, everybody can use it, and the console is quiet,
// unless a complaint is expected.
func examine(ctx context.Context, t *testing.T, look string, console *complaints, complains bool) {
	t.Helper()
	wider, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`))
	if err != nil {
		t.Fatal(err)
	}
	if wider > 0 {
		t.Errorf("the page is %d px wider than the screen", wider)
	}
	if cut, err := chromedp.Run(ctx, chromedp.Evaluate[string](cutControls)); err != nil || cut != "" {
		t.Errorf("controls are cut off, %v:\n%s", err, cut)
	}
	if touch, err := chromedp.Run(ctx, chromedp.Evaluate[string](touching)); err != nil || touch != "" {
		t.Errorf("panels touch, %v:\n%s", err, touch)
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
