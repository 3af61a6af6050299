package web

import (
	"errors"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	clicsroom "deepoj/web/clics"
	judge0api "deepoj/web/judge0/api"
	"deepoj/web/locale"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// credentials returns the viewer that a request claims to come from: only the token is known yet.
func credentials(cookie, authorization string) site.Viewer {
	if bearer, ok := strings.CutPrefix(authorization, "Bearer "); ok {
		return site.Viewer{Token: strings.TrimSpace(bearer)}
	}
	return site.Viewer{Ambient: true, Token: cookie}
}

// identify finds out who sent the request.
func (s *Server) identify(c *fiber.Ctx) error {
	v := credentials(c.Cookies(peopleroom.SessionCookie), c.Get(fiber.HeaderAuthorization))
	if token := judge0api.Token(c); token != "" && judge0api.Speaks(c.Path()) {
		v = site.Viewer{Token: token}
	}
	if basic, ok := strings.CutPrefix(c.Get(fiber.HeaderAuthorization), "Basic "); ok && clicsroom.Speaks(c.Path()) {
		found, err := s.people.Basic(c, basic)
		if err != nil {
			return err
		}
		v = site.Viewer{Token: found.Token}
	}
	if v.Token != "" {
		found, err := s.Bearer(c.UserContext(), v.Token)
		switch {
		case err == nil && v.Ambient && found.Key != 0:
			v = site.Viewer{} // a cookie holds a session and nothing else
		case err == nil:
			found.Ambient = v.Ambient
			v = found
		case !v.Ambient || !errors.Is(err, sql.ErrNotFound):
			return site.UnknownToken(err)
		default:
			v = site.Viewer{} // a cookie that has expired
		}
	}
	if v.Name == "" && s.guests && !site.Proxied(c) {
		v = site.Viewer{Name: people.Guest, Role: judge.RoleContestant}
	}
	v.Locale = site.Reads(c, v)
	c.Locals(site.ViewerKey{}, v)
	if err := site.WithinScope(c, v); err != nil {
		return err
	}
	streamed := s.upload(c.Method(), c.OriginalURL()) == site.PackageUpload // its handler finds the token in the stream
	if v.Token != "" && v.Ambient && !site.Safe(c.Method()) && !streamed && !site.ValidCSRF(c, v) {
		return site.Refuse(fiber.StatusForbidden, "csrf", "The form is from another session.", "Reload the page and try again.")
	}
	return c.Next()
}

// admit lets only people in who may use the site.
func (s *Server) admit(c *fiber.Ctx) error {
	v := site.ViewerOf(c)
	switch {
	case v.OneTime && !changesPassword(c.Path()):
		if site.WantsPage(c) && site.Safe(c.Method()) {
			return c.Redirect("/account?next="+url.QueryEscape(c.OriginalURL()), fiber.StatusSeeOther)
		}
		return site.Refuse(fiber.StatusForbidden, "one_time_password", "The password was given to you and has to be changed first.",
			"Change it on the page /account, or with POST /api/v1/account/password.")
	case v.Known():
		return c.Next()
	case site.WantsPage(c) && site.Safe(c.Method()):
		return c.Redirect("/login?next="+url.QueryEscape(c.OriginalURL()), fiber.StatusSeeOther)
	}
	why := locale.Word("This needs an account.")
	if s.guests {
		why = "The request came through a proxy, so it needs an account."
	}
	return site.Refuse(fiber.StatusUnauthorized, "login_required", why,
		"Log in, or send a key or a token from POST /api/v1/sessions as Authorization: Bearer.")
}

// changesPassword reports whether somebody with a one-time password may go to the address.
func changesPassword(path string) bool {
	return path == "/account" || path == "/api/v1/account" || path == "/api/v1/account/password" || path == "/api/v1/sessions"
}
