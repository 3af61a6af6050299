package client

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"

	"deepoj/host/judge"
)

// Space is a course or a contest.
type Space struct {
	Slug         string     `json:"slug"`
	URL          string     `json:"url"`
	Title        string     `json:"title"`
	Description  string     `json:"description"`
	Opens        *time.Time `json:"opens_at"`  // nil = always was open
	Closes       *time.Time `json:"closes_at"` // nil = never closes
	Languages    []string   `json:"languages"` // empty = all that a problem takes
	MaxSourceKiB int        `json:"max_source_kib"`
	MaxWaiting   int        `json:"max_waiting"` // of a member; 0 = any number
	PerMinute    int        `json:"per_minute"`  // of a member; 0 = any number
	Listed       bool       `json:"listed"`
	Created      time.Time  `json:"created_at"`
	Members      int64      `json:"members"`
	Problems     int64      `json:"problems"`
	Phase        string     `json:"phase"` // before, open or after, when the server answered
	Now          time.Time  `json:"now"`
	Role         string     `json:"role"` // the caller's: contestant, setter, staff, or "" if they are no member
}

// SpaceChange names settings of a space by their fields in JSON, such as "title",
// "opens_at" (a time.Time, or nil for none), "languages" and "per_minute". What is
// not named stays.
type SpaceChange map[string]any

// SpaceMember is somebody who takes part in a space.
type SpaceMember struct {
	Name  string    `json:"name"`
	Role  string    `json:"role"`
	Added time.Time `json:"added_at"`
}

// SpaceProblem is a problem of a space, with what the caller achieved.
type SpaceProblem struct {
	Label   string        `json:"label"` // A, B and so on
	Place   int           `json:"place"`
	Slug    string        `json:"slug"`
	URL     string        `json:"url"`
	Title   string        `json:"title"`
	Points  *float64      `json:"points"` // of a full solution; nil = 1, or the problem's own
	Hidden  bool          `json:"hidden"`
	Solved  int64         `json:"solved"` // by how many members
	Tries   int64         `json:"tries"`
	Verdict judge.Verdict `json:"verdict"` // of the best; "" if there is none
	Score   *float64      `json:"score"`
	JobID   int64         `json:"job_id"`
}

// SpaceScore is what a contestant achieved in a space.
type SpaceScore struct {
	Rank   int     `json:"rank"`
	Name   string  `json:"name"`
	Solved int64   `json:"solved"`
	Tried  int64   `json:"tried"`
	Points float64 `json:"points"`
}

func spacePath(slug string) string { return "/api/v1/spaces/" + url.PathEscape(slug) }

// Spaces returns spaces, newest first, and the cursor for the next page: the before
// of the next call, "" at the end.
func (c *Client) Spaces(ctx context.Context, before string, limit int) ([]Space, string, error) {
	q := url.Values{}
	if before != "" {
		q.Set("before", before)
	}
	if limit > 0 {
		q.Set("limit", fmt.Sprint(limit))
	}
	var page struct {
		Spaces []Space `json:"spaces"`
		Next   string  `json:"next"`
	}
	err := c.call(ctx, http.MethodGet, "/api/v1/spaces?"+q.Encode(), nil, nil, &page)
	return page.Spaces, page.Next, err
}

// Space returns a space.
func (c *Client) Space(ctx context.Context, slug string) (s Space, err error) {
	err = c.call(ctx, http.MethodGet, spacePath(slug), nil, nil, &s)
	return s, err
}

// CreateSpace makes a space, for staff of the site.
func (c *Client) CreateSpace(ctx context.Context, slug string, settings SpaceChange) (s Space, err error) {
	in := SpaceChange{"slug": slug}
	maps.Copy(in, settings)
	err = c.call(ctx, http.MethodPost, "/api/v1/spaces", nil, in, &s)
	return s, err
}

