package client

import (
	"context"
	"net/http"
	"net/url"
)

// Labels are what setters say of a problem beside its versions. Nil is as the package
// says.
type Labels struct {
	Tags       *[]string `json:"tags"`
	Difficulty *int      `json:"difficulty"`
	Source     *string   `json:"source"`
	Author     *string   `json:"author"`
}

// ProblemLabels returns the labels of a problem.
func (c *Client) ProblemLabels(ctx context.Context, problem string) (l Labels, err error) {
	return l, c.call(ctx, http.MethodGet, problemPath(problem)+"/labels", nil, nil, &l)
}

// SetProblemLabels replaces the labels of a problem.
func (c *Client) SetProblemLabels(ctx context.Context, problem string, l Labels) (out Labels, err error) {
	return out, c.call(ctx, http.MethodPost, problemPath(problem)+"/labels", nil, l, &out)
}

// CloneProblem makes a problem of one's own of a version of another; "" is the live
// one, or else the newest. The receipt's job takes it in.
func (c *Client) CloneProblem(ctx context.Context, problem, version, name string) (Receipt, error) {
	in := map[string]any{"name": name}
	if version != "" {
		in["version"] = version
	}
	return c.startJSON(ctx, problemPath(problem)+"/clone", in)
}

// FileDifference is a file that differs between two versions.
type FileDifference struct {
	Path   string `json:"path"`
	Change string `json:"change"` // added, removed or changed
	Lines  string `json:"lines"`  // unified diff
	Why    string `json:"why"`    // why there is none
}

// Difference is how a version differs from another.
type Difference struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Values []struct {
		Name string `json:"name"`
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"values"`
	Tests struct {
		Added   []string `json:"added"`
		Removed []string `json:"removed"`
		Changed []string `json:"changed"`
	} `json:"tests"`
	Files []FileDifference `json:"files"`
	More  bool             `json:"more"`
}

// DiffProblem says how one version of a problem differs from another.
func (c *Client) DiffProblem(ctx context.Context, problem, from, to string) (d Difference, err error) {
	query := url.Values{"from": {from}, "to": {to}}.Encode()
	return d, c.call(ctx, http.MethodGet, problemPath(problem)+"/diff?"+query, nil, nil, &d)
}
