package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deepoj/host/command"
	"deepoj/host/judge"
)

// setQueue makes or changes a queue.
func setQueue(f *command.Flags) command.Run {
	var q judge.Queue
	f.StringVar(&q.Ordering, "ordering", judge.FIFO, "order within one submitter: fifo or lifo")
	f.OneOf("ordering", judge.FIFO, judge.LIFO)
	f.DurationVar(&q.MaxWait, "max-wait", 0, "a job that waited longer keeps its place in a lifo queue (default 15m)")
	f.DurationVar(&q.Spacing, "spacing", 0, "step of a submitter's virtual clock (default 1s)")
	f.DurationVar(&q.Redeliver, "redeliver", 0, "deadline of a delivery that nobody claims (default 30s)")
	f.IntVar(&q.MaxTries, "max-tries", 0, "tries until a job is dead (default 5)")
	f.IntVar(&q.GroupLimit, "group-limit", 0, "delivered or running jobs per submitter; 0 = no limit")
	f.IntVar(&q.MaxBacklog, "max-backlog", 0, "waiting jobs; 0 = no limit")
	return atOffice(f, func(ctx context.Context, c *command.Call, o office) error {
		q.Name = c.Args[0]
		if err := o.SetQueue(ctx, q); err != nil {
			return err
		}
		return listQueues(ctx, c, o)
	})
}

func listQueues(ctx context.Context, c *command.Call, o office) error {
	found, err := o.Queues(ctx)
	if err != nil {
		return err
	}
	t := command.Table{Head: "QUEUE\tPAUSED\tORDERING\tMAX WAIT\tSPACING\tREDELIVER\tMAX TRIES\tGROUP LIMIT\tMAX BACKLOG"}
	for _, q := range found {
		t.Add(q.Name, q.Paused, q.Ordering, q.MaxWait, q.Spacing, q.Redeliver, q.MaxTries, q.GroupLimit, q.MaxBacklog)
	}
	return c.List(t)
}

func pauseQueue(paused bool) officeRun {
	return func(ctx context.Context, c *command.Call, o office) error {
		name := c.Args[0]
		if err := o.PauseQueue(ctx, name, paused); err != nil {
			return err
		}
		return c.Say(map[string]any{"queue": name, "paused": paused}, "queue %s: paused=%t", name, paused)
	}
}

// moves does with each waiting job what the verb says.
func moves(done string, verb moveVerb) func(*command.Flags) command.Run {
	return eachIn(done, func(ctx context.Context, o office, id int64) error { return o.Move(ctx, verb, id) })
}

func moveJob(ctx context.Context, c *command.Call, o office) error {
	list, err := ids(c.Args)
	if err != nil {
		return err
	}
	if err := o.MoveBefore(ctx, list[0], list[1]); err != nil {
		return err
	}
	return c.Say(map[string]int64{"id": list[0], "before": list[1]}, "%d is right before %d", list[0], list[1])
}

// listLetters lists dead letters.
func listLetters(f *command.Flags) command.Run {
	all := f.Bool("all", false, "also those that somebody has resolved")
	limit := f.Int("limit", 50, "at most so many")
	return atOffice(f, func(ctx context.Context, c *command.Call, o office) error {
		found, err := o.DeadLetters(ctx, *all, *limit)
		if err != nil {
			return err
		}
		t := command.Table{Head: "JOB\tKIND\tREASON\tTRIES\tAT\tRESOLUTION"}
		for _, l := range found {
			t.Add(l.JobID, l.Kind, l.Reason, l.Tries, l.At, l.Resolution)
		}
		return c.List(t)
	})
}

func showLetter(ctx context.Context, c *command.Call, o office) error {
	list, err := ids(c.Args)
	if err != nil {
		return err
	}
	l, attempts, err := o.DeadLetter(ctx, list[0])
	if err != nil {
		return err
	}
	t := command.Table{Head: "ATTEMPT\tWORKER\tENDED\tOUTCOME\tERROR"}
	for _, a := range attempts {
		t.Add(a.AttemptID, a.Worker, a.Ended, a.Outcome, a.Error)
	}
	if !c.JSON {
		fmt.Fprintf(c.Out, "job %d (%s, queue %s), generation %d, %d tries\n%s at %s: %s\n", l.JobID, l.Kind, l.Queue, l.Generation, l.Tries,
			l.Reason, l.At.UTC().Format(time.RFC3339), l.Error)
		if l.Resolution != "" {
			resolution := l.Resolution + " by " + l.ResolvedBy
			if l.Note != "" {
				resolution += ": " + l.Note
			}
			fmt.Fprintln(c.Out, resolution)
		}
	}
	return c.Print(map[string]any{
		"job": l.JobID, "kind": l.Kind, "queue": l.Queue, "generation": l.Generation, "tries": l.Tries, "reason": l.Reason, "at": l.At, "error": l.Error,
		"resolution": l.Resolution, "resolved_by": l.ResolvedBy, "note": l.Note, "attempts": t,
	}, t)
}

// replayLetters has dead jobs judged again.
func replayLetters(f *command.Flags) command.Run {
	reason := f.String("reason", "", "all that were given up for this reason, such as max_tries")
	return atOffice(f, func(ctx context.Context, c *command.Call, o office) error {
		if (*reason == "") == (len(c.Args) == 0) {
			return errors.New("say which jobs are judged again: their ids, or --reason REASON for all with that reason")
		}
		if *reason == "" {
			return each("is to be judged again", func(ctx context.Context, o office, id int64) error { return o.Replay(ctx, id) })(ctx, c, o)
		}
		n, err := o.ReplayAll(ctx, *reason)
		return errors.Join(c.Say(map[string]any{"replayed": n}, "%d jobs are to be judged again", n), err)
	})
}

// discardLetters resolves dead letters.
func discardLetters(f *command.Flags) command.Run {
	why := f.String("reason", "", "why, for the audit log (required)")
	return atOffice(f, func(ctx context.Context, c *command.Call, o office) error {
		if *why == "" {
			return errors.New("say why they are discarded: --reason TEXT")
		}
		return each("is discarded", func(ctx context.Context, o office, id int64) error { return o.Discard(ctx, id, *why) })(ctx, c, o)
	})
}
