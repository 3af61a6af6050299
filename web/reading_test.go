package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"deepoj/host/judge"
)

const (
	chinese = "Accept-Language: zh-CN,zh;q=0.9,en;q=0.5"
	english = "Accept-Language: en"
	shown   = `<html lang="`
)

// langOf returns the language that a page says it is in.
func langOf(page string) string {
	_, rest, _ := strings.Cut(page, shown)
	lang, _, _ := strings.Cut(rest, `"`)
	return lang
}

func TestSomebodyReadsInTheLanguageAndByTheClockOfTheirChoice(t *testing.T) {
	s := newStage(t)
	s.user("ann", "correct horse", judge.RoleContestant)
	page := func(headers ...string) reply { return s.do(http.MethodGet, "/languages", "", headers...) }

	t.Run("the browser's, as long as nobody chose", func(t *testing.T) {
		for header, want := range map[string]string{chinese: "zh-Hans", english: "en", "Accept-Language: fi": "en"} {
			r := page(header)
			if got := langOf(r.body); got != want || r.header.Get("Content-Language") != want {
				t.Errorf("%s: the page is in %s (%s), want %s", header, got, r.header.Get("Content-Language"), want)
			}
			for _, of := range []string{"Accept-Language", "Cookie"} {
				if !strings.Contains(strings.Join(r.header.Values("Vary"), ","), of) {
					t.Errorf("whoever keeps the page is not told that it depends on %s", of)
				}
			}
		}
	})
	t.Run("a guest's switch holds in the browser", func(t *testing.T) {
		r := s.do(http.MethodPost, "/language", url.Values{"language": {"zh-Hans"}, "next": {"/languages?x=1"}}.Encode(), asForm, english)
		if r.status != 303 || r.header.Get("Location") != "/languages?x=1" {
			t.Fatalf("%d to %s", r.status, r.header.Get("Location"))
		}
		cookie, _, _ := strings.Cut(r.header.Get("Set-Cookie"), ";")
		if got := langOf(page("Cookie: "+cookie, english).body); got != "zh-Hans" {
			t.Errorf("the next page is in %s", got)
		}
		for field, value := range map[string]string{"language": "xx", "next": "//evil.example/"} {
			form := url.Values{"language": {"en"}, "next": {"/"}}
			form.Set(field, value)
			r := s.do(http.MethodPost, "/language", form.Encode(), asForm)
			if field == "language" && r.status != 422 || field == "next" && r.header.Get("Location") != "/" {
				t.Errorf("%s %q: %d to %s", field, value, r.status, r.header.Get("Location"))
			}
		}
	})
	t.Run("an account's choice holds in every browser", func(t *testing.T) {
		cookie := s.login("ann", "correct horse")
		choose := func(path string, fields url.Values) reply {
			fields.Set("csrf", s.csrf(cookie))
			return s.do(http.MethodPost, path, fields.Encode(), asForm, cookie)
		}
		if r := choose("/account/reading", url.Values{"language": {"zh-Hans"}, "zone": {"Asia/Shanghai"}}); r.status != 303 {
			t.Fatalf("%d: %s", r.status, r.body)
		}
		r := page(cookie, english)
		if langOf(r.body) != "zh-Hans" || !strings.Contains(r.body, "Asia/Shanghai") || !strings.Contains(r.body, "UTC&#43;8") {
			t.Errorf("the page is in %s, and does not say whose clock: %s", langOf(r.body), r.body)
		}
		if r := choose("/language", url.Values{"language": {"en"}, "next": {"/"}}); r.status != 303 {
			t.Fatalf("%d: %s", r.status, r.body)
		}
		if got := langOf(page(cookie, chinese).body); got != "en" {
			t.Errorf("after the switch the page is in %s", got)
		}
		for field, value := range map[string]string{"language": "xx", "zone": "Mars/Olympus"} {
			form := url.Values{"language": {""}, "zone": {""}}
			form.Set(field, value)
			if r := choose("/account/reading", form); r.status != 422 || !strings.Contains(r.body, value) {
				t.Errorf("%s %q: %d", field, value, r.status)
			}
		}
		choose("/account/reading", url.Values{"language": {""}, "zone": {""}})
		if got := langOf(page(cookie, chinese).body); got != "zh-Hans" {
			t.Errorf("who chose the browser's language reads %s", got)
		}
	})
	t.Run("the browser's clock comes in a cookie", func(t *testing.T) {
		if r := page("Cookie: zone=Asia%2FKolkata", english); !strings.Contains(r.body, "UTC&#43;5:30") {
			t.Error("the page does not say so")
		}
		for _, zone := range []string{"X-Zone: none", "Cookie: zone=..%2F..%2Fetc", "Cookie: zone=Local"} {
			if r := page(zone, english); !strings.Contains(r.body, "Times are UTC") {
				t.Errorf("%q: the page does not say that it is UTC", zone)
			}
		}
	})
	t.Run("programs read English", func(t *testing.T) {
		r := s.do(http.MethodGet, "/api/v1/problems/none", "", chinese, "Accept: application/json", "Cookie: language=zh-Hans")
		if r.status != 404 || !strings.Contains(r.body, `There is no problem \"none\".`) {
			t.Errorf("%d: %s", r.status, r.body)
		}
	})
	t.Run("refusals are said, too", func(t *testing.T) {
		r := s.do(http.MethodGet, "/problems/none", "", chinese)
		if r.status != 404 || !strings.Contains(r.body, "没有题目") {
			t.Errorf("%d: %s", r.status, r.body)
		}
	})
}

// A script of a page shows what it is refused; programs read English whatever they accept.
func TestScriptsOfPagesAreRefusedInTheReadersLanguage(t *testing.T) {
	s := newStage(t)
	for path, han := range map[string]bool{"/account/passkeys/options": true, "/api/v1/account/confirm": false} {
		r := s.do(http.MethodPost, path, "{}", "Accept: application/json", chinese, asJSON)
		_, detail, _ := strings.Cut(r.body, `"detail":"`)
		detail, _, _ = strings.Cut(detail, `"`)
		said := strings.ContainsFunc(detail, func(c rune) bool { return unicode.Is(unicode.Han, c) })
		if r.status != http.StatusUnauthorized || detail == "" || said != han || !strings.Contains(r.body, `"reason":"login_required"`) {
			t.Errorf("%s is refused by %d %s; in Chinese: %t, want %t", path, r.status, r.body, said, han)
		}
	}
}
