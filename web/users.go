package web

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// userName is what new accounts may be called: in one case, so that nobody takes
// a name that looks like another, and without what an address would change.
var userName = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{0,63}$`)

// CheckUserName reports why a new account may not have the name, or nil.
func CheckUserName(name string) *judge.FieldError {
	switch {
	case !userName.MatchString(name):
		return wrongField("name", reasonInvalid, "A name has up to 64 of a to z, 0 to 9 and . _ @ -, and begins with a letter or digit.")
	case name == guestName:
		return wrongField("name", reasonInvalid, "This name is that of whoever has no account.")
	}
	return nil
}

// CheckRole reports why a text names no role, or nil.
func CheckRole(role sql.Role) *judge.FieldError {
	if !slices.Contains(sql.Roles, role) {
		return wrongField("role", reasonUnknown, "There is no role %q; the roles are contestant, setter, staff and admin.", shorten(string(role)))
	}
	return nil
}

// requireAdmin lets only administrators in.
func (s *Server) requireAdmin(c *fiber.Ctx) error {
	if !viewerOf(c).Admin() {
		return refuse(fiber.StatusForbidden, "forbidden", "Only administrators may do this.", "Log in with an account that has the role admin.")
	}
	return c.Next()
}

// userJSON is an account, for administrators and its owner.
type userJSON struct {
	Name     string     `json:"name"`
	Role     sql.Role   `json:"role"`
	Created  time.Time  `json:"created_at"`
	Disabled *time.Time `json:"disabled_at"` // null: may log in
	OneTime  bool       `json:"one_time"`    // the password has to be changed first
}

func publicUser(u *sql.User) userJSON {
	return userJSON{Name: u.Name, Role: u.Role, Created: u.Created, Disabled: u.Disabled, OneTime: u.OneTime}
}

// userFilterOf reads the filter of the list of accounts.
func userFilterOf(c *fiber.Ctx) (sql.UserFilter, error) {
	f := sql.UserFilter{Prefix: c.Query("prefix"), Role: sql.Role(c.Query("role")), After: c.Query("after"), Limit: pageSize}
	var wrong wrongFields
	for name, value := range map[string]string{"prefix": f.Prefix, "after": f.After} {
		if value != "" && !plainWord(value) {
			wrong.add(wrongField(name, reasonInvalid, "The value is not a name."))
		}
	}
	if f.Role != "" {
		wrong.add(CheckRole(f.Role))
	}
	if text := c.Query("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			wrong.add(wrongField("limit", reasonInvalid, "The limit has to be a whole number from 1 to %d.", maxPage))
		}
		f.Limit = n
	}
	return f, wrong.err()
}

// listUsers returns a page of accounts and the cursor of the next one, "" at the
// end.
func (s *Server) listUsers(ctx context.Context, f sql.UserFilter) (users []sql.User, next string, err error) {
	if users, err = s.store.Users(ctx, f); err != nil {
		return nil, "", err
	}
	if len(users) == f.Limit {
		next = users[len(users)-1].Name
	}
	return users, next, nil
}

// apiUsers handles GET /api/v1/users?prefix=&role=&after=&limit=: accounts by
// name.
func (s *Server) apiUsers(c *fiber.Ctx) error {
	f, err := userFilterOf(c)
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
	return c.JSON(fiber.Map{"users": out, "next": orNull(next)})
}

// orNull is a text, or null where it is empty.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// apiCreateUser handles POST /api/v1/users with {"name", "role"}: it answers with
// a password that works until it is changed, which nobody can read again.
func (s *Server) apiCreateUser(c *fiber.Ctx) error {
	f, err := readFields(c, "name", "role")
	if err != nil {
		return err
	}
	name, role := f.text("name"), sql.RoleContestant
	if f.has("role") {
		role = sql.Role(f.text("role"))
	}
	if err := f.wrong.err(); err != nil {
		return err
	}
	if role != sql.RoleContestant {
		if err := s.needConfirmation(c, makesAccount); err != nil {
			return err
		}
	}
	password, err := s.createUser(c.UserContext(), name, role, viewerOf(c).Name)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(fiber.Map{"name": name, "role": role, "password": password})
}

// createUser makes an account and returns its one-time password.
func (s *Server) createUser(ctx context.Context, name string, role sql.Role, by string) (string, error) {
	var wrong wrongFields
	wrong.add(CheckUserName(name))
	wrong.add(CheckRole(role))
	if err := wrong.err(); err != nil {
		return "", err
	}
	password, hash, err := s.oneTimePassword(ctx)
	if err != nil {
		return "", err
	}
	err = s.store.CreateUser(ctx, sql.NewUser{Name: name, PasswordHash: hash, Role: role, OneTime: true, By: by})
	if errors.Is(err, sql.ErrExists) {
		return "", wrongField("name", "duplicate", "There is an account %s already.", name)
	}
	return password, err
}

// apiUser handles GET /api/v1/users/:name.
func (s *Server) apiUser(c *fiber.Ctx) error {
	u, err := s.userOf(c)
	if err != nil {
		return err
	}
	return c.JSON(publicUser(u))
}

// userOf returns the account that the address names.
func (s *Server) userOf(c *fiber.Ctx) (*sql.User, error) {
	name := c.Params("name")
	if !plainWord(name) {
		return nil, sql.ErrNotFound
	}
	return s.store.User(c.UserContext(), name)
}

// apiSetRole handles POST /api/v1/users/:name/role with {"role"}.
func (s *Server) apiSetRole(c *fiber.Ctx) error {
	f, err := readFields(c, "role")
	if err != nil {
		return err
	}
	role := sql.Role(f.text("role"))
	if err := f.wrong.err(); err != nil {
		return err
	}
	if err := s.setRole(c, role); err != nil {
		return err
	}
	return s.apiUser(c)
}

// setRole changes the role of the account that the address names.
func (s *Server) setRole(c *fiber.Ctx, role sql.Role) error {
	if e := CheckRole(role); e != nil {
		return e
	}
	u, err := s.userOf(c)
	if err != nil {
		return err
	}
	return lastAdmin(s.store.SetRole(c.UserContext(), u.Name, role, viewerOf(c).Name))
}

// apiDisable handles POST /api/v1/users/:name/disable and …/enable.
func (s *Server) apiDisable(disabled bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.disable(c, disabled); err != nil {
			return err
		}
		return s.apiUser(c)
	}
}

// disable says whether the owner of the account that the address names may not
// log in.
func (s *Server) disable(c *fiber.Ctx, disabled bool) error {
	u, err := s.userOf(c)
	if err != nil {
		return err
	}
	return lastAdmin(s.store.Disable(c.UserContext(), u.Name, disabled, viewerOf(c).Name))
}

func lastAdmin(err error) error {
	if errors.Is(err, sql.ErrLastAdmin) {
		return refuse(fiber.StatusConflict, "last_admin", "There is no other administrator, so nobody could undo this.",
			"Give another account the role admin first.")
	}
	return err
}

// apiResetPassword handles POST /api/v1/users/:name/password: it answers with a
// password that works until it is changed.
func (s *Server) apiResetPassword(c *fiber.Ctx) error {
	name, password, err := s.resetPassword(c)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"name": name, "password": password})
}

// resetPassword gives the account that the address names a one-time password.
func (s *Server) resetPassword(c *fiber.Ctx) (name, password string, err error) {
	u, err := s.userOf(c)
	if err != nil {
		return "", "", err
	}
	password, hash, err := s.oneTimePassword(c.UserContext())
	if err != nil {
		return "", "", err
	}
	if err := s.store.ResetPassword(c.UserContext(), u.Name, hash, viewerOf(c).Name); err != nil {
		return "", "", err
	}
	return u.Name, password, nil
}

// oneTimePassword makes a password and its hash.
func (s *Server) oneTimePassword(ctx context.Context) (password, hash string, err error) {
	err = s.bounded(ctx, func() (err error) {
		password, hash, err = OneTimePassword()
		return err
	})
	if err != nil {
		return "", "", fmt.Errorf("make a password: %w", err)
	}
	return password, hash, nil
}
