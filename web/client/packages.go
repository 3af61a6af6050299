package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"deepoj/host/judge"
)

// NewPackage is a problem package to be taken in.
type NewPackage struct {
	Problem string // the problem's short name

	// Keep leaves the version that is live as it is, also if the new one is proved.
	Keep bool

	// Given is what a folder of tests, or an init.yml, does not say.
	Given judge.Given

	// Key makes a repeated call return the first call's job. Empty means a fresh one
	// for every call.
	Key string
}

// UploadPackage has a package, a ZIP file of a size in bytes, made a version of its
// problem and proved. The job is stored when UploadPackage returns. Only setters and
// staff may.
func (c *Client) UploadPackage(ctx context.Context, p NewPackage, archive io.Reader, size int64) (Receipt, error) {
	var r Receipt
	if p.Key == "" {
		var err error
		if p.Key, err = newKey(); err != nil {
			return r, err
		}
	}
	q := url.Values{"problem": {p.Problem}, "activate": {strconv.FormatBool(!p.Keep)}}
	if p.Given.Title != "" {
		q.Set("title", p.Given.Title)
	}
	if p.Given.CPUMillis != 0 {
		q.Set("time", strconv.FormatFloat(float64(p.Given.CPUMillis)/1000, 'f', -1, 64))
	}
	if p.Given.MemoryMiB != 0 {
		q.Set("memory", strconv.FormatInt(p.Given.MemoryMiB, 10))
	}
	header := http.Header{"Content-Type": {"application/zip"}, "Idempotency-Key": {p.Key}}
	return r, c.call(ctx, http.MethodPost, "/api/v1/problems?"+q.Encode(), header, streamed{archive, size}, &r)
}

// ProblemVersions returns the versions of a problem, the newest first, without
// their reports.
func (c *Client) ProblemVersions(ctx context.Context, problem string) ([]judge.ProblemVersion, error) {
	var reply struct {
		Versions []judge.ProblemVersion `json:"versions"`
	}
	return reply.Versions, c.call(ctx, http.MethodGet, problemPath(problem)+"/versions", nil, nil, &reply)
}

// ProblemVersion returns a version of a problem with the report of its proof.
func (c *Client) ProblemVersion(ctx context.Context, problem, version string) (*judge.ProblemVersion, error) {
	v := new(judge.ProblemVersion)
	if err := c.call(ctx, http.MethodGet, versionPath(problem, version), nil, nil, v); err != nil {
		return nil, err
	}
	return v, nil
}

// ExportProblem returns a version of a problem as a ZIP file, the live one if version
// is empty. The caller closes it.
func (c *Client) ExportProblem(ctx context.Context, problem, version string) (io.ReadCloser, error) {
	q := url.Values{}
	if version != "" {
		q.Set("version", version)
	}
	resp, err := c.send(ctx, http.MethodGet, problemPath(problem)+"/package?"+q.Encode(), nil, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// ActivateVersion makes a version of a problem live. Override is for staff: it does
// so although the version is not proved.
func (c *Client) ActivateVersion(ctx context.Context, problem, version string, override bool) error {
	return c.call(ctx, http.MethodPost, versionPath(problem, version)+"/activate", nil, map[string]bool{"override": override}, nil)
}

// VerifyVersion has a kept version proved again.
func (c *Client) VerifyVersion(ctx context.Context, problem, version string) (Receipt, error) {
	return c.startJSON(ctx, versionPath(problem, version)+"/verify", nil)
}

// RollBackProblem undoes the newest change of which version of a problem is live,
// and returns the version that is live now.
func (c *Client) RollBackProblem(ctx context.Context, problem string) (string, error) {
	var reply struct {
		Version string `json:"version"`
	}
	return reply.Version, c.call(ctx, http.MethodPost, problemPath(problem)+"/rollback", nil, nil, &reply)
}

func problemPath(problem string) string { return "/api/v1/problems/" + url.PathEscape(problem) }

func versionPath(problem, version string) string {
	return problemPath(problem) + "/versions/" + url.PathEscape(version)
}

// Person is somebody who may change a problem, besides staff.
type Person struct {
	Name  string    `json:"name"`
	Owner bool      `json:"owner"` // or else a co-author
	Since time.Time `json:"since"`
}

// ProblemPeople returns who may change a problem besides staff, its owner first.
func (c *Client) ProblemPeople(ctx context.Context, problem string) ([]Person, error) {
	var reply struct {
		People []Person `json:"people"`
	}
	return reply.People, c.call(ctx, http.MethodGet, problemPath(problem)+"/people", nil, nil, &reply)
}

// AddProblemAuthor makes somebody a co-author of a problem. Only its owner and staff
// may.
func (c *Client) AddProblemAuthor(ctx context.Context, problem, name string) error {
	return c.call(ctx, http.MethodPost, problemPath(problem)+"/people", nil, map[string]any{"name": name}, nil)
}

// SetProblemOwner gives a problem to somebody else. Only its owner and staff may.
func (c *Client) SetProblemOwner(ctx context.Context, problem, name string) error {
	return c.call(ctx, http.MethodPost, problemPath(problem)+"/people", nil, map[string]any{"name": name, "owner": true}, nil)
}

// RemoveProblemAuthor makes somebody a co-author of a problem no more.
func (c *Client) RemoveProblemAuthor(ctx context.Context, problem, name string) error {
	return c.call(ctx, http.MethodDelete, problemPath(problem)+"/people/"+url.PathEscape(name), nil, nil, nil)
}

// Quota is what the packages of a setter take and may take.
type Quota struct {
	UsedBytes    int64 `json:"used_bytes"`    // of files that only their versions have
	AllowedBytes int64 `json:"allowed_bytes"` // 0 = any number
	Versions     int   `json:"versions_today"`
	PerDay       int   `json:"versions_a_day"` // 0 = any number
	Saves        int   `json:"saves_today"`    // in the browser, beside the versions
	MaxSaves     int   `json:"saves_a_day"`    // 0 = any number
	SentBytes    int64 `json:"sent_bytes"`     // of archives, today

	// Setters are what each takes, for staff.
	Setters []struct {
		Name  string `json:"name"`
		Bytes int64  `json:"bytes"`
	} `json:"setters"`
}

// Quota returns what one's own packages take and may take.
func (c *Client) Quota(ctx context.Context) (q Quota, err error) {
	return q, c.call(ctx, http.MethodGet, "/api/v1/quota", nil, nil, &q)
}
