package rounds

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/site"
)

const (
	maxAtOnce = 1000 // things of a list that is sent
	maxName   = 200  // bytes
	maxShort  = 100  // bytes
	maxURL    = 1000 // bytes
	maxTeam   = 100  // members, and groups, of a participant
)

// participantJSON is a team or a single person.
type participantJSON struct {
	Code         string                  `json:"code"`
	ICPCID       string                  `json:"icpc_id"`
	Label        string                  `json:"label"` // as on its table; "": the code
	Name         string                  `json:"name"`
	DisplayName  string                  `json:"display_name"` // "": the name
	Organization string                  `json:"organization"` // its code; "": none
	Groups       []string                `json:"groups"`       // their codes
	Room         string                  `json:"room"`
	Ranked       bool                    `json:"ranked"`
	Hidden       bool                    `json:"hidden"` // only for staff
	Status       judge.ParticipantStatus `json:"status"`
	Reason       string                  `json:"reason"` // of a status that is not active
	Members      []participantMemberJSON `json:"members"`
}

// participantMemberJSON is somebody in a team.
type participantMemberJSON struct {
	User string                `json:"user"`
	Role judge.ParticipantRole `json:"role"`
}

// teamGroupJSON is a group of participants.
type teamGroupJSON struct {
	Code   string `json:"code"`
	ICPCID string `json:"icpc_id"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	Ranked bool   `json:"ranked"` // its participants rank among all others
	Sort   int32  `json:"sort"`
}

// organizationJSON is where participants come from.
type organizationJSON struct {
	Code               string `json:"code"`
	ICPCID             string `json:"icpc_id"`
	Name               string `json:"name"`
	FormalName         string `json:"formal_name"`
	Country            string `json:"country"` // of ISO 3166-1 alpha-3; "": unknown
	CountrySubdivision string `json:"country_subdivision"`
	URL                string `json:"url"`
	Twitter            string `json:"twitter"`
}

// What may be sent of each.
var (
	participantIn = fiber.Map{
		"code": "", "name": "", "?icpc_id": "", "?label": "", "?display_name": "", "?organization": "", "?groups": []string{}, "?room": "", "?ranked": false,
		"?hidden": false, "?status": "", "?reason": "", "?members": []fiber.Map{{"user": "", "?role": ""}},
	}
	groupIn        = fiber.Map{"code": "", "name": "", "?icpc_id": "", "?type": "", "?ranked": false, "?sort": int32(0)}
	organizationIn = fiber.Map{
		"code": "", "name": "", "?icpc_id": "", "?formal_name": "", "?country": "", "?country_subdivision": "", "?url": "", "?twitter": "",
	}
)

var country = regexp.MustCompile(`^[A-Z]{3}$`)

// plain reports whether a text can be shown in one line.
func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// apiParticipants handles GET /api/v1/spaces/:space/participants?after=&limit=.
func (s *Room) apiParticipants(c *fiber.Ctx) error {
	return some(s, c, "participants", s.Config.Rounds.Participants, shownParticipant, func(p participantJSON) string { return p.Code })
}

// some answers with a part of a list of a space, to its staff.
func some[T, J any](
	s *Room, c *fiber.Ctx, name string, read func(ctx context.Context, space, after string, limit int) ([]T, error), show func(T) J, key func(J) string,
) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	return pageOf(c, name, func(ctx context.Context, after string, limit int) ([]T, error) {
		return read(ctx, space.Slug, after, limit)
	}, show, key)
}

// someOfRound is [some] of a list of a round, to the staff of its space.
func someOfRound[T, J any](
	s *Room, c *fiber.Ctx, name string, read func(ctx context.Context, round int64, after string, limit int) ([]T, error), show func(T) J, key func(J) string,
) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	return pageOf(c, name, func(ctx context.Context, after string, limit int) ([]T, error) { return read(ctx, r.ID, after, limit) }, show, key)
}

// pageOf answers with a part of a list.
func pageOf[T, J any](c *fiber.Ctx, name string, read func(ctx context.Context, after string, limit int) ([]T, error), show func(T) J, key func(J) string) error {
	cursor, limit, err := after(c)
	if err != nil {
		return err
	}
	found, err := read(c.UserContext(), cursor, limit)
	if err != nil {
		return err
	}
	out := make([]J, len(found))
	for i, v := range found {
		out[i] = show(v)
	}
	return c.JSON(fiber.Map{name: out, "next": next(out, limit, key)})
}

func shownParticipant(p judge.Participant) participantJSON {
	members := make([]participantMemberJSON, len(p.Members))
	for i, m := range p.Members {
		members[i] = participantMemberJSON{m.User, m.Role}
	}
	groups := p.Groups
	if groups == nil {
		groups = []string{}
	}
	return participantJSON{p.Code, p.ICPCID, p.Label, p.Name, p.DisplayName, p.Organization, groups, p.Room, p.Ranked, p.Hidden, p.Status, p.Reason, members}
}

// apiParticipant handles GET /api/v1/spaces/:space/participants/:code.
func (s *Room) apiParticipant(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	name, err := named(c)
	if err != nil {
		return err
	}
	p, err := s.Config.Rounds.Participant(c.UserContext(), space.Slug, name)
	if err != nil {
		return err
	}
	return c.JSON(shownParticipant(*p))
}

// entries reads a list of objects that is sent, each with the members that are known, and calls each for them in turn.
func entries(c *fiber.Ctx, name string, known []string, each func(f *site.Fields)) error {
	f, err := site.ReadFields(c, name)
	if err != nil {
		return err
	}
	var raw []json.RawMessage
	if !f.Has(name) {
		f.Wrong.Add(site.WrongField(name, site.ReasonMissing, "The field is missing."))
	}
	f.Value(name, "a list of objects", &raw)
	if len(f.Wrong) == 0 && (len(raw) == 0 || len(raw) > maxAtOnce) {
		f.Wrong.Add(site.WrongField(name, site.ReasonInvalid, "Send from 1 to %d at once.", maxAtOnce))
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	for i, one := range raw {
		at := fmt.Sprintf("%s[%d]", name, i)
		if site.KindOf(one) != "an object" {
			f.Wrong.Add(site.WrongField(at, site.ReasonWrong, "The field has to be %s, not %s.", "an object", site.KindOf(one)))
			continue
		}
		e, err := site.ParseFields(one, known...)
		if err != nil {
			f.Wrong.Add(site.WrongField(at, site.ReasonInvalid, "The entry cannot be read."))
			continue
		}
		each(e)
		for _, w := range e.Wrong {
			w.Field = at + "." + w.Field
			f.Wrong.Add(w)
		}
	}
	return f.Wrong.Err()
}

// texts reads the strings that are there, each of so many bytes at most.
func texts(f *site.Fields, most int, into map[string]*string) {
	for _, name := range slices.Sorted(maps.Keys(into)) {
		if !f.Has(name) {
			continue
		}
		text := f.Text(name)
		if len(text) > most || !plain(text) {
			f.Wrong.Add(site.WrongField(name, site.ReasonInvalid, "The field has up to %d bytes and no control characters.", most))
		}
		*into[name] = text
	}
}

// names reads what everything of a list has: a short name and a name.
func names(f *site.Fields, short, name *string) {
	if *short = f.Text("code"); f.Has("code") && !code.MatchString(*short) {
		f.Wrong.Add(site.WrongField("code", site.ReasonInvalid, "A short name has up to 36 letters, digits, _, . and -, and begins with a letter, a digit or _."))
	}
	*name = f.Text("name")
	if f.Has("name") && (strings.TrimSpace(*name) == "" || len(*name) > maxName || !plain(*name)) {
		f.Wrong.Add(site.WrongField("name", site.ReasonInvalid, "A name has from 1 to %d bytes and no control characters.", maxName))
	}
}

// apiPutParticipants handles POST /api/v1/spaces/:space/participants with {"participants": [{…}]}.
func (s *Room) apiPutParticipants(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	var list []judge.Participant
	err = entries(c, "participants", fieldsOf(participantIn), func(f *site.Fields) { list = append(list, readParticipant(f)) })
	if err != nil {
		return err
	}
	if err := s.Config.Rounds.PutParticipants(c.UserContext(), space.Slug, list, site.ViewerOf(c).Name); err != nil {
		return err
	}
	return c.JSON(fiber.Map{"changed": len(list)})
}

func readParticipant(f *site.Fields) judge.Participant {
	p := judge.Participant{Ranked: true, Status: judge.ParticipantActive}
	names(f, &p.Code, &p.Name)
	status := string(p.Status)
	texts(f, maxName, map[string]*string{"display_name": &p.DisplayName, "room": &p.Room, "reason": &p.Reason})
	texts(f, maxShort, map[string]*string{"icpc_id": &p.ICPCID, "label": &p.Label, "organization": &p.Organization, "status": &status})
	p.Status = judge.ParticipantStatus(status)
	f.Value("ranked", "a truth value", &p.Ranked)
	f.Value("hidden", "a truth value", &p.Hidden)
	f.Value("groups", "a list of strings", &p.Groups)
	var members []participantMemberJSON
	f.Strict("members", &members)
	seen := map[string]bool{}
	for _, m := range members {
		if m.Role == "" {
			m.Role = judge.MemberContestant
		}
		if m.Role != judge.MemberContestant && m.Role != judge.MemberCoach {
			f.Wrong.Add(site.WrongField("members", site.ReasonInvalid, "The role of a member is contestant or coach."))
		}
		if seen[m.User] {
			f.Wrong.Add(site.WrongField("members", "duplicate", "%s is there twice.", site.Shorten(m.User)))
		}
		seen[m.User] = true
		p.Members = append(p.Members, judge.ParticipantMember{User: m.User, Role: m.Role})
	}
	slices.Sort(p.Groups)
	switch {
	case !slices.Contains([]judge.ParticipantStatus{judge.ParticipantActive, judge.ParticipantWithdrawn, judge.ParticipantBanned, judge.ParticipantDisqualified}, p.Status):
		f.Wrong.Add(site.WrongField("status", site.ReasonInvalid, "The status is active, withdrawn, banned or disqualified."))
	case p.Status != judge.ParticipantActive && strings.TrimSpace(p.Reason) == "":
		f.Wrong.Add(site.WrongField("reason", site.ReasonMissing, "Say why the status is %s.", p.Status))
	case len(slices.Compact(slices.Clone(p.Groups))) < len(p.Groups):
		f.Wrong.Add(site.WrongField("groups", "duplicate", "A group is there twice."))
	case len(p.Groups) > maxTeam || len(p.Members) > maxTeam:
		f.Wrong.Add(site.WrongField("members", "too_many", "A participant has at most %d members and groups.", maxTeam))
	}
	return p
}

// apiRemoveParticipant handles DELETE /api/v1/spaces/:space/participants/:code.
func (s *Room) apiRemoveParticipant(c *fiber.Ctx) error {
	return s.take(c, s.Config.Rounds.RemoveParticipant)
}

// take removes what the address names of a space, as its staff.
func (s *Room) take(c *fiber.Ctx, remove func(ctx context.Context, space, code, by string) error) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	name, err := named(c)
	if err != nil {
		return err
	}
	if err := remove(c.UserContext(), space.Slug, name, site.ViewerOf(c).Name); err != nil {
		return inUse(err)
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// apiGroups handles GET /api/v1/spaces/:space/groups?after=&limit=.
func (s *Room) apiGroups(c *fiber.Ctx) error {
	show := func(g judge.TeamGroup) teamGroupJSON {
		return teamGroupJSON{g.Code, g.ICPCID, g.Name, g.Type, g.Ranked, g.Sort}
	}
	return some(s, c, "groups", s.Config.Rounds.Groups, show, func(g teamGroupJSON) string { return g.Code })
}

// apiPutGroups handles POST /api/v1/spaces/:space/groups with {"groups": [{…}]}.
func (s *Room) apiPutGroups(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	var list []judge.TeamGroup
	err = entries(c, "groups", fieldsOf(groupIn), func(f *site.Fields) {
		g := judge.TeamGroup{Ranked: true}
		names(f, &g.Code, &g.Name)
		texts(f, maxShort, map[string]*string{"icpc_id": &g.ICPCID, "type": &g.Type})
		f.Value("ranked", "a truth value", &g.Ranked)
		f.Value("sort", "a whole number", &g.Sort)
		list = append(list, g)
	})
	if err != nil {
		return err
	}
	if err := s.Config.Rounds.PutGroups(c.UserContext(), space.Slug, list, site.ViewerOf(c).Name); err != nil {
		return err
	}
	return c.JSON(fiber.Map{"changed": len(list)})
}

// apiRemoveGroup handles DELETE /api/v1/spaces/:space/groups/:code.
func (s *Room) apiRemoveGroup(c *fiber.Ctx) error { return s.take(c, s.Config.Rounds.RemoveGroup) }

// apiOrganizations handles GET /api/v1/spaces/:space/organizations?after=&limit=.
func (s *Room) apiOrganizations(c *fiber.Ctx) error {
	show := func(o judge.Organization) organizationJSON {
		return organizationJSON{o.Code, o.ICPCID, o.Name, o.FormalName, o.Country, o.CountrySubdivision, o.URL, o.Twitter}
	}
	return some(s, c, "organizations", s.Config.Rounds.Organizations, show, func(o organizationJSON) string { return o.Code })
}

// apiPutOrganizations handles POST /api/v1/spaces/:space/organizations with {"organizations": [{…}]}.
func (s *Room) apiPutOrganizations(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	var list []judge.Organization
	err = entries(c, "organizations", fieldsOf(organizationIn), func(f *site.Fields) {
		var o judge.Organization
		names(f, &o.Code, &o.Name)
		texts(f, maxName, map[string]*string{"formal_name": &o.FormalName})
		texts(f, maxShort, map[string]*string{"icpc_id": &o.ICPCID, "country": &o.Country, "country_subdivision": &o.CountrySubdivision, "twitter": &o.Twitter})
		texts(f, maxURL, map[string]*string{"url": &o.URL})
		if o.Country != "" && !country.MatchString(o.Country) {
			f.Wrong.Add(site.WrongField("country", site.ReasonInvalid, "The country is three capital letters, such as NLD."))
		}
		if o.URL != "" && !strings.HasPrefix(o.URL, "https://") && !strings.HasPrefix(o.URL, "http://") {
			f.Wrong.Add(site.WrongField("url", site.ReasonInvalid, "The address begins with https:// or http://."))
		}
		list = append(list, o)
	})
	if err != nil {
		return err
	}
	if err := s.Config.Rounds.PutOrganizations(c.UserContext(), space.Slug, list, site.ViewerOf(c).Name); err != nil {
		return err
	}
	return c.JSON(fiber.Map{"changed": len(list)})
}

// apiRemoveOrganization handles DELETE /api/v1/spaces/:space/organizations/:code.
func (s *Room) apiRemoveOrganization(c *fiber.Ctx) error {
	return s.take(c, s.Config.Rounds.RemoveOrganization)
}

// fieldsOf are the members of an object that may be sent.
func fieldsOf(in fiber.Map) []string {
	var out []string
	for name := range in {
		out = append(out, strings.TrimPrefix(name, "?"))
	}
	slices.Sort(out)
	return out
}
