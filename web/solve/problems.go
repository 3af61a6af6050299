package solve

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/site"
	"deepoj/web/statement"
)

// ProblemView is a statement with its submit form.
type ProblemView struct {
	statement.View

	Space    *site.SpaceView // that it is shown in; nil = none
	Round    *judge.Round    // likewise
	Label    string          // of the problem in the round
	At       string          // address of the page
	Closed   bool            // that takes no more submissions of the viewer
	Draft    *Draft          // the version that is looked at before contestants see it; nil = the live one
	Offers   []site.Offer    // of the languages that the problem takes
	Open     bool            // whether any of them can be submitted in
	Waits    bool            // whether no worker takes jobs in any of these
	Runs     bool            // whether they are of programs, which can be run
	Key      string          // fresh idempotency key
	Language string          // chosen already, or ""
	Source   string
	Name     string          // of the first of several files
	More     []judge.Source  // the others
	Marks    string          // diagnostics of the submission that is edited, as JSON
	Limit    int64           // bytes of source
	Fault    *site.Fault     // why the form comes back
	Trying   bool            // it came back from a run that does not count
	Stdin    string          // input of that run
	Own      []template.HTML // the viewer's newest submissions, here
	AllOwn   string          // address of all of them
	Follow   bool            // one of them is not judged yet
}

// Where is what takes no more submissions where the page is closed.
func (v *ProblemView) Where() string {
	switch {
	case v.Round != nil:
		return v.Round.Title
	case v.Space != nil:
		return v.Space.Title
	}
	return ""
}

// Draft is what the page of a problem shows of a version that is looked at before contestants see it.
type Draft struct {
	Version string
	Live    bool
	Mine    bool // whoever looks may hand in to it
	Rows    []judge.Submission
}

func (s *Room) problemPage(c *fiber.Ctx) error {
	view, err := s.problemView(c)
	if err != nil {
		return err
	}
	if from := c.Query("from"); from != "" {
		if err := s.editFrom(c, from, view); err != nil {
			return err
		}
	}
	return s.Page(c, fiber.StatusOK, "problem", "%s", view, view.Problem.Title)
}

// problemFile handles GET /problems/:slug/files/*: a file that comes with the problem.
// It is for saving, whatever is in it.
func (s *Room) problemFile(c *fiber.Ctx) error {
	p, err := s.ProblemFor(c)
	if err != nil {
		return err
	}
	return statement.SendFile(s.Site, c, p)
}

// problemAgain shows the form again with what was typed and why it was refused.
func (s *Room) problemAgain(c *fiber.Ctx, in Program, f site.Fault) error {
	view, err := s.problemView(c)
	if err != nil {
		return err
	}
	view.Language, view.Fault = in.Language, &f
	if view.Trying = strings.HasSuffix(c.Path(), "/runs"); view.Trying {
		view.Stdin = strings.ToValidUTF8(c.FormValue("stdin"), "\uFFFD")
	}
	total := int64(0)
	for i := range in.Sources {
		total += int64(len(in.Sources[i].Text))
		in.Sources[i].Text = strings.ToValidUTF8(strings.ReplaceAll(in.Sources[i].Text, "\x00", "�"), "�")
		in.Sources[i].Name = strings.ToValidUTF8(site.Shorten(in.Sources[i].Name), "�")
	}
	if total <= 4*view.Limit && len(in.Sources) <= maxSources {
		view.Show(in.Sources)
	}
	return s.Page(c, f.Status, "problem", "%s", view, view.Problem.Title)
}

// Show puts files into the form.
func (v *ProblemView) Show(sources []judge.Source) {
	if len(sources) > 0 {
		v.Source = sources[0].Text
	}
	if len(sources) > 1 {
		v.Name, v.More = sources[0].Name, sources[1:]
	}
}

func (s *Room) problemView(c *fiber.Ctx) (*ProblemView, error) {
	if c.Params("round") != "" {
		return s.viewInRound(c)
	}
	problem, space, err := s.problemHere(c)
	if err != nil {
		return nil, err
	}
	base := site.ProblemURL("", problem.Slug)
	if space != nil {
		base = site.ProblemURL(space.Slug, problem.Slug)
	}
	view, err := s.ViewProblem(c, problem, space, base, site.ProblemURL("", problem.Slug)+"/files")
	if err != nil {
		return nil, err
	}
	v := site.ViewerOf(c)
	f := sql.Filter{Author: v.Name, Problem: view.Problem.Slug, Limit: ownShown}
	view.AllOwn = "/submissions?" + url.Values{"problem": {view.Problem.Slug}, "author": {v.Name}}.Encode()
	if space != nil {
		f.Space, view.AllOwn = space.ID, site.SpaceURL(space.Slug)+view.AllOwn
	}
	return view, s.addOwn(c, view, f)
}

