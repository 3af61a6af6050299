package rounds

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/standings"
	"deepoj/sql"
)

// explanationJSON says why a row of the board is where it is, by what those know whom the board is for.
type explanationJSON struct {
	Token string              `json:"token"` // of the board that it explains
	Row   boardRowJSON        `json:"row"`
	Equal int                 `json:"equal"` // others with the same rank
	Cells []boardReasonJSON   `json:"cells"` // one for each problem, in their order
	Added boardAddedJSON      `json:"added"`
	Above *boardNeighbourJSON `json:"above"` // the nearest row of a better rank; null: there is none
	Below *boardNeighbourJSON `json:"below"` // the nearest row of a worse rank; likewise
	Reach []boardReachJSON    `json:"reach"` // what would be enough to be as good as the row above
}

// boardAddedJSON is what staff added to a row.
type boardAddedJSON struct {
	Minutes int64   `json:"minutes"` // of penalty time
	Points  float64 `json:"points"`
}

// boardReasonJSON says how a cell came about.
type boardReasonJSON struct {
	Problem  string             `json:"problem"`
	Wrong    int                `json:"wrong"` // attempts that cost time if it is solved
	Attempts []boardAttemptJSON `json:"attempts"`
}

// boardAttemptJSON is a submission, and what it does to its cell.
type boardAttemptJSON struct {
	Submission int64          `json:"submission"` // its number in the round
	TimeMS     int64          `json:"time_ms"`
	Verdict    *judge.Verdict `json:"verdict"` // null: none yet, or hidden
	Score      *float64       `json:"score"`
	Effect     contest.Effect `json:"effect"`
}

// boardNeighbourJSON is another row, and by how much it is better, or below 0: worse. The first figure that is not 0 decides.
type boardNeighbourJSON struct {
	Participant string  `json:"participant"`
	Name        string  `json:"name"`
	Rank        int     `json:"rank"`
	Points      float64 `json:"points"`
	Solved      int     `json:"solved"`
	Total       int64   `json:"total"`   // of penalty time less
	TimeMS      int64   `json:"time_ms"` // earlier
}

// boardReachJSON is the latest time at which a problem could be solved.
type boardReachJSON struct {
	Problem  string `json:"problem"`
	LatestMS int64  `json:"latest_ms"`
}

// apiExplain handles GET /api/v1/rounds/:round/explain/:code?view=.
func (s *Room) apiExplain(c *fiber.Ctx) error {
	r, _, of, err := s.looked(c)
	if err != nil {
		return err
	}
	code, err := named(c)
	if err != nil {
		return err
	}
	var out explanationJSON
	var wrong error
	err = s.standings.Look(c.UserContext(), r.ID, of, func(v *standings.Standings) {
		if wrong = shows(v, of); wrong == nil {
			out, wrong = explanation(v, code)
		}
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		return err
	}
	return c.JSON(out)
}

// explanation explains the row of a participant, by its short name.
func explanation(v *standings.Standings, code string) (explanationJSON, error) {
	for id, p := range v.Participants {
		if p.Code != code {
			continue
		}
		if e, ok := v.State.Explain(id); ok {
			return explained(v, e), nil
		}
	}
	return explanationJSON{}, sql.ErrNotFound
}

func explained(v *standings.Standings, e contest.Explanation) explanationJSON {
	out := explanationJSON{
		Token: v.Token, Row: shownRow(v, e.Row), Equal: e.Equal, Added: boardAddedJSON{e.Adjust.Minutes, e.Adjust.Points}, Cells: make([]boardReasonJSON, len(e.Cells)),
		Above: neighbour(v, e.Above), Below: neighbour(v, e.Below), Reach: make([]boardReachJSON, len(e.Reach)),
	}
	for i, c := range e.Cells {
		out.Cells[i] = boardReasonJSON{c.Problem, c.Wrong, make([]boardAttemptJSON, len(c.Attempts))}
		for j, a := range c.Attempts {
			said := boardAttemptJSON{Submission: a.Submission, TimeMS: a.Time.Milliseconds(), Score: a.Score, Effect: a.Effect}
			if a.Verdict != "" {
				said.Verdict = new(a.Verdict)
			}
			out.Cells[i].Attempts[j] = said
		}
	}
	for i, r := range e.Reach {
		out.Reach[i] = boardReachJSON{r.Problem, r.Latest.Milliseconds()}
	}
	return out
}

func neighbour(v *standings.Standings, n *contest.Neighbour) *boardNeighbourJSON {
	if n == nil {
		return nil
	}
	return &boardNeighbourJSON{v.Participants[n.Participant].Code, n.Name, n.Rank, n.Points, n.Solved, n.Total, n.Last.Milliseconds()}
}

// awardJSON is what somebody gets.
type awardJSON struct {
	ID           string   `json:"id"` // as in the ICPC Contest API, such as gold-medal
	Citation     string   `json:"citation"`
	Participants []string `json:"participants"`
}

// apiAwards handles GET /api/v1/rounds/:round/awards?view=.
func (s *Room) apiAwards(c *fiber.Ctx) error {
	r, _, of, err := s.looked(c)
	if err != nil {
		return err
	}
	out := []awardJSON{}
	if of == standings.Public && !stands(r) {
		return c.JSON(fiber.Map{"final": false, "awards": out})
	}
	given, err := s.awardsOf(c, r, of)
	if err != nil {
		return err
	}
	for _, a := range given {
		said := awardJSON{a.ID, a.Citation, make([]string, len(a.To))}
		for i, to := range a.To {
			said.Participants[i] = to.Code
		}
		out = append(out, said)
	}
	return c.JSON(fiber.Map{"final": r.Finalized != nil, "awards": out})
}
