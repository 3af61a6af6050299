package people

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/letters"
	"deepoj/web/site"
)

const (
	linkCookie = "deepoj_link" // keeps the token out of the address of the page, and so out of Referer and history
	linkNames  = 10            // names that a link may try that are taken
)

// linkView is the page that a link in a letter leads to.
type linkView struct {
	Kind  judge.LetterKind // "" = the link does not work
	Email string
	User  string // whose account it is
	Space string // that it invites to

	Name, DisplayName string // what was typed, where the form comes back
	Fault             *site.Fault

	Keys     []judge.Key // that work, of the account
	Done     bool
	Sessions int64 // that ended
}

// linkPage handles GET /login/link?t=: it keeps the token in a cookie and goes on without it. Looking uses nothing up,
// for programs look at links in letters before people do.
func (s *Room) linkPage(c *fiber.Ctx) error {
	if token := c.Query("t"); token != "" {
		keepToken(c, linkCookie, letters.LinkPath, token)
		return c.Redirect(letters.LinkPath, fiber.StatusSeeOther)
	}
	return s.showLink(c, fiber.StatusOK, linkView{})
}

// keepToken has a browser keep the token of a link while its page is open.
func keepToken(c *fiber.Ctx, cookie, path, token string) {
	if len(token) > 4*letters.LinkBytes || !site.PlainWord(token) {
		token = "none"
	}
	c.Cookie(&fiber.Cookie{
		Name: cookie, Value: token, Path: path, Expires: time.Now().Add(letters.LinkLife),
		HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, Secure: c.Secure(), // Lax: a letter leads here
	})
}

// forgetToken ends that.
func forgetToken(c *fiber.Ctx, cookie, path string) {
	c.Cookie(&fiber.Cookie{Name: cookie, Path: path, Expires: time.Unix(1, 0), HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode})
}

// showLink shows what a link leads to. What was filled in before is in the view.
func (s *Room) showLink(c *fiber.Ctx, status int, view linkView) error {
	ctx := c.UserContext()
	l, err := s.Store.Link(ctx, people.HashToken(c.Cookies(linkCookie)))
	if errors.Is(err, sql.ErrNotFound) {
		return s.Page(c, fiber.StatusGone, "link", "Link", linkView{})
	}
	if err != nil {
		return err
	}
	view.Kind, view.Email, view.User = l.Kind, l.Email, l.User
	if l.Kind == judge.LetterReset {
		keys, err := s.Store.Keys(ctx, l.User, 0, site.MaxPage)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if k.Works(time.Now()) {
				view.Keys = append(view.Keys, k)
			}
		}
	}
	return s.Page(c, status, "link", "Link", view)
}

// useLink handles POST /login/link: it does what the link is for.
func (s *Room) useLink(c *fiber.Ctx) error {
	l, err := s.Store.Link(c.UserContext(), people.HashToken(c.Cookies(linkCookie)))
	view := linkView{Name: strings.TrimSpace(c.FormValue("name")), DisplayName: people.CleanDisplayName(c.FormValue("display_name"))}
	if err == nil {
		switch l.Kind { //nolint:exhaustive // a link is for an account, a password or an address
		case judge.LetterRegister:
			err = s.registerByLink(c, l, view)
			if err == nil {
				return nil
			}
		case judge.LetterReset:
			view.User, view.Sessions, err = s.resetByLink(c, l)
		default:
			view.User, err = s.Store.TakeEmail(c.UserContext(), people.HashToken(c.Cookies(linkCookie)), lettersIn(c))
		}
	}
	switch {
	case err == nil:
		s.Letters.Wake()
		forgetToken(c, linkCookie, letters.LinkPath)
		view.Kind, view.Email, view.Done = l.Kind, l.Email, true
		return s.Page(c, fiber.StatusOK, "link", "Done", view)
	case errors.Is(err, sql.ErrNotFound), errors.Is(err, sql.ErrEmailTaken): // spent meanwhile, or the address is another's by now
		return s.Page(c, fiber.StatusGone, "link", "Link", linkView{})
	}
	if view.Fault = s.Explain(c.UserContext(), err); view.Fault.Field == "" {
		return err
	}
	return s.showLink(c, view.Fault.Status, view)
}

// registerByLink makes the account of who proved an address, and logs them in.
func (s *Room) registerByLink(c *fiber.Ctx, l judge.Link, view linkView) error {
	link := people.HashToken(c.Cookies(linkCookie))
	u := judge.User{Name: view.Name, DisplayName: view.DisplayName, Email: l.Email}
	hash, err := s.checkRegistration(c, u)
	if err != nil {
		return err
	}
	space, err := s.Store.Register(c.UserContext(), sql.Registration{Name: u.Name, PasswordHash: hash, DisplayName: u.DisplayName, LinkHash: link})
	if errors.Is(err, sql.ErrExists) {
		if err := s.Store.LinkTried(c.UserContext(), link, linkNames); err != nil {
			return err
		}
		return nameTaken(u.Name)
	}
	if err != nil {
		return err
	}
	forgetToken(c, linkCookie, letters.LinkPath)
	return s.welcome(c, u.Name, space)
}

// resetByLink gives the owner of a link the password that they chose, and revokes the keys that they ticked.
func (s *Room) resetByLink(c *fiber.Ctx, l judge.Link) (name string, sessions int64, err error) {
	ctx := c.UserContext()
	u, err := s.Store.User(ctx, l.User)
	if err != nil {
		return "", 0, err
	}
	hash, err := s.chosen(c, *u)
	if err != nil {
		return "", 0, err
	}
	var revoke []int64
	for _, text := range site.FormValues(c, "revoke") {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil && len(revoke) < people.MaxKeys {
			revoke = append(revoke, id)
		}
	}
	return s.Store.TakeReset(ctx, people.HashToken(c.Cookies(linkCookie)), hash, revoke, lettersIn(c))
}
