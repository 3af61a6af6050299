package sql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// NoteDraft says which version a stored job of kind draft is about. Once is enough.
func (s *Site) NoteDraft(ctx context.Context, jobID int64, slug, version, author string) error {
	err := s.q.DraftNote(ctx, s.main, dbsqlc.DraftNoteParams{JobID: jobID, Slug: slug, Version: version, Author: author})
	if err != nil {
		return fmt.Errorf("note draft submission %d: %w", jobID, err)
	}
	return nil
}

// LabelledVersion returns a version of a problem as its page would show it, live or not, or [ErrNotFound].
func (s *Site) LabelledVersion(ctx context.Context, slug, version string) (*judge.Problem, error) {
	v, err := s.q.VersionLabelled(ctx, s.main, dbsqlc.VersionLabelledParams{Slug: slug, Version: version})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("version %s of %s: %w", version, slug, err)
	}
	p, err := problem(v.Problem, v.CreatedAt, false)
	p.Version = version
	return &p, err
}

// NewestVersion returns the version of a problem that was made last, and who made it, or [ErrNotFound].
func (s *Site) NewestVersion(ctx context.Context, slug string) (judge.ProblemVersion, error) {
	v, err := s.q.VersionNewest(ctx, s.main, slug)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return judge.ProblemVersion{}, fmt.Errorf("newest version of %s: %w", slug, err)
	}
	return judge.ProblemVersion{Problem: slug, Version: v.Version, By: v.CreatedBy, Created: v.CreatedAt}, nil
}

// Edit is a save of a problem that is under way.
type Edit struct {
	By    string
	JobID int64 // that makes the version; 0 = it is about to be stored
	At    time.Time
}

// BeginEdit takes the turn to make the version that follows one. False says that
// somebody else has it: see [Site.EditOf].
func (s *Site) BeginEdit(ctx context.Context, slug, seen, by string) (bool, error) {
	n, err := s.q.EditBegin(ctx, s.main, dbsqlc.EditBeginParams{Slug: slug, Seen: seen, By: by})
	if err != nil {
		return false, fmt.Errorf("begin a change of %s: %w", slug, err)
	}
	return n > 0, nil
}

// EndEdit says which job makes the version that [Site.BeginEdit] gave the turn for; 0 = there is none after all.
func (s *Site) EndEdit(ctx context.Context, slug, seen, by string, jobID int64) (err error) {
	if jobID == 0 {
		err = s.q.EditEnd(ctx, s.main, dbsqlc.EditEndParams{Slug: slug, Seen: seen, By: by})
	} else {
		err = s.q.EditJob(ctx, s.main, dbsqlc.EditJobParams{JobID: jobID, Slug: slug, Seen: seen, By: by})
	}
	if err != nil {
		return fmt.Errorf("note a change of %s: %w", slug, err)
	}
	return nil
}

// EditOf returns the save of what follows a version, or [ErrNotFound].
func (s *Site) EditOf(ctx context.Context, slug, seen string) (Edit, error) {
	v, err := s.q.EditGet(ctx, s.main, dbsqlc.EditGetParams{Slug: slug, Seen: seen})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return Edit{}, fmt.Errorf("change of %s: %w", slug, err)
	}
	return Edit{v.By, v.JobID, v.At}, nil
}

// draftPayload is the payload of a job of kind draft.
func draftPayload(slug, version, language string, sources []judge.Source) (json.RawMessage, error) {
	return judge.Payload{
		SchemaVersion: judge.PayloadVersion, ContentType: judge.DraftType, Problem: slug, Version: version, Language: language, Sources: sources,
	}.Encode()
}

// SubmitDraft stores a program that is to be judged on a version, live or not.
func (s *Site) SubmitDraft(ctx context.Context, n NewJob, version string) (Receipt, error) {
	payload, err := draftPayload(n.Problem, version, n.Language, n.Sources)
	if err != nil {
		return Receipt{}, fmt.Errorf("submit to a draft: %w", err)
	}
	slug := n.Problem
	n.Kind, n.Problem, n.Payload = judge.KindDraft, "", payload
	receipt, err := s.Submit(ctx, n)
	if err != nil {
		return receipt, err
	}
	return receipt, s.NoteDraft(ctx, receipt.JobID, slug, version, n.Author)
}

// VersionAsImported returns a version of a problem as its package says, whatever its setters say beside it.
func (s *Site) VersionAsImported(ctx context.Context, slug, version string) (judge.Problem, error) {
	v, err := s.q.VersionAsImported(ctx, s.main, dbsqlc.VersionAsImportedParams{Slug: slug, Version: version})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return judge.Problem{}, fmt.Errorf("version %s of %s: %w", version, slug, err)
	}
	return problem(v.Problem, v.CreatedAt, false)
}
