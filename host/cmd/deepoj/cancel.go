package main

import (
	"context"
	"fmt"
	"strconv"

	"deepoj/web/client"
)

// cancelJobs ends jobs of any kind that are not done: submissions, runs, imports,
// proofs and plugin jobs, for their author or staff.
func cancelJobs(ctx context.Context, e *env) int {
	f, _ := newFlags(e, "cancel", "JOB...")
	why := f.String("why", "", "the reason, which its author reads")
	server := f.String("server", "", "address of the server; DEEPOJ_URL or "+defaultServer+" when empty")
	token := f.String("token", "", "key, or token of a login; DEEPOJ_TOKEN when empty")
	jobs, status, ok := filesOf(f, e.args)
	if !ok {
		return status
	}
	if len(jobs) == 0 {
		f.Usage()
		return 2
	}
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		id, err := strconv.ParseInt(job, 10, 64)
		if err != nil || id < 1 {
			return e.fail(fmt.Errorf("%q is no number of a job", job))
		}
		ids[i] = id
	}
	c, err := client.New(firstOf(*server, e.variable("DEEPOJ_URL"), defaultServer), client.WithToken(firstOf(*token, e.variable("DEEPOJ_TOKEN"))))
	if err != nil {
		return e.fail(err)
	}
	for _, id := range ids {
		if err := c.CancelJob(ctx, id, *why); err != nil {
			return e.fail(fmt.Errorf("job %d: %w", id, err))
		}
		fmt.Fprintf(e.stdout, "job %d is cancelled\n", id)
	}
	return 0
}
