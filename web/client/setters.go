package client

import (
	"context"
	"io"
	"maps"
	"net/http"

	"deepoj/host/judge"
)

// ProblemVersions returns the versions of a problem, the newest first, without their reports.
func (c *Client) ProblemVersions(ctx context.Context, problem string) ([]judge.ProblemVersion, error) {
	return pages(func(before string) ([]judge.ProblemVersion, *string, error) {
		page, err := c.GetProblemVersions(ctx, problem, GetProblemVersionsParams{Before: before, Limit: longestPage})
		return page.Versions, page.Next, err
	})
}

// ExportProblem returns a version of a problem as a ZIP file, the live one if version is empty. The caller closes it.
func (c *Client) ExportProblem(ctx context.Context, problem, version string) (io.ReadCloser, error) {
	resp, err := c.send(ctx, http.MethodGet, pathOf("/api/v1/problems/%s/package", problem)+queryOf("version", version), nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// ActivateVersion makes a version of a problem live. Override is for staff: it does
// so although the version is not proved.
func (c *Client) ActivateVersion(ctx context.Context, problem, version string, override bool) error {
	_, err := c.PostProblemVersionActivate(ctx, problem, version, PostProblemVersionActivateRequest{override})
	return err
}

// VerifyVersion has a kept version proved again.
func (c *Client) VerifyVersion(ctx context.Context, problem, version string) (Receipt, error) {
	return c.PostProblemVersionVerify(ctx, problem, version, WithKey(""))
}

// RollBackProblem undoes the newest change of which version of a problem is live,
// and returns the version that is live now.
func (c *Client) RollBackProblem(ctx context.Context, problem string) (string, error) {
	answer, err := c.PostProblemRollback(ctx, problem)
	return answer.Version, err
}

// SetProblemLabels replaces what setters say of a problem beside its versions. Nil is as the package says.
func (c *Client) SetProblemLabels(ctx context.Context, problem string, l Labels) (out Labels, err error) {
	err = c.call(ctx, http.MethodPost, pathOf("/api/v1/problems/%s/labels", problem), l, &out)
	return out, err
}

// HideProblem says whether only setters see a problem, and members of a space while that is open.
func (c *Client) HideProblem(ctx context.Context, slug string, hidden bool) error {
	_, err := either(hidden, c.PostProblemHide, c.PostProblemShow)(ctx, slug)
	return err
}

// ProblemPeople returns who may change a problem besides staff, its owner first.
func (c *Client) ProblemPeople(ctx context.Context, problem string) ([]Person, error) {
	return pages(func(after string) ([]Person, *string, error) {
		page, err := c.GetProblemPeople(ctx, problem, GetProblemPeopleParams{After: after, Limit: longestPage})
		return page.People, page.Next, err
	})
}

// AddProblemAuthor makes somebody a co-author of a problem. Only its owner and staff may.
func (c *Client) AddProblemAuthor(ctx context.Context, problem, name string) error {
	_, err := c.PostProblemPeople(ctx, problem, PostProblemPeopleRequest{Name: name})
	return err
}

// SetProblemOwner gives a problem to somebody else. Only its owner and staff may.
func (c *Client) SetProblemOwner(ctx context.Context, problem, name string) error {
	_, err := c.PostProblemPeople(ctx, problem, PostProblemPeopleRequest{Name: name, Owner: true})
	return err
}

// RemoveProblemAuthor makes somebody a co-author of a problem no more.
func (c *Client) RemoveProblemAuthor(ctx context.Context, problem, name string) error {
	return c.DeleteProblemPeopleName(ctx, problem, name)
}

// Plugins returns the versions of uploaded plugins by kind and name, the newest
// of a name first. An empty kind or name does not restrict.
func (c *Client) Plugins(ctx context.Context, kind, name string) ([]judge.Plugin, error) {
	return pages(func(after string) ([]judge.Plugin, *string, error) {
		page, err := c.GetPlugins(ctx, GetPluginsParams{Kind: kind, Name: name, After: after, Limit: longestPage})
		return page.Plugins, page.Next, err
	})
}

// ActivatePlugin makes the plugin's name mean this version.
func (c *Client) ActivatePlugin(ctx context.Context, digest string) error {
	_, err := c.PostPluginActivate(ctx, digest)
	return err
}

// RollBackPlugin undoes the newest change of what a name means, and returns the
// digest of the version that it means now.
func (c *Client) RollBackPlugin(ctx context.Context, kind, name string) (string, error) {
	answer, err := c.PostPluginsRollback(ctx, PostPluginsRollbackRequest{kind, name})
	return answer.Digest, err
}

// SpaceChange names settings of a space by their fields in JSON, such as "title", "opens_at" (a time.Time, or nil for
// none), "languages" and "per_minute". What is not named stays.
type SpaceChange map[string]any

// CreateSpace makes a space, for staff of the site.
func (c *Client) CreateSpace(ctx context.Context, slug string, settings SpaceChange) (s Space, err error) {
	in := SpaceChange{"slug": slug}
	maps.Copy(in, settings)
	err = c.call(ctx, http.MethodPost, "/api/v1/spaces", in, &s)
	return s, err
}

// UpdateSpace changes settings of a space, for its staff.
func (c *Client) UpdateSpace(ctx context.Context, slug string, change SpaceChange) (s Space, err error) {
	err = c.call(ctx, http.MethodPatch, pathOf("/api/v1/spaces/%s", slug), change, &s)
	return s, err
}

// PutSpaceMembers gives accounts a role in a space: contestant, setter or staff.
func (c *Client) PutSpaceMembers(ctx context.Context, slug, role string, names ...string) error {
	_, err := c.PostSpaceMembers(ctx, slug, PostSpaceMembersRequest{names, role})
	return err
}

// SpaceProblems returns the problems of a space in order, for members once it has opened.
func (c *Client) SpaceProblems(ctx context.Context, slug string) ([]SpaceProblem, error) {
	return pages(func(after string) ([]SpaceProblem, *string, error) {
		page, err := c.GetSpaceProblems(ctx, slug, GetSpaceProblemsParams{After: after, Limit: longestPage})
		return page.Problems, page.Next, err
	})
}

// PutSpaceProblem adds a problem to a space, or gives it another place and points. Place 0 keeps it where it is, or
// adds it at the end; nil points are 1, or the problem's own.
func (c *Client) PutSpaceProblem(ctx context.Context, slug, problem string, place int, points *float64) error {
	_, err := c.PostSpaceProblems(ctx, slug, PostSpaceProblemsRequest{place, points, problem})
	return err
}

// SpaceScores returns what each contestant of a space achieved, the best first, for members.
func (c *Client) SpaceScores(ctx context.Context, slug string) ([]SpaceScore, error) {
	return pages(func(after string) ([]SpaceScore, *string, error) {
		page, err := c.GetSpaceScores(ctx, slug, GetSpaceScoresParams{After: after, Limit: longestPage})
		return page.Scores, page.Next, err
	})
}
