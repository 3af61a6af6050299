package web

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"deepoj/host/judge"
)

// english words are a run of them: one alone may be a name.
var englishWords = regexp.MustCompile(`[A-Za-z]*[a-z]{2,} [a-z]{2,}`)

// leftInEnglish returns what a page says to people in its main part, in runs of English words that are not marked as
// English, and are neither code nor what people typed.
func leftInEnglish(t *testing.T, page string) (left []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var look func(n *html.Node, inside bool)
	look = func(n *html.Node, inside bool) {
		if n.Type == html.TextNode && inside && englishWords.MatchString(n.Data) {
			left = append(left, strings.Join(strings.Fields(n.Data), " "))
		}
		if n.Type == html.ElementNode {
			inside = inside || n.Data == "main" || n.Data == "title"
			if slices.Contains([]string{"code", "pre", "textarea", "script", "style"}, n.Data) {
				return
			}
			for _, a := range n.Attr {
				switch {
				case a.Key == "lang" && a.Val == "en" || a.Key == "class" && strings.Contains(a.Val, "prose"):
					return
				case inside && slices.Contains([]string{"aria-label", "title", "placeholder", "data-announce"}, a.Key) && englishWords.MatchString(a.Val):
					left = append(left, a.Key+": "+a.Val)
				}
			}
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			look(child, inside)
		}
	}
	look(root, false)
	return left
}

// TestSettersReadTheirPagesInChinese looks for English on the pages about packages and plugins, in what they say when
// something is refused, and in how jobs end.
func TestSettersReadTheirPagesInChinese(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	s.user("root", "correct horse", judge.RoleAdmin)
	s.user("sue", "correct horse", judge.RoleSetter)
	s.user("a-contestant-with-a-long-name@example.org", "correct horse", judge.RoleContestant)
	pages := s.setterScene(blobs)
	maps.Copy(pages, s.checkerScene())
	names := []string{ // of problems and languages, and what checkers, workers and reports said, which nobody translates
		"Stairs in the Rain", "Boxes in boxes", "Busiest locker", "Fair pairs", "Workshop schedule", "cpp python",
		"the tokens differ at line 3",
		"version 0.9.0 of org.example.pair does not conform: mend what its report says, and upload it again",
		"judges only", "was not found; install the Debian package",
	}
	cookie := s.login("root", "correct horse")
	check := func(name string, r reply) {
		t.Helper()
		if langOf(r.body) != "zh-Hans" {
			t.Errorf("%s is in %q", name, langOf(r.body))
		}
		for _, text := range leftInEnglish(t, r.body) {
			for _, name := range names {
				text = strings.ReplaceAll(text, name, "…")
			}
			if englishWords.MatchString(text) {
				t.Errorf("%s says %q", name, text)
			}
		}
	}
	for name, at := range pages {
		check(name, s.do(http.MethodGet, at, "", cookie, chinese))
	}
	for _, title := range []string{"Problems", "Save"} {
		files := maps.Clone(tripleFiles)
		files["problem.yaml"] = "name: " + title + "\n"
		s.keep(blobs, "titled", "root", files)
	}
	if r := s.do(http.MethodGet, "/packages/titled/compare", "", cookie, chinese); !strings.Contains(r.body, `<td class="words">Problems</td>`) || !strings.Contains(r.body, `<td class="words">Save</td>`) {
		t.Errorf("titles that are words of pages are translated: %d %s", r.status, r.body)
	}
	csrf := s.csrf(cookie)
	for at, form := range map[string]url.Values{
		"/packages/template":                          {"template": {"nothing"}, "name": {"x"}},
		"/packages/copy-of-aplusb/clone":              {"name": {"copy-of-aplusb"}},
		"/packages/copy-of-aplusb/people":             {"name": {"nobody-of-this-name"}},
		"/packages/copy-of-aplusb/labels":             {"difficulty": {"much"}},
		"/packages/copy-of-aplusb/rollback":           {},
		"/checkers/checker/org.example.pair/activate": {"digest": {"sha256:none"}},
	} {
		form.Set("csrf", csrf)
		r := s.do(http.MethodPost, at, form.Encode(), asForm, cookie, chinese)
		if r.status < 400 {
			t.Errorf("%s: %d", at, r.status)
		}
		check(at, r)
	}
}
