package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"deepoj/host/command"
	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/restore"
	"deepoj/web/client"
)

// views are for whom boards are, by the names that the API has for them.
var views = map[string]contest.Audience{"public": contest.Public, "staff": contest.Jury | contest.Staff}

// recounted says which rows of the boards of a log are others when everything is counted anew. Served are the rows that a server
// shows, by view and code; nil = nobody was asked.
func recounted(lines []restore.Line, served map[string]map[string]client.BoardRow) (found []clics.Flaw, err error) {
	if len(lines) == 0 {
		return nil, nil
	}
	for _, view := range []string{"public", "staff"} {
		b, err := restore.Recount(lines, views[view])
		if err != nil {
			return nil, err
		}
		if contest.Differs(b.Fold, b.Anew) {
			found = append(found, clics.Flaw{File: view, Problem: "the board is another than what its log gives, counted in the most obvious way"})
		}
		if served == nil {
			continue
		}
		if is, are := len(b.Anew), len(served[view]); is != are {
			found = append(found, clics.Flaw{File: view, Problem: fmt.Sprintf("the board has %d rows; recounted there are %d", are, is)})
		}
		for _, row := range b.Anew {
			code := b.Codes[row.Participant]
			is := served[view][code]
			rank := 0
			if is.Rank != nil {
				rank = *is.Rank
			}
			if rank != row.Rank || is.Solved != row.Solved || is.Total != row.Total || math.Abs(is.Points-row.Points) > 1e-5 {
				found = append(found, clics.Flaw{File: view, Object: code, Problem: fmt.Sprintf("the board says rank %d, %d solved, %d and %g points; recounted it is rank %d, %d, %d and %g", rank, is.Solved, is.Total, is.Points, row.Rank, row.Solved, row.Total, row.Points)})
			}
		}
	}
	return found, nil
}

// shownOtherwise says which boards were shown as something else than what the log gives, up to the line that they are of.
func shownOtherwise(lines []restore.Line, shown []judge.BoardSnapshot) (found []clics.Flaw, err error) {
	for _, s := range shown {
		if s.Seq > int64(len(lines)) {
			found = append(found, clics.Flaw{File: s.View, Problem: fmt.Sprintf("the board was shown at line %d, and the log has %d", s.Seq, len(lines))})
			continue
		}
		digest, err := restore.Digest(lines[:s.Seq], views[s.View])
		if err != nil {
			return nil, err
		}
		if digest != s.Digest {
			found = append(found, clics.Flaw{File: s.View, Problem: fmt.Sprintf("the board that was shown at line %d, on %s, was another than what the log gives", s.Seq, s.At.Format(time.RFC3339))})
		}
	}
	return found, nil
}

// recountContest counts the boards of a round anew, from its log, and compares them with those that the server shows.
func recountContest(ctx context.Context, c *command.Call, s *client.Client) error {
	round := c.Args[0]
	of, err := s.GetRound(ctx, round) // before the log, which is as long then as any snapshot
	var raw []byte
	if err == nil {
		raw, err = s.ContestLog(ctx, round)
		if err == nil && raw == nil {
			err = fmt.Errorf("only staff of the space of %s recounts it", round)
		}
	}
	if err != nil {
		return err
	}
	lines, err := restore.ReadLines(raw)
	if err != nil {
		return fmt.Errorf("the log of round %s: %w", round, err)
	}
	served := map[string]map[string]client.BoardRow{}
	for view := range views {
		served[view] = map[string]client.BoardRow{}
		for after := new(""); after != nil; {
			page, err := s.GetRoundBoard(ctx, round, client.GetRoundBoardParams{View: view, After: *after, Limit: listPage})
			if err != nil {
				return err
			}
			for _, row := range page.Rows {
				served[view][row.Participant] = row
			}
			after = page.Next
		}
	}
	found, err := recounted(lines, served)
	if err == nil {
		var otherwise []clics.Flaw
		otherwise, err = shownOtherwise(lines, of.Snapshots)
		found = append(found, otherwise...)
	}
	if err != nil {
		return fmt.Errorf("the log of round %s: %w", round, err)
	}
	return sayFlaws(c, map[string]any{"lines": len(lines), "rows": len(served["staff"])}, fmt.Sprintf("%d lines, %d rows", len(lines), len(served["staff"])), found)
}
