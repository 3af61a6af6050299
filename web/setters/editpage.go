package setters

import (
	"html/template"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/draft"
	"deepoj/host/people"
	"deepoj/host/problem"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// editParts are what is edited apart.
var editParts = []string{"statement", "settings", "tests", "submissions", "checker", "files"}

// editName is a name of the problem in the form.
type editName struct{ Language, Name string }

// editTest is a test in the list.
type editTest struct {
	Name   string
	Input  int64 // bytes
	Answer int64
	Made   string // the command that makes it
}

// editSubmission is a program of the package in the list.
type editSubmission struct{ Path, Place, Name string }

// editView is the page on which a setter changes a version.
type editView struct {
	Problem, Title string
	Base           string // version whose files are changed
	Seen           string // the newest one that is known
	Part           string
	Parts          []string
	Polygon        bool // the format says some things in problem.xml alone
	Loose          bool // nor has it words for limits and tests that are known here
	Key            string
	Fault          *site.Fault
	Preview        *changePreview
	Statement      template.HTML // of the preview
	Typed          map[string]string

	Names     []editName
	Languages []string // that statements are in
	Language  string   // that is edited
	Format    string

	Time, TimeFrom       string
	Memory, Output, Code int64
	Allowed              string

	Tests       []editTest
	MoreTests   int
	Generators  []string
	Submissions []editSubmission
	Places      []string
	Standards   []string
	Checker     string
	Flags       string
	Interactive bool
	Files       []problem.File
	MoreFiles   int
	Text        string // of what is edited: statement, checker, file, program
	Name        string // of what is edited: test, program, checker, file
	Place       string
	Input       string
	Answer      string
	LongInput   bool // it is not shown
	LongAnswer  bool
}

// shownRows is how many tests and files a page lists.
const shownRows = 500

// At is the address of the page of a part.
func (view *editView) At(part string) string { return site.EditURL(view.Problem, view.Base, part) }

// TimeHelp says where the time limit comes from, and what would be without it.
func (view *editView) TimeHelp() locale.Sentence {
	switch view.TimeFrom {
	case problem.Inferred:
		return locale.Sentence{Key: "Empty: as the programs of the package need, of which it is inferred now."}
	case problem.Unsaid:
		return locale.Sentence{Key: "Empty: as the programs of the package need. Now it is the default."}
	}
	return locale.Sentence{Key: "Empty: as the programs of the package need. Now it comes from %s.", Args: []any{limitFromText(view.TimeFrom)}}
}

// Old returns what was typed, or else what is there.
func (view *editView) Old(field, is string) string {
	if typed, ok := view.Typed[field]; ok {
		return typed
	}
	return is
}

// editView puts together what the page shows of a part of a version.
func (s *Room) editView(c *fiber.Ctx, version string) (*editView, *problem.Package, map[string]string, error) {
	ctx, v, slug := c.UserContext(), site.ViewerOf(c), c.Params("slug")
	if version == "" {
		newest, err := s.VersionsOf(c)
		if err != nil {
			return nil, nil, nil, err
		}
		version = newest[0].Version
	}
	if err := s.MayChange(ctx, v, slug); err != nil {
		return nil, nil, nil, err
	}
	pkg, err := s.loadVersion(ctx, slug, version)
	if err != nil {
		return nil, nil, nil, err
	}
	newest, err := s.Store.NewestVersion(ctx, slug)
	if err != nil {
		return nil, nil, nil, err
	}
	view := &editView{
		Problem: slug, Title: pkg.Title, Base: version, Seen: newest.Version, Part: site.OrElse(c.Query("part"), "statement"), Parts: editParts, Key: people.NewToken(16),
		Polygon: pkg.Format == problem.FormatPolygon, Places: draft.Places, Standards: problem.Standard, Typed: map[string]string{},
	}
	view.Loose = !view.Polygon && pkg.Format != problem.FormatLegacy && pkg.Format != problem.Format202307 && pkg.Format != problem.Format202509
	if !slices.Contains(editParts, view.Part) {
		view.Part = "statement"
	}
	names := map[string]string{}
	if !view.Polygon && !view.Loose {
		text, err := s.textOf(ctx, pkg, "problem.yaml", maxEditText)
		if err != nil {
			return nil, nil, nil, err
		}
		names = draft.Names(text)
	}
	return view, pkg, names, s.fillPart(c, view, pkg, names)
}

// fillPart adds what a part of the page shows.
func (s *Room) fillPart(c *fiber.Ctx, view *editView, pkg *problem.Package, names map[string]string) (err error) {
	ctx := c.UserContext()
	switch view.Part {
	case "statement":
		view.Languages = slices.Sorted(maps.Keys(pkg.Statements))
		view.Language = c.Query("lang")
		if view.Language == "" && len(view.Languages) > 0 {
			view.Language = view.Languages[max(0, slices.Index(view.Languages, "en"))]
		}
		view.Format = "md"
		if file := draft.StatementFile(pkg, site.OrElse(view.Language, "en")); file != "" {
			view.Language, view.Format = site.OrElse(view.Language, "en"), strings.TrimPrefix(path.Ext(file), ".")
			view.Text, err = s.textOf(ctx, pkg, file, maxShownText)
		}
	case "settings":
		for _, tag := range slices.Sorted(maps.Keys(names)) {
			view.Names = append(view.Names, editName{tag, names[tag]})
		}
		if len(names) == 0 {
			view.Names = []editName{{"en", ""}}
		}
		view.TimeFrom = pkg.Limits.CPUFrom
		if view.TimeFrom != problem.Inferred && view.TimeFrom != problem.Unsaid {
			view.Time = strconv.FormatFloat(pkg.Limits.CPU.Seconds(), 'g', -1, 64)
		}
		view.Memory, view.Output, view.Code, view.Allowed = pkg.Limits.MemoryMiB, pkg.Limits.OutputMiB, pkg.Limits.CodeKiB, strings.Join(pkg.Languages, " ")
	case "tests":
		err = s.fillTests(c, view, pkg)
	case "submissions":
		for _, sub := range pkg.Submissions {
			view.Submissions = append(view.Submissions, editSubmission{sub.Path, path.Base(path.Dir(sub.Path)), path.Base(sub.Path)})
		}
		if file := c.Query("submission"); slices.ContainsFunc(pkg.Submissions, func(p problem.Submission) bool { return p.Path == file && len(p.Files) == 1 }) {
			view.Place, view.Name = path.Base(path.Dir(file)), path.Base(file)
			view.Text, err = s.textOf(ctx, pkg, file, maxShownText)
		}
	case "checker":
		view.Interactive = pkg.Interactor != nil
		if len(pkg.Checkers) > 0 {
			view.Checker, view.Flags = pkg.Checkers[0].Name(), strings.Join(pkg.Checkers[0].Flags, " ")
			if files := pkg.Checkers[0].Sources; len(files) == 1 {
				view.Name = path.Base(files[0].Path)
				view.Text, err = s.textOf(ctx, pkg, files[0].Path, maxShownText)
			}
		}
	case "files":
		view.Files = pkg.Files[:min(len(pkg.Files), shownRows)]
		view.MoreFiles = len(pkg.Files) - len(view.Files)
		if name := c.Query("file"); name != "" {
			view.Name = name
			if view.Text, err = s.textOf(ctx, pkg, name, maxShownText); !utf8.ValidString(view.Text) || strings.ContainsRune(view.Text, 0) {
				view.Text = ""
			}
		}
	}
	return err
}

// fillTests lists the tests, and shows the one that is edited.
func (s *Room) fillTests(c *fiber.Ctx, view *editView, pkg *problem.Package) (err error) {
	for _, g := range pkg.Generators {
		view.Generators = append(view.Generators, g.Name)
	}
	tests := pkg.Tests()
	for _, t := range tests[:min(len(tests), shownRows)] {
		view.Tests = append(view.Tests, editTest{t.Name, t.Input.Size, t.Answer.Size, strings.Join(t.Made, " ")})
	}
	view.MoreTests = len(tests) - len(view.Tests)
	for _, t := range tests {
		if t.Name != c.Query("test") {
			continue
		}
		view.Name, view.LongInput, view.LongAnswer = t.Name, t.Input.Size > maxShownText, t.Answer.Size > maxShownText
		if !view.LongInput {
			if view.Input, err = s.textOf(c.UserContext(), pkg, t.Input.Path, maxShownText); err != nil {
				return err
			}
		}
		if !view.LongAnswer {
			view.Answer, err = s.textOf(c.UserContext(), pkg, t.Answer.Path, maxShownText)
		}
		return err
	}
	return nil
}

// editPage handles GET /packages/:slug/edit?version=&part=.
func (s *Room) editPage(c *fiber.Ctx) error {
	view, _, _, err := s.editView(c, c.Query("version"))
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "edit", "Edit %s", view, view.Title)
}

