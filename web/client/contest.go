package client

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxContestFile bounds one answer of the Contest API.
const maxContestFile = 256 << 20

// contest asks the Contest API; path is behind its release, such as contests/final/teams.
func (c *Client) contest(ctx context.Context, release, path string) ([]byte, error) {
	resp, err := c.send(ctx, http.MethodGet, "/clics/"+release+"/"+path, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxContestFile+1))
	if err == nil && len(data) > maxContestFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxContestFile)
	}
	return data, err
}

// endpoints are those of a contest that a package has.
var endpoints = []string{
	"state", "judgement-types", "languages", "problems", "groups", "organizations", "teams", "persons", "accounts", "submissions", "judgements", "runs", "clarifications", "awards", "commentary", "scoreboard",
}

// NewContest says into what a contest package is imported.
type NewContest struct {
	Space   string // which has to be there
	Code    string // short name of the round; "" = as in the package
	Preview bool   // nothing is imported
}

// ImportContest imports a contest package into a space. What is wrong with it is in the findings, and then nothing was
// imported.
func (c *Client) ImportContest(ctx context.Context, n NewContest, archive io.Reader, size int64) (out ContestImport, err error) {
	path := "/api/v1/contests" + queryOf("space", n.Space, "code", n.Code, "preview", strconv.FormatBool(n.Preview))
	err = c.call(ctx, http.MethodPost, path, upload{archive, size, "application/zip"}, &out)
	return out, err
}

// logFile is where a package of ours has the log of its round.
const logFile = "deepoj/log.ndjson"

// forStaff reads what the staff of a round alone may read of it; nil where whoever asks may not.
func (c *Client) forStaff(ctx context.Context, round, what string) ([]byte, error) {
	resp, err := c.send(ctx, http.MethodGet, pathOf("/api/v1/rounds/%s/"+what, round), nil)
	if p, ok := errors.AsType[*Problem](err); ok && (p.Status == http.StatusForbidden || p.Status == http.StatusNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxContestFile+1))
	if err == nil && len(data) > maxContestFile {
		err = fmt.Errorf("its %s has more than %d bytes", what, maxContestFile)
	}
	return data, err
}

// ContestLog returns the log of a round, a line of JSON for each line, for its staff; nil for others.
func (c *Client) ContestLog(ctx context.Context, round string) ([]byte, error) {
	return c.forStaff(ctx, round, "log")
}

