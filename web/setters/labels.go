package setters

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/sql"
	"deepoj/web/site"
)

// maxSaid bounds the source and the author of a problem, in bytes.
const maxSaid = 500

// labelsJSON is what setters say of a problem, as /api/v1 takes and shows it. Null is as the package says.
type labelsJSON struct {
	Tags       *[]string `json:"tags"`
	Difficulty *int32    `json:"difficulty"`
	Source     *string   `json:"source"`
	Author     *string   `json:"author"`
}

// cleanTags returns tags in small letters, each once, and what is wrong with them.
func cleanTags(given []string) ([]string, *judge.FieldError) {
	tags := []string{}
	for _, tag := range given {
		tag = strings.ToLower(strings.Join(strings.Fields(tag), " "))
		switch {
		case tag == "" || slices.Contains(tags, tag):
			continue
		case utf8.RuneCountInString(tag) > problem.MaxTag || !site.PlainWord(tag) || strings.Contains(tag, ","):
			return nil, site.WrongField("tags", site.ReasonInvalid, "A tag has at most %d characters and no comma, not %q.", problem.MaxTag, site.Shorten(tag))
		}
		tags = append(tags, tag)
	}
	if len(tags) > problem.MaxTags {
		return nil, site.WrongField("tags", "too_many", "There are %d tags; at most %d are taken.", len(tags), problem.MaxTags)
	}
	return tags, nil
}

// check returns the labels as they are stored, and what is wrong with them.
func (l labelsJSON) check() (out sql.Labels, wrong site.WrongFields) {
	if l.Tags != nil {
		tags, e := cleanTags(*l.Tags)
		wrong.Add(e)
		out.Tags = tags
	}
	if out.Difficulty = l.Difficulty; l.Difficulty != nil && (*l.Difficulty < 1 || *l.Difficulty > 10_000) {
		wrong.Add(site.WrongField("difficulty", site.ReasonInvalid, "The difficulty has to be a whole number from 1 to 10,000."))
	}
	for _, text := range []struct {
		name string
		from *string
		to   **string
	}{{"source", l.Source, &out.Source}, {"author", l.Author, &out.Author}} {
		if text.from == nil {
			continue
		}
		clean := strings.TrimSpace(*text.from)
		if len(clean) > maxSaid || !utf8.ValidString(clean) || strings.ContainsFunc(clean, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			wrong.Add(site.WrongField(text.name, site.ReasonInvalid, "The text has to be one line of at most %d bytes.", maxSaid))
		}
		*text.to = &clean
	}
	return out, wrong
}

// setLabels says something of the problem that the address names.
func (s *Room) setLabels(c *fiber.Ctx, l labelsJSON) error {
	versions, err := s.VersionsOf(c)
	if err != nil {
		return err
	}
	if err := s.MayChange(c.UserContext(), site.ViewerOf(c), versions[0].Problem); err != nil {
		return err
	}
	labels, wrong := l.check()
	if err := wrong.Err(); err != nil {
		return err
	}
	return s.Store.SetProblemLabels(c.UserContext(), versions[0].Problem, labels, site.ViewerOf(c).Name)
}

// apiLabels handles GET /api/v1/problems/:slug/labels.
func (s *Room) apiLabels(c *fiber.Ctx) error {
	versions, err := s.VersionsOf(c)
	if err != nil {
		return err
	}
	l, err := s.Store.ProblemLabels(c.UserContext(), versions[0].Problem)
	if err != nil {
		return err
	}
	out := labelsJSON{nil, l.Difficulty, l.Source, l.Author}
	if l.Tags != nil {
		out.Tags = &l.Tags
	}
	return c.JSON(out)
}

// apiSetLabels handles POST /api/v1/problems/:slug/labels. What is left out stays.
func (s *Room) apiSetLabels(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "tags", "difficulty", "source", "author")
	if err != nil {
		return err
	}
	var l labelsJSON
	if versions, err := s.VersionsOf(c); err == nil {
		kept, err := s.Store.ProblemLabels(c.UserContext(), versions[0].Problem)
		if err != nil {
			return err
		}
		l = labelsJSON{nil, kept.Difficulty, kept.Source, kept.Author}
		if kept.Tags != nil {
			l.Tags = &kept.Tags
		}
	}
	for name, to := range map[string]any{"tags": &l.Tags, "difficulty": &l.Difficulty, "source": &l.Source, "author": &l.Author} {
		if raw, given := f.Raw[name]; given && json.Unmarshal(raw, to) != nil {
			f.Wrong.Add(site.WrongField(name, site.ReasonWrong, "The field is of another type, not %s.", site.KindOf(raw)))
		}
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.setLabels(c, l); err != nil {
		return err
	}
	return s.apiLabels(c)
}

// labelsForm handles POST /packages/:slug/labels. An empty field is as the package
// says; tags that are only "-" are none.
func (s *Room) labelsForm(c *fiber.Ctx) error {
	var l labelsJSON
	if text := strings.TrimSpace(c.FormValue("tags")); text != "" {
		tags := []string{}
		if text != "-" {
			tags = strings.Split(text, ",")
		}
		l.Tags = &tags
	}
	if text := strings.TrimSpace(c.FormValue("difficulty")); text != "" {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return site.FieldRefusal(site.WrongField("difficulty", site.ReasonInvalid, "The difficulty has to be a whole number from 1 to 10,000."))
		}
		small := int32(n)
		l.Difficulty = &small
	}
	for name, to := range map[string]**string{"source": &l.Source, "author": &l.Author} {
		if text := c.FormValue(name); strings.TrimSpace(text) != "" {
			*to = &text
		}
	}
	if err := s.setLabels(c, l); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneSaved, site.PackageURL(c.Params("slug"))+"#labels")
}
