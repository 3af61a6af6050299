package people

import (
	"context"
	"encoding/base64"
	"errors"
	"html/template"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/people"
	"deepoj/host/roster"
	"deepoj/sql"
	"deepoj/web/site"
)

// shownSteps is how many lines of a list the preview shows.
const shownSteps = 200

// ImportTarget is where a list of people goes.
type ImportTarget struct {
	Space *site.SpaceView // all are for this space; nil = the list says for each
	Fill  bool            // accounts that there are get the display name and address that they lack
}

// slug is the space's short name; "" = the list says it.
func (t ImportTarget) slug() string {
	if t.Space == nil {
		return ""
	}
	return t.Space.Slug
}

// subject is what the audit log says that a list was imported into.
func (t ImportTarget) subject() string {
	if t.Space == nil {
		return "users"
	}
	return "space:" + t.Space.Slug
}

// importView is the page where a list of people is imported.
type importView struct {
	Space  *site.SpaceView
	Action string
	Sends  bool // letters can be sent

	Text   string
	Invite bool
	Plan   *roster.Plan // what would become of the list
	Shown  []roster.Step
	Rest   int

	Done  bool
	Given []roster.Given
	Table template.URL // the passwords as a file, which is nowhere but on this page
	Fault *site.Fault
}

// importPage handles GET /users/import, for administrators.
func (s *Room) importPage(c *fiber.Ctx) error {
	return s.ShowImport(c, ImportTarget{Fill: true})
}

// importForm handles POST /users/import.
func (s *Room) importForm(c *fiber.Ctx) error {
	return s.ImportForm(c, ImportTarget{Fill: true})
}

// ShowImport shows the empty form.
func (s *Room) ShowImport(c *fiber.Ctx, t ImportTarget) error {
	return s.showImport(c, fiber.StatusOK, t, importView{})
}

func (s *Room) showImport(c *fiber.Ctx, status int, t ImportTarget, view importView) error {
	view.Space, view.Sends, view.Action = t.Space, s.Config.Mail != nil, "/users/import"
	if t.Space != nil {
		view.Action = t.Space.URL() + "/import"
	}
	if view.Plan != nil {
		n := min(len(view.Plan.Steps), shownSteps)
		view.Shown, view.Rest = view.Plan.Steps[:n], len(view.Plan.Steps)-n
	}
	return s.Page(c, status, "userimport", "Import people", view)
}

// ImportForm shows what would become of a list, or does it if the form says so. A list with a mistake in any line changes nothing.
func (s *Room) ImportForm(c *fiber.Ctx, t ImportTarget) error {
	view := importView{Text: c.FormValue("text"), Invite: c.FormValue("passwords") == "invite" && s.Config.Mail != nil}
	if file, err := c.FormFile("list"); err == nil && file.Size > 0 {
		body, err := site.ReadFormFile(file)
		if err != nil {
			return err
		}
		view.Text = string(body)
	}
	if c.FormValue("step") != "import" {
		plan, err := s.preview(c.UserContext(), t, view.Text)
		if err != nil {
			return err
		}
		view.Plan = plan
		status := fiber.StatusOK
		if !plan.OK() {
			status = fiber.StatusUnprocessableEntity
		}
		return s.showImport(c, status, t, view)
	}
	plan, given, err := s.importList(c, t, view.Text, view.Invite)
	if err != nil {
		if view.Fault = s.Explain(c.UserContext(), err); view.Fault.Field == "" {
			return err
		}
		return s.showImport(c, view.Fault.Status, t, view)
	}
	view.Plan = plan
	if !plan.OK() {
		return s.showImport(c, fiber.StatusUnprocessableEntity, t, view)
	}
	view.Done, view.Given, view.Text = true, given, ""
	view.Table = template.URL("data:text/csv;charset=utf-8;base64," + base64.StdEncoding.EncodeToString(roster.Passwords(given)))
	return s.showImport(c, fiber.StatusCreated, t, view)
}

// preview says what would become of a list.
func (s *Room) preview(ctx context.Context, t ImportTarget, text string) (*roster.Plan, error) {
	list := roster.Read([]byte(text), t.slug())
	known, err := s.Store.Known(ctx, list.Asks())
	if err != nil {
		return nil, err
	}
	plan := list.Plan(known, t.Fill)
	return plan, plan.CheckPasswords()
}

// errList says that a list has mistakes, which its plan names.
var errList = errors.New("the list has mistakes")

