package rounds

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// contestPersonJSON is somebody whom a round is about: a member of a team, a coach, staff.
type contestPersonJSON struct {
	Code         string   `json:"code"`
	ICPCID       string   `json:"icpc_id"`
	Name         string   `json:"name"`
	Title        string   `json:"title"`
	Role         string   `json:"role"`         // contestant, coach, staff or other
	Participants []string `json:"participants"` // codes of the teams that they are of
}

var personIn = fiber.Map{"code": "", "name": "", "?role": "", "?icpc_id": "", "?title": "", "?participants": []string{}}

// apiPersons handles GET /api/v1/rounds/:round/persons?after=&limit=.
func (s *Room) apiPersons(c *fiber.Ctx) error {
	same := func(p contestPersonJSON) contestPersonJSON { return p }
	return someOfRound(s, c, "persons", s.persons, same, func(p contestPersonJSON) string { return p.Code })
}

// persons are those of a round behind the one with a short name.
func (s *Room) persons(ctx context.Context, round int64, after string, limit int) ([]contestPersonJSON, error) {
	found, err := s.Config.Rounds.Extras(ctx, round, string(contest.KindPerson), after, limit)
	out := make([]contestPersonJSON, len(found))
	for i, v := range found {
		var d contest.PersonData
		if err := json.Unmarshal(v.Data, &d); err != nil {
			return nil, fmt.Errorf("person %s of round %d: %w", v.Code, round, err)
		}
		out[i] = contestPersonJSON{v.Code, d.ICPCID, d.Name, d.Title, d.Role, append([]string{}, d.Participants...)}
	}
	return out, err
}

// apiPutPersons handles POST /api/v1/rounds/:round/persons.
func (s *Room) apiPutPersons(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	var list []rounds.Extra
	err = entries(c, "persons", fieldsOf(personIn), func(f *site.Fields) {
		var p contest.PersonData
		var short string
		names(f, &short, &p.Name)
		texts(f, maxName, map[string]*string{"title": &p.Title})
		texts(f, maxShort, map[string]*string{"icpc_id": &p.ICPCID, "role": &p.Role})
		f.Value("participants", "a list of short names", &p.Participants)
		if p.Role == "" {
			p.Role = contest.PersonRoles[0]
		}
		switch {
		case !slices.Contains(contest.PersonRoles, p.Role):
			f.Wrong.Add(site.WrongField("role", site.ReasonInvalid, "The role is one of %s.", judge.Names(contest.PersonRoles)))
		case p.Plays() && len(p.Participants) == 0:
			f.Wrong.Add(site.WrongField("participants", site.ReasonInvalid, "Contestants and coaches are of a team: name it by its short name."))
		case len(p.Participants) > maxTeam || slices.ContainsFunc(p.Participants, func(name string) bool { return !code.MatchString(name) }):
			f.Wrong.Add(site.WrongField("participants", site.ReasonInvalid, "Name up to %d teams by their short names.", maxTeam))
		}
		data, err := json.Marshal(p)
		if err != nil {
			f.Wrong.Add(site.WrongField("name", site.ReasonInvalid, "It cannot be written: %s.", err))
		}
		list = append(list, rounds.Extra{Kind: string(contest.KindPerson), Code: short, Data: data})
	})
	if err != nil {
		return err
	}
	if err := s.Config.Rounds.PutExtras(c.UserContext(), r.Code, list, "round_persons", site.ViewerOf(c).Name); err != nil {
		return err
	}
	return c.JSON(fiber.Map{"changed": len(list)})
}

// apiRemovePerson handles DELETE /api/v1/rounds/:round/persons/:code.
func (s *Room) apiRemovePerson(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	name, err := named(c)
	if err != nil {
		return err
	}
	if err := s.Config.Rounds.RemoveExtra(c.UserContext(), r.Code, string(contest.KindPerson), name, "round_person_remove", site.ViewerOf(c).Name); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// personsOf are the names of the persons of a participant, as far as v knows any: contestants, and coaches.
func personsOf(v *standings.Standings, participant string) (contestants, coaches []string) {
	for _, p := range v.Persons {
		switch {
		case !slices.Contains(p.Participants, participant):
		case p.Role == "coach":
			coaches = append(coaches, p.Name)
		case p.Plays():
			contestants = append(contestants, p.Name)
		}
	}
	slices.Sort(contestants)
	slices.Sort(coaches)
	return contestants, coaches
}
