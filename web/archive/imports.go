package archive

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/restore"
	"deepoj/host/restore/reader"
	"deepoj/sql"
	"deepoj/web/site"
)

// Bounds of what comes in.
const (
	maxPackage = 256 << 20 // bytes, of the archive
	maxField   = 4 << 10   // bytes, of a field beside it
	shown      = 200       // findings and notes on the page
)

// asked is what was sent.
type asked struct {
	Space, Code string
	Preview     bool

	csrf string
	file *os.File // the archive; nil = none was sent
}

// close removes the archive.
func (a *asked) close() {
	if a.file != nil {
		_ = a.file.Close()
		_ = os.Remove(a.file.Name())
	}
}

// set sets a field.
func (a *asked) set(name, value string) *judge.FieldError {
	value = strings.TrimSpace(value)
	switch name {
	case "space":
		a.Space = value
	case "code":
		a.Code = value
	case "csrf":
		a.csrf = value
	case "step":
		a.Preview = value != "import"
	case "preview":
		on, err := strconv.ParseBool(value)
		if a.Preview = on; err != nil {
			return site.WrongField(name, site.ReasonInvalid, "The field has to be true or false, not %q.", site.Shorten(value))
		}
	default:
		return site.WrongField(site.Shorten(name), site.ReasonUnknown, "There is no such field; the fields are package, %s.", judge.Names([]string{"space", "code", "preview"}))
	}
	return nil
}

// read reads what was sent: an archive alone with the rest as query parameters, or a form whose fields come before the file.
func (s *Room) read(c *fiber.Ctx) (a *asked, err error) {
	a = &asked{csrf: c.Get("X-CSRF-Token")}
	defer func() {
		if err != nil {
			a.close()
			a = nil
		}
	}()
	if size := c.Request().Header.ContentLength(); size > maxPackage+1<<20 {
		return a, tooLarge()
	}
	var wrong site.WrongFields
	for name, value := range c.Queries() {
		wrong.Add(a.set(name, value))
	}
	if err := wrong.Err(); err != nil {
		return a, err
	}
	body := c.Context().RequestBodyStream()
	kind, params, _ := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	switch {
	case kind == "application/zip" || kind == "application/octet-stream":
		return a, s.take(c, a, body)
	case kind == fiber.MIMEMultipartForm && params["boundary"] != "":
		return a, s.readForm(c, a, multipart.NewReader(body, params["boundary"]))
	}
	return a, site.Refuse(fiber.StatusUnsupportedMediaType, "not_upload", "The body has to be a ZIP file, or a form with one.",
		"Send the bytes with the header Content-Type: application/zip, or multipart/form-data with the file in package.")
}

func (s *Room) readForm(c *fiber.Ctx, a *asked, form *multipart.Reader) error {
	broken := site.BadBody(site.ReasonInvalid, "The form cannot be read: it is cut or malformed.")
	var wrong site.WrongFields
	const parts = 10
	for range parts {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			if a.file == nil {
				wrong.Add(site.WrongField("package", site.ReasonEmpty, "Choose a package: a ZIP file."))
			}
			return wrong.Err()
		case err != nil:
			return broken
		case part.FormName() == "package" && part.FileName() != "" && a.file == nil:
			err = s.take(c, a, part)
		case part.FormName() != "package":
			var value []byte
			if value, err = io.ReadAll(io.LimitReader(part, maxField)); err != nil {
				return broken
			}
			wrong.Add(a.set(part.FormName(), string(value)))
		}
		if err != nil {
			return err
		}
	}
	return broken
}

func tooLarge() error {
	return site.Refuse(fiber.StatusRequestEntityTooLarge, "too_large", "A contest package has at most %d MiB.", "Leave pictures, logos and videos out of it, and import large packages of problems by themselves.", maxPackage>>20)
}

// take keeps an archive while it is looked at. Nothing is kept for whose form is of another session.
func (s *Room) take(c *fiber.Ctx, a *asked, from io.Reader) error {
	if v := site.ViewerOf(c); v.Token != "" && v.Ambient && !v.Proves(a.csrf) {
		return site.Refuse(fiber.StatusForbidden, "csrf", "The form is from another session.", "Reload the page and try again.")
	}
	file, err := os.CreateTemp("", "contest-*.zip")
	if err != nil {
		return err
	}
	a.file = file
	n, err := io.Copy(file, io.LimitReader(from, maxPackage+1))
	if err != nil {
		return site.BadBody(site.ReasonInvalid, "The package cannot be read: it is cut.")
	}
	if n > maxPackage {
		return tooLarge()
	}
	return nil
}

// outcome is what came, or would come, of a package.
type outcome struct {
	contestImportJSON
	wrong *judge.FieldError // beside the findings; nil = nothing
}

