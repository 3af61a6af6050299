package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/site"
)

// userJSON is an account, for administrators and its owner.
type userJSON struct {
	Name     string     `json:"name"`
	Role     judge.Role `json:"role"`
	Created  time.Time  `json:"created_at"`
	Disabled *time.Time `json:"disabled_at"` // null: may log in
	OneTime  bool       `json:"one_time"`    // the password has to be changed first

	DisplayName string  `json:"display_name"` // what people call them; "" = by their name
	Email       *string `json:"email"`        // null: none
}

func publicUser(u *judge.User) userJSON {
	return userJSON{Name: u.Name, Role: u.Role, Created: u.Created, Disabled: u.Disabled, OneTime: u.OneTime, DisplayName: u.DisplayName, Email: site.OrNull(u.Email)}
}

// listUsers returns a page of accounts and the cursor of the next one, "" at the end.
func (s *Room) listUsers(ctx context.Context, f sql.UserFilter) (users []judge.User, next string, err error) {
	if users, err = s.Store.Users(ctx, f); err != nil {
		return nil, "", err
	}
	if len(users) == f.Limit {
		next = users[len(users)-1].Name
	}
	return users, next, nil
}

// apiUsers handles GET /api/v1/users?prefix=&role=&after=&limit=: accounts by name.
func (s *Room) apiUsers(c *fiber.Ctx) error {
	f, err := site.UserFilterOf(c)
	if err != nil {
		return err
	}
	found, next, err := s.listUsers(c.UserContext(), f)
	if err != nil {
		return err
	}
	out := make([]userJSON, len(found))
	for i := range found {
		out[i] = publicUser(&found[i])
	}
	return c.JSON(fiber.Map{"users": out, "next": site.OrNull(next)})
}

// apiCreateUser handles POST /api/v1/users with {"name", "role"}: it answers with
// a password that works until it is changed, which nobody can read again.
func (s *Room) apiCreateUser(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "name", "role")
	if err != nil {
		return err
	}
	name, role := f.Text("name"), judge.RoleContestant
	if f.Has("role") {
		role = judge.Role(f.Text("role"))
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if role != judge.RoleContestant {
		if err := s.NeedConfirmation(c, makesAccount); err != nil {
			return err
		}
	}
	password, err := s.createUser(c.UserContext(), name, role, site.ViewerOf(c).Name)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(fiber.Map{"name": name, "role": role, "password": password})
}

// createUser makes an account and returns its one-time password.
func (s *Room) createUser(ctx context.Context, name string, role judge.Role, by string) (string, error) {
	var wrong site.WrongFields
	wrong.Add(people.CheckUserName(name))
	wrong.Add(people.CheckRole(role))
	if err := wrong.Err(); err != nil {
		return "", err
	}
	password, hash, err := s.oneTimePassword(ctx)
	if err != nil {
		return "", err
	}
	err = s.Store.CreateUser(ctx, sql.NewUser{Name: name, PasswordHash: hash, Role: role, OneTime: true, By: by})
	if errors.Is(err, sql.ErrExists) {
		return "", site.WrongField("name", "duplicate", "There is an account %s already.", name)
	}
	return password, err
}

// apiUser handles GET /api/v1/users/:name.
func (s *Room) apiUser(c *fiber.Ctx) error {
	u, err := s.NamedAccount(c)
	if err != nil {
		return err
	}
	return c.JSON(publicUser(u))
}

// apiSetRole handles POST /api/v1/users/:name/role with {"role"}.
func (s *Room) apiSetRole(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "role")
	if err != nil {
		return err
	}
	role := judge.Role(f.Text("role"))
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.setRole(c, role); err != nil {
		return err
	}
	return s.apiUser(c)
}

// setRole changes the role of the account that the address names.
func (s *Room) setRole(c *fiber.Ctx, role judge.Role) error {
	if e := people.CheckRole(role); e != nil {
		return e
	}
	u, err := s.NamedAccount(c)
	if err != nil {
		return err
	}
	return lastAdmin(s.Store.SetRole(c.UserContext(), u.Name, role, site.ViewerOf(c).Name))
}

// apiDisable handles POST /api/v1/users/:name/disable and …/enable.
func (s *Room) apiDisable(disabled bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.disable(c, disabled); err != nil {
			return err
		}
		return s.apiUser(c)
	}
}

// disable says whether the owner of the account that the address names may not log in.
func (s *Room) disable(c *fiber.Ctx, disabled bool) error {
	u, err := s.NamedAccount(c)
	if err != nil {
		return err
	}
	return lastAdmin(s.Store.Disable(c.UserContext(), u.Name, disabled, site.ViewerOf(c).Name))
}

func lastAdmin(err error) error {
	if errors.Is(err, sql.ErrLastAdmin) {
		return site.Refuse(fiber.StatusConflict, "last_admin", "There is no other administrator, so nobody could undo this.",
			"Give another account the role admin first.")
	}
	return err
}

// apiResetPassword handles POST /api/v1/users/:name/password: it answers with a
// password that works until it is changed.
func (s *Room) apiResetPassword(c *fiber.Ctx) error {
	name, password, err := s.resetPassword(c)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"name": name, "password": password})
}

// resetPassword gives the account that the address names a one-time password.
func (s *Room) resetPassword(c *fiber.Ctx) (name, password string, err error) {
	u, err := s.NamedAccount(c)
	if err != nil {
		return "", "", err
	}
	password, hash, err := s.oneTimePassword(c.UserContext())
	if err != nil {
		return "", "", err
	}
	if err := s.Store.ResetPassword(c.UserContext(), u.Name, hash, site.ViewerOf(c).Name); err != nil {
		return "", "", err
	}
	return u.Name, password, nil
}

// oneTimePassword makes a password and its hash.
func (s *Room) oneTimePassword(ctx context.Context) (password, hash string, err error) {
	err = s.bounded(ctx, func() (err error) {
		password, hash, err = people.OneTimePassword()
		return err
	})
	if err != nil {
		return "", "", fmt.Errorf("make a password: %w", err)
	}
	return password, hash, nil
}
