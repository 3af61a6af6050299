package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"deepoj/host/judge"
)

// NewRun is a program to be run on inputs, which counts for nothing.
type NewRun struct {
	Language string         `json:"language"`
	Sources  []judge.Source `json:"sources"`

	// Problem lends its limits, and its samples with Samples. Empty means the
	// server's own limits.
	Problem string `json:"problem,omitempty"`
	Samples bool   `json:"samples,omitempty"` // runs the samples in place of Tests

	Tests       []RunTest       `json:"tests,omitempty"` // none is one empty input
	Args        []string        `json:"args,omitempty"`  // of the program
	Options     []string        `json:"compiler_options,omitempty"`
	Limits      judge.RunLimits `json:"limits,omitzero"`
	MergeStderr bool            `json:"merge_stderr,omitempty"` // into standard output

	// Key makes a repeated call return the first call's run. Empty means a fresh
	// one for every call.
	Key string `json:"-"`
}

// RunTest is one input. With Expected its output is compared, word by word.
type RunTest struct {
	Stdin    string  `json:"stdin"`
	Expected *string `json:"expected_output,omitempty"`
}

// Run is a run as the server shows it to the caller.
type Run struct {
	JobID    int64      `json:"job_id"`
	URL      string     `json:"url"` // its page, as a path
	Problem  string     `json:"problem,omitempty"`
	Language string     `json:"language"`
	Author   string     `json:"author"`
	Status   string     `json:"status"` // as that of a [Submission]
	Created  time.Time  `json:"created_at"`
	Place    *Place     `json:"place,omitempty"` // while it waits
	Result   *RunResult `json:"result"`
	Error    *string    `json:"error"` // why it ended without a result
}

// Done reports whether nothing more happens to the run.
func (r *Run) Done() bool { return done(r.Status) }

// RunResult is what came of a run.
type RunResult struct {
	Verdict judge.Verdict  `json:"verdict"`
	Message string         `json:"message,omitempty"`
	Compile *judge.Compile `json:"compile,omitempty"`
	Usage   judge.Usage    `json:"usage"`
	Tests   []RanTest      `json:"tests"`
}

// RanTest is what the program did on an input. An output that is not UTF-8 comes in
// Base64 besides.
type RanTest struct {
	Index        int           `json:"index"`
	Name         string        `json:"name"`
	Verdict      judge.Verdict `json:"verdict"`
	Usage        judge.Usage   `json:"usage"`
	ExitCode     int           `json:"exit_code"`
	ExitSignal   int           `json:"exit_signal,omitempty"`
	Message      string        `json:"message,omitempty"`
	Stdout       string        `json:"stdout"`
	StdoutBase64 []byte        `json:"stdout_base64,omitempty"`
	StdoutCut    bool          `json:"stdout_cut,omitempty"` // there was more of it
	Stderr       string        `json:"stderr"`
	StderrBase64 []byte        `json:"stderr_base64,omitempty"`
	StderrCut    bool          `json:"stderr_cut,omitempty"`
}

// Outputs returns what the program wrote, byte by byte.
func (t *RanTest) Outputs() (stdout, stderr []byte) {
	stdout, stderr = []byte(t.Stdout), []byte(t.Stderr)
	if t.StdoutBase64 != nil {
		stdout = t.StdoutBase64
	}
	if t.StderrBase64 != nil {
		stderr = t.StderrBase64
	}
	return stdout, stderr
}

// StartRun asks for a run. It is stored when StartRun returns.
func (c *Client) StartRun(ctx context.Context, n NewRun) (Receipt, error) {
	var r Receipt
	if n.Key == "" {
		key, err := newKey()
		if err != nil {
			return r, err
		}
		n.Key = key
	}
	err := c.call(ctx, http.MethodPost, "/api/v1/runs", http.Header{"Idempotency-Key": {n.Key}}, n, &r)
	return r, err
}

// Run returns a run.
func (c *Client) Run(ctx context.Context, jobID int64) (*Run, error) { return c.run(ctx, jobID, "") }

func (c *Client) run(ctx context.Context, jobID int64, query string) (*Run, error) {
	r := new(Run)
	if err := c.call(ctx, http.MethodGet, runPath(jobID)+query, nil, nil, r); err != nil {
		return nil, err
	}
	return r, nil
}

// WaitRun returns the run as soon as it is done. It survives a server that goes
// away for a while.
func (c *Client) WaitRun(ctx context.Context, jobID int64) (*Run, error) {
	pause := pauses{}
	for {
		r, err := c.run(ctx, jobID, "?wait=20")
		var p *Problem
		switch {
		case err == nil && r.Done():
			return r, nil
		case err == nil:
			pause = pauses{}
			continue
		case ctx.Err() != nil:
			return nil, fmt.Errorf("wait for run %d: %w", jobID, context.Cause(ctx))
		case errors.As(err, &p) && p.RetryAfter == 0 && p.Status < http.StatusInternalServerError:
			return nil, err
		}
		if werr := pause.wait(ctx, p); werr != nil {
			return nil, fmt.Errorf("wait for run %d: %w (last failure: %w)", jobID, werr, err)
		}
	}
}

// CancelRun ends a run that is not done.
func (c *Client) CancelRun(ctx context.Context, jobID int64) error {
	return c.call(ctx, http.MethodPost, runPath(jobID)+"/cancel", nil, nil, nil)
}

func runPath(jobID int64) string { return fmt.Sprintf("/api/v1/runs/%d", jobID) }