// ownShown is how many of the viewer's submissions the page of a problem lists.
const ownShown = 10

// addOwn adds the viewer's newest submissions, which f chooses.
func (s *Room) addOwn(c *fiber.Ctx, view *ProblemView, f sql.Filter) error {
	v := site.ViewerOf(c)
	rows, err := s.Store.For(v.Staff()).Submissions(c.UserContext(), f)
	if err != nil {
		return fmt.Errorf("list own submissions: %w", err)
	}
	for i := range rows {
		view.Own = append(view.Own, ownCells(&rows[i], v))
		view.Follow = view.Follow || !rows[i].Status.Terminal()
	}
	return nil
}

// ViewProblem is the page of a problem, in a space if there is one. Pictures, documents and
// languages of its statement have addresses below base, and its files below files.
func (s *Room) ViewProblem(c *fiber.Ctx, problem *judge.Problem, space *judge.Space, base, files string) (*ProblemView, error) {
	offers, err := s.Catalog.Languages(c.UserContext())
	if err != nil {
		return nil, err
	}
	shown, err := statement.Of(s.Site, c, problem, base, files, true)
	if err != nil {
		return nil, err
	}
	v := &ProblemView{View: shown, At: base, Key: people.NewToken(16), Limit: defaultCodeKiB << 10, Marks: "[]"}
	if problem.CodeKiB > 0 {
		v.Limit = problem.CodeKiB << 10
	}
	if space != nil {
		v.Space = new(site.ViewSpace(space, site.ViewerOf(c)))
		v.Closed = v.Space.Phase() == judge.SpaceAfter && !v.Space.Prepares()
		if space.MaxSourceKiB > 0 {
			v.Limit = min(v.Limit, int64(space.MaxSourceKiB)<<10)
		}
	}
	served := false
	for _, o := range offers {
		if allows(problem, o.ID) && (space == nil || len(space.Languages) == 0 || slices.Contains(space.Languages, o.ID)) {
			v.Offers = append(v.Offers, o)
			v.Open = v.Open || o.Open()
			served = served || o.Open() && o.Waits.Key == ""
			v.Runs = v.Runs || o.ID != judge.AnswerLanguage
		}
	}
	v.Waits = v.Open && !served
	return v, nil
}

// editFrom fills the form with a submission that the viewer may see.
func (s *Room) editFrom(c *fiber.Ctx, from string, view *ProblemView) error {
	id, err := strconv.ParseInt(from, 10, 64)
	if err != nil {
		return sql.ErrNotFound
	}
	sub, err := s.SubmissionSeen(c.UserContext(), site.ViewerOf(c), id)
	if err != nil {
		return fmt.Errorf("look up a submission to edit: %w", err)
	}
	view.Language = sub.Language
	view.Show(sub.Sources)
	if sub.Result != nil && sub.Result.Compile != nil && len(sub.Result.Compile.Diagnostics) > 0 {
		marks, err := json.Marshal(sub.Result.Compile.Diagnostics)
		if err != nil {
			return fmt.Errorf("encode diagnostics: %w", err)
		}
		view.Marks = string(marks)
	}
	return nil
}

// problemHere returns the problem that the address names, and the space that it is in, if it names one.
func (s *Room) problemHere(c *fiber.Ctx) (*judge.Problem, *judge.Space, error) {
	if c.Params("round") != "" {
		d, err := s.roundDesk(c)
		if err != nil {
			return nil, nil, err
		}
		return d.problem, d.space, nil
	}
	if slug := c.Params("space"); slug != "" {
		d, err := s.Desk(c.UserContext(), site.ViewerOf(c), slug, c.Params("slug"))
		if err != nil {
			return nil, nil, err
		}
		return d.Problem, &d.Space, nil
	}
	p, err := s.ProblemFor(c)
	if err == nil && p.Hidden && !site.ViewerOf(c).Setter() {
		p.Tags, p.Difficulty = nil, 0 // a contest's, as long as it is not open to all
	}
	return p, nil, err
}

func (s *Room) apiProblem(c *fiber.Ctx) error {
	p, space, err := s.problemHere(c)
	if err != nil {
		return err
	}
	base := site.ProblemURL("", p.Slug)
	if space != nil {
		base = site.ProblemURL(space.Slug, p.Slug)
	}
	if _, err := statement.Speak(s.Site, c, p, base, true); err != nil {
		return err
	}
	return c.JSON(p)
}

// liveVersion is the live version of the problem that the address names, perhaps in a space.
func (s *Room) liveVersion(c *fiber.Ctx) (slug, version string, err error) {
	p, _, err := s.problemHere(c)
	if err != nil {
		return "", "", err
	}
	return p.Slug, p.Version, nil
}
