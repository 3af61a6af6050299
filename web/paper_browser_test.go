package web

import (
	"bytes"
	"os"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestOnPaperEachTeamHasAPageOfItsOwn prints the sheets of accounts and the certificates, as an organiser does.
func TestOnPaperEachTeamHasAPageOfItsOwn(t *testing.T) {
	s := newStage(t)
	s.someone("prof", "staff")
	s.someone("ann", "contestant")
	s.roundScene(s.space("final"))
	ctx, console := browser(t)
	do := func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) }
	pages := func(name string) int {
		t.Helper()
		printed, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{PrintBackground: new(true), PreferCSSPageSize: new(true)})
		s.must(err)
		if dir := os.Getenv("DEEPOJ_ARTIFACTS"); dir != "" {
			s.must(os.WriteFile(dir+"/"+name+".pdf", printed.Data, 0o644))
		}
		return bytes.Count(printed.Data, []byte("/Type /Page\n")) + bytes.Count(printed.Data, []byte("/Type /Page "))
	}
	s.user("chief", "correct horse", "staff")
	s.signInAs(do, "chief", "/rounds/dawn/certificates")
	s.must(do(chromedp.WaitVisible(chromedp.CSS(".certificates svg"))))
	s.must(picture(ctx, "certificates"))
	if n := pages("certificates"); n != 3 {
		t.Errorf("three certificates are on %d pages", n)
	}
	s.must(do(chromedp.Navigate(s.url+"/spaces/final/participants"), chromedp.WaitVisible(chromedp.CSS("#text")), chromedp.SendKeys(chromedp.CSS("#text"), "code,name,room\nred,The Reds,A 12\nblue,快速棕色狐狸,B 7\ngreen,The Team With the Longest Name of All Those That Ever Took Part,C 1\n")))
	s.must(click(ctx, `input[name="accounts"]`))
	s.must(click(ctx, `section[aria-labelledby="list"] button.primary`))
	s.must(do(chromedp.WaitVisible(chromedp.CSS("#go"))))
	s.must(picture(ctx, "teams-preview"))
	s.must(click(ctx, "#go"))
	s.must(do(chromedp.WaitVisible(chromedp.CSS(".sheet"))))
	s.must(picture(ctx, "team-sheets"))
	if n := pages("team-sheets"); n != 3 {
		t.Errorf("the sheets of three teams are on %d pages", n)
	}
	if said := console.take(); len(said) > 0 {
		t.Errorf("the console complains: %v", said)
	}
}
