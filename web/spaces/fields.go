package spaces

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/site"
)

const (
	maxSpaceTitle   = 200     // bytes
	maxDescription  = 20_000  // bytes
	maxLanguages    = 100     // of a list
	maxSourceLimit  = 1 << 16 // KiB, of a program
	maxSpaceCount   = 100     // of submissions that wait, or in a minute
	maxSpaceMembers = 1000    // added at once
	maxPoints       = 1e6
)

var (
	spaceSlug  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	languageID = regexp.MustCompile(`^[a-z0-9][a-z0-9+#._-]{0,31}$`)
)

// spaceSettings are the fields of the settings of a space.
var spaceSettings = []string{"title", "description", "opens_at", "closes_at", "languages", "max_source_kib", "max_waiting", "per_minute", "listed"}

// readSpace changes the settings of a space to those that the JSON names. A time that is null is none.
func readSpace(f *site.Fields, space *judge.Space) {
	if f.Has("title") {
		space.Title = f.Text("title")
	}
	if f.Has("description") {
		space.Description = f.Text("description")
	}
	f.Moment("opens_at", &space.Opens)
	f.Moment("closes_at", &space.Closes)
	f.Value("languages", "a list of strings", &space.Languages)
	f.Value("max_source_kib", "a whole number", &space.MaxSourceKiB)
	f.Value("max_waiting", "a whole number", &space.MaxWaiting)
	f.Value("per_minute", "a whole number", &space.PerMinute)
	f.Value("listed", "a truth value", &space.Listed)
}

// spaceTimes are the times of the form of a space, by the clock of one zone.
type spaceTimes struct {
	Zone          string
	Opens, Closes site.TimeField
}

// showTimes are the times of a space by a clock.
func showTimes(space judge.Space, clock *time.Location) spaceTimes {
	return spaceTimes{clock.String(), site.ShowTime("opens_at", space.Opens, clock), site.ShowTime("closes_at", space.Closes, clock)}
}

// spaceForm reads the settings of a space from a form, in which languages are ticked. The times are as they were typed.
func spaceForm(value func(string) string, languages []string) (space judge.Space, times spaceTimes, wrong site.WrongFields) {
	space = judge.Space{
		Slug: value("slug"), Title: strings.TrimSpace(value("title")), Listed: value("listed") != "",
		Description: strings.ReplaceAll(value("description"), "\r\n", "\n"),
		Languages:   languages,
	}
	clock, e := site.FormClock(value)
	wrong.Add(e)
	times.Zone = clock.String()
	times.Opens, space.Opens, e = site.ReadTime("opens_at", value, clock)
	wrong.Add(e)
	times.Closes, space.Closes, e = site.ReadTime("closes_at", value, clock)
	wrong.Add(e)
	for name, into := range map[string]*int32{"max_source_kib": &space.MaxSourceKiB, "max_waiting": &space.MaxWaiting, "per_minute": &space.PerMinute} {
		if text := value(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil {
				wrong.Add(site.WrongField(name, site.ReasonInvalid, "The limit has to be a whole number; 0 is none."))
			}
			*into = int32(n)
		}
	}
	return space, times, wrong
}

// words are the words of a list that was typed, apart by spaces, commas or lines.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\r\n\t", r) })
}

// checkSpace returns what is wrong with the settings of a space.
func checkSpace(space judge.Space) []*judge.FieldError {
	var wrong site.WrongFields
	if !spaceSlug.MatchString(space.Slug) {
		wrong.Add(site.WrongField("slug", site.ReasonInvalid, "A short name has up to 64 of a to z, 0 to 9 and -, and begins with a letter or digit."))
	}
	switch {
	case strings.TrimSpace(space.Title) == "":
		wrong.Add(site.WrongField("title", site.ReasonEmpty, "Give the space a title."))
	case len(space.Title) > maxSpaceTitle || !utf8.ValidString(space.Title) || strings.ContainsFunc(space.Title, func(r rune) bool { return r < ' ' || r == 0x7f }):
		wrong.Add(site.WrongField("title", site.ReasonInvalid, "A title has up to %d bytes on one line.", maxSpaceTitle))
	}
	if len(space.Description) > maxDescription || !utf8.ValidString(space.Description) || strings.ContainsRune(space.Description, 0) {
		wrong.Add(site.WrongField("description", site.ReasonInvalid, "A description has up to %d bytes of text.", maxDescription))
	}
	for name, at := range map[string]*time.Time{"opens_at": space.Opens, "closes_at": space.Closes} {
		if at != nil && (at.Year() < 2000 || at.Year() > 9999) {
			wrong.Add(site.WrongField(name, site.ReasonInvalid, "The year has to be from 2000 to 9999."))
		}
	}
	if space.Opens != nil && space.Closes != nil && !space.Opens.Before(*space.Closes) {
		wrong.Add(site.WrongField("closes_at", site.ReasonInvalid, "It has to close after it opens."))
	}
	if len(space.Languages) > maxLanguages {
		wrong.Add(site.WrongField("languages", "too_many", "At most %d languages are taken.", maxLanguages))
	}
	for i, id := range space.Languages {
		if !languageID.MatchString(id) || slices.Contains(space.Languages[:i], id) {
			wrong.Add(site.WrongField("languages", site.ReasonInvalid, "%q is no language id, or is there twice; ids are like cpp and python.", site.Shorten(id)))
			break
		}
	}
	for name, limit := range map[string]struct{ is, most int32 }{
		"max_source_kib": {space.MaxSourceKiB, maxSourceLimit}, "max_waiting": {space.MaxWaiting, maxSpaceCount}, "per_minute": {space.PerMinute, maxSpaceCount},
	} {
		if limit.is < 0 || limit.is > limit.most {
			wrong.Add(site.WrongField(name, site.ReasonInvalid, "The limit has to be from 0, which is none, to %d.", limit.most))
		}
	}
	slices.SortFunc(wrong, func(a, b *judge.FieldError) int { return strings.Compare(a.Field, b.Field) })
	return wrong
}

