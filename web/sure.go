package web

import (
	"net/url"
	"regexp"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/locale"
	"deepoj/web/site"
)

// sureField is the field of a form by which its sender says that what cannot be undone is meant.
const sureField = "sure"

// sureView is the page that asks whether something is meant that cannot be undone. It holds the form as it was filled in.
type sureView struct {
	Does   string // what is asked for, as they read it
	Act    string // address of the form
	Back   string // where its sender came from
	Fields []site.FormField
}

var actWord = regexp.MustCompile(`:[a-z]+`)

// sure asks whoever sends a form whether they mean it. Programs are not asked.
func (s *Server) sure(act locale.Word) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if !site.WantsPage(c) || site.ViewerOf(c).Key != 0 || c.FormValue(sureField) != "" {
			return c.Next()
		}
		does := actWord.ReplaceAllStringFunc(site.LocaleOf(c).Say(act), func(name string) string { return site.Shorten(c.Params(name[1:])) })
		return s.Page(c, fiber.StatusOK, "sure", "Are you sure?", sureView{does, c.OriginalURL(), cameFrom(c), site.FormFields(site.FormOf(c))})
	}
}

// cameFrom is the page of this site that holds the form.
func cameFrom(c *fiber.Ctx) string {
	from, err := url.Parse(c.Get(fiber.HeaderReferer))
	if err != nil || from.Host != string(c.Request().Host()) {
		return "/"
	}
	return site.LocalPath(from.RequestURI())
}
