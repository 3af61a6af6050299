// Package client speaks the HTTP API of a Deep-OJ server.
//
// It is what `deepoj submit` and the end-to-end tests use. The types and the methods in api.gen.go are generated from
// the description of the API: a method is named after what it calls, as [Client.GetSubmission] after GET
// /api/v1/submissions/{id}, and types of package judge are those of the server. By hand are what takes more than one
// call, as [Client.Wait] and [Client.Events], what takes a key that makes it safe to repeat, as [Client.Submit], and
// short names for what is called often.
//
// A refusal of the server arrives as a [*Problem], which names the field that is wrong and how to mend it; everything
// else that goes wrong is an ordinary error. A Client is safe for concurrent use.
package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

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

// WithToken makes the client act as the user who got token from [Client.Login].
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

// Done reports whether nothing more happens to the submission by itself.
func (s *Submission) Done() bool { return done(s.Status) }

// Done reports whether nothing more happens to the run.
func (r *Run) Done() bool { return done(r.Status) }

// Done reports whether nothing more happens to the job by itself.
func (j *Job) Done() bool { return done(j.Status) }

func done(status string) bool {
	return status == "FINISHED" || status == "CANCELLED" || status == "DEAD"
}

// Outputs returns what the program wrote, byte by byte.
func (t *RanTest) Outputs() (stdout, stderr []byte) {
	return exactly(t.Stdout, t.StdoutBase64), exactly(t.Stderr, t.StderrBase64)
}

// Filter selects submissions. Zero fields select everything.
type Filter struct {
	Author, Problem, Language string
	Space                     string // what was handed in to this one
	Verdict                   judge.Verdict
	Before                    int64 // only jobs with a smaller id: the cursor
	Limit                     int64 // at most 200; 0 means 50
}

// GetBatch returns up to 50 submissions in the order of their ids, nil for those that are not there for the caller.
func (c *Client) GetBatch(ctx context.Context, jobIDs []int64) ([]*Submission, error) {
	texts := make([]string, len(jobIDs))
	for i, id := range jobIDs {
		texts[i] = strconv.FormatInt(id, 10)
	}
	answer, err := c.GetSubmissionsBatch(ctx, GetSubmissionsBatchParams{strings.Join(texts, ",")})
	return answer.Submissions, err
}

// Get returns the submission with the given id.
func (c *Client) Get(ctx context.Context, jobID int64) (*Submission, error) {
	return orNil(c.GetSubmission(ctx, jobID, GetSubmissionParams{}))
}

// List returns submissions, newest first, and the cursor for the next page: the Before of the next call, 0 at the end.
func (c *Client) List(ctx context.Context, f Filter) ([]Submission, int64, error) {
	var page SubmissionPage
	var err error
	params := GetSubmissionsParams{f.Author, f.Problem, f.Language, f.Verdict, f.Before, f.Limit}
	if f.Space == "" {
		page, err = c.GetSubmissions(ctx, params)
	} else {
		page, err = c.GetSpaceSubmissions(ctx, f.Space, GetSpaceSubmissionsParams(params))
	}
	return page.Submissions, orZero(page.Next), err
}

// Cancel withdraws a submission that has no result yet.
func (c *Client) Cancel(ctx context.Context, jobID int64) error {
	_, err := c.PostSubmissionCancel(ctx, jobID, Reason{})
	return err
}

// Rejudge has a submission judged again and returns its new generation. Only staff may.
func (c *Client) Rejudge(ctx context.Context, jobID int64) (int32, error) {
	answer, err := c.PostSubmissionRejudge(ctx, jobID)
	return answer.Generation, err
}

// Run returns a run.
func (c *Client) Run(ctx context.Context, jobID int64) (*Run, error) {
	return orNil(c.GetRun(ctx, jobID, GetRunParams{}))
}

// Job returns the job with the given id, unless it is a submission.
func (c *Client) Job(ctx context.Context, jobID int64) (*Job, error) {
	return orNil(c.GetJob(ctx, jobID))
}

// Problems returns the problems that can be solved.
func (c *Client) Problems(ctx context.Context) ([]FoundProblem, error) {
	return pages(func(after string) ([]FoundProblem, *string, error) {
		page, err := c.GetProblems(ctx, GetProblemsParams{After: after, Limit: longestPage})
		return page.Problems, page.Next, err
	})
}

// Problem returns a problem with its statement in a language, by its tag; "" leaves that to the server.
func (c *Client) Problem(ctx context.Context, slug, language string) (judge.Problem, error) {
	return c.GetProblem(ctx, slug, GetProblemParams{language})
}

// Languages returns the languages that the server knows, also those that no worker serves now.
func (c *Client) Languages(ctx context.Context) ([]OfferedLanguage, error) {
	return pages(func(after string) ([]OfferedLanguage, *string, error) {
		page, err := c.GetLanguages(ctx, GetLanguagesParams{After: after, Limit: longestPage})
		return page.Languages, page.Next, err
	})
}

// Workers returns the live workers, with all those of the last week, the silent ones
// last. Others than staff see no silent ones, no names and not what they run.
func (c *Client) Workers(ctx context.Context, all bool) ([]Worker, error) {
	return pages(func(after string) ([]Worker, *string, error) {
		page, err := c.GetWorkers(ctx, GetWorkersParams{All: all, After: after, Limit: longestPage})
		return page.Workers, page.Next, err
	})
}

// Login exchanges a name and password for a token, to be given to [WithToken].
func (c *Client) Login(ctx context.Context, name, password string) (string, error) {
	return c.LoginWithCode(ctx, name, password, "")
}

// LoginWithCode is [Client.Login] to an account with a second factor: a code of its authenticator app, or a recovery
// code. Without the one that is needed the reason of the refusal is code_required.
func (c *Client) LoginWithCode(ctx context.Context, name, password, code string) (string, error) {
	answer, err := c.PostSessions(ctx, PostSessionsRequest{Name: name, Password: password, Code: code})
	return answer.Token, err
}
