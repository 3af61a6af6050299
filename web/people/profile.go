package people

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// changesEmail is what is asked for where somebody gives their address.
const changesEmail = "change the e-mail address of your account"

// profileView is the part of the page of an account that says who somebody is.
type profileView struct {
	DisplayName, Email string
	Sends              bool            // letters can be sent
	Saved              locale.Sentence // what has just been done; without a key nothing was
	Fault              *site.Fault
}

// profileForm handles POST /account/name with a display name.
func (s *Room) profileForm(c *fiber.Ctx) error {
	name := people.CleanDisplayName(c.FormValue("display_name"))
	err := s.setDisplayName(c, name)
	return s.showProfile(c, err, profileView{DisplayName: name, Saved: locale.Sentence{Key: "Your display name is saved."}})
}

// emailForm handles POST /account/email with an address; without one it is taken away.
func (s *Room) emailForm(c *fiber.Ctx) error {
	email := people.CleanEmail(c.FormValue("email"))
	err := s.askEmail(c, email)
	saved := locale.Sentence{Key: "A letter goes to %s. The address is yours here when you have opened the link in it.", Args: []any{email}}
	if email == "" {
		saved = locale.Sentence{Key: "Your account has no e-mail address now."}
	}
	return s.showProfile(c, err, profileView{Email: email, Saved: saved})
}

// showProfile shows the page of one's own account after a change of it, or after one that was refused.
func (s *Room) showProfile(c *fiber.Ctx, err error, view profileView) error {
	if err == nil {
		return s.showAccount(c, fiber.StatusOK, accountView{Profile: profileView{Saved: view.Saved}}, nil)
	}
	if view.Fault = s.Explain(c.UserContext(), err); view.Fault.Field == "" {
		return err
	}
	view.Saved = locale.Sentence{}
	return s.showAccount(c, view.Fault.Status, accountView{Profile: view}, nil)
}

// fillProfile fills what a form does not bring back.
func (s *Room) fillProfile(c *fiber.Ctx, view *profileView) error {
	u, err := s.OwnAccount(c)
	if err != nil {
		return err
	}
	view.Sends = s.Config.Mail != nil
	if !view.Fault.Names("display_name") {
		view.DisplayName = u.DisplayName
	}
	if !view.Fault.Names("email") {
		view.Email = u.Email
	}
	return nil
}

// setDisplayName says what people call whoever is logged in.
func (s *Room) setDisplayName(c *fiber.Ctx, name string) error {
	if e := people.CheckDisplayName(name); e != nil {
		return e
	}
	v := site.ViewerOf(c)
	return s.Store.SetDisplayName(c.UserContext(), v.Name, name, v.Name)
}

// askEmail has a letter sent to the address that somebody gives as theirs, or takes the address of the account away.
func (s *Room) askEmail(c *fiber.Ctx, email string) error {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	if email == "" {
		defer s.Letters.Wake()
		return s.Store.RemoveEmail(ctx, v.Name, lettersIn(c))
	}
	if s.Config.Mail == nil {
		return noMail()
	}
	if e := people.CheckEmail(email); e != nil {
		return e
	}
	if err := s.limitAsking(c); err != nil {
		return err
	}
	return s.Letters.Ask(ctx, judge.Letter{Kind: judge.LetterEmail, Asked: email, User: v.Name, Language: lettersIn(c)})
}

// apiChangeAccount handles PATCH /api/v1/account with {"display_name"}.
func (s *Room) apiChangeAccount(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "display_name")
	if err != nil {
		return err
	}
	name := people.CleanDisplayName(f.Text("display_name"))
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.setDisplayName(c, name); err != nil {
		return err
	}
	return s.apiAccount(c)
}

// apiChangeEmail handles POST /api/v1/account/email with {"email"}: a letter goes there; null takes the address away.
func (s *Room) apiChangeEmail(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "email")
	if err != nil {
		return err
	}
	email := ""
	if _, there := f.Raw["email"]; !there || f.Has("email") {
		email = people.CleanEmail(f.Text("email"))
		if len(f.Wrong) == 0 {
			f.Wrong.Add(people.CheckEmail(email))
		}
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.askEmail(c, email); err != nil {
		return err
	}
	return onItsWay(c)
}

// letterAsked is what whoever asked for a letter is told, whether there is anybody to get it.
type letterAsked struct {
	Detail string `json:"detail"`
}

func onItsWay(c *fiber.Ctx) error {
	return c.Status(fiber.StatusAccepted).JSON(letterAsked{"If there is somebody to get it, a letter is on its way. The link in it works once, for an hour."})
}

// apiAskReset handles POST /api/v1/password-resets with {"account"}: it answers the same whether there is one.
func (s *Room) apiAskReset(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "account")
	if err != nil {
		return err
	}
	account := f.Text("account")
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.reset(c, account); err != nil {
		return err
	}
	return onItsWay(c)
}

// apiRegister handles POST /api/v1/registrations with {"email", "invitation"}: it answers the same whether the address
// is that of an account. The account is made on the page that the letter leads to.
func (s *Room) apiRegister(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "email", "invitation")
	if err != nil {
		return err
	}
	email, token := f.Text("email"), ""
	if f.Has("invitation") {
		token = f.Text("invitation")
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if s.Config.Mail == nil {
		return noMail()
	}
	var domains []string
	i := sql.Invited{}
	if token != "" && s.Config.Registration != site.RegisterOff {
		i, err = s.Store.Invitation(c.UserContext(), people.HashToken(token))
		if errors.Is(err, sql.ErrNotFound) {
			return site.WrongField("invitation", site.ReasonUnknown, "The invitation does not work.")
		}
		if err != nil {
			return err
		}
	}
	switch {
	case i.ID != 0 || s.Config.Registration == site.RegisterOpen:
	case s.Config.Registration == site.RegisterDomain:
		domains = s.Config.RegistrationDomains
	default:
		return closedRegistration()
	}
	if err := s.askRegistration(c, email, domains, i.ID); err != nil {
		return err
	}
	return onItsWay(c)
}
