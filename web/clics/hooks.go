package clics

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// Bounds of hooks.
const (
	maxHooks  = 20  // of one owner
	maxTold   = 100 // contests or endpoints that one names
	maxSecret = 200 // bytes, of a token
)

// hookJSON is an address that is told what feeds tell, as the API has it.
type hookJSON struct {
	ID        string   `json:"id"`
	URL       string   `json:"url"`
	Endpoints []string `json:"endpoints"`
	Contests  []string `json:"contest_ids"`
	Active    bool     `json:"active"`
}

func hookOf(h rounds.Hook) hookJSON {
	return hookJSON{h.ID, h.URL, append([]string{}, h.Endpoints...), append([]string{}, h.Contests...), h.Active}
}

// mine is whose hooks somebody sees: "" = everybody's.
func mine(v site.Viewer) string {
	if v.Role == judge.RoleAdmin {
		return ""
	}
	return v.Name
}

// hooks handles GET /clics/:version/webhooks.
func (s *Room) hooks(c *fiber.Ctx) error {
	if _, err := form(c); err != nil {
		return err
	}
	found, err := s.Config.Rounds.Hooks(c.UserContext(), mine(site.ViewerOf(c)), "", maxContests)
	if err != nil {
		return err
	}
	out := make([]hookJSON, len(found))
	for i, h := range found {
		out[i] = hookOf(h)
	}
	return c.JSON(out)
}

// hook handles GET /clics/:version/webhooks/:id.
func (s *Room) hook(c *fiber.Ctx) error {
	if _, err := form(c); err != nil {
		return err
	}
	if !contest.RoundCode.MatchString(c.Params("id")) {
		return notThere()
	}
	found, err := s.Config.Rounds.Hooks(c.UserContext(), mine(site.ViewerOf(c)), c.Params("id"), 1)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return notThere()
	}
	return c.JSON(hookOf(found[0]))
}

// removeHook handles DELETE /clics/:version/webhooks/:id.
func (s *Room) removeHook(c *fiber.Ctx) error {
	v := site.ViewerOf(c)
	err := sql.ErrNotFound
	if contest.RoundCode.MatchString(c.Params("id")) {
		err = s.Config.Rounds.DeleteHook(c.UserContext(), mine(v), c.Params("id"), v.Name)
	}
	if errors.Is(err, sql.ErrNotFound) {
		return notThere()
	}
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// told are the endpoints that a hook may name.
var told = []string{
	"contests", clics.TypeState, clics.TypeTypes, clics.TypeLanguages, clics.TypeProblems, clics.TypeGroups, clics.TypeOrganizations, clics.TypeTeams,
	clics.TypeSubmissions, clics.TypeJudgements, clics.TypeRuns, clics.TypeClarifications, clics.TypeAwards,
}

// addHook handles POST /clics/:version/webhooks. Which contests its owner may look at is found out whenever it is told something.
func (s *Room) addHook(c *fiber.Ctx) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	var in map[string]json.RawMessage
	if err := readObject(c, &in); err != nil {
		return err
	}
	v := site.ViewerOf(c)
	h := rounds.Hook{ID: people.NewToken(12), Owner: v.Name, Key: v.Key, Version: string(f.Version), Endpoints: []string{}, Contests: []string{}}
	for name, raw := range in {
		var into any
		switch name {
		case "url":
			into = &h.URL
		case "token":
			into = &h.Token
		case "endpoints":
			into = &h.Endpoints
		case "contest_ids":
			into = &h.Contests
		default:
			return badRequest("There is no such property: %q; there are url, token, endpoints and contest_ids.", site.Shorten(name))
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return badRequest("The property %s is not of the right type: %v.", name, err)
		}
	}
	if err := checkHook(&h); err != nil {
		return err
	}
	err = s.Config.Rounds.CreateHook(c.UserContext(), h, maxHooks)
	if errors.Is(err, sql.ErrInUse) {
		return site.Refuse(fiber.StatusForbidden, "too_many", "You have %d webhooks already.", "Delete one that is not needed.", maxHooks)
	}
	if err != nil {
		return err
	}
	h.Active = true
	c.Set(fiber.HeaderLocation, Path+"/"+string(f.Version)+"/webhooks/"+h.ID)
	return c.Status(fiber.StatusCreated).JSON(hookOf(h))
}

// checkHook refuses what nobody can be told.
func checkHook(h *rounds.Hook) error {
	if all := people.CheckCallback(h.URL); len(all) > 0 {
		return all[0]
	}
	if h.Token == "" || len(h.Token) > maxSecret || strings.ContainsFunc(h.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return badRequest("The token has from 1 to %d printable characters of ASCII: callbacks bring it along, so that you know who calls.", maxSecret)
	}
	if len(h.Endpoints) > maxTold || len(h.Contests) > maxTold {
		return badRequest("A webhook names at most %d endpoints and contests.", maxTold)
	}
	for _, name := range h.Endpoints {
		if !slices.Contains(told, name) {
			return badRequest("There is no endpoint %q to be told of; there are %s.", site.Shorten(name), strings.Join(told, ", "))
		}
	}
	for _, code := range h.Contests {
		if !contest.RoundCode.MatchString(code) {
			return badRequest("%q is no id of a contest.", site.Shorten(code))
		}
	}
	h.Endpoints, h.Contests = append([]string{}, h.Endpoints...), append([]string{}, h.Contests...)
	return nil
}
