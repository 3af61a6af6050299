package main

import (
	"context"
	"flag"
	"fmt"
	"text/tabwriter"

	"deepoj/sql"
)

// queueCommand pauses queues and changes the order of what waits.
func queueCommand(ctx context.Context, e *env) int {
	var q sql.Queue
	pause := func(paused bool) func(context.Context, *env, *sql.Store, []string) error {
		return func(ctx context.Context, e *env, s *sql.Store, args []string) error {
			if err := s.PauseQueue(ctx, args[0], paused, atTheShell); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "queue %s: paused=%t\n", args[0], paused)
			return nil
		}
	}
	return runVerb(ctx, e, "queue", []verb{
		{name: "list", doc: "queues and how they behave", run: listQueues},
		{name: "set", args: "QUEUE", doc: "make or change a queue", least: 1, most: 1, flags: func(f *flag.FlagSet) {
			f.StringVar(&q.Ordering, "ordering", sql.FIFO, "within one submitter: fifo or lifo")
			f.DurationVar(&q.MaxWait, "max-wait", 0, "a job that waited longer keeps its place in a lifo queue (default 15m)")
			f.DurationVar(&q.Spacing, "spacing", 0, "step of a submitter's virtual clock (default 1s)")
			f.DurationVar(&q.Redeliver, "redeliver", 0, "deadline of a delivery that nobody claims (default 30s)")
			f.IntVar(&q.MaxTries, "max-tries", 0, "tries until a job is dead (default 5)")
			f.IntVar(&q.GroupLimit, "group-limit", 0, "delivered or running jobs per submitter; 0 = no limit")
			f.IntVar(&q.MaxBacklog, "max-backlog", 0, "waiting jobs; 0 = no limit")
		}, run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
			q.Name = args[0]
			if err := s.SaveQueue(ctx, q); err != nil {
				return err
			}
			return listQueues(ctx, e, s, nil)
		}},
		{name: "pause", args: "QUEUE", doc: "give no work", least: 1, most: 1, run: pause(true)},
		{name: "resume", args: "QUEUE", doc: "give work again", least: 1, most: 1, run: pause(false)},
		{
			name: "release", args: "JOB...", doc: "put waiting jobs before all others, the last one first", least: 1, most: -1,
			run: each("is first", func(ctx context.Context, s *sql.Store, id int64) error { return s.Release(ctx, id, atTheShell) }),
		},
		{
			name: "immediate", args: "JOB...", doc: "put waiting jobs into the first lane, behind what is in it", least: 1, most: -1,
			run: each("is immediate", func(ctx context.Context, s *sql.Store, id int64) error { return s.Hasten(ctx, id, atTheShell) }),
		},
		{
			name: "delay", args: "JOB...", doc: "put waiting jobs behind all others of their lane", least: 1, most: -1,
			run: each("is last", func(ctx context.Context, s *sql.Store, id int64) error {
				_, err := s.Delay(ctx, id, atTheShell)
				return err
			}),
		},
		{
			name: "move", args: "JOB BEFORE", doc: "put a waiting job right before another", least: 2, most: 2,
			run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
				list, err := ids(args)
				if err != nil {
					return err
				}
				if err := s.Move(ctx, list[0], list[1], atTheShell); err != nil {
					return err
				}
				fmt.Fprintf(e.stdout, "%d is right before %d\n", list[0], list[1])
				return nil
			},
		},
		{
			name: "delete", args: "JOB...", doc: "withdraw jobs that wait", least: 1, most: -1,
			run: each("is withdrawn", func(ctx context.Context, s *sql.Store, id int64) error { return s.Withdraw(ctx, id, atTheShell, "") }),
		},
		{
			name: "undo", args: "JOB", doc: "take back the newest release, immediate, delay, move or delete of a job", least: 1, most: 1,
			run: each("is where it was", func(ctx context.Context, s *sql.Store, id int64) error {
				_, err := s.Undo(ctx, id, atTheShell)
				return err
			}),
		},
	})
}

func listQueues(ctx context.Context, e *env, s *sql.Store, _ []string) error {
	found, err := s.Queues(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "QUEUE\tPAUSED\tORDERING\tMAX WAIT\tSPACING\tREDELIVER\tMAX TRIES\tGROUP LIMIT\tMAX BACKLOG")
	for _, q := range found {
		fmt.Fprintf(w, "%s\t%t\t%s\t%s\t%s\t%s\t%d\t%d\t%d\n", q.Name, q.Paused, q.Ordering, q.MaxWait, q.Spacing, q.Redeliver, q.MaxTries, q.GroupLimit, q.MaxBacklog)
	}
	return w.Flush()
}
