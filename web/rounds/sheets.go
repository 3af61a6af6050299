package rounds

import (
	"context"
	"encoding/base64"
	"html/template"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/lineup"
	"deepoj/host/people"
	"deepoj/host/roster"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// sheet is what a team gets on paper: the account by which it takes part.
type sheet struct {
	Team     string `json:"team"` // its short name
	TeamName string `json:"team_name"`
	Room     string `json:"room"`
	Name     string `json:"name"` // of the account
	Password string `json:"password"`
}

// sheets makes the passwords that a list does not bring, and hashes all.
func (s *Room) sheets(ctx context.Context, list []lineup.Account) (given []sheet, accounts []rounds.Account, err error) {
	for _, a := range list {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		password, hash := a.Password, ""
		if password == "" {
			password, hash, err = people.MadePassword()
		} else {
			hash, err = s.people.Hash(ctx, password)
		}
		if err != nil {
			return nil, nil, err
		}
		given = append(given, sheet{a.Team, a.TeamName, a.Room, a.Name, password})
		accounts = append(accounts, rounds.Account{Name: a.Name, DisplayName: a.DisplayName, PasswordHash: hash})
	}
	return given, accounts, nil
}

// showSheets shows accounts that were made, once: each on a page of its own when it is printed.
func (s *Room) showSheets(c *fiber.Ctx, space *judge.Space, view teamsView) error {
	view.Site = s.Config.PublicURL
	view.Space = site.ViewSpace(space, site.ViewerOf(c))
	table := make([]roster.Given, len(view.Given))
	for i, g := range view.Given {
		table[i] = roster.Given{Name: g.Name, DisplayName: g.TeamName, Password: g.Password}
	}
	view.Table = template.URL("data:text/csv;charset=utf-8;base64," + base64.StdEncoding.EncodeToString(roster.Passwords(table)))
	return s.Page(c, fiber.StatusCreated, "teamsheets", "%s", view, space.Title)
}
