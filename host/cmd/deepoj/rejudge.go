package main

import (
	"context"
	"flag"
	"fmt"
	"text/tabwriter"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
)

// rejudge has submissions judged again: single ones, or many as a set.
func rejudge(ctx context.Context, e *env) int {
	var r sql.RejudgeRequest
	return runVerb(ctx, e, "rejudge", []verb{
		{
			name: "job", args: "JOB...", doc: "judge submissions again, each on its own", least: 1, most: -1,
			run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
				list, err := ids(args)
				if err != nil {
					return err
				}
				generations, err := s.Rejudge(ctx, list, judge.LaneRejudge, atTheShell)
				if err != nil {
					return err
				}
				for _, id := range list {
					if g, ok := generations[id]; ok {
						fmt.Fprintf(e.stdout, "%d is judged as generation %d\n", id, g)
					} else {
						fmt.Fprintf(e.stderr, "deepoj: there is no job %d\n", id)
					}
				}
				return nil
			},
		},
		{name: "start", args: "[JOB...]", doc: "judge many again as a set, beside what is shown", most: -1, flags: func(f *flag.FlagSet) {
			f.StringVar(&r.Problem, "problem", "", "submissions to this problem")
			f.StringVar(&r.Language, "language", "", "submissions in this language")
			f.StringVar(&r.Author, "author", "", "submissions of this user")
			f.StringVar((*string)(&r.Verdict), "verdict", "", "submissions that show this verdict")
			f.StringVar(&r.Reason, "reason", "", "why, for people")
			f.StringVar(&r.Key, "key", "", "a repeated command with this key finds its set instead of making another")
		}, run: func(ctx context.Context, e *env, s *sql.Store, args []string) (err error) {
			if r.JobIDs, err = ids(args); err != nil {
				return err
			}
			r.By = atTheShell
			set, err := s.StartRejudge(ctx, r)
			if err != nil {
				return err
			}
			return printSets(e, []sql.RejudgeSet{set})
		}},
		{name: "list", doc: "sets and their progress, newest first", run: func(ctx context.Context, e *env, s *sql.Store, _ []string) error {
			found, err := s.RejudgeSets(ctx, 0, 0)
			if err != nil {
				return err
			}
			return printSets(e, found)
		}},
		{name: "show", args: "SET", doc: "a set and what it changes", least: 1, most: 1, run: showSet},
		{
			name: "apply", args: "SET", doc: "show the new verdicts of a set", least: 1, most: 1,
			run: each("is applied", func(ctx context.Context, s *sql.Store, id int64) error { return s.ApplyRejudge(ctx, id, atTheShell) }),
		},
		{
			name: "cancel", args: "SET", doc: "stop judging a set and change nothing", least: 1, most: 1,
			run: each("is cancelled", func(ctx context.Context, s *sql.Store, id int64) error { return s.CancelRejudge(ctx, id, atTheShell) }),
		},
	})
}

func printSets(e *env, sets []sql.RejudgeSet) error {
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SET\tCREATED\tBY\tREASON\tTOTAL\tSKIPPED\tWAITING\tRUNNING\tJUDGED\tDEAD\tLEFT\tCHANGED\tRESOLUTION")
	for _, r := range sets {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", r.ID, r.Created.UTC().Format(time.RFC3339), r.CreatedBy, r.Reason,
			r.Total, r.Skipped, r.Waiting, r.Running, r.Judged, r.Dead, r.Left, r.Changed, r.Resolution)
	}
	return w.Flush()
}

func showSet(ctx context.Context, e *env, s *sql.Store, args []string) error {
	list, err := ids(args)
	if err != nil {
		return err
	}
	set, err := s.RejudgeSet(ctx, list[0])
	if err != nil {
		return err
	}
	if err := printSets(e, []sql.RejudgeSet{set}); err != nil {
		return err
	}
	for after := int64(0); ; {
		changes, err := s.RejudgeChanges(ctx, set.ID, after, 200)
		if err != nil || len(changes) == 0 {
			return err
		}
		for _, c := range changes {
			fmt.Fprintf(e.stdout, "%d: %s becomes %s\n", c.JobID, withPoints(c.Before, c.BeforeScore), withPoints(c.After, c.AfterScore))
			after = c.JobID
		}
	}
}
