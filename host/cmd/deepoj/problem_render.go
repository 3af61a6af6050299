package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/web/client"
)

// renderProblems has the pages of versions that are kept made again by a server, from what is kept of their packages.
func renderProblems(f *command.Flags) command.Run {
	all := f.Bool("all", false, "render every version of every problem")
	detach := f.Bool("no-wait", false, "order the job and do not wait for it")
	return withServer(f, func(ctx context.Context, c *command.Call, s *client.Client) error {
		if *all == (len(c.Args) > 0) {
			return command.ErrUsage
		}
		receipt, err := s.PostRenderings(ctx, client.PostRenderingsRequest{All: *all, Problems: c.Args}, client.WithKey(""))
		if err != nil {
			return err
		}
		if *detach {
			return c.Say(receipt, "ordered as job %d", receipt.JobID)
		}
		r, err := awaitRendering(ctx, c, s, receipt.JobID)
		if err != nil {
			return fmt.Errorf("the statements are rendered by job %d; waiting for it failed: %w", receipt.JobID, err)
		}
		if err := c.Write(r, func(w io.Writer) error { printRendering(w, c.Err, r); return nil }); err != nil {
			return err
		}
		if len(r.Failed) > 0 {
			return command.Exit(3)
		}
		return nil
	})
}

// awaitRendering tells how far the job is, and returns its report.
func awaitRendering(ctx context.Context, c *command.Call, s *client.Client, jobID int64) (r judge.RenderReport, err error) {
	b := newBar(c.Err, "render", 0, versionsText)
	defer b.clear()
	seen := int64(0)
	err = s.JobEvents(ctx, jobID, 0, func(event judge.Event) error {
		var d struct {
			Finding struct {
				Step string
				Done int64
			}
		}
		if event.Kind != judge.EventStage {
			return nil
		}
		if err := json.Unmarshal(event.Data, &d); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		if n := d.Finding.Done; d.Finding.Step == "render" && n > seen {
			b.add(n - seen)
			seen = n
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	return r, reportOf(ctx, s, jobID, &r)
}

// reportOf waits for a job, and reads its report.
func reportOf(ctx context.Context, s *client.Client, jobID int64, report any) error {
	j, err := s.WaitJob(ctx, jobID)
	switch {
	case err != nil:
		return err
	case j.Result != nil:
		return json.Unmarshal(j.Result.Report, report)
	case j.Error != nil:
		return errors.New(*j.Error)
	}
	return errors.New(j.Status)
}

func printRendering(out, errs io.Writer, r judge.RenderReport) {
	for _, row := range r.Warned {
		for _, w := range row.Warnings {
			fmt.Fprintf(errs, "%s %.19s: warning: %s\n", row.Problem, row.Version, w)
		}
	}
	for _, row := range r.Failed {
		fmt.Fprintf(errs, "%s %.19s: not rendered: %s\n", row.Problem, row.Version, row.Why)
	}
	if r.More > 0 {
		fmt.Fprintf(errs, "%d more such versions\n", r.More)
	}
	fmt.Fprintf(out, "rendered %d of %d versions\n", r.Rendered, r.Versions)
}
