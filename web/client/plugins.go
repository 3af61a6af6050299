package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"deepoj/host/judge"
)

// Upload is a plugin to be taken in: one WebAssembly module, or the sources of
// one language with their headers.
type Upload struct {
	Kind     string // checker, interactor or toolchain; "" = checker
	Name     string // such as "org.example.tokens"; of a module, "" = from its manifest
	Version  string // the same
	Protocol string // such as "testlib/1"; "" = from the manifest, or the kind's first
	Problem  string // to prove it with; "" = none
	Files    []judge.PluginFile

	// Key makes a repeated call return the first call's job. Empty means a fresh
	// one for every call.
	Key string
}

// Job is a job of another kind than submission, as the server shows it to the
// caller.
type Job struct {
	JobID      int64         `json:"job_id"`
	URL        string        `json:"url"` // its page, as a path; "" = it has none
	Kind       judge.Kind    `json:"kind"`
	Author     string        `json:"author"`
	Status     string        `json:"status"` // PENDING DISPATCHED RUNNING RETRYING FINISHED CANCELLED DEAD
	Generation int32         `json:"generation"`
	AttemptID  int32         `json:"attempt_id"`
	Tries      int32         `json:"tries"`
	MaxTries   int32         `json:"max_tries"`
	Created    time.Time     `json:"created_at"`
	Started    *time.Time    `json:"started_at"`
	Finished   *time.Time    `json:"finished_at"`
	Place      *Place        `json:"place,omitempty"` // while it waits
	About      About         `json:"about"`           // of jobs about plugins
	Package    AboutPackage  `json:"package"`         // of jobs about problem packages
	Result     *judge.Result `json:"result"`          // its Report is what the job found
	Error      *string       `json:"error"`           // why it ended without a result
}

// About is what a job about a plugin is asked.
type About struct {
	Op       judge.PluginOp `json:"op"`
	Kind     string         `json:"kind"`
	Name     string         `json:"name"`
	Version  string         `json:"version"`
	Protocol string         `json:"protocol"`
	Problem  string         `json:"problem"`
	Digest   string         `json:"digest"`
	Limit    int            `json:"limit"`
}

// AboutPackage is what a job about a problem package is asked.
type AboutPackage struct {
	Problem  string `json:"problem"`
	Archive  string `json:"archive"` // digest of an import's ZIP file
	Bytes    int64  `json:"bytes"`
	Version  string `json:"version"`  // to be proved again
	Activate bool   `json:"activate"` // once it is proved
}

// Done reports whether nothing more happens to the job by itself.
func (j *Job) Done() bool { return done(j.Status) }

func done(status string) bool {
	return status == "FINISHED" || status == "CANCELLED" || status == "DEAD"
}

