package people

import (
	"errors"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// limitAsking refuses whoever asks for too much from one network.
func (s *Room) limitAsking(c *fiber.Ctx) error {
	return s.asked.Take(s.loginPlace(c, nil), time.Now())
}

// lettersIn is the language of letters that a request asks for: that of its page, or the one that a program asks for.
func lettersIn(c *fiber.Ctx) string {
	v := site.ViewerOf(c)
	switch {
	case site.WantsPage(c):
		return site.LocaleOf(c).Name()
	case v.Language != "":
		return v.Language
	}
	return locale.Accepted(c.Get(fiber.HeaderAcceptLanguage))
}

// askView is the page where people ask for a letter.
type askView struct {
	Sends bool // letters can be sent
	Open  bool // the form is for whoever asks
	Sent  bool // a letter is on its way, if there is anybody to get it
	Asked string
	Fault *site.Fault

	Domains     []string // of the addresses that are taken; none = all
	Space       string   // title of the space that an invitation is into
	Name        string   // without letters: the account is made at once
	DisplayName string
}

// Endings are how the addresses end that are taken.
func (view askView) Endings() any { return endings(view.Domains) }

// endings names domains as addresses end in them.
func endings(domains []string) any {
	at := make([]string, len(domains))
	for i, d := range domains {
		at[i] = "@" + d
	}
	return site.Either(at)
}

// resetPage handles GET /login/reset.
func (s *Room) resetPage(c *fiber.Ctx) error {
	return s.Page(c, fiber.StatusOK, "reset", "Another password", askView{Sends: s.Config.Mail != nil})
}

// askReset handles POST /login/reset with the name or address of an account. It answers the same whether there is one.
func (s *Room) askReset(c *fiber.Ctx) error {
	view := askView{Sends: s.Config.Mail != nil, Asked: strings.TrimSpace(c.FormValue("account"))}
	err := s.reset(c, view.Asked)
	if err == nil {
		view.Sent = true
		return s.Page(c, fiber.StatusOK, "reset", "Another password", view)
	}
	if view.Fault = s.Explain(c.UserContext(), err); view.Fault.Field == "" {
		return err
	}
	return s.Page(c, view.Fault.Status, "reset", "Another password", view)
}

// reset has a letter sent to the owner of an account that is named by its name or address.
func (s *Room) reset(c *fiber.Ctx, account string) error {
	if s.Config.Mail == nil {
		return noMail()
	}
	if err := s.limitAsking(c); err != nil {
		return err
	}
	account = people.CleanEmail(account)
	if len(account) == 0 || len(account) > 254 || !site.PlainWord(account) {
		return site.WrongField("account", site.ReasonInvalid, "Give the name of the account or its e-mail address.")
	}
	return s.Letters.Ask(c.UserContext(), judge.Letter{Kind: judge.LetterReset, Asked: account, Language: lettersIn(c)})
}

func noMail() error {
	return site.Refuse(fiber.StatusNotFound, "no_mail", "This site sends no letters.", "Ask whoever runs it.")
}

// invited returns what the invitation that a browser came by is into, if it works.
func (s *Room) invited(c *fiber.Ctx) (sql.Invited, error) {
	if s.Config.Registration == site.RegisterOff {
		return sql.Invited{}, nil
	}
	i, err := s.Store.Invitation(c.UserContext(), people.HashToken(c.Cookies(joinCookie)))
	if errors.Is(err, sql.ErrNotFound) {
		return sql.Invited{}, nil
	}
	return i, err
}

// registration is the page of registering as the browser that asks may use it.
func (s *Room) registration(c *fiber.Ctx) (view askView, i sql.Invited, err error) {
	if i, err = s.invited(c); err != nil {
		return view, i, err
	}
	view = askView{Sends: s.Config.Mail != nil, Open: i.ID != 0 || s.Config.Registration == site.RegisterOpen || s.Config.Registration == site.RegisterDomain, Space: i.Title}
	if s.Config.Registration == site.RegisterDomain && i.ID == 0 {
		view.Domains = s.Config.RegistrationDomains
	}
	return view, i, nil
}

// registerPage handles GET /register.
func (s *Room) registerPage(c *fiber.Ctx) error {
	if !site.ViewerOf(c).Guest() {
		return c.Redirect("/account", fiber.StatusSeeOther)
	}
	view, _, err := s.registration(c)
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "register", "Make an account", view)
}

