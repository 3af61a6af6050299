package rounds

import (
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/logo"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/site"
)

// putLogo keeps a picture as the logo of an organization of a space.
func (s *Room) putLogo(c *fiber.Ctx, space *judge.Space, organization string, data []byte) (judge.Logo, error) {
	if !code.MatchString(organization) {
		return judge.Logo{}, site.WrongField("code", site.ReasonInvalid, "Name the organization by its short name.")
	}
	l, err := logo.Read(data)
	if err != nil {
		return l, site.WrongField("logo", site.ReasonInvalid, "The picture is not taken: %v.", err)
	}
	err = s.Config.Rounds.PutLogo(c.UserContext(), space.Slug, organization, l, data, site.ViewerOf(c).Name)
	return l, err
}

// apiPutLogo handles POST /api/v1/spaces/:space/organizations/:code/logos, whose body is the picture.
func (s *Room) apiPutLogo(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	name, err := named(c)
	if err != nil {
		return err
	}
	l, err := s.putLogo(c, space, name, c.Body())
	if err != nil {
		return err
	}
	return c.JSON(l)
}

// apiRemoveLogos handles DELETE /api/v1/spaces/:space/organizations/:code/logos.
func (s *Room) apiRemoveLogos(c *fiber.Ctx) error { return s.take(c, s.Config.Rounds.RemoveLogos) }

// logoForm handles POST /spaces/:space/logos.
func (s *Room) logoForm(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	view := teamsView{Of: strings.TrimSpace(c.FormValue("code"))}
	file, err := c.FormFile("logo")
	if err != nil || file.Size == 0 {
		err = site.WrongField("logo", site.ReasonEmpty, "Choose a picture: a PNG, a JPEG or an SVG.")
	} else {
		var data []byte
		if data, err = site.ReadFormFile(file); err == nil {
			_, err = s.putLogo(c, space, view.Of, data)
		}
	}
	if errors.Is(err, sql.ErrNotFound) {
		err = site.WrongField("code", site.ReasonUnknown, "The space has no organization %s.", site.Shorten(view.Of))
	}
	if err == nil {
		return site.SeeDone(c, site.DoneSaved, site.SpaceURL(space.Slug)+"/participants")
	}
	if view.LogoFault = s.Explain(c.UserContext(), err); view.LogoFault.Field == "" {
		return err
	}
	return s.showTeams(c, view.LogoFault.Status, view)
}
