package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/client"
)

// serverList is a command that lists what a server knows, as a table with this
// head or as JSON.
func serverList[T any](ctx context.Context, e *env, name, head string, ask func(context.Context, *client.Client) ([]T, error), row func(T) []any) int {
	f := bareFlags(e, name, "")
	asJSON := f.Bool("json", false, "print JSON")
	server := f.String("server", "", "address of the server; DEEPOJ_URL or "+defaultServer+" when empty")
	token := f.String("token", "", "key, or token of a login; DEEPOJ_TOKEN when empty")
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	if f.NArg() > 0 {
		f.Usage()
		return 2
	}
	c, err := client.New(firstOf(*server, e.variable("DEEPOJ_URL"), defaultServer), client.WithToken(firstOf(*token, e.variable("DEEPOJ_TOKEN"))))
	if err != nil {
		return e.fail(err)
	}
	found, err := ask(ctx, c)
	if err != nil {
		return e.fail(err)
	}
	if *asJSON {
		err = printJSON(e, found)
	} else {
		w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, head)
		for _, v := range found {
			cells := row(v)
			fmt.Fprintf(w, strings.TrimSuffix(strings.Repeat("%v\t", len(cells)), "\t")+"\n", cells...)
		}
		err = w.Flush()
	}
	if err != nil {
		return e.fail(err)
	}
	return 0
}

// listWorkers shows the workers that a server knows.
func listWorkers(ctx context.Context, e *env) int {
	return serverList(ctx, e, "workers", "WORKER\tPOOL\tSTATE\tSLOTS\tSPEED\tSEEN\tVERSION\tLANGUAGES\tRUNS",
		func(ctx context.Context, c *client.Client) ([]client.Worker, error) { return c.AllWorkers(ctx) },
		func(v client.Worker) []any {
			state := "silent"
			if v.Alive {
				state = "alive"
			}
			var languages, runs []string
			for _, l := range v.Languages {
				if l.Available {
					languages = append(languages, l.ID)
				}
			}
			for _, j := range v.Jobs {
				runs = append(runs, fmt.Sprint(j.JobID))
			}
			return []any{v.Name, v.Pool, state, v.Slots, fmt.Sprintf("%.0f", v.Calibration), v.Seen.UTC().Format(time.RFC3339), v.Version, strings.Join(languages, ","), strings.Join(runs, ",")}
		})
}

// listLanguages shows the languages that a server knows.
func listLanguages(ctx context.Context, e *env) int {
	return serverList(ctx, e, "languages", "ID\tLANGUAGE\tVERSION\tCOMMAND LINE",
		func(ctx context.Context, c *client.Client) ([]judge.Language, error) { return c.Languages(ctx) },
		func(l judge.Language) []any {
			if !l.Available {
				return []any{l.ID, l.Name, "unavailable", l.Unavailable}
			}
			return []any{l.ID, l.Name, l.Version, l.Command}
		})
}

// printAuditLog shows what people with privileges did, newest first.
func printAuditLog(ctx context.Context, e *env, s *sql.Store, f sql.AuditFilter) error {
	found, err := s.AuditLog(ctx, f)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tAT\tWHO\tACT\tON WHAT\tDETAIL")
	for _, a := range found {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", a.ID, a.At.UTC().Format(time.RFC3339), a.Actor, a.Action, a.Subject, a.Detail)
	}
	return w.Flush()
}