// register handles POST /register with an address: a letter goes there, whether it is that of an account or not. Where
// no letters are sent, an invitation is enough to make the account at once.
func (s *Room) register(c *fiber.Ctx) error {
	view, i, err := s.registration(c)
	if err != nil {
		return err
	}
	switch {
	case !view.Open:
		return closedRegistration()
	case view.Sends:
		view.Asked = strings.TrimSpace(c.FormValue("email"))
		if err = s.askRegistration(c, view.Asked, view.Domains, i.ID); err == nil {
			view.Sent = true
			return s.Page(c, fiber.StatusOK, "register", "Make an account", view)
		}
	default:
		view.Name, view.DisplayName = strings.TrimSpace(c.FormValue("name")), people.CleanDisplayName(c.FormValue("display_name"))
		if err = s.registerInvited(c, judge.User{Name: view.Name, DisplayName: view.DisplayName}, i.ID); err == nil {
			return nil
		}
	}
	if view.Fault = s.Explain(c.UserContext(), err); view.Fault.Field == "" {
		return err
	}
	return s.Page(c, view.Fault.Status, "register", "Make an account", view)
}

func closedRegistration() error {
	return site.Refuse(fiber.StatusNotFound, "registration_closed", "Nobody makes an account here for themselves without an invitation.", "Ask whoever runs the site, or have yourself invited.")
}

// askRegistration has a letter sent to an address, of one of the domains if there are any.
func (s *Room) askRegistration(c *fiber.Ctx, email string, domains []string, invitation int64) error {
	if err := s.limitAsking(c); err != nil {
		return err
	}
	email = people.CleanEmail(email)
	if e := people.CheckEmail(email); e != nil {
		return e
	}
	if len(domains) > 0 && !people.MayRegister(email, domains) {
		return site.WrongField("email", "not_allowed", "The address has to end in %s.", endings(domains))
	}
	return s.Letters.Ask(c.UserContext(), judge.Letter{Kind: judge.LetterRegister, Asked: email, Invitation: invitation, Language: lettersIn(c)})
}

// registerInvited makes the account of who comes by an invitation, where no letters are sent.
func (s *Room) registerInvited(c *fiber.Ctx, u judge.User, invitation int64) error {
	if err := s.limitAsking(c); err != nil {
		return err
	}
	hash, err := s.checkRegistration(c, u)
	if err != nil {
		return err
	}
	space, err := s.Store.Register(c.UserContext(), sql.Registration{Name: u.Name, PasswordHash: hash, DisplayName: u.DisplayName, Invitation: invitation})
	if errors.Is(err, sql.ErrExists) {
		return nameTaken(u.Name)
	}
	if err != nil {
		return err
	}
	return s.welcome(c, u.Name, space)
}

func nameTaken(name string) error {
	return site.WrongField("name", "duplicate", "The name %s is taken. Choose another.", name)
}

// checkRegistration checks what somebody fills in who makes an account, and returns the hash of the password.
func (s *Room) checkRegistration(c *fiber.Ctx, u judge.User) (hash string, err error) {
	var wrong site.WrongFields
	wrong.Add(people.CheckUserName(u.Name))
	wrong.Add(people.CheckDisplayName(u.DisplayName))
	if err := wrong.Err(); err != nil {
		return "", err
	}
	return s.chosen(c, u)
}

// chosen checks the password that a form has twice, and returns its hash.
func (s *Room) chosen(c *fiber.Ctx, u judge.User) (hash string, err error) {
	fresh := c.FormValue("new")
	if fresh != c.FormValue("again") {
		return "", site.WrongField("again", site.ReasonInvalid, "The two new passwords differ.")
	}
	e, err := people.CheckNewPassword("new", fresh, u)
	if err != nil {
		return "", err
	}
	if e != nil {
		return "", e
	}
	return s.Hash(c.UserContext(), fresh)
}

// welcome logs somebody in who has just made their account, and leads them on.
func (s *Room) welcome(c *fiber.Ctx, name, space string) error {
	u, err := s.Store.User(c.UserContext(), name)
	if err != nil {
		return err
	}
	token, expires, err := s.newSession(c.UserContext(), u, s.Store.SaveSession)
	if err != nil {
		return err
	}
	next := "/"
	if space != "" {
		forgetToken(c, joinCookie, "/")
		next = site.SpaceURL(space)
	}
	return s.enter(c, token, expires, next)
}
