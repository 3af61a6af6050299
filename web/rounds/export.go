package rounds

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/roster"
	"deepoj/host/standings"
	"deepoj/web/site"
)

// export answers with the standings as a file that make makes of them.
func (s *Room) export(media, extension string, make func(v *standings.Standings, b boardJSON) ([]byte, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		r, _, of, err := s.looked(c)
		if err != nil {
			return err
		}
		at, err := readAt(c)
		if err != nil {
			return err
		}
		var out []byte
		var wrong error
		err = s.lookAt(c, r, of, at, func(v *standings.Standings) {
			if wrong = shows(v, of); wrong != nil {
				return
			}
			var b boardJSON
			if b, wrong = board(v, part{group: c.Query("group")}); wrong == nil {
				out, wrong = make(v, b)
			}
		})
		if err == nil {
			err = wrong
		}
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, media)
		c.Set(fiber.HeaderContentDisposition, fmt.Sprintf(`attachment; filename="%s%s"`, r.Code, extension))
		return c.Send(out)
	}
}

// asCSV writes standings as a table, in which no program for tables finds a formula.
func asCSV(v *standings.Standings, b boardJSON) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("\ufeff") // so that programs for tables know that it is UTF-8
	w := csv.NewWriter(&out)
	head := []string{"rank", "code", "name", "organization", "groups"}
	points := v.Config.Format == contest.IOI
	if points {
		head = append(head, "points")
	} else {
		head = append(head, "solved", "penalty", "last")
	}
	for _, p := range b.Problems {
		head = append(head, roster.Cell(p.Label), roster.Cell(p.Label)+" tries", roster.Cell(p.Label)+" pending")
	}
	rows := [][]string{head}
	for _, r := range b.Rows {
		rank := ""
		if r.Rank != nil {
			rank = strconv.Itoa(*r.Rank)
		}
		row := []string{rank, roster.Cell(r.Participant), roster.Cell(r.Name), roster.Cell(v.Organizations[r.Organization].Name), roster.Cell(strings.Join(r.Groups, ";"))}
		if points {
			row = append(row, strconv.FormatFloat(r.Points, 'f', -1, 64))
		} else {
			row = append(row, strconv.Itoa(r.Solved), strconv.FormatInt(r.Total, 10), clockTime(r.TimeMS))
		}
		for _, cell := range r.Cells {
			result := ""
			switch {
			case points && cell.Judged > 0:
				result = strconv.FormatFloat(cell.Score, 'f', -1, 64)
			case cell.Solved:
				result = strconv.FormatInt(cell.Minutes(), 10)
			}
			row = append(row, result, strconv.Itoa(cell.Judged), strconv.Itoa(cell.Pending))
		}
		rows = append(rows, row)
	}
	err := w.WriteAll(rows)
	return out.Bytes(), err
}

// clockTime writes a contest time as h:mm:ss.
func clockTime(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
}

// asResults writes the results that stand as results.tsv (CCS Requirements): id, rank, award, solved, penalty, last solution,
// group that it won.
func asResults(v *standings.Standings, b boardJSON) ([]byte, error) {
	if v.Round.Finalized == nil || v.View != standings.Staff && v.Round.Freeze != nil && v.Round.Thawed == nil {
		return nil, site.Refuse(fiber.StatusConflict, "not_final", "The result does not stand yet.", "Have it stand first.")
	}
	if v.Config.Format != contest.ICPC {
		return nil, site.Refuse(fiber.StatusConflict, "not_final", "Only rounds of the format icpc have such results.", "Take the table instead.")
	}
	medal, won, ranked := map[string]string{}, map[string]string{}, map[string]string{}
	honor := map[string]bool{}
	for _, a := range v.State.Awards() {
		for _, id := range a.Participants {
			code := v.Participants[id].Code
			kind, group, _ := strings.Cut(a.ID, "-winner-")
			switch {
			case slices.Contains([]string{"gold-medal", "silver-medal", "bronze-medal"}, a.ID):
				medal[code] = strings.ToUpper(a.ID[:1]) + strings.TrimSuffix(a.ID[1:], "-medal") + " Medal"
			case kind == "group" && group != "":
				won[code] = v.Groups[group].Name
			case strings.HasPrefix(a.ID, "rank-"):
				ranked[code] = strings.TrimPrefix(a.ID, "rank-")
			case a.ID == "honorable-mention":
				honor[code] = true
			}
		}
	}
	var out bytes.Buffer
	out.WriteString("results\t1\n")
	for _, r := range b.Rows {
		award, rank := medal[r.Participant], ranked[r.Participant]
		switch {
		case r.Rank == nil:
			continue
		case award == "" && honor[r.Participant]:
			award = "Honorable"
		case award == "":
			award = "Ranked"
		}
		if rank == "" && award != "Honorable" {
			rank = strconv.Itoa(*r.Rank)
		}
		id := v.Participants[byCode(v, r.Participant)].ICPCID
		if id == "" {
			id = r.Participant
		}
		last := ""
		if r.Solved > 0 {
			last = strconv.FormatInt(r.TimeMS/60_000, 10)
		}
		fields := []string{id, rank, award, strconv.Itoa(r.Solved), strconv.FormatInt(r.Total, 10), last, won[r.Participant]}
		for i, field := range fields {
			fields[i] = strings.Map(func(r rune) rune {
				if r == '\t' || r == '\n' || r == '\r' {
					return ' '
				}
				return r
			}, field)
		}
		out.WriteString(strings.Join(fields, "\t") + "\n")
	}
	return out.Bytes(), nil
}

// byCode is the number of a participant.
func byCode(v *standings.Standings, code string) int64 {
	for id, p := range v.Participants {
		if p.Code == code {
			return id
		}
	}
	return 0
}
