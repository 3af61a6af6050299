package solve

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// SolvedChoices are what the list of problems may be restricted to by what the viewer has achieved.
var SolvedChoices = []string{"solved", "unsolved", "tried", "untried"}

// searchNames are the query parameters of the list of problems, besides its cursor.
var searchNames = []string{"q", "tag", "solved", "easiest", "hardest", "limit"}

// searchOf reads which problems are wanted.
func searchOf(c *fiber.Ctx) (sql.Search, error) {
	v := site.ViewerOf(c)
	q := sql.Search{
		Viewer: v.Name, Hidden: v.Setter(), Words: c.Query("q"), Tag: c.Query("tag"), Solved: c.Query("solved"), After: c.Query("after"), Limit: site.PageSize,
	}
	var wrong site.WrongFields
	for name, value := range map[string]string{"q": q.Words, "tag": q.Tag, "after": q.After} {
		if value != "" && !site.PlainWord(value) {
			wrong.Add(site.WrongField(name, site.ReasonInvalid, "The value has to be one line of at most 128 bytes."))
		}
	}
	if q.Solved != "" && !slices.Contains(SolvedChoices, q.Solved) {
		wrong.Add(site.WrongField("solved", site.ReasonUnknown, "The value has to be solved, unsolved, tried or untried."))
	}
	for name, to := range map[string]*int32{"easiest": &q.Easiest, "hardest": &q.Hardest} {
		if text := c.Query(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil || n < 1 || n > 10_000 {
				wrong.Add(site.WrongField(name, site.ReasonInvalid, "The difficulty has to be a whole number from 1 to 10,000."))
			}
			*to = int32(n)
		}
	}
	if text := c.Query("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > site.MaxPage {
			wrong.Add(site.WrongField("limit", site.ReasonInvalid, "The limit has to be a whole number from 1 to %d.", site.MaxPage))
		}
		q.Limit = n
	}
	return q, wrong.Err()
}

// search returns a page of problems and the cursor of the next one, "" at the end.
func (s *Room) search(c *fiber.Ctx, q sql.Search) ([]sql.FoundProblem, string, error) {
	asked := q.Limit
	q.Limit = min(asked+1, site.MaxPage) // one more tells whether there is another page
	rows, err := s.Store.SearchProblems(c.UserContext(), q)
	if err != nil {
		return nil, "", err
	}
	if len(rows) > asked || asked == site.MaxPage && len(rows) == site.MaxPage {
		rows = rows[:asked]
		return rows, rows[asked-1].Slug, nil
	}
	return rows, "", nil
}

// tallies returns how many tried and solved each of the problems of a page.
func (s *Room) tallies(c *fiber.Ctx, rows []sql.FoundProblem) (map[string]tallyJSON, error) {
	slugs := make([]string, len(rows))
	for i, r := range rows {
		slugs[i] = r.Slug
	}
	return s.statistics.ofAll(c.UserContext(), s.Store, slugs)
}

// problemsView is the list of problems.
type problemsView struct {
	Problems []sql.FoundProblem
	Tallies  map[string]tallyJSON // how many tried and solved each, by short name
	Search   sql.Search
	Filtered bool
	Tags     []sql.TagCount
	Choices  []string
	Next     string // address of the next page; "" at the end
	First    string // of the first page; "" = this is it
}

// Word says of a choice what it is.
func (problemsView) Word(choice string) locale.Word {
	switch choice {
	case "solved":
		return "solved"
	case "unsolved":
		return "unsolved"
	case "tried":
		return "tried"
	}
	return "untried"
}

func (s *Room) problemsPage(c *fiber.Ctx) error {
	q, err := searchOf(c)
	if err != nil {
		return err
	}
	view := problemsView{Search: q, Choices: SolvedChoices}
	var next string
	if view.Problems, next, err = s.search(c, q); err != nil {
		return err
	}
	if view.Tallies, err = s.tallies(c, view.Problems); err != nil {
		return err
	}
	if view.Tags, err = s.Store.ProblemTags(c.UserContext(), q.Hidden, 60); err != nil {
		return err
	}
	values := url.Values{}
	for _, name := range searchNames {
		if value := c.Query(name); value != "" {
			values.Set(name, value)
			view.Filtered = view.Filtered || name != "limit"
		}
	}
	if q.After != "" {
		view.First = "/?" + values.Encode()
	}
	if next != "" {
		values.Set("after", next)
		view.Next = "/?" + values.Encode()
	}
	return s.Page(c, fiber.StatusOK, "problems", "Problems", view)
}

// apiProblems handles GET /api/v1/problems.
func (s *Room) apiProblems(c *fiber.Ctx) error {
	q, err := searchOf(c)
	if err != nil {
		return err
	}
	rows, next, err := s.search(c, q)
	if err != nil {
		return err
	}
	tallies, err := s.tallies(c, rows)
	if err != nil {
		return err
	}
	list := make([]foundJSON, len(rows))
	for i, r := range rows {
		list[i] = foundJSON{Problem: r.Problem, tallyJSON: tallies[r.Slug]}
		if b := r.Best; b != nil {
			list[i].Best = &bestJSON{b.JobID, b.Verdict, b.Score}
		}
	}
	return c.JSON(fiber.Map{"problems": list, "next": site.OrNull(next)})
}
