package spaces

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/site"
)

// spaceJSON is a space as /api/v1 shows it.
type spaceJSON struct {
	Slug         string           `json:"slug"`
	URL          string           `json:"url"`
	Title        string           `json:"title"`
	Description  string           `json:"description"`
	Opens        *time.Time       `json:"opens_at"`       // null: always was open
	Closes       *time.Time       `json:"closes_at"`      // null: never closes
	Languages    []string         `json:"languages"`      // empty: all that a problem takes
	MaxSourceKiB int32            `json:"max_source_kib"` // 0: as the problem says
	MaxWaiting   int32            `json:"max_waiting"`    // 0: any number
	PerMinute    int32            `json:"per_minute"`     // 0: any number
	Listed       bool             `json:"listed"`
	Created      time.Time        `json:"created_at"`
	Members      int64            `json:"members"`
	Problems     int64            `json:"problems"`
	Phase        judge.SpacePhase `json:"phase"` // before, open or after, at the time of the answer
	Now          time.Time        `json:"now"`
	Role         string           `json:"role"` // of whoever asks; "" if they are no member
}

func publicSpace(s *judge.Space, v site.Viewer) spaceJSON {
	languages := s.Languages
	if languages == nil {
		languages = []string{}
	}
	return spaceJSON{
		s.Slug, site.SpaceURL(s.Slug), s.Title, s.Description, s.Opens, s.Closes, languages, s.MaxSourceKiB, s.MaxWaiting, s.PerMinute, s.Listed,
		s.Created, s.Members, s.Problems, s.Phase(), s.Now, string(v.SpaceRole(s.Role)),
	}
}

// spaceMemberJSON is somebody who takes part in a space.
type spaceMemberJSON struct {
	Name  string          `json:"name"`
	Role  judge.SpaceRole `json:"role"`
	Added time.Time       `json:"added_at"`

	DisplayName string `json:"display_name"` // "" = none
}

// spaceScoreJSON is what a contestant achieved in a space.
type spaceScoreJSON struct {
	Rank   int     `json:"rank"`
	Name   string  `json:"name"`
	Solved int64   `json:"solved"`
	Tried  int64   `json:"tried"`
	Points float64 `json:"points"`

	DisplayName string `json:"display_name"` // "" = none
}

// listSpaces returns a page of the spaces that the viewer may see, newest first, and
// the cursor of the next one, "" at the end.
func (s *Room) listSpaces(c *fiber.Ctx) ([]judge.Space, string, error) {
	page, err := site.UserFilterOf(c) // for its limit
	if err != nil {
		return nil, "", err
	}
	v := site.ViewerOf(c)
	f := sql.SpaceFilter{Viewer: v.Name, All: v.Staff(), Before: c.Query("before"), Limit: page.Limit}
	if f.Before != "" && !site.PlainWord(f.Before) {
		return nil, "", site.WrongField("before", site.ReasonInvalid, "The cursor has to be the short name of a space.")
	}
	found, err := s.Store.Spaces(c.UserContext(), f)
	if err != nil {
		return nil, "", err
	}
	if len(found) == f.Limit {
		return found, found[len(found)-1].Slug, nil
	}
	return found, "", nil
}

// apiSpaces handles GET /api/v1/spaces?before=&limit=: the newest first.
func (s *Room) apiSpaces(c *fiber.Ctx) error {
	found, next, err := s.listSpaces(c)
	if err != nil {
		return err
	}
	out := make([]spaceJSON, len(found))
	for i := range found {
		out[i] = publicSpace(&found[i], site.ViewerOf(c))
	}
	return c.JSON(fiber.Map{"spaces": out, "next": site.OrNull(next)})
}