// checkLanguages refuses languages that there are not. What a space has already stays in it, also when nobody serves it
// any more.
func checkLanguages(chosen, before []string, offers []site.Offer) *judge.FieldError {
	var ids []string
	for _, o := range offers {
		ids = append(ids, o.ID)
	}
	for _, id := range chosen {
		switch {
		case slices.Contains(ids, id), slices.Contains(before, id):
		case len(ids) == 0:
			return site.WrongField("languages", site.ReasonUnknown, "No worker has said yet which languages there are. Start one, or choose none.")
		default:
			return site.WrongField("languages", site.ReasonUnknown, "There is no language %q; there are %s.", site.Shorten(id), judge.Names(ids))
		}
	}
	return nil
}

// checkSpaceRole reports why a text names no role in a space, or nil.
func checkSpaceRole(role judge.SpaceRole) *judge.FieldError {
	if !slices.Contains(judge.SpaceRoles, role) {
		return site.WrongField("role", site.ReasonUnknown, "There is no role %q in a space; the roles are contestant, setter and staff.", site.Shorten(string(role)))
	}
	return nil
}

// checkMembers returns what is wrong with accounts that get a role in a space.
func checkMembers(names []string, role judge.SpaceRole) (wrong site.WrongFields) {
	switch {
	case len(names) == 0:
		wrong.Add(site.WrongField("names", site.ReasonEmpty, "Name at least one account."))
	case len(names) > maxSpaceMembers:
		wrong.Add(site.WrongField("names", "too_many", "At most %d accounts are added at once.", maxSpaceMembers))
	}
	for _, name := range names {
		if !site.PlainWord(name) {
			wrong.Add(site.WrongField("names", site.ReasonInvalid, "%q is not a name.", site.Shorten(name)))
			break
		}
	}
	wrong.Add(checkSpaceRole(role))
	return wrong
}

// newProblem is a problem that a space gets, or that changes in it.
type newProblem struct {
	Problem string
	Place   int      // from 1 on; 0 = where it is, or at the end
	Points  *float64 // of a full solution
}

// PointsField are the points as a field has them; "" = none.
func (e newProblem) PointsField() string {
	if e.Points == nil {
		return ""
	}
	return strconv.FormatFloat(*e.Points, 'f', -1, 64)
}

// readProblem reads the JSON of a problem of a space.
func readProblem(f *site.Fields) (e newProblem) {
	e.Problem = f.Text("problem")
	f.Value("place", "a whole number", &e.Place)
	f.Value("points", "a number", &e.Points)
	return e
}

// problemForm reads a problem of a space from a form.
func problemForm(c *fiber.Ctx) (e newProblem, wrong site.WrongFields) {
	e.Problem = c.FormValue("problem")
	if text := c.FormValue("place"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			wrong.Add(site.WrongField("place", site.ReasonInvalid, "The place has to be a whole number."))
		}
		e.Place = n
	}
	if text := c.FormValue("points"); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			wrong.Add(site.WrongField("points", site.ReasonInvalid, "The points have to be a number."))
		}
		e.Points = &n
	}
	return e, wrong
}

// check returns what is wrong with a problem of a space.
func (e newProblem) check() (wrong site.WrongFields) {
	if !site.PlainWord(e.Problem) {
		wrong.Add(site.WrongField("problem", site.ReasonUnknown, "There is no problem %q.", site.Shorten(e.Problem)))
	}
	if e.Place < 0 || e.Place > judge.MaxSpaceProblems {
		wrong.Add(site.WrongField("place", site.ReasonInvalid, "The place has to be from 1 to %d.", judge.MaxSpaceProblems))
	}
	if e.Points != nil && !(*e.Points >= 0 && *e.Points <= maxPoints) { // so that it is a number, too
		wrong.Add(site.WrongField("points", site.ReasonInvalid, "The points have to be from 0 to %d.", int(maxPoints)))
	}
	return wrong
}

// placeLabel is the letter of a place, from 1 on: A to Z, then AA.
func placeLabel(place int) string {
	label := ""
	for ; place > 0; place = (place - 1) / 26 {
		label = fmt.Sprintf("%c", 'A'+(place-1)%26) + label
	}
	return label
}