// bring imports what was sent, unless something is wrong with it or only that was asked for.
func (s *Room) bring(ctx context.Context, v site.Viewer, a *asked) (outcome, error) {
	out := outcome{contestImportJSON: contestImportJSON{Space: a.Space, Round: a.Code, Packages: []packageJSON{}, Findings: []clics.Flaw{}, Notes: []string{}}}
	done, err := s.turn(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	if a.Code != "" && !contest.RoundCode.MatchString(a.Code) {
		out.wrong = site.WrongField("code", site.ReasonInvalid, "A short name has from 2 to 36 letters, digits, _, . and -, begins with a letter, a digit or _, and does not end with a dot.")
		return out, nil
	}
	is, err := reader.Config{}.Read(ctx, a.file, restore.Options{Space: a.Space, Code: a.Code, Now: time.Now()})
	if err != nil {
		return out, err
	}
	if is.Unreadable != "" {
		out.wrong = site.WrongField("package", site.ReasonInvalid, "The package cannot be read: %s.", is.Unreadable)
		return out, nil
	}
	read, found := is.Contest, is.Flaws
	if len(found) == 0 {
		found, err = s.settle(ctx, v, read)
	}
	if err != nil {
		return out, err
	}
	if len(found) > 0 {
		out.Findings = found
		return out, nil
	}
	past := read.Past
	out.Round, out.Title, out.Notes = past.Round.Code, past.Round.Title, append(out.Notes, read.Notes...)
	out.Problems, out.Participants, out.Submissions, out.Clarifications = len(past.Problems), len(past.Participants), len(past.Submissions), len(past.Clarifications)
	out.Packages = packagesOf(read)
	if _, err := s.Config.Rounds.Round(ctx, past.Round.Code); err == nil {
		out.wrong = taken()
	} else if !errors.Is(err, sql.ErrNotFound) {
		return out, err
	}
	if a.Preview || out.wrong != nil {
		return out, nil
	}
	err = s.Config.Rounds.Import(ctx, past, v.Name)
	if refused, ok := errors.AsType[*judge.FieldError](err); ok {
		out.wrong, err = refused, nil
	} else if errors.Is(err, sql.ErrExists) {
		out.wrong, err = taken(), nil
	}
	if out.Imported = err == nil && out.wrong == nil; out.Imported {
		if err = s.keepFiles(ctx, read); err == nil {
			out.Packages, err = s.bringPackages(ctx, v, a.file, read)
		}
	}
	return out, err
}

func taken() *judge.FieldError {
	return site.WrongField("code", "taken", "There is a round of this short name. Give the contest another one.")
}

// settle says of which version each problem is.
func (s *Room) settle(ctx context.Context, v site.Viewer, read *restore.Contest) ([]clics.Flaw, error) {
	known, err := s.Config.Rounds.Known(ctx, read.Slugs())
	if err != nil {
		return nil, err
	}
	return read.Settle(known, time.Now(), func(slug string) (bool, error) {
		if v.Staff() {
			return true, nil
		}
		rights, err := s.Store.ProblemRights(ctx, slug, v.Name)
		return rights.MayChange(), err
	})
}

// apiImport handles POST /api/v1/contests?space=&code=&preview=.
func (s *Room) apiImport(c *fiber.Ctx) error {
	a, err := s.read(c)
	if err != nil {
		return err
	}
	defer a.close()
	if _, err := s.SpaceCalled(c, a.Space, people.ManageSpace); err != nil {
		return err
	}
	out, err := s.bring(c.UserContext(), site.ViewerOf(c), a)
	if err == nil && out.wrong != nil {
		err = out.wrong
	}
	if err != nil {
		return err
	}
	return c.JSON(out.contestImportJSON)
}

// importView is the page on which contests come in.
type importView struct {
	Space site.SpaceView
	Code  string
	Out   *outcome // nil = nothing was sent

	Findings []clics.Flaw // the first of them
	Notes    []string
	Rest     int // findings beyond those
	Fault    *site.Fault
}

// importPage handles GET /contests/import?space=.
func (s *Room) importPage(c *fiber.Ctx) error {
	return s.show(c, fiber.StatusOK, c.Query("space"), importView{})
}

func (s *Room) show(c *fiber.Ctx, status int, space string, view importView) error {
	in, err := s.SpaceCalled(c, space, people.ManageSpace)
	if err != nil {
		return err
	}
	view.Space = site.ViewSpace(in, site.ViewerOf(c))
	if view.Out != nil {
		view.Findings = view.Out.Findings[:min(len(view.Out.Findings), shown)]
		view.Notes = view.Out.Notes[:min(len(view.Out.Notes), shown)]
		view.Rest = len(view.Out.Findings) - len(view.Findings)
	}
	return s.Page(c, status, "contestimport", "%s", view, in.Title)
}

// importForm handles POST /contests/import.
func (s *Room) importForm(c *fiber.Ctx) error {
	a, err := s.read(c)
	if err != nil {
		fault := s.Explain(c.UserContext(), err)
		if space := c.Query("space"); space != "" && slices.Contains([]int{fiber.StatusUnprocessableEntity, fiber.StatusRequestEntityTooLarge}, fault.Status) {
			return s.show(c, fault.Status, space, importView{Fault: fault})
		}
		return err
	}
	defer a.close()
	if _, err := s.SpaceCalled(c, a.Space, people.ManageSpace); err != nil {
		return err
	}
	out, err := s.bring(c.UserContext(), site.ViewerOf(c), a)
	if err != nil {
		return err
	}
	view, status := importView{Code: a.Code, Out: &out}, fiber.StatusOK
	switch {
	case out.Imported && len(out.Packages) == 0:
		return site.SeeDone(c, site.DoneSaved, "/rounds/"+out.Round)
	case out.wrong != nil:
		view.Fault, status = s.Explain(c.UserContext(), out.wrong), fiber.StatusUnprocessableEntity
	case len(out.Findings) > 0:
		status = fiber.StatusUnprocessableEntity
	}
	return s.show(c, status, a.Space, view)
}