// apiCreateSpace handles POST /api/v1/spaces, for staff.
func (s *Room) apiCreateSpace(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, append([]string{"slug"}, spaceSettings...)...)
	if err != nil {
		return err
	}
	space := judge.Space{Slug: f.Text("slug")}
	readSpace(f, &space)
	if err := s.createSpace(c.UserContext(), space, f.Wrong, site.ViewerOf(c).Name); err != nil {
		return err
	}
	made, err := s.Store.Space(c.UserContext(), space.Slug, site.ViewerOf(c).Name)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderLocation, "/api/v1"+site.SpaceURL(space.Slug))
	return c.Status(fiber.StatusCreated).JSON(publicSpace(made, site.ViewerOf(c)))
}

func (s *Room) createSpace(ctx context.Context, space judge.Space, wrong site.WrongFields, by string) error {
	if err := s.checkSettings(ctx, space, nil, wrong); err != nil {
		return err
	}
	err := s.Store.CreateSpace(ctx, space, by)
	if errors.Is(err, sql.ErrExists) {
		return site.WrongField("slug", "duplicate", "There is a space %s already.", space.Slug)
	}
	return err
}

// apiSpace handles GET /api/v1/spaces/:space.
func (s *Room) apiSpace(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.SeeSpace)
	if err != nil {
		return err
	}
	return c.JSON(publicSpace(space, site.ViewerOf(c)))
}

// apiUpdateSpace handles PATCH /api/v1/spaces/:space: what is not sent stays.
func (s *Room) apiUpdateSpace(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	f, err := site.ReadFields(c, spaceSettings...)
	if err != nil {
		return err
	}
	before := slices.Clone(space.Languages) // reading writes into the list
	readSpace(f, space)
	if err := s.updateSpace(c.UserContext(), *space, before, f.Wrong, site.ViewerOf(c).Name); err != nil {
		return err
	}
	return s.apiSpace(c)
}

// checkSettings reports what is wrong with settings, beside what was found while they were read.
func (s *Room) checkSettings(ctx context.Context, space judge.Space, before []string, wrong site.WrongFields) error {
	if len(wrong) == 0 {
		wrong = checkSpace(space)
	}
	offers, err := s.Catalog.Languages(ctx)
	if err != nil {
		return err
	}
	wrong.Add(checkLanguages(space.Languages, before, offers))
	return wrong.Err()
}

func (s *Room) updateSpace(ctx context.Context, space judge.Space, before []string, wrong site.WrongFields, by string) error {
	if err := s.checkSettings(ctx, space, before, wrong); err != nil {
		return err
	}
	return s.Store.UpdateSpace(ctx, space, by)
}

// apiDeleteSpace handles DELETE /api/v1/spaces/:space.
func (s *Room) apiDeleteSpace(c *fiber.Ctx) error {
	if err := s.deleteSpace(c); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (s *Room) deleteSpace(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	err = s.Store.DeleteSpace(c.UserContext(), space.Slug, site.ViewerOf(c).Name)
	if errors.Is(err, sql.ErrInUse) {
		return site.Refuse(fiber.StatusConflict, "in_use", "Something was handed in to the space, so it stays.", "Close it, and take it off the list.")
	}
	return err
}

// apiSpaceMembers handles GET /api/v1/spaces/:space/members?after=&limit=: by name.
func (s *Room) apiSpaceMembers(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	found, next, err := s.listMembers(c, space)
	if err != nil {
		return err
	}
	out := make([]spaceMemberJSON, len(found))
	for i, m := range found {
		out[i] = spaceMemberJSON{m.Name, m.Role, m.Added, m.DisplayName}
	}
	return c.JSON(fiber.Map{"members": out, "next": site.OrNull(next)})
}

func (s *Room) listMembers(c *fiber.Ctx, space *judge.Space) (members []judge.SpaceMember, next string, err error) {
	f, err := site.UserFilterOf(c)
	if err != nil {
		return nil, "", err
	}
	if members, err = s.Store.SpaceMembers(c.UserContext(), space.ID, f.After, f.Limit); err != nil {
		return nil, "", err
	}
	if len(members) == f.Limit {
		next = members[len(members)-1].Name
	}
	return members, next, nil
}

// apiPutSpaceMembers handles POST /api/v1/spaces/:space/members with {"names",
// "role"}: it adds accounts, or changes their roles.
func (s *Room) apiPutSpaceMembers(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "names", "role")
	if err != nil {
		return err
	}
	var names []string
	role := judge.SpaceContestant
	if !f.Has("names") {
		f.Wrong.Add(site.WrongField("names", site.ReasonMissing, "The field is missing."))
	}
	f.Value("names", "a list of strings", &names)
	if f.Has("role") {
		role = judge.SpaceRole(f.Text("role"))
	}
	if err := s.putMembers(c, names, role, f.Wrong); err != nil {
		return err
	}
	return s.apiSpace(c)
}

