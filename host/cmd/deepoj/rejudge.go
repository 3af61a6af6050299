package main

import (
	"context"
	"fmt"
	"io"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/sql"
)

func rejudgeJobs(ctx context.Context, c *command.Call, o office) error {
	list, err := ids(c.Args)
	if err != nil {
		return err
	}
	generations, err := o.Rejudge(ctx, list)
	if err != nil {
		return err
	}
	return c.Write(generations, func(w io.Writer) error {
		for _, id := range list {
			if g, ok := generations[id]; ok {
				fmt.Fprintf(w, "%d is judged as generation %d\n", id, g)
			} else {
				c.Warn("there is no job %d", id)
			}
		}
		return nil
	})
}

// startRejudge has many submissions judged again as a set.
func startRejudge(f *command.Flags) command.Run {
	var r sql.RejudgeRequest
	f.StringVar(&r.Problem, "problem", "", "submissions to this problem")
	f.StringVar(&r.Language, "language", "", "submissions in this language")
	f.StringVar(&r.Author, "author", "", "submissions of this user")
	f.StringVar((*string)(&r.Verdict), "verdict", "", "submissions that show this verdict")
	f.StringVar(&r.Reason, "reason", "", "why, for people")
	f.StringVar(&r.Key, "key", "", "a repeated command with this key finds its set instead of making another")
	return atOffice(f, func(ctx context.Context, c *command.Call, o office) (err error) {
		if r.JobIDs, err = ids(c.Args); err != nil {
			return err
		}
		set, err := o.StartRejudge(ctx, r)
		if err != nil {
			return err
		}
		return c.List(tableOfSets(set))
	})
}

func listSets(ctx context.Context, c *command.Call, o office) error {
	found, err := o.RejudgeSets(ctx)
	if err != nil {
		return err
	}
	return c.List(tableOfSets(found...))
}

func tableOfSets(sets ...sql.RejudgeSet) command.Table {
	t := command.Table{Head: "SET\tCREATED\tBY\tREASON\tTOTAL\tSKIPPED\tWAITING\tRUNNING\tJUDGED\tDEAD\tLEFT\tCHANGED\tRESOLUTION"}
	for _, r := range sets {
		t.Add(r.ID, r.Created, r.CreatedBy, r.Reason, r.Total, r.Skipped, r.Waiting, r.Running, r.Judged, r.Dead, r.Left, r.Changed, r.Resolution)
	}
	return t
}

// change is a verdict that a set changes.
type change struct {
	JobID       int64         `json:"job_id"`
	Author      string        `json:"author"`
	Problem     string        `json:"problem"`
	Before      judge.Verdict `json:"before"`
	BeforeScore *float64      `json:"before_score,omitempty"`
	After       judge.Verdict `json:"after"`
	AfterScore  *float64      `json:"after_score,omitempty"`
}

func showSet(ctx context.Context, c *command.Call, o office) error {
	list, err := ids(c.Args)
	if err != nil {
		return err
	}
	set, changes, err := o.RejudgeSet(ctx, list[0])
	if err != nil {
		return err
	}
	t := tableOfSets(set)
	if c.JSON {
		return c.Print(map[string]any{"set": t, "changes": append([]change{}, changes...)}, t)
	}
	if err := c.List(t); err != nil {
		return err
	}
	for _, r := range changes {
		fmt.Fprintf(c.Out, "%d: %s becomes %s\n", r.JobID, withPoints(r.Before, r.BeforeScore), withPoints(r.After, r.AfterScore))
	}
	return nil
}

// resolveSet applies sets, or cancels them.
func resolveSet(done string, apply bool) func(*command.Flags) command.Run {
	return eachIn(done, func(ctx context.Context, o office, id int64) error { return o.ResolveRejudge(ctx, id, apply) })
}