// whole adds to a package what only the staff of a round may read: its log, and what was handed in.
func (c *Client) whole(ctx context.Context, round string, files map[string][]byte) error {
	log, err := c.ContestLog(ctx, round)
	if err != nil || log == nil {
		return err
	}
	files[logFile] = log
	packed, err := c.forStaff(ctx, round, "sources")
	if err != nil || packed == nil {
		return err
	}
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return fmt.Errorf("the sources: %w", err)
	}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			return err
		}
		files[f.Name], err = io.ReadAll(io.LimitReader(in, maxContestFile))
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// ExportContest returns the contest package of a round, by path: what the Contest API answers whoever asks, with the files that
// it names. It is read endpoint by endpoint, so a round that goes on may be told of in one and not in another.
func (c *Client) ExportContest(ctx context.Context, release, round string) (map[string][]byte, error) {
	at := "contests/" + round
	files := map[string][]byte{}
	get := func(name, path string) (err error) {
		files[name], err = c.contest(ctx, release, path)
		return err
	}
	if err := errors.Join(get("api.json", ""), get("contest.json", at), get("event-feed.ndjson", at+"/event-feed?stream=false")); err != nil {
		return nil, err
	}
	for _, name := range endpoints {
		err := get(name+".json", at+"/"+name)
		if p, ok := errors.AsType[*Problem](err); ok && name == "scoreboard" && p.Status == http.StatusForbidden {
			delete(files, "scoreboard.json") // it is not shown before the end
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	if err := c.whole(ctx, round, files); err != nil {
		return nil, err
	}
	var submissions []struct {
		ID    string `json:"id"`
		Files []struct {
			Href     string `json:"href"`
			Filename string `json:"filename"`
		} `json:"files"`
	}
	if err := json.Unmarshal(files["submissions.json"], &submissions); err != nil {
		return nil, fmt.Errorf("submissions: %w", err)
	}
	for _, s := range submissions {
		for _, f := range s.Files {
			if strings.Contains(f.Href, "://") || strings.HasPrefix(f.Href, "/") {
				return nil, fmt.Errorf("submission %s: a file is elsewhere, at %.100s", s.ID, f.Href)
			}
			if name := "submissions/" + s.ID + "/" + f.Filename; files[name] == nil {
				if err := get(name, f.Href); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := problemFilesOf(at, files, get); err != nil {
		return nil, err
	}
	return files, logosOf(at, files, get)
}

// fileOf is a file of a problem.
type fileOf struct {
	Filename string `json:"filename"`
}

// problemFilesOf adds the statements and attachments that problems have, but for those that the server does not keep.
func problemFilesOf(at string, files map[string][]byte, get func(name, path string) error) error {
	var problems []struct {
		ID          string   `json:"id"`
		Statement   []fileOf `json:"statement"`
		Attachments []fileOf `json:"attachments"`
	}
	if err := json.Unmarshal(files["problems.json"], &problems); err != nil {
		return fmt.Errorf("problems: %w", err)
	}
	for _, p := range problems {
		for _, f := range slices.Concat(p.Statement, p.Attachments) {
			name := "problems/" + p.ID + "/" + f.Filename
			err := get(name, at+"/"+name)
			if refused, ok := errors.AsType[*Problem](err); ok && (refused.Status == http.StatusNotFound || refused.Reason == "no_blobs") {
				delete(files, name)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// logosOf adds the logos that organizations have.
func logosOf(at string, files map[string][]byte, get func(name, path string) error) error {
	var organizations []struct {
		ID   string `json:"id"`
		Logo []struct {
			Filename string `json:"filename"`
		} `json:"logo"`
	}
	if err := json.Unmarshal(files["organizations.json"], &organizations); err != nil {
		return fmt.Errorf("organizations: %w", err)
	}
	for _, o := range organizations {
		for _, l := range o.Logo {
			name := "organizations/" + o.ID + "/" + l.Filename
			if err := get(name, at+"/"+name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// ContestProblems adds to the contest package of a round the packages of its problems, of those that whoever asks may read, in the
// versions that the round judges by. It returns how many.
func (c *Client) ContestProblems(ctx context.Context, round string, files map[string][]byte) (n int, err error) {
	var said []struct {
		ID    string `json:"id"`
		Label string `json:"label"`
	}
	if err := json.Unmarshal(files["problems.json"], &said); err != nil {
		return 0, fmt.Errorf("problems: %w", err)
	}
	ids := map[string]string{} // by label
	for _, p := range said {
		ids[p.Label] = p.ID
	}
	for p, err := range c.roundProblems(ctx, round) {
		if err != nil {
			return n, err
		}
		id, told := ids[p.Label]
		if !told {
			continue
		}
		resp, err := c.send(ctx, http.MethodGet, pathOf("/api/v1/problems/%s/package", p.Slug)+queryOf("version", p.Version), nil)
		if refused, ok := errors.AsType[*Problem](err); ok && (refused.Status == http.StatusForbidden || refused.Status == http.StatusNotFound || refused.Reason == "no_blobs") {
			continue // there may be none: the problem came with a contest that had none, or the server keeps none
		}
		if err != nil {
			return n, err
		}
		data, err := io.ReadAll(io.LimitReader(resp.Body, maxContestFile+1))
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			return n, fmt.Errorf("the package of %s: %w", p.Slug, err)
		}
		if len(data) > maxContestFile {
			return n, fmt.Errorf("the package of %s has more than %d bytes; leave the packages of problems out", p.Slug, maxContestFile)
		}
		files["problems/"+id+"/package.zip"] = data
		n++
	}
	return n, nil
}

// roundProblems are all problems of a round.
func (c *Client) roundProblems(ctx context.Context, round string) iter.Seq2[RoundProblem, error] {
	return func(yield func(RoundProblem, error) bool) {
		var page GetRoundProblemsParams
		for {
			got, err := c.GetRoundProblems(ctx, round, page)
			if err != nil {
				yield(RoundProblem{}, err)
				return
			}
			for _, p := range got.Problems {
				if !yield(p, nil) {
					return
				}
			}
			if got.Next == nil {
				return
			}
			page.After = *got.Next
		}
	}
}
