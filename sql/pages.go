package sql

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// SavePages puts what people see of a version in the place of what was there, in one statement. Job 0 is none. It
// reports false if a newer job has done so before, whose work stays.
func (s *Site) SavePages(ctx context.Context, slug, version string, r judge.Rendering, jobID int64) (bool, error) {
	p := dbsqlc.PagesSaveParams{
		Slug: slug, Version: version, Renderer: int32(r.Renderer), JobID: jobID,
		Languages: []string{}, Titles: []string{}, Htmls: []string{}, Bodies: []string{}, Documents: []string{},
		Names: []string{}, Types: []string{}, Digests: [][]byte{}, Sizes: []int64{},
	}
	for _, page := range r.Pages {
		p.Languages, p.Titles, p.Htmls = append(p.Languages, page.Language), append(p.Titles, page.Title), append(p.Htmls, page.HTML)
		p.Bodies, p.Documents = append(p.Bodies, page.Text), append(p.Documents, page.Document)
	}
	for _, f := range r.Files {
		digest, err := hex.DecodeString(strings.TrimPrefix(f.Digest, "sha256:"))
		if err != nil {
			return false, fmt.Errorf("save the pages of %s: picture %s: %w", slug, f.Name, err)
		}
		p.Names, p.Types, p.Digests, p.Sizes = append(p.Names, f.Name), append(p.Types, f.Type), append(p.Digests, digest), append(p.Sizes, f.Bytes)
	}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	var err error
	if p.Warnings, err = pg.Encode(r.Warnings); err != nil {
		return false, fmt.Errorf("save the pages of %s: %w", slug, err)
	}
	n, err := s.q.PagesSave(ctx, s.main, p)
	if err != nil {
		return false, fmt.Errorf("save the pages of %s: %w", slug, err)
	}
	return n > 0, nil
}

// StatementLanguages returns the languages that the statement of a version is in, by
// their tags; none of a version that was never rendered.
func (s *Site) StatementLanguages(ctx context.Context, slug, version string) ([]judge.StatementLanguage, error) {
	found, err := s.q.PagesOf(ctx, s.main, dbsqlc.PagesOfParams{Slug: slug, Version: version})
	if err != nil {
		return nil, fmt.Errorf("languages of %s: %w", slug, err)
	}
	out := make([]judge.StatementLanguage, len(found))
	for i, p := range found {
		out[i] = judge.StatementLanguage{Language: p.Language, Title: p.Title, Document: p.Document}
	}
	return out, nil
}

// Page returns the page of a version in a language, or [ErrNotFound].
func (s *Site) Page(ctx context.Context, slug, version, language string) (*judge.Page, error) {
	p, err := s.q.PageGet(ctx, s.main, dbsqlc.PageGetParams{Slug: slug, Version: version, Language: language})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("page of %s in %s: %w", slug, language, err)
	}
	return &judge.Page{Language: p.Language, Title: p.Title, HTML: p.Html, Text: p.Body, Document: p.Document}, nil
}

// PageFile returns a file that the pages of a version show by its name, or [ErrNotFound].
func (s *Site) PageFile(ctx context.Context, slug, version, name string) (*judge.PageFile, error) {
	p, err := s.q.PageFileGet(ctx, s.main, dbsqlc.PageFileGetParams{Slug: slug, Version: version, Name: name})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("picture of %s: %w", slug, err)
	}
	return &judge.PageFile{Name: p.Name, Type: p.Type, Digest: "sha256:" + hex.EncodeToString(p.Digest), Bytes: p.Bytes}, nil
}

// Rendered says how the pages of a version were made.
type Rendered struct {
	Problem, Version string
	Renderer         int   // 0 = they never were, or something is missing
	JobID            int64 // the newest job that made them; 0 = they came with the version
	Warnings         []string
	At               time.Time
}

// Rendering returns how the pages of a version were made, or [ErrNotFound].
func (s *Site) Rendering(ctx context.Context, slug, version string) (*Rendered, error) {
	v, err := s.q.RenderingGet(ctx, s.main, dbsqlc.RenderingGetParams{Slug: slug, Version: version})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("rendering of %s: %w", slug, err)
	}
	r := &Rendered{Problem: slug, Version: version, Renderer: int(v.Renderer), JobID: v.JobID, At: v.At}
	if err := json.Unmarshal(v.Warnings, &r.Warnings); err != nil {
		return nil, fmt.Errorf("rendering of %s: %w", slug, err)
	}
	return r, nil
}

// Renderings returns all versions of some problems, or of all problems if none is
// named, those that are live first, without warnings.
func (s *Site) Renderings(ctx context.Context, slugs ...string) ([]Rendered, error) {
	if slugs == nil {
		slugs = []string{}
	}
	found, err := s.q.RenderingList(ctx, s.main, slugs)
	if err != nil {
		return nil, fmt.Errorf("list renderings: %w", err)
	}
	out := make([]Rendered, len(found))
	for i, v := range found {
		out[i] = Rendered{Problem: v.Slug, Version: v.Version, Renderer: int(v.Renderer), JobID: v.JobID}
	}
	return out, nil
}

// RenderingDue reports whether a version was rendered by none or an older renderer.
func (s *Site) RenderingDue(ctx context.Context, renderer int) (bool, error) {
	due, err := s.q.RenderingDue(ctx, s.main, int32(renderer))
	if err != nil {
		return false, fmt.Errorf("look for versions to render: %w", err)
	}
	return due, nil
}

// CopyPages gives a version the pages of another that shows the same, unless it has some.
func (s *Site) CopyPages(ctx context.Context, slug, from, to string) error {
	if err := s.q.PagesCopy(ctx, s.main, dbsqlc.PagesCopyParams{Slug: slug, Source: from, Version: to}); err != nil {
		return fmt.Errorf("copy the pages of %s: %w", slug, err)
	}
	return nil
}