// editForm handles POST /packages/:slug/edit?version=&part=: it saves, or shows what the change would make.
func (s *Room) editForm(c *fiber.Ctx) error {
	view, pkg, names, err := s.editView(c, c.Query("version"))
	if err != nil {
		return err
	}
	e := save{Slug: view.Problem, Base: view.Base, Seen: c.FormValue("seen"), Key: site.FormKey(c)}
	changes, wrong, err := formChanges(c, pkg, names)
	if err != nil {
		return site.BadBody(site.ReasonInvalid, "The form cannot be read: it is cut or malformed.")
	}
	e.Changes = changes
	if err = wrong.Err(); err == nil && c.FormValue("act") == "preview" {
		view.Preview, err = s.previewChange(c.UserContext(), e)
	} else if err == nil {
		receipt, saveErr := s.saveChanges(c.UserContext(), site.ViewerOf(c), e)
		if saveErr == nil {
			return c.Redirect(site.ImportURL(receipt.JobID), fiber.StatusSeeOther)
		}
		err = saveErr
	}
	view.keep(c)
	status := fiber.StatusOK
	if err != nil {
		f := s.Explain(c.UserContext(), err)
		if f.Status >= fiber.StatusInternalServerError {
			return err
		}
		view.Fault, status = f, f.Status
		if f.Reason == reasonOvertaken {
			view.Base = view.Seen // what was typed is saved on top of it next
		}
	}
	if p := view.Preview; p != nil && p.Problem != nil {
		view.Statement = template.HTML(site.OrElse(p.Texts[view.Typed["language"]], p.Problem.Statement)) // made safe by host/problem
	}
	return s.Page(c, status, "edit", "Edit %s", view, view.Title)
}

// keep shows again what was typed.
func (view *editView) keep(c *fiber.Ctx) {
	for _, name := range []string{"language", "format", "text", "time", "memory", "output", "code", "languages", "name", "place", "input", "answer", "command", "standard", "flags", "path"} {
		if c.FormValue(name) != "" || c.FormValue("act") != "" {
			view.Typed[name] = formText(c, name)
		}
	}
	if view.Part == "settings" {
		view.Names = nil
		values := site.FormValues(c, "name")
		for i, tag := range site.FormValues(c, "name-language") {
			if i < len(values) && tag != "" {
				view.Names = append(view.Names, editName{tag, values[i]})
			}
		}
	}
}
