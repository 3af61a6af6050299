package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cssdomain "github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// stopwatch is in every page. It says in window.shown how many milliseconds after the last click on a link or a button
// the screen showed the first test with a verdict.
const stopwatch = `(() => {
	let clicked = Number(sessionStorage.clicked); // also has it at hand, when there is a click
	addEventListener("click", (event) => {
		if (event.target.closest("a, button")) sessionStorage.clicked = clicked = performance.timeOrigin + performance.now();
	}, true);
	const look = new MutationObserver(() => document.querySelector(".cells .cell:not(.v-) .t")?.setAttribute("elementtiming", "first"));
	look.observe(document, { childList: true, subtree: true });
	new PerformanceObserver((list) => {
		window.shown ??= performance.timeOrigin + list.getEntries()[0].renderTime - clicked;
		look.disconnect();
	}).observe({ type: "element", buffered: true });
})()`

// BenchmarkClick reports how long after the click on "Submit" Chromium shows the first test of a program that was
// compiled before, in milliseconds, and the floor beside it: a click on a link to the page of the same submission.
// Nothing asks the browser meanwhile, and it tells its debugger as little as it can: nobody who submits has one.
func BenchmarkClick(b *testing.B) {
	needRoot(b)
	_, url, c := up(b, filepath.Join(folder(b), "data"), []string{"RATE_PER_USER=0"})
	submitAndWait(b.Context(), b, c, "aplusb", languagePrograms[7]) // Go: its cache is filled in the background until then
	from := submitAndWait(b.Context(), b, c, "aplusb", verdictPrograms[0]).JobID
	tab := browser(b)
	_, err := chromedp.Call(tab.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: stopwatch})
	for _, told := range []cdp.Command[cdp.Empty, cdp.Empty]{network.Disable, cssdomain.Disable, log.Disable} {
		if err == nil {
			_, err = chromedp.Call(tab.ctx, told, cdp.Empty{})
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	took := func(what string, steps ...step) float64 {
		tab.do(what, append(steps, chromedp.Sleep(400*time.Millisecond), chromedp.WaitVisible(css(".cells .cell:not(.v-)")))...)
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
