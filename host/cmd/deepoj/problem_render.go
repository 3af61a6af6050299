package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// renderProblems is `deepoj problem render`: it has the pages of versions that are kept
// made again by a server, from what is kept of their packages. Its status is 3 if a
// version could not be rendered, which keeps the pages that it has.
func renderProblems(ctx context.Context, e *env) int {
	f := bareFlags(e, "problem render", "NAME...|--all")
	all := f.Bool("all", false, "render every version of every problem")
	detach := f.Bool("no-wait", false, "order the job and do not wait for it")
	asJSON := f.Bool("json", false, "print the report as JSON")
	server := f.String("server", "", "address of the server; DEEPOJ_URL or "+defaultServer+" when empty")
	token := f.String("token", "", "key, or token of a login; DEEPOJ_TOKEN when empty")
	names, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if *all == (len(names) > 0) {
		f.Usage()
		return 2
	}
	c, err := client.New(firstOf(*server, e.variable("DEEPOJ_URL"), defaultServer), client.WithToken(firstOf(*token, e.variable("DEEPOJ_TOKEN"))))
	if err != nil {
		return e.fail(err)
	}
	receipt, err := c.Render(ctx, names...)
	if err != nil {
		return e.fail(err)
	}
	if *detach {
		fmt.Fprintf(e.stdout, "ordered as job %d\n", receipt.JobID)
		return 0
	}
	r, err := awaitRendering(ctx, e, c, receipt.JobID)
	if err != nil {
		return e.fail(fmt.Errorf("the statements are rendered by job %d; waiting for it failed: %w", receipt.JobID, err))
	}
	if *asJSON {
		err = printJSON(e, r)
	} else {
		printRendering(e, r)
	}
	if err != nil {
		return e.fail(err)
	}
	if len(r.Failed) > 0 {
		return 3
	}
	return 0
}

// awaitRendering tells how far the job is, and returns its report.
func awaitRendering(ctx context.Context, e *env, c *client.Client, jobID int64) (r judge.RenderReport, err error) {
	b := newBar(e.stderr, "render", 0, versionsText)
	defer b.clear()
	seen := int64(0)
	err = c.JobEvents(ctx, jobID, 0, func(event judge.Event) error {
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
	j, err := c.WaitJob(ctx, jobID)
	if err != nil {
		return r, err
	}
	if j.Result == nil {
		if j.Error != nil {
			return r, errors.New(*j.Error)
		}
		return r, errors.New(j.Status)
	}
	return r, json.Unmarshal(j.Result.Report, &r)
}

func printRendering(e *env, r judge.RenderReport) {
	for _, row := range r.Warned {
		for _, w := range row.Warnings {
			fmt.Fprintf(e.stderr, "%s %.19s: warning: %s\n", row.Problem, row.Version, w)
		}
	}
	for _, row := range r.Failed {
		fmt.Fprintf(e.stderr, "%s %.19s: not rendered: %s\n", row.Problem, row.Version, row.Why)
	}
	if r.More > 0 {
		fmt.Fprintf(e.stderr, "%d more such versions\n", r.More)
	}
	fmt.Fprintf(e.stdout, "rendered %d of %d versions\n", r.Rendered, r.Versions)
}
