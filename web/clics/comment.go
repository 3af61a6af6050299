package clics

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// Bounds of commentary.
const (
	maxTags  = 20
	maxTag   = 64 // bytes
	maxAbout = 100
)

// said is commentary that is sent.
type said struct {
	Message     *string  `json:"message"`
	Tags        []string `json:"tags"`
	Teams       []string `json:"team_ids"`
	Problems    []string `json:"problem_ids"`
	Submissions []string `json:"submission_ids"`

	// What the server says.
	ID          json.RawMessage `json:"id"`
	Time        json.RawMessage `json:"time"`
	ContestTime json.RawMessage `json:"contest_time"`
	Source      json.RawMessage `json:"source_id"`
}

// comment handles POST /clics/:version/contests/:round/commentary, of who runs the round: it is told to everybody, at once. What is
// about a team that is hidden is for the jury.
func (s *Room) comment(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err == nil {
		err = staffOnly(a)
	}
	if err != nil {
		return err
	}
	var in said
	if err := readObject(c, &in); err != nil {
		return err
	}
	d, err := s.commentary(c, a, in)
	if err != nil {
		return err
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	code := rounds.NewCode()
	err = s.Config.Rounds.PutExtras(c.UserContext(), a.round.Code, []rounds.Extra{{Kind: string(contest.KindCommentary), Code: code, Data: data}}, "round_comment", site.ViewerOf(c).Name)
	if err != nil {
		return err
	}
	return s.awaitOne(c, a, clics.TypeCommentary, code, func([]byte) bool { return true })
}

// commentary is what is sent, or what is wrong with it.
func (s *Room) commentary(c *fiber.Ctx, a asker, in said) (d contest.CommentaryData, err error) {
	d = contest.CommentaryData{Time: time.Now().UTC().Truncate(time.Millisecond), Tags: in.Tags, Participants: unique(in.Teams)}
	switch {
	case in.ID != nil || in.Time != nil || in.ContestTime != nil || in.Source != nil:
		return d, badRequest("The server gives id, time, contest_time and source_id.")
	case in.Message == nil || strings.TrimSpace(*in.Message) == "" || len(*in.Message) > judge.MaxClarification || !utf8.ValidString(*in.Message) || strings.ContainsRune(*in.Message, 0):
		return d, badRequest("message has up to %d bytes, and is not empty.", judge.MaxClarification)
	case in.Tags == nil:
		return d, badRequest("tags has to be there, as a list, which may be empty.")
	case len(in.Tags) > maxTags || slices.ContainsFunc(in.Tags, func(tag string) bool { return tag == "" || len(tag) > maxTag || clics.ID(tag) != tag }) || len(unique(in.Tags)) != len(in.Tags):
		return d, badRequest("tags has up to %d different ones of letters, digits, _, . and -.", maxTags)
	case len(in.Teams)+len(in.Problems)+len(in.Submissions) > maxAbout:
		return d, badRequest("It is about more than %d teams, problems and submissions.", maxAbout)
	}
	d.Message = *in.Message
	for _, team := range d.Participants {
		if err := s.knownTeam(c, a, team); err != nil {
			return d, err
		}
	}
	for _, id := range unique(in.Problems) {
		slug, err := s.problem(c, a, id)
		if err != nil {
			return d, err
		}
		d.Problems = append(d.Problems, slug)
	}
	err = s.worlds.Look(c.UserContext(), a, func(w *clics.World, _ *clics.Teller) error {
		for _, id := range unique(in.Submissions) {
			number, wrong := strconv.ParseInt(id, 10, 64)
			if _, there := w.One(clics.TypeSubmissions, id); !there || wrong != nil {
				return badRequest("The contest has no submission %q.", site.Shorten(id))
			}
			d.Submissions = append(d.Submissions, number)
		}
		return nil
	})
	return d, err
}
