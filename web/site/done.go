package site

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/web/locale"
)

// This file says on the page that follows what a form has done. A cookie carries it there, which is gone when the page
// has been shown, so that a reload does not say it again.

// Done is what a form has done.
type Done string

// What forms do, and how a page says it.
const (
	DoneThat        Done = "done"
	DoneSaved       Done = "saved"
	DoneMade        Done = "made"
	DoneDeleted     Done = "deleted"
	DoneAdded       Done = "added"
	DoneRemoved     Done = "removed"
	DoneRevoked     Done = "revoked"
	DoneShown       Done = "shown"
	DoneHidden      Done = "hidden"
	DoneLive        Done = "live"
	DoneDiscarded   Done = "discarded"
	DoneJudgedAgain Done = "rejudge"
)

var doneTexts = map[Done]locale.Word{
	DoneThat:        "Done.",
	DoneSaved:       "Saved.",
	DoneMade:        "It is made.",
	DoneDeleted:     "It is deleted.",
	DoneAdded:       "Added.",
	DoneRemoved:     "Removed.",
	DoneRevoked:     "The key is revoked. Nothing takes it any more.",
	DoneShown:       "Everybody sees the problem now.",
	DoneHidden:      "The problem is hidden from contestants.",
	DoneLive:        "The version is live.",
	DoneDiscarded:   "Discarded.",
	DoneJudgedAgain: "It is to be judged again.",
}

const (
	doneCookie = "deepoj_done"
	doneAge    = 60 // seconds in which the page has to follow
)

// SeeDone leads from a form to the page that follows it, which says what was done.
func SeeDone(c *fiber.Ctx, what Done, to string) error {
	c.Cookie(&fiber.Cookie{
		Name: doneCookie, Value: string(what), Path: "/", MaxAge: doneAge, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, Secure: c.Secure(),
	})
	return c.Redirect(to, fiber.StatusSeeOther)
}

// takeDone returns what the form before this page has done; "" if there was none.
func takeDone(c *fiber.Ctx) locale.Word {
	value := c.Cookies(doneCookie)
	if value == "" {
		return ""
	}
	c.Cookie(&fiber.Cookie{Name: doneCookie, Path: "/", MaxAge: -1, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, Secure: c.Secure()})
	return doneTexts[Done(value)]
}
