package rounds

import (
	"encoding/json"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/standings"
	"deepoj/web/site"
)

// srkVersion is the version of the Standard Ranklist that is written.
const srkVersion = "0.3.10"

// Standard Ranklist (srk): its objects, by its schema. A length of time is a number and its unit.
type (
	srkTime [2]any

	srkRow struct {
		User     srkUser     `json:"user"`
		Score    srkScore    `json:"score"`
		Statuses []srkStatus `json:"statuses"`
	}
	srkUser struct {
		ID           string `json:"id"`
		Name         string `json:"name"`
		Official     bool   `json:"official"`
		Organization string `json:"organization,omitempty"`
	}
	srkScore struct {
		Value float64  `json:"value"`
		Time  *srkTime `json:"time,omitempty"`
	}
	srkStatus struct {
		Result *string  `json:"result"` // FB, AC, RJ, ?, or null for nothing handed in
		Score  *float64 `json:"score,omitempty"`
		Time   *srkTime `json:"time,omitempty"`
		Tries  int      `json:"tries,omitempty"`
	}
)

// asRanklist writes standings as a Standard Ranklist.
func asRanklist(v *standings.Standings, b boardJSON) ([]byte, error) {
	r := v.Round
	if r.Start == nil || r.Duration == nil {
		return nil, site.WrongField("round", site.ReasonInvalid, "Only a round with a start and an end has a ranklist of this form.")
	}
	about := map[string]any{"title": r.Title, "startAt": clics.AbsTime(*r.Start), "duration": srkTime{*r.Duration, "ms"}}
	if r.Freeze != nil && r.Thawed == nil {
		about["frozenDuration"] = srkTime{*r.Duration - *r.Freeze, "ms"}
	}
	problems := make([]map[string]any, len(b.Problems))
	for i, p := range b.Problems {
		problems[i] = map[string]any{"alias": p.Label, "title": p.Name}
		if p.RGB != "" {
			problems[i]["style"] = map[string]string{"backgroundColor": p.RGB}
		}
	}
	unit := "min"
	if v.Config.ICPC.Rounding == contest.Second {
		unit = "s"
	}
	rows := make([]srkRow, len(b.Rows))
	for i, row := range b.Rows {
		rows[i] = srkRow{
			User:     srkUser{row.Participant, row.Name, row.Rank != nil, v.Organizations[row.Organization].Name},
			Score:    srkScore{Value: float64(row.Solved), Time: &srkTime{row.Total, unit}},
			Statuses: make([]srkStatus, len(row.Cells)),
		}
		if v.Config.Format == contest.IOI {
			rows[i].Score = srkScore{Value: row.Points}
		}
		for k, cell := range row.Cells {
			rows[i].Statuses[k] = srkStatusOf(v, b.Problems[k], row.Participant, cell)
		}
	}
	sorter := map[string]any{"algorithm": "score", "config": map[string]any{}}
	if v.Config.Format == contest.ICPC {
		sorter = map[string]any{"algorithm": "ICPC", "config": map[string]any{"penalty": srkTime{v.Config.ICPC.PenaltyMinutes, "min"}, "timePrecision": unit}}
	}
	return json.Marshal(map[string]any{
		"type": "general", "version": srkVersion, "contest": about, "problems": problems, "rows": rows, "sorter": sorter,
		"series": []map[string]any{{"title": "#", "rule": map[string]any{"preset": "Normal"}}},
	})
}

// srkStatusOf is a cell.
func srkStatusOf(v *standings.Standings, p boardProblemJSON, participant string, c boardCellJSON) srkStatus {
	out := srkStatus{Tries: c.Judged + c.Pending}
	result := ""
	switch {
	case v.Config.Format == contest.IOI && c.Judged > 0:
		result, out.Score = "RJ", &c.Score
		if c.Score > 0 {
			result = "AC"
		}
	case c.Solved:
		result, out.Time, out.Tries = "AC", &srkTime{c.TimeMS, "ms"}, c.Judged
		for _, f := range p.First {
			if f.Participant == participant {
				result = "FB"
			}
		}
	case c.Pending > 0:
		result = "?"
	case c.Judged > 0:
		result = "RJ"
	default:
		return out
	}
	out.Result = &result
	return out
}
