package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"deepoj/host/judge"
)

// NewPackage is a problem package to be taken in.
type NewPackage struct {
	Problem string // the problem's short name

	// Keep leaves the version that is live as it is, also if the new one is proved.
	Keep bool

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