// importList does what the preview says, all of it or, with a mistake in any line, nothing. It returns the passwords
// that were made, which nobody can read again.
func (s *Room) importList(c *fiber.Ctx, t ImportTarget, text string, invite bool) (plan *roster.Plan, given []roster.Given, err error) {
	ctx := c.UserContext()
	if plan, err = s.preview(ctx, t, text); err != nil || !plan.OK() {
		return plan, nil, err
	}
	if plan.Staff {
		if err := s.NeedConfirmation(c, "give somebody more rights in a space than a contestant's"); err != nil {
			return plan, nil, err
		}
	}
	hashes := map[string]string{}
	for _, step := range plan.Steps {
		if step.Does != roster.Makes || invite && step.Email != "" && step.Password == "" {
			continue
		}
		if step.Password != "" {
			if hashes[step.Name], err = s.Hash(ctx, step.Password); err != nil {
				return plan, nil, err
			}
			continue
		}
		password, hash, err := people.MadePassword()
		if err != nil {
			return plan, nil, err
		}
		hashes[step.Name] = hash
		given = append(given, roster.Given{Name: step.Name, DisplayName: step.DisplayName, Password: password})
	}
	list := plan.List
	err = s.Store.Enrol(ctx, list.Asks(), site.ViewerOf(c).Name, t.subject(), func(known sql.Known) (sql.Enrolment, error) {
		now := list.Plan(known, t.Fill) // somebody may have been faster
		for i, step := range now.Steps {
			if (step.Does == roster.Makes) != (plan.Steps[i].Does == roster.Makes) {
				return sql.Enrolment{}, sql.ErrExists
			}
		}
		if plan = now; !now.OK() {
			return sql.Enrolment{}, errList
		}
		all := now.Enrolment(hashes, people.AbsentPassword)
		all.Language = lettersIn(c)
		return all, nil
	})
	switch {
	case errors.Is(err, errList):
		return plan, nil, nil
	case errors.Is(err, sql.ErrExists), errors.Is(err, sql.ErrEmailTaken):
		return plan, nil, site.WrongField("text", "duplicate", "Somebody made one of the accounts meanwhile. Nothing was imported: look at the preview again.")
	}
	if err == nil {
		s.Letters.Wake()
	}
	return plan, given, err
}

// ImportedJSON is what came, or would come, of a list.
type ImportedJSON struct {
	Imported bool             `json:"imported"` // false: a preview, or there are problems, and nothing has changed
	Made     int              `json:"made"`
	Filled   int              `json:"filled"` // accounts that got a display name or address that they lacked
	Joined   int              `json:"joined"` // accounts that were there and joined a space
	Same     int              `json:"same"`
	Problems []roster.Mistake `json:"problems"`
	More     int              `json:"more_problems"`
	Given    []roster.Given   `json:"passwords"` // that were made, which nobody can read again
}

// ImportIn is what is sent to import a list.
var ImportIn = fiber.Map{"csv": "", "?preview": false, "?invite": false}

// apiImport handles POST /api/v1/users/import.
func (s *Room) apiImport(c *fiber.Ctx) error { return s.APIImport(c, ImportTarget{Fill: true}) }

// APIImport handles a list that is sent as {"csv", "preview", "invite"}.
func (s *Room) APIImport(c *fiber.Ctx, t ImportTarget) error {
	f, err := site.ReadFields(c, "csv", "preview", "invite")
	if err != nil {
		return err
	}
	text, preview, invite := f.Text("csv"), false, false
	f.Value("preview", "a truth value", &preview)
	f.Value("invite", "a truth value", &invite)
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if invite && s.Config.Mail == nil {
		return noMail()
	}
	var plan *roster.Plan
	var given []roster.Given
	if preview {
		plan, err = s.preview(c.UserContext(), t, text)
	} else {
		plan, given, err = s.importList(c, t, text, invite)
	}
	if err != nil {
		return err
	}
	out := ImportedJSON{
		Imported: !preview && plan.OK(), Made: plan.Counts[roster.Makes], Filled: plan.Counts[roster.Fills], Joined: plan.Counts[roster.Joins], Same: plan.Counts[roster.Stays],
		Problems: plan.Problems, More: plan.More, Given: given,
	}
	if out.Problems == nil {
		out.Problems = []roster.Mistake{}
	}
	if out.Given == nil {
		out.Given = []roster.Given{}
	}
	return c.JSON(out)
}
