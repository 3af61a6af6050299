package people

import (
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/locale"
	"deepoj/web/site"
)

// chooseLanguage handles POST /language: the switch that every page has. It holds in this browser, and for the account.
func (s *Room) chooseLanguage(c *fiber.Ctx) error {
	name := c.FormValue("language")
	if !locale.Known(name) {
		return site.FieldRefusal(site.WrongField("language", site.ReasonUnknown, "There are no pages in the language %q.", site.Shorten(name)))
	}
	if v := site.ViewerOf(c); v.Ambient && !v.Guest() {
		if err := s.Store.SetReading(c.UserContext(), v.Name, &name, nil); err != nil {
			return fmt.Errorf("keep a language: %w", err)
		}
	}
	site.KeepLanguage(c, name)
	return c.Redirect(site.LocalPath(c.FormValue("next")), fiber.StatusSeeOther)
}

// readingForm handles POST /account/reading: language and clock of the account.
func (s *Room) readingForm(c *fiber.Ctx) error {
	name, zone := c.FormValue("language"), strings.TrimSpace(c.FormValue("zone"))
	var wrong site.WrongFields
	if name != "" && !locale.Known(name) {
		wrong.Add(site.WrongField("language", site.ReasonUnknown, "There are no pages in the language %q.", site.Shorten(name)))
	}
	if zone != "" && locale.Zone(zone) == nil {
		wrong.Add(site.WrongField("zone", site.ReasonUnknown, "There is no time zone %q; names are like Asia/Shanghai, Europe/Berlin and UTC.", site.Shorten(zone)))
	}
	if err := wrong.Err(); err != nil {
		view := accountView{Reading: readingView{name, zone, s.Explain(c.UserContext(), err)}}
		return s.showAccount(c, view.Reading.Fault.Status, view, nil)
	}
	if err := s.Store.SetReading(c.UserContext(), site.ViewerOf(c).Name, &name, &zone); err != nil {
		return fmt.Errorf("keep how somebody reads: %w", err)
	}
	site.KeepLanguage(c, name)
	return c.Redirect("/account", fiber.StatusSeeOther)
}
