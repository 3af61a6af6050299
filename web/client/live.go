package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"deepoj/host/judge"
)

// errStop ends a stream of events early without being a failure.
var errStop = errors.New("stop")

// maxEvent bounds one event of a stream, in bytes.
const maxEvent = 1 << 20

// Events calls fn for every event of a submission with an id above after, in order, until the submission is done (nil),
// fn fails, or ctx ends. It continues where it was cut.
func (c *Client) Events(ctx context.Context, jobID, after int64, fn func(judge.Event) error) error {
	return c.follow(ctx, pathOf("/api/v1/submissions/%s/events", jobID), after, fn)
}

// follow is Events on the stream at path.
func (c *Client) follow(ctx context.Context, path string, after int64, fn func(judge.Event) error) error {
	pause := pauses{}
	for {
		last, err := c.stream(ctx, path, after, fn)
		var p *Problem
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errStop):
			return nil
		case errors.As(err, &p):
			if p.RetryAfter == 0 && p.Status < http.StatusInternalServerError {
				return err
			}
		case isCallback(err):
			return err
		}
		if last > after {
			after, pause = last, pauses{}
		}
		if err := pause.wait(ctx, p); err != nil {
			return err
		}
	}
}

// JobEvents is [Client.Events] for a job of another kind than submission.
func (c *Client) JobEvents(ctx context.Context, jobID, after int64, fn func(judge.Event) error) error {
	return c.follow(ctx, pathOf("/api/v1/jobs/%s/events", jobID), after, fn)
}

// pollSeconds is how long the server holds an answer until a job is done.
const pollSeconds = 20

// Wait returns the submission as soon as it is done. It survives a server that goes away for a while.
func (c *Client) Wait(ctx context.Context, jobID int64) (*Submission, error) {
	return wait(ctx, "submission", jobID, func() (*Submission, error) {
		return orNil(c.GetSubmission(ctx, jobID, GetSubmissionParams{Wait: pollSeconds}))
	})
}

// WaitRun is [Client.Wait] for a run.
func (c *Client) WaitRun(ctx context.Context, jobID int64) (*Run, error) {
	return wait(ctx, "run", jobID, func() (*Run, error) {
		return orNil(c.GetRun(ctx, jobID, GetRunParams{Wait: pollSeconds}))
	})
}

// WaitJob returns the job as soon as it is done.
func (c *Client) WaitJob(ctx context.Context, jobID int64) (*Job, error) {
	for {
		if err := c.JobEvents(ctx, jobID, 0, func(judge.Event) error { return nil }); err != nil {
			return nil, fmt.Errorf("wait for job %d: %w", jobID, err)
		}
		j, err := c.Job(ctx, jobID)
		if err != nil || j.Done() {
			return j, err
		}
	}
}

// wait asks for a job until it is done.
func wait[J interface{ Done() bool }](ctx context.Context, what string, jobID int64, get func() (J, error)) (none J, err error) {
	pause := pauses{}
	for {
		j, err := get()
		var p *Problem
		switch {
		case err == nil && j.Done():
			return j, nil
		case err == nil:
			pause = pauses{}
			continue
		case ctx.Err() != nil:
			return none, fmt.Errorf("wait for %s %d: %w", what, jobID, context.Cause(ctx))
		case errors.As(err, &p) && p.RetryAfter == 0 && p.Status < http.StatusInternalServerError:
			return none, err
		}
		if werr := pause.wait(ctx, p); werr != nil {
			return none, fmt.Errorf("wait for %s %d: %w (last failure: %w)", what, jobID, werr, err)
		}
	}
}

// callbackError marks what the caller's function returned.
type callbackError struct{ error }

func (e callbackError) Unwrap() error { return e.error }

func isCallback(err error) bool {
	var c callbackError
	return errors.As(err, &c)
}

// stream reads one connection's worth of events and returns the last id seen.
// It returns errStop when the server says that nothing more will come.
func (c *Client) stream(ctx context.Context, path string, after int64, fn func(judge.Event) error) (int64, error) {
	resp, err := c.send(ctx, http.MethodGet, path, nil, func(r *http.Request) {
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Last-Event-Id", strconv.FormatInt(after, 10))
	})
	if err != nil {
		return after, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		return after, errStop
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 4096), maxEvent)
	var kind, data string
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			kind = value
		case "data":
			data += value
		case "": // a blank line ends an event; a comment has a value
			if value != "" {
				continue
			}
			if data == "" {
				kind = ""
				continue
			}
			if kind == "end" {
				return after, errStop
			}
			if kind != "place" {
				var e judge.Event
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					return after, fmt.Errorf("read an event: %w", err)
				}
				if err := fn(e); err != nil {
					return after, callbackError{err}
				}
				after = e.ID
			}
			kind, data = "", ""
		}
	}
	if err := lines.Err(); err != nil {
		return after, fmt.Errorf("read events: %w", err)
	}
	return after, io.ErrUnexpectedEOF
}

// pauses grows the time between tries from 200 ms to 5 s.
type pauses struct{ last time.Duration }

func (p *pauses) wait(ctx context.Context, refused *Problem) error {
	p.last = min(max(2*p.last, 200*time.Millisecond), 5*time.Second)
	d := p.last
	if refused != nil && refused.RetryAfter > 0 {
		d = min(refused.RetryAfter, 30*time.Second)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
