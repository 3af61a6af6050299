package main

import (
	"context"
	"fmt"

	"deepoj/host/command"
	"deepoj/web/client"
)

// listWorkers shows the workers that a server knows.
func listWorkers(ctx context.Context, c *command.Call, s *client.Client) error {
	found, err := s.Workers(ctx, true)
	if err != nil {
		return err
	}
	t := command.Table{Head: "WORKER\tPOOL\tSTATE\tSLOTS\tSPEED\tSEEN\tVERSION\tLANGUAGES\tRUNS"}
	for _, v := range found {
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
		t.Add(v.Name, v.Pool, state, v.Slots, fmt.Sprintf("%.0f", v.Calibration), v.Seen, v.Version, languages, runs)
	}
	return c.Print(found, t)
}

// listLanguages shows the languages that a server knows.
func listLanguages(ctx context.Context, c *command.Call, s *client.Client) error {
	found, err := s.Languages(ctx)
	if err != nil {
		return err
	}
	t := command.Table{Head: "ID\tLANGUAGE\tVERSION\tCOMMAND LINE"}
	for _, l := range found {
		if l.Available {
			t.Add(l.ID, l.Name, l.Version, l.Command)
		} else {
			t.Add(l.ID, l.Name, "unavailable", l.Unavailable)
		}
	}
	return c.Print(found, t)
}

// cancelJobs ends jobs of any kind that are not done: submissions, runs, imports,
// proofs and plugin jobs, for their author or staff.
func cancelJobs(f *command.Flags) command.Run {
	why := f.String("why", "", "the reason, which its author reads")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		list, err := ids(c.Args)
		if err != nil {
			return err
		}
		told := []map[string]any{}
		for _, id := range list {
			if _, err := s.PostJobCancel(ctx, id, client.Reason{Why: *why}); err != nil {
				return fmt.Errorf("job %d: %w", id, err)
			}
			told = append(told, map[string]any{"id": id, "done": "is cancelled"})
			if !c.JSON {
				fmt.Fprintf(c.Out, "job %d is cancelled\n", id)
			}
		}
		return c.Print(told, command.Table{})
	})
}