// UpdateSpace changes settings of a space. This and what follows, but reading, is
// for its staff.
func (c *Client) UpdateSpace(ctx context.Context, slug string, change SpaceChange) (s Space, err error) {
	err = c.call(ctx, http.MethodPatch, spacePath(slug), nil, change, &s)
	return s, err
}

// DeleteSpace removes a space that nobody has handed anything in to.
func (c *Client) DeleteSpace(ctx context.Context, slug string) error {
	return c.call(ctx, http.MethodDelete, spacePath(slug), nil, nil, nil)
}

// SpaceMembers returns members by name, and the cursor for the next page: the after
// of the next call, "" at the end.
func (c *Client) SpaceMembers(ctx context.Context, slug, after string) ([]SpaceMember, string, error) {
	var page struct {
		Members []SpaceMember `json:"members"`
		Next    string        `json:"next"`
	}
	path := spacePath(slug) + "/members"
	if after != "" {
		path += "?" + url.Values{"after": {after}}.Encode()
	}
	err := c.call(ctx, http.MethodGet, path, nil, nil, &page)
	return page.Members, page.Next, err
}

// PutSpaceMembers gives accounts a role in a space: contestant, setter or staff.
func (c *Client) PutSpaceMembers(ctx context.Context, slug, role string, names ...string) error {
	return c.call(ctx, http.MethodPost, spacePath(slug)+"/members", nil, map[string]any{"names": names, "role": role}, nil)
}

// RemoveSpaceMember takes somebody out of a space.
func (c *Client) RemoveSpaceMember(ctx context.Context, slug, name string) error {
	return c.call(ctx, http.MethodDelete, spacePath(slug)+"/members/"+url.PathEscape(name), nil, nil, nil)
}

// SpaceProblems returns the problems of a space in order, for members once it has
// opened.
func (c *Client) SpaceProblems(ctx context.Context, slug string) ([]SpaceProblem, error) {
	var reply struct {
		Problems []SpaceProblem `json:"problems"`
	}
	err := c.call(ctx, http.MethodGet, spacePath(slug)+"/problems", nil, nil, &reply)
	return reply.Problems, err
}

// SpaceProblem returns a problem as a space shows it.
func (c *Client) SpaceProblem(ctx context.Context, slug, problem string) (p judge.Problem, err error) {
	err = c.call(ctx, http.MethodGet, spacePath(slug)+"/problems/"+url.PathEscape(problem), nil, nil, &p)
	return p, err
}

// PutSpaceProblem adds a problem to a space, or gives it another place and points.
// Place 0 keeps it where it is, or adds it at the end; nil points are 1, or the
// problem's own.
func (c *Client) PutSpaceProblem(ctx context.Context, slug, problem string, place int, points *float64) error {
	in := map[string]any{"problem": problem, "place": place, "points": points}
	return c.call(ctx, http.MethodPost, spacePath(slug)+"/problems", nil, in, nil)
}

// RemoveSpaceProblem takes a problem out of a space.
func (c *Client) RemoveSpaceProblem(ctx context.Context, slug, problem string) error {
	return c.call(ctx, http.MethodDelete, spacePath(slug)+"/problems/"+url.PathEscape(problem), nil, nil, nil)
}

// SpaceScores returns what each contestant achieved, the best first, for members.
func (c *Client) SpaceScores(ctx context.Context, slug string) ([]SpaceScore, error) {
	var reply struct {
		Scores []SpaceScore `json:"scores"`
	}
	err := c.call(ctx, http.MethodGet, spacePath(slug)+"/scores", nil, nil, &reply)
	return reply.Scores, err
}

// HideProblem says whether only setters see a problem, and members of a space while
// that is open.
func (c *Client) HideProblem(ctx context.Context, slug string, hidden bool) error {
	verb := "/show"
	if hidden {
		verb = "/hide"
	}
	return c.call(ctx, http.MethodPost, "/api/v1/problems/"+url.PathEscape(slug)+verb, nil, struct{}{}, nil)
}
