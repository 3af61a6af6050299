package web

import (
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
)

// minutes are the minute of a solution, and the penalty that is made of it.
var minutes = regexp.MustCompile(`(solved |\|1\|)[68][0-9]( 2 tries|\|)`)

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
			if got = minutes.ReplaceAllString(read(), "${1}M${2}"); got == want+"\nthe same page" {
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
	// In a freeze a team has a row with its own verdicts, of which no event of the board tells.
	prof.ask("POST", "/api/v1/rounds/final/freeze", "{}", 200)
	time.Sleep(5 * time.Millisecond)
	s.record()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.cookie = "`+peopleroom.SessionCookie+"="+bob.token+`; path=/"`)); err != nil {
		t.Fatal(err)
	}
	s.must(chromedp.Do(ctx, chromedp.Navigate(s.url+"/rounds/final"), chromedp.WaitVisible(chromedp.CSS(`[data-own] tr[data-team="blue"]`))))
	bob.hands("aplusb", judge.AC)
	s.record()
	s.must(chromedp.Do(ctx, chromedp.WaitVisible(chromedp.CSS(`[data-own] tr[data-team="blue"] td.solved`)), chromedp.WaitVisible(chromedp.CSS(`[data-board] tr[data-team="blue"] td.pending`))))
	if said := console.take(); len(said) > 0 {
		t.Errorf("the console complains: %s", said)
	}
}
