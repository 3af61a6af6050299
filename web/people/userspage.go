package people

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/factors"
	"deepoj/web/site"
)

// maxNewUsers bounds the accounts that a form makes: hashing their passwords takes its time.
const maxNewUsers = 50

// madeUser is an account that was made just now, with its one-time password.
type madeUser struct{ Name, Password string }

type usersView struct {
	Filter   sql.UserFilter
	Filtered bool
	Rows     []judge.User
	More     string // address of the next page, "" at the end
	Roles    []judge.Role

	Made  []madeUser
	Names string // what was typed, where the form comes back
	Role  judge.Role
	Fault *site.Fault // why it does
}

func (s *Room) usersPage(c *fiber.Ctx) error {
	return s.showUsers(c, fiber.StatusOK, usersView{Role: judge.RoleContestant})
}

func (s *Room) showUsers(c *fiber.Ctx, status int, view usersView) (err error) {
	if view.Filter, err = site.UserFilterOf(c); err != nil {
		return err
	}
	rows, next, err := s.listUsers(c.UserContext(), view.Filter)
	if err != nil {
		return err
	}
	view.Rows, view.Roles = rows, judge.Roles
	view.Filtered = view.Filter.Prefix != "" || view.Filter.Role != ""
	if next != "" {
		q := url.Values{"after": {next}}
		for _, name := range []string{"prefix", "role", "limit"} {
			if value := c.Query(name); value != "" {
				q.Set(name, value)
			}
		}
		view.More = "/users?" + q.Encode()
	}
	return s.Page(c, status, "users", "Users", view)
}

// createUsersForm handles POST /users: it makes an account for each name. Their
// passwords are on the page that answers and nowhere else.
func (s *Room) createUsersForm(c *fiber.Ctx) error {
	view := usersView{Names: c.FormValue("names"), Role: judge.Role(c.FormValue("role"))}
	names := strings.FieldsFunc(view.Names, func(r rune) bool { return strings.ContainsRune(" ,;\r\n\t", r) })
	var wrong site.WrongFields
	if len(names) == 0 {
		wrong.Add(site.WrongField("names", site.ReasonEmpty, "Name at least one account."))
	}
	if len(names) > maxNewUsers {
		wrong.Add(site.WrongField("names", "too_many", "At most %d accounts are made at once.", maxNewUsers))
	}
	for i, name := range names {
		if e := people.CheckUserName(name); e != nil {
			wrong.Add(site.WrongField("names", e.Reason, "%s: %s", site.Shorten(name), site.FieldSaid(e)))
		} else if slices.Contains(names[:i], name) {
			wrong.Add(site.WrongField("names", "duplicate", "%s is there twice.", name))
		}
		if len(wrong) == maxNewUsers {
			break
		}
	}
	wrong.Add(people.CheckRole(view.Role))
	if err := wrong.Err(); err != nil {
		view.Fault = s.Explain(c.UserContext(), err)
		return s.showUsers(c, view.Fault.Status, view)
	}
	if view.Role != judge.RoleContestant {
		if err := s.NeedConfirmation(c, makesAccount); err != nil {
			return err
		}
	}
	for i, name := range names {
		password, err := s.createUser(c.UserContext(), name, view.Role, site.ViewerOf(c).Name)
		if err != nil { // those before it are made, so their passwords have to be shown
			view.Fault, view.Names = s.Explain(c.UserContext(), err), strings.Join(names[i:], "\n")
			if view.Fault.Field != "" {
				told := *view.Fault
				told.Field = "names"
				view.Fault = &told
			}
			return s.showUsers(c, view.Fault.Status, view)
		}
		view.Made = append(view.Made, madeUser{name, password})
	}
	view.Names = ""
	return s.showUsers(c, fiber.StatusCreated, view)
}

type userView struct {
	User     *judge.User
	Roles    []judge.Role
	Password string      // that was given just now
	Fault    *site.Fault // why the last change was refused
	Keys     keysView
	Factors  factors.View
}

func (s *Room) userPage(c *fiber.Ctx) error { return s.showUser(c, fiber.StatusOK, userView{}) }

func (s *Room) showUser(c *fiber.Ctx, status int, view userView) (err error) {
	if view.User, err = s.NamedAccount(c); err != nil {
		return err
	}
	if view.Keys, err = s.keysOf(c.UserContext(), view.User.Name, view.User.Role); err != nil {
		return err
	}
	if view.Factors, err = s.Factors.Of(c, view.User); err != nil {
		return err
	}
	view.Roles, view.Keys.Owner = judge.Roles, site.UserURL(view.User.Name)
	return s.Page(c, status, "user", "%s", view, view.User.Name)
}

// userForm makes a handler of a form on the page of an account.
func (s *Room) userForm(change func(c *fiber.Ctx) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := change(c); err != nil {
			f := s.Explain(c.UserContext(), err)
			if f.Reason == "last_admin" || f.Reason == "no_factor" || f.Field != "" {
				return s.showUser(c, f.Status, userView{Fault: f})
			}
			return err
		}
		return site.SeeDone(c, site.DoneSaved, site.UserURL(c.Params("name")))
	}
}

// resetForm handles POST /users/:name/password. The password is on the page that answers and nowhere else.
func (s *Room) resetForm(c *fiber.Ctx) error {
	_, password, err := s.resetPassword(c)
	if err != nil {
		return err
	}
	return s.showUser(c, fiber.StatusOK, userView{Password: password})
}
