// Package client speaks the HTTP API of a Deep-OJ server.
//
// It is what `deepoj submit` and the end-to-end tests use. A refusal of the
// server arrives as a [*Problem], which names the field that is wrong and how
// to mend it; everything else that goes wrong is an ordinary error. A Client is
// safe for concurrent use.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deepoj/host/judge"
)

// Client calls one server.
type Client struct {
	base  *url.URL
	http  *http.Client
	token string
}

// Option changes how a [Client] calls.
type Option func(*Client)

// WithHTTP makes the client use h instead of a client of its own. Timeouts of h
// also end [Client.Events], so it should have none.
func WithHTTP(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithToken makes the client act as the user who got token from
// [Client.Login].
func WithToken(token string) Option { return func(c *Client) { c.token = token } }

// New returns a client of the server at base, such as "http://127.0.0.1:8080".
func New(base string, opts ...Option) (*Client, error) {
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("server address %q: %w", base, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("server address %q: want http://HOST:PORT", base)
	}
	c := &Client{base: u, http: &http.Client{}}
	for _, opt := range opts {
		opt(c)
	}
	return c, nil
}

// NewSubmission is a program to be judged.
type NewSubmission struct {
	Problem  string         `json:"problem"`           // the problem's short name
	Space    string         `json:"space,omitempty"`   // course or contest that it is handed in to
	Language string         `json:"language"`          // a language id such as "cpp"
	Sources  []judge.Source `json:"sources,omitempty"` // at least one file

	// Once gives an unfinished submission of the same program to the same problem
	// by the same user, if there is one, instead of a new one.
	Once bool `json:"once,omitempty"`

	// Immediate, Priority and JobKey are for staff: judged in the first lane,
	// before others in its lane (higher first), and in place of the unfinished
	// submission of the same key.
	Immediate bool   `json:"immediate,omitempty"`
	Priority  int    `json:"priority,omitempty"`
	JobKey    string `json:"job_key,omitempty"`

	// Key makes a repeated call return the first call's submission. Empty means
	// a fresh one for every call.
	Key string `json:"-"`
}

// Receipt is the server's promise that a submission is stored.
type Receipt struct {
	JobID    int64  `json:"job_id"`
	URL      string `json:"url"`      // the page of the submission, as a path
	Existing bool   `json:"existing"` // the submission was there before: see Once, JobKey and Key
}

// Submission is a submission as the server shows it to the caller: without
// what contestants may not see.
type Submission struct {
	JobID      int64          `json:"job_id"`
	URL        string         `json:"url"`
	Problem    string         `json:"problem"`
	Title      string         `json:"title"`
	Language   string         `json:"language"`
	Author     string         `json:"author"`
	Status     string         `json:"status"` // PENDING DISPATCHED RUNNING RETRYING FINISHED CANCELLED DEAD
	Generation int32          `json:"generation"`
	AttemptID  int32          `json:"attempt_id"`
	Tries      int32          `json:"tries"`
	MaxTries   int32          `json:"max_tries"`
	Created    time.Time      `json:"created_at"`
	Started    *time.Time     `json:"started_at"`
	Finished   *time.Time     `json:"finished_at"`
	Place      *Place         `json:"place,omitempty"` // while it waits
	Sources    []judge.Source `json:"sources,omitempty"`
	Result     *judge.Result  `json:"result"`
	Error      *string        `json:"error"`      // why it ended without a result
	Space      string         `json:"space"`      // that it was handed in to; "" = none
	Unofficial bool           `json:"unofficial"` // of somebody who prepares the space
}

// Done reports whether nothing more happens to the submission by itself.
func (s *Submission) Done() bool { return done(s.Status) }

// Place is where a waiting submission stands in the queue.
type Place struct {
	Position    int64   `json:"position"`
	AtLeast     bool    `json:"at_least,omitempty"`     // Position is a lower bound
	PositionMax int64   `json:"position_max,omitempty"` // and this the upper one
	ETALow      float64 `json:"eta_low_seconds"`
	ETAHigh     float64 `json:"eta_high_seconds"`
	Why         string  `json:"why,omitempty"`
}

// Filter selects submissions. Zero fields select everything.
type Filter struct {
	Author, Problem, Language string
	Space                     string // what was handed in to this one
	Verdict                   judge.Verdict
	Before                    int64 // only jobs with a smaller id: the cursor
	Limit                     int   // at most 200; 0 means 50
}

// Submit hands in a program. The submission is stored when Submit returns.
func (c *Client) Submit(ctx context.Context, s NewSubmission) (Receipt, error) {
	var r Receipt
	header := http.Header{}
	if s.Key == "" {
		key, err := newKey()
		if err != nil {
			return r, err
		}
		s.Key = key
	}
	header.Set("Idempotency-Key", s.Key)
	return r, c.call(ctx, http.MethodPost, "/api/v1/submissions", header, s, &r)
}

// SubmitBatch hands in up to 50 programs to a space ("" = none): all of them or none.
// The receipts are in the order of the programs; their own spaces and keys are not
// used. Key makes a repeated call return the submissions of the first; empty means a
// fresh one for every call.
func (c *Client) SubmitBatch(ctx context.Context, space, key string, programs []NewSubmission) ([]Receipt, error) {
	if key == "" {
		var err error
		if key, err = newKey(); err != nil {
			return nil, err
		}
	}
	in := struct {
		Submissions []NewSubmission `json:"submissions"`
		Space       string          `json:"space,omitempty"`
	}{slices.Clone(programs), space}
	for i := range in.Submissions {
		in.Submissions[i].Space = ""
	}
	var reply struct {
		Submissions []Receipt `json:"submissions"`
	}
	err := c.call(ctx, http.MethodPost, "/api/v1/submissions/batch", http.Header{"Idempotency-Key": {key}}, in, &reply)
	return reply.Submissions, err
}

// GetBatch returns up to 50 submissions in the order of their ids, nil for those
// that are not there for the caller.
func (c *Client) GetBatch(ctx context.Context, jobIDs []int64) ([]*Submission, error) {
	texts := make([]string, len(jobIDs))
	for i, id := range jobIDs {
		texts[i] = strconv.FormatInt(id, 10)
	}
	var reply struct {
		Submissions []*Submission `json:"submissions"`
	}
	err := c.call(ctx, http.MethodGet, "/api/v1/submissions/batch?ids="+strings.Join(texts, ","), nil, nil, &reply)
	return reply.Submissions, err
}

// Get returns the submission with the given id.
func (c *Client) Get(ctx context.Context, jobID int64) (*Submission, error) {
	s := new(Submission)
	if err := c.call(ctx, http.MethodGet, submissionPath(jobID), nil, nil, s); err != nil {
		return nil, err
	}
	return s, nil
}

// List returns submissions, newest first, and the cursor for the next page: the
// Before of the next call, 0 at the end.
func (c *Client) List(ctx context.Context, f Filter) ([]Submission, int64, error) {
	q := url.Values{}
	for name, value := range map[string]string{
		"author": f.Author, "problem": f.Problem, "language": f.Language, "verdict": string(f.Verdict),
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Before > 0 {
		q.Set("before", fmt.Sprint(f.Before))
	}
	if f.Limit > 0 {
		q.Set("limit", fmt.Sprint(f.Limit))
	}
	path := "/api/v1/submissions"
	if f.Space != "" {
		path = spacePath(f.Space) + "/submissions"
	}
	var page struct {
		Submissions []Submission `json:"submissions"`
		Next        *int64       `json:"next"`
	}
	if err := c.call(ctx, http.MethodGet, path+"?"+q.Encode(), nil, nil, &page); err != nil {
		return nil, 0, err
	}
	if page.Next == nil {
		return page.Submissions, 0, nil
	}
	return page.Submissions, *page.Next, nil
}

// Cancel withdraws a submission that has no result yet.
func (c *Client) Cancel(ctx context.Context, jobID int64) error {
	return c.call(ctx, http.MethodPost, submissionPath(jobID)+"/cancel", nil, struct{}{}, nil)
}

// CancelJob ends a job of any kind that is not done, for a reason in the caller's
// words or "". Its author and staff may.
func (c *Client) CancelJob(ctx context.Context, jobID int64, why string) error {
	return c.call(ctx, http.MethodPost, fmt.Sprintf("/api/v1/jobs/%d/cancel", jobID), nil, map[string]string{"why": why}, nil)
}

// Rejudge has a submission judged again and returns its new generation. Only
// staff may.
func (c *Client) Rejudge(ctx context.Context, jobID int64) (int32, error) {
	var reply struct {
		Generation int32 `json:"generation"`
	}
	return reply.Generation, c.call(ctx, http.MethodPost, submissionPath(jobID)+"/rejudge", nil, struct{}{}, &reply)
}

// Problems returns the problems that can be solved.
func (c *Client) Problems(ctx context.Context) ([]judge.Problem, error) {
	var all []judge.Problem
	for after := ""; ; {
		var reply struct {
			Problems []judge.Problem `json:"problems"`
			Next     *string         `json:"next"`
		}
		query := url.Values{"limit": {"200"}}
		if after != "" {
			query.Set("after", after)
		}
		if err := c.call(ctx, http.MethodGet, "/api/v1/problems?"+query.Encode(), nil, nil, &reply); err != nil {
			return nil, err
		}
		all = append(all, reply.Problems...)
		if reply.Next == nil {
			return all, nil
		}
		after = *reply.Next
	}
}

// Languages returns the languages that the server knows, also those that no
// worker serves now.
func (c *Client) Languages(ctx context.Context) ([]judge.Language, error) {
	var reply struct {
		Languages []judge.Language `json:"languages"`
	}
	return reply.Languages, c.call(ctx, http.MethodGet, "/api/v1/languages", nil, nil, &reply)
}

// Workers returns the live workers.
func (c *Client) Workers(ctx context.Context) ([]judge.WorkerInfo, error) {
	var reply struct {
		Workers []judge.WorkerInfo `json:"workers"`
	}
	return reply.Workers, c.call(ctx, http.MethodGet, "/api/v1/workers", nil, nil, &reply)
}

// Login exchanges a name and password for a token, to be given to
// [WithToken].
func (c *Client) Login(ctx context.Context, name, password string) (string, error) {
	var reply struct {
		Token string `json:"token"`
	}
	in := map[string]string{"name": name, "password": password}
	return reply.Token, c.call(ctx, http.MethodPost, "/api/v1/sessions", nil, in, &reply)
}

func submissionPath(jobID int64) string { return fmt.Sprintf("/api/v1/submissions/%d", jobID) }

// call sends in as JSON, if any, and reads the answer into out, if any.
func (c *Client) call(ctx context.Context, method, path string, header http.Header, in, out any) error {
	resp, err := c.send(ctx, method, path, header, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", method, path, err)
	}
	return nil
}
