package client

import (
	"context"
	"net/http"
	"net/url"

	"deepoj/host/judge"
)

// Render has the pages of all versions of some problems made again, or of all problems
// if none is named, which is for staff. Versions and proofs stay.
func (c *Client) Render(ctx context.Context, problems ...string) (Receipt, error) {
	in := map[string]any{"problems": problems}
	if len(problems) == 0 {
		in = map[string]any{"all": true}
	}
	return c.startJSON(ctx, "/api/v1/renderings", in)
}

// Problem returns a problem with its statement in a language, by its tag; "" leaves
// that to the server.
func (c *Client) Problem(ctx context.Context, slug, language string) (p judge.Problem, err error) {
	path := problemPath(slug)
	if language != "" {
		path += "?lang=" + url.QueryEscape(language)
	}
	return p, c.call(ctx, http.MethodGet, path, nil, nil, &p)
}

// Statement is the page of a version as contestants see it, or would.
type Statement struct {
	Problem   string                    `json:"problem"`
	Version   string                    `json:"version"`
	Title     string                    `json:"title"`
	Language  string                    `json:"language"`
	Languages []judge.StatementLanguage `json:"languages"`
	Statement string                    `json:"statement"` // HTML
	Document  string                    `json:"document"`  // address of the PDF; "" = there is none
	Warnings  []string                  `json:"warnings"`  // what is not shown as it was written
}

// VersionStatement returns the statement of a version, live or not.
func (c *Client) VersionStatement(ctx context.Context, problem, version, language string) (s Statement, err error) {
	path := versionPath(problem, version) + "/statement"
	if language != "" {
		path += "?lang=" + url.QueryEscape(language)
	}
	return s, c.call(ctx, http.MethodGet, path, nil, nil, &s)
}
