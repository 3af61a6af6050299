package web

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
)

// minutes are the minute of a solution, and the penalty that is made of it, and penalties those of two solutions.
var (
	minutes   = regexp.MustCompile(`(solved |\|1\|)[68][0-9]( 2 tries|\|)`)
	penalties = regexp.MustCompile(`(\|2\|)1[0-9][0-9](\|)`)
)

// TestABoardIsSeenToGoOn looks at a board in a browser, before and after a verdict, without loading the page again.
func TestABoardIsSeenToGoOn(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, _ := s.cup()
	bob.hands("stairs", judge.WA)
	s.record()
	ctx, console := browser(t)
	s.must(chromedp.Do(ctx, chromedp.Navigate(s.url+"/rounds/final"), chromedp.WaitVisible(chromedp.CSS(`tr[data-team="red"]`))))
	read := func() string {
		t.Helper()
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`[...document.querySelectorAll("[data-board] tbody tr")].map((tr) => tr.dataset.team + " " + [...tr.cells].map((td) => td.innerText.replace(/\s+/g, " ").trim()).join("|")).join("\n") + (window.before || "")`))
		s.must(err)
		return got
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[string](`window.before = "\nthe same page"`)); err != nil {
		t.Fatal(err)
	}
	becomes := func(want string) {
		t.Helper()
		got := ""
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			// The minute is that of the machine's clock.
			if got = penalties.ReplaceAllString(minutes.ReplaceAllString(read(), "${1}M${2}"), "${1}N${2}"); got == want+"\nthe same page" {
				return
			}
		}
		t.Errorf("the board is\n%s\nwant\n%s", got, want)
	}
	becomes("blue 1|☆ Blue|0|0||✗ 1 wrong\nred 1|☆ Red|0|0||")
	ann.hands("aplusb", judge.WA)
	s.record()
	becomes("blue 1|☆ Blue|0|0||✗ 1 wrong\nred 1|☆ Red|0|0|✗ 1 wrong|")
	ann.hands("aplusb", judge.AC)
	s.record()
	becomes("red 1|☆ Red|1|M|✓ solved M 2 tries|\nblue 2|☆ Blue|0|0||✗ 1 wrong")
	// The page has the first rows of the board. Who is behind them comes when they are among them, and is not looked for before.
	forget := func(team string) {
		t.Helper()
		_, err := chromedp.Run(ctx, chromedp.Evaluate[any](`document.querySelector('[data-board] tr[data-team="`+team+`"]').remove()`))
		s.must(err)
	}
	forget("blue")
	bob.hands("aplusb", judge.WA)
	s.record()
	ann.hands("stairs", judge.WA)
	s.record()
	becomes("red 1|☆ Red|1|M|✓ solved M 2 tries|✗ 1 wrong")
	bob.hands("aplusb", judge.AC)
	bob.hands("stairs", judge.AC)
	s.record()
	becomes("blue 1|☆ Blue|2|N|✓ solved M 2 tries|✓ solved M 2 tries\nred 2|☆ Red|1|M|✓ solved M 2 tries|✗ 1 wrong")
	star, err := chromedp.Run(ctx, chromedp.Evaluate[string](`[...document.querySelectorAll('tr[data-team="blue"] a')].map((a) => a.getAttribute("aria-label") + " " + a.href).join(" ")`))
	if want := "Favourite: Blue " + s.url + "/rounds/final?fav=blue null " + s.url + "/rounds/final/teams/blue"; err != nil || star != want {
		t.Errorf("the links of the row are %q, want %q: %v", star, want, err)
	}
	// In a freeze a team has a row with its own verdicts, of which no event of the board tells.
	prof.ask("POST", "/api/v1/rounds/final/freeze", "{}", 200)
	time.Sleep(5 * time.Millisecond)
	s.record()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.cookie = "`+peopleroom.SessionCookie+"="+ann.token+`; path=/"`)); err != nil {
		t.Fatal(err)
	}
	s.must(chromedp.Do(ctx, chromedp.Navigate(s.url+"/rounds/final"), chromedp.WaitVisible(chromedp.CSS(`[data-own] tr[data-team="red"]`))))
	ann.hands("stairs", judge.AC)
	s.record()
	s.must(chromedp.Do(ctx, chromedp.WaitVisible(chromedp.CSS(`[data-own] tr[data-team="red"] td:last-child.solved`)), chromedp.WaitVisible(chromedp.CSS(`[data-board] tr[data-team="red"] td:last-child.pending`))))
	if said := console.take(); len(said) > 0 {
		t.Errorf("the console complains: %s", said)
	}
}

// TestAnOpenBoardSaysHowFarTheRoundIs opens a board before a freeze and looks at it in it, after the end, and when nothing is hidden
// any more.
func TestAnOpenBoardSaysHowFarTheRoundIs(t *testing.T) {
	s := newStage(t)
	prof, ann, _, _ := s.cup()
	at := func() int64 {
		t.Helper()
		ms, _ := prof.ask("GET", "/api/v1/rounds/final", "", 200)["time_ms"].(float64)
		return int64(ms)
	}
	ctx, console := browser(t)
	freeze := at() + 20_000 // after the page is open
	prof.ask("PATCH", "/api/v1/rounds/final", fmt.Sprintf(`{"freeze_ms": %d, "duration_ms": %d}`, freeze, freeze+20*60_000), 200)
	s.record()
	defer s.recording()()
	s.must(chromedp.Do(ctx, chromedp.Navigate(s.url+"/rounds/final?fav=red"), chromedp.WaitVisible(chromedp.CSS(`[data-board] tr[data-team="red"]`))))
	_, err := chromedp.Run(ctx, chromedp.Evaluate[string](`window.before = "the same page"`))
	s.must(err)
	says := func(want string) {
		t.Helper()
		got := ""
		for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			got, err = chromedp.Run(ctx, chromedp.Evaluate[string](`[document.querySelector("[data-phase]")?.innerText, document.querySelector("[data-minutes]:not([hidden])")?.innerText || "", window.before || "another page"].join("|")`))
			if err == nil && got == want {
				return
			}
		}
		t.Errorf("the page says %q, want %q: %v", got, want, err)
	}
	says("running||the same page")
	ann.hands("aplusb", judge.WA)
	s.must(chromedp.Do(ctx, chromedp.WaitVisible(chromedp.CSS(`table.favourites tr[data-team="red"] td:is(.wrong, .pending)`))))
	const notice = "The scoreboard was frozen with %d minutes remaining - submissions in the last %d minutes of the contest are still shown as pending."
	says("frozen|" + fmt.Sprintf(notice, 20, 20) + "|the same page")
	// The end comes earlier than planned, and so the page is loaded again, with what is true of the freeze then.
	prof.ask("PATCH", "/api/v1/rounds/final", fmt.Sprintf(`{"duration_ms": %d}`, at()+4_000), 200)
	says("over||another page")
	if said := console.take(); len(said) > 0 {
		t.Errorf("the console complains: %s", said)
	}
}
