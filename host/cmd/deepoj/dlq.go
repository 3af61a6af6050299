package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"deepoj/sql"
)

// verb is a command of a group of commands that work on the database, such as
// `deepoj dlq replay`.
type verb struct {
	name, args, doc string
	least, most     int // arguments; most < 0 = any number
	flags           func(f *flag.FlagSet)
	run             func(ctx context.Context, e *env, s *sql.Store, args []string) error
}

// runVerb runs the verb of a group that the first argument names.
func runVerb(ctx context.Context, e *env, group string, verbs []verb) int {
	usage := func() int {
		fmt.Fprintf(e.stderr, "usage: deepoj %s VERB [flags] [ARGUMENTS]\n\n", group)
		for _, v := range verbs {
			fmt.Fprintf(e.stderr, "  %-30s %s\n", strings.TrimSpace(v.name+" "+v.args), v.doc)
		}
		return 2
	}
	if len(e.args) == 0 {
		return usage()
	}
	for _, v := range verbs {
		if v.name == e.args[0] {
			return v.call(ctx, e, group)
		}
	}
	return usage()
}

func (v verb) call(ctx context.Context, e *env, group string) int {
	f, path := newFlags(e, group+" "+v.name, v.args)
	data := f.String("data", defaultData, "data folder of the running Deep-OJ")
	if v.flags != nil {
		v.flags(f)
	}
	if status, ok := parse(f, e.args[1:]); !ok {
		return status
	}
	if f.NArg() < v.least || v.most >= 0 && f.NArg() > v.most {
		f.Usage()
		return 2
	}
	c, err := settingsFor(e, f, *path)
	if err != nil {
		return e.fail(err)
	}
	store, err := openDatabase(ctx, c, *data)
	if err != nil {
		return e.fail(err)
	}
	defer store.Close()
	if err := v.run(ctx, e, store, f.Args()); err != nil {
		return e.fail(err)
	}
	return 0
}

// atTheShell is who acts on the command line, in the audit log.
const atTheShell = "command line"

// ids reads the ids of jobs or sets.
func ids(args []string) ([]int64, error) {
	out := make([]int64, len(args))
	for i, a := range args {
		var err error
		if out[i], err = strconv.ParseInt(a, 10, 64); err != nil || out[i] < 1 {
			return nil, fmt.Errorf("%s is no id: want a positive whole number", a)
		}
	}
	return out, nil
}

// each calls do for every id and says what was done.
func each(done string, do func(ctx context.Context, s *sql.Store, id int64) error) func(context.Context, *env, *sql.Store, []string) error {
	return func(ctx context.Context, e *env, s *sql.Store, args []string) error {
		list, err := ids(args)
		if err != nil {
			return err
		}
		for _, id := range list {
			if err := do(ctx, s, id); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%d %s\n", id, done)
		}
		return nil
	}
}

// dlq reads, replays and discards dead letters.
func dlq(ctx context.Context, e *env) int {
	var all bool
	var limit int
	var why, reason string
	return runVerb(ctx, e, "dlq", []verb{
		{name: "list", doc: "dead letters, newest first", flags: func(f *flag.FlagSet) {
			f.BoolVar(&all, "all", false, "also those that somebody has resolved")
			f.IntVar(&limit, "limit", 50, "at most so many")
		}, run: func(ctx context.Context, e *env, s *sql.Store, _ []string) error {
			found, err := s.DeadLetters(ctx, 0, !all, limit)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "JOB\tKIND\tREASON\tTRIES\tAT\tRESOLUTION")
			for _, l := range found {
				fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%s\t%s\n", l.JobID, l.Kind, l.Reason, l.Tries, l.At.UTC().Format(time.RFC3339), l.Resolution)
			}
			return w.Flush()
		}},
		{name: "show", args: "JOB", doc: "a dead letter and the attempts that led to it", least: 1, most: 1, run: showLetter},
		{
			name: "replay", args: "[JOB...]", doc: "have dead jobs judged again: these, or all with one reason", most: -1,
			flags: func(f *flag.FlagSet) {
				f.StringVar(&reason, "reason", "", "all that were given up for this reason, such as max_tries")
			},
			run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
				if (reason == "") == (len(args) == 0) {
					return errors.New("say which jobs are judged again: their ids, or --reason REASON for all with that reason")
				}
				if reason == "" {
					return each("is to be judged again", func(ctx context.Context, s *sql.Store, id int64) error {
						_, err := s.Replay(ctx, id, atTheShell)
						return err
					})(ctx, e, s, args)
				}
				n, err := s.ReplayAll(ctx, reason, atTheShell)
				fmt.Fprintf(e.stdout, "%d jobs are to be judged again\n", n)
				return err
			},
		},
		{
			name: "discard", args: "JOB...", doc: "resolve dead letters without judging again", least: 1, most: -1,
			flags: func(f *flag.FlagSet) { f.StringVar(&why, "reason", "", "why, for the audit log (required)") },
			run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
				if why == "" {
					return errors.New("say why they are discarded: --reason TEXT")
				}
				return each("is discarded", func(ctx context.Context, s *sql.Store, id int64) error { return s.Discard(ctx, id, atTheShell, why) })(ctx, e, s, args)
			},
		},
	})
}

func showLetter(ctx context.Context, e *env, s *sql.Store, args []string) error {
	list, err := ids(args)
	if err != nil {
		return err
	}
	l, err := s.DeadLetter(ctx, list[0])
	if err != nil {
		return err
	}
	attempts, err := s.Attempts(ctx, l.JobID)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "job %d (%s, queue %s), generation %d, %d tries\n%s at %s: %s\n", l.JobID, l.Kind, l.Queue, l.Generation, l.Tries,
		l.Reason, l.At.UTC().Format(time.RFC3339), l.Error)
	if l.Resolution != "" {
		fmt.Fprintf(e.stdout, "%s by %s", l.Resolution, l.ResolvedBy)
		if l.Note != "" {
			fmt.Fprintf(e.stdout, ": %s", l.Note)
		}
		fmt.Fprintln(e.stdout)
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ATTEMPT\tWORKER\tENDED\tOUTCOME\tERROR")
	for _, a := range attempts {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", a.AttemptID, a.Worker, a.Ended.UTC().Format(time.RFC3339), a.Outcome, a.Error)
	}
	return w.Flush()
}