// UploadPlugin has a plugin compiled if need be, proved and kept. The job is
// stored when UploadPlugin returns. Only setters and staff may.
func (c *Client) UploadPlugin(ctx context.Context, u Upload) (Receipt, error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, field := range [][2]string{{"kind", u.Kind}, {"name", u.Name}, {"version", u.Version}, {"protocol", u.Protocol}, {"problem", u.Problem}} {
		if field[1] == "" {
			continue
		}
		if err := w.WriteField(field[0], field[1]); err != nil {
			return Receipt{}, fmt.Errorf("write the form: %w", err)
		}
	}
	for _, f := range u.Files {
		part, err := w.CreateFormFile("files", f.Name)
		if err == nil {
			_, err = part.Write(f.Data)
		}
		if err != nil {
			return Receipt{}, fmt.Errorf("write the form: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return Receipt{}, fmt.Errorf("write the form: %w", err)
	}
	return c.start(ctx, "/api/v1/plugins", u.Key, http.Header{"Content-Type": {w.FormDataContentType()}}, body.Bytes())
}

// PreviewPlugin judges past submissions of a problem with a checker, beside
// their live verdicts: at most limit of them, 50 when it is 0.
func (c *Client) PreviewPlugin(ctx context.Context, digest, problem string, limit int) (Receipt, error) {
	in := map[string]any{"problem": problem}
	if limit > 0 {
		in["limit"] = limit
	}
	return c.startJSON(ctx, pluginPath(digest)+"/preview", in)
}

// BindPlugin makes a version of a problem that is checked by a plugin: by its
// name if it is active, else by exactly this version.
func (c *Client) BindPlugin(ctx context.Context, digest, problem string) (Receipt, error) {
	return c.startJSON(ctx, pluginPath(digest)+"/bind", map[string]any{"problem": problem})
}

// TestPlugin proves a kept plugin again; problem may be empty.
func (c *Client) TestPlugin(ctx context.Context, digest, problem string) (Receipt, error) {
	in := map[string]any{}
	if problem != "" {
		in["problem"] = problem
	}
	return c.startJSON(ctx, pluginPath(digest)+"/test", in)
}

func (c *Client) startJSON(ctx context.Context, path string, in any) (Receipt, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return Receipt{}, fmt.Errorf("POST %s: %w", path, err)
	}
	return c.start(ctx, path, "", http.Header{"Content-Type": {"application/json"}}, body)
}

// start starts a job.
func (c *Client) start(ctx context.Context, path, key string, header http.Header, body []byte) (Receipt, error) {
	var r Receipt
	if key == "" {
		var err error
		if key, err = newKey(); err != nil {
			return r, err
		}
	}
	header.Set("Idempotency-Key", key)
	return r, c.call(ctx, http.MethodPost, path, header, raw(body), &r)
}

// Plugins returns the versions of uploaded plugins by kind and name, the newest
// of a name first. An empty kind or name does not restrict.
func (c *Client) Plugins(ctx context.Context, kind, name string) ([]judge.Plugin, error) {
	var reply struct {
		Plugins []judge.Plugin `json:"plugins"`
	}
	q := url.Values{}
	for field, value := range map[string]string{"kind": kind, "name": name} {
		if value != "" {
			q.Set(field, value)
		}
	}
	return reply.Plugins, c.call(ctx, http.MethodGet, "/api/v1/plugins?"+q.Encode(), nil, nil, &reply)
}

// Plugin returns the plugin with the given digest.
func (c *Client) Plugin(ctx context.Context, digest string) (*judge.Plugin, error) {
	p := new(judge.Plugin)
	if err := c.call(ctx, http.MethodGet, pluginPath(digest), nil, nil, p); err != nil {
		return nil, err
	}
	return p, nil
}

// ActivatePlugin makes the plugin's name mean this version.
func (c *Client) ActivatePlugin(ctx context.Context, digest string) error {
	return c.call(ctx, http.MethodPost, pluginPath(digest)+"/activate", nil, nil, nil)
}

// RollBackPlugin undoes the newest change of what a name means, and returns the
// digest of the version that it means now.
func (c *Client) RollBackPlugin(ctx context.Context, kind, name string) (string, error) {
	var reply struct {
		Digest string `json:"digest"`
	}
	in := map[string]string{"kind": kind, "name": name}
	return reply.Digest, c.call(ctx, http.MethodPost, "/api/v1/plugins/rollback", nil, in, &reply)
}

// Job returns the job with the given id, unless it is a submission.
func (c *Client) Job(ctx context.Context, jobID int64) (*Job, error) {
	j := new(Job)
	if err := c.call(ctx, http.MethodGet, jobPath(jobID), nil, nil, j); err != nil {
		return nil, err
	}
	return j, nil
}

// JobEvents is [Client.Events] for a job of another kind than submission.
func (c *Client) JobEvents(ctx context.Context, jobID, after int64, fn func(judge.Event) error) error {
	return c.follow(ctx, jobPath(jobID)+"/events", after, fn)
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

func pluginPath(digest string) string { return "/api/v1/plugins/" + url.PathEscape(digest) }

func jobPath(jobID int64) string { return fmt.Sprintf("/api/v1/jobs/%d", jobID) }
