package site

import (
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/locale"
)

// The cookies of how somebody reads. The zone is written by a script, which knows that of the browser.
const (
	LanguageCookie = "language"
	ZoneCookie     = "zone"
)

// Reads returns how a viewer reads: in the language that the account chose, else the browser here, else the one that
// the browser asks for; by the clock of the account's zone, else of the browser's, else by UTC. Programs read English; scripts of a page read as
// it does.
func Reads(c *fiber.Ctx, v Viewer) *locale.Locale {
	if forPrograms(c.Path()) {
		return nil
	}
	name := locale.Accepted(c.Get(fiber.HeaderAcceptLanguage))
	if chosen := chosenLanguage(c, v); chosen != "" {
		name = chosen
	}
	zone := locale.Zone(v.Zone)
	if zone == nil {
		here, _ := url.QueryUnescape(c.Cookies(ZoneCookie))
		zone = locale.Zone(here)
	}
	return locale.For(name).In(zone)
}

// chosenLanguage is the language of pages that the account chose, else the browser here; "" = none.
func chosenLanguage(c *fiber.Ctx, v Viewer) string {
	for _, chosen := range []string{v.Language, c.Cookies(LanguageCookie)} {
		if locale.Known(chosen) {
			return chosen
		}
	}
	return ""
}

// ChosenLanguage is the language of pages that whoever asks chose; "" = that of the browser.
func ChosenLanguage(c *fiber.Ctx) string { return chosenLanguage(c, ViewerOf(c)) }

// LocaleOf returns how whoever asks reads, also before anybody knows who that is.
func LocaleOf(c *fiber.Ctx) *locale.Locale {
	if v := ViewerOf(c); v.Locale != nil {
		return v.Locale
	}
	return Reads(c, Viewer{})
}

// KeepLanguage has the browser remember a language of pages; "" has it forget.
func KeepLanguage(c *fiber.Ctx, name string) { Keep(c, LanguageCookie, name) }

// Keep has the browser remember a choice for a year; "" has it forget.
func Keep(c *fiber.Ctx, cookie, value string) {
	until := time.Now().AddDate(1, 0, 0)
	if value == "" {
		until = time.Unix(1, 0)
	}
	c.Cookie(&fiber.Cookie{
		Name: cookie, Value: value, Path: "/", Expires: until,
		HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, Secure: c.Secure(),
	})
}
