package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// stopwatch is in every page. It says in window.shown how many milliseconds after the last click on a link or a button
// the first test with a verdict was painted.
const stopwatch = `(() => {
	const now = () => performance.timeOrigin + performance.now();
	addEventListener("click", (event) => { if (event.target.closest("a, button")) sessionStorage.clicked = now(); }, true);
	const look = () => {
		if ("shown" in window || !document.querySelector(".cells .cell:not(.v-)")) return;
		window.shown = 0;
		requestAnimationFrame(() => setTimeout(() => { window.shown = now() - Number(sessionStorage.clicked); }));
	};
	new MutationObserver(look).observe(document, { childList: true, subtree: true });
})()`

// BenchmarkClick reports how long after the click on "Submit" Chromium shows the first test of a program that was
// compiled before, in milliseconds, and the floor beside it: a click on a link to the page of the same submission.
func BenchmarkClick(b *testing.B) {
	needRoot(b)
	_, url, c := up(b, filepath.Join(folder(b), "data"), []string{"RATE_PER_USER=0"})
	submitAndWait(b.Context(), b, c, "aplusb", languagePrograms[7]) // Go: its cache is filled in the background until then
	from := submitAndWait(b.Context(), b, c, "aplusb", verdictPrograms[0]).JobID
	tab := browser(b)
	if _, err := chromedp.Call(tab.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: stopwatch}); err != nil {
		b.Fatal(err)
	}
	took := func(what string, steps ...step) float64 {
		tab.do(what, append(steps, chromedp.WaitVisible(css(".cells .cell:not(.v-)")))...)
		shown, err := chromedp.Run(tab.ctx, chromedp.Poll[float64]("window.shown || 0"))
		if err != nil {
			b.Fatal(err)
		}
		return shown
	}
	var submitted, followed []float64
	for range 40 {
		submitted = append(submitted, took("submit",
			chromedp.Navigate(fmt.Sprintf("%s/problems/aplusb?from=%d", url, from)), chromedp.WaitVisible(css(".cm-content")), chromedp.Click(css("#send"))))
		tab.do("wait for the verdict", chromedp.WaitVisible(css(".verdict-card.v-ac[data-done]")), chromedp.Navigate(url+"/submissions"))
		followed = append(followed, took("follow a link", chromedp.Click(css(`main a[href^="/submissions/"]`))))
	}
	for name, all := range map[string][]float64{"click": submitted, "link": followed} {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name+"-p50-ms")
		b.ReportMetric(all[len(all)*9/10], name+"-p90-ms")
	}
	b.ReportMetric(100, "click-ms-wanted")
}