// putMembers gives accounts a role in the space that the address names.
func (s *Room) putMembers(c *fiber.Ctx, names []string, role judge.SpaceRole, wrong site.WrongFields) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	if len(wrong) == 0 {
		wrong = checkMembers(names, role)
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if role != judge.SpaceContestant {
		if err := s.people.NeedConfirmation(c, makesSpaceRole); err != nil {
			return err
		}
	}
	unknown, err := s.Store.PutSpaceMembers(c.UserContext(), space.ID, names, role, site.ViewerOf(c).Name)
	if err == nil && len(unknown) > 0 {
		few := unknown[:min(len(unknown), 10)]
		return site.WrongField("names", site.ReasonUnknown, "No account has %d of the names: %s. Nobody was added.", len(unknown), judge.Names(few))
	}
	return err
}

// apiRemoveSpaceMember handles DELETE /api/v1/spaces/:space/members/:name.
func (s *Room) apiRemoveSpaceMember(c *fiber.Ctx) error {
	if err := s.removeMember(c); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (s *Room) removeMember(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	name := c.Params("name")
	if !site.PlainWord(name) {
		return sql.ErrNotFound
	}
	return s.Store.RemoveSpaceMember(c.UserContext(), space.ID, name, site.ViewerOf(c).Name)
}

// ranked gives scores their ranks: those with the same have the same.
func ranked(scores []judge.SpaceScore) []spaceScoreJSON {
	out := make([]spaceScoreJSON, len(scores))
	for i, v := range scores {
		out[i] = spaceScoreJSON{i + 1, v.Name, v.Solved, v.Tried, v.Points, v.DisplayName}
		if i > 0 && v.Points == scores[i-1].Points && v.Solved == scores[i-1].Solved {
			out[i].Rank = out[i-1].Rank
		}
	}
	return out
}

// apiSpaceScores handles GET /api/v1/spaces/:space/scores: the best first.
func (s *Room) apiSpaceScores(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.SeeSpaceProblems)
	if err != nil {
		return err
	}
	scores, err := s.Store.SpaceScores(c.UserContext(), space.ID, 0)
	if err != nil {
		return err
	}
	page, next, err := site.PageOf(c, "after", ranked(scores), func(v spaceScoreJSON) string { return v.Name })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"scores": page, "next": next})
}

// spaceFilterOf is the filter of the submissions of the space that the address
// names: its staff see those of all, others their own.
func (s *Room) spaceFilterOf(c *fiber.Ctx) (*judge.Space, sql.Filter, error) {
	space, err := s.SpaceFor(c, people.SeeSpace)
	if err != nil {
		return nil, sql.Filter{}, err
	}
	f, err := site.ReadFilter(c)
	if f.Unveiled = site.ViewerOf(c).May(people.ManageSpace, space); err == nil && !f.Unveiled {
		f, err = site.OwnOnly(site.ViewerOf(c), f)
	}
	f.Space = space.ID
	return space, f, err
}

// apiSpaceSubmissions handles GET /api/v1/spaces/:space/submissions.
func (s *Room) apiSpaceSubmissions(c *fiber.Ctx) error {
	_, f, err := s.spaceFilterOf(c)
	if err != nil {
		return err
	}
	return s.solve.AnswerSubmissions(c, f)
}
