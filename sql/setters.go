package sql

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Rights are what somebody is to a problem.
type Rights struct {
	Known  bool // there is a problem of this name
	Owns   bool
	Writes bool // as a co-author
}

// MayChange reports whether somebody who is not staff may change the problem, or make it.
func (r Rights) MayChange() bool { return r.Owns || r.Writes || !r.Known }

// ProblemRights returns what somebody is to a problem.
func (s *Site) ProblemRights(ctx context.Context, slug, name string) (Rights, error) {
	v, err := s.q.ProblemRights(ctx, s.main, dbsqlc.ProblemRightsParams{Slug: slug, Name: name})
	if err != nil {
		return Rights{}, fmt.Errorf("rights of %s to problem %s: %w", name, slug, err)
	}
	return Rights{Known: v.Known, Owns: v.Owns, Writes: v.Writes}, nil
}

// ClaimProblem has whoever is about to make the first version of a problem own it, and
// returns what they are to it then. Of several at once one gets it.
func (s *Site) ClaimProblem(ctx context.Context, slug, name string) (Rights, error) {
	if err := s.q.OwnerClaim(ctx, s.main, dbsqlc.OwnerClaimParams{Slug: slug, Name: name}); err != nil {
		return Rights{}, fmt.Errorf("claim problem %s: %w", slug, err)
	}
	return s.ProblemRights(ctx, slug, name)
}

// ProblemPerson is somebody who may change a problem.
type ProblemPerson struct {
	Name  string    `json:"name"`
	Owner bool      `json:"owner"` // or else a co-author
	Since time.Time `json:"since"`
}

// ProblemPeople returns who may change a problem besides staff, its owner first.
func (s *Site) ProblemPeople(ctx context.Context, slug string) ([]ProblemPerson, error) {
	found, err := s.q.ProblemPeople(ctx, s.main, slug)
	if err != nil {
		return nil, fmt.Errorf("people of problem %s: %w", slug, err)
	}
	out := make([]ProblemPerson, len(found))
	for i, p := range found {
		out[i] = ProblemPerson{Name: p.Name, Owner: p.Owner, Since: p.At}
	}
	return out, nil
}

// SetProblemOwner gives a problem to somebody who has an account, instead of whoever has it.
func (s *Site) SetProblemOwner(ctx context.Context, slug, name, by string) error {
	if err := s.q.OwnerSet(ctx, s.main, dbsqlc.OwnerSetParams{Slug: slug, Name: name, By: by}); err != nil {
		return fmt.Errorf("give problem %s to %s: %w", slug, name, err)
	}
	return nil
}

// AddProblemAuthor makes somebody who has an account a co-author of a problem.
func (s *Site) AddProblemAuthor(ctx context.Context, slug, name, by string) error {
	if err := s.q.AuthorAdd(ctx, s.main, dbsqlc.AuthorAddParams{Slug: slug, Name: name, By: by}); err != nil {
		return fmt.Errorf("add %s to problem %s: %w", name, slug, err)
	}
	return nil
}

// RemoveProblemAuthor makes somebody a co-author no more; [ErrNotFound] if they are none.
func (s *Site) RemoveProblemAuthor(ctx context.Context, slug, name, by string) error {
	n, err := s.q.AuthorRemove(ctx, s.main, dbsqlc.AuthorRemoveParams{Slug: slug, Name: name, By: by})
	return changed(n, err, "remove "+name+" from problem "+slug)
}

// StoredFile is a file of a package in the blob store.
type StoredFile struct {
	Digest string // "sha256:<hex>"
	Bytes  int64
}

// columns are files as statements take them.
func columns(files []StoredFile) (digests [][]byte, sizes []int64, err error) {
	digests, sizes = make([][]byte, len(files)), make([]int64, len(files))
	for i, f := range files {
		if digests[i], err = hex.DecodeString(strings.TrimPrefix(f.Digest, "sha256:")); err != nil {
			return nil, nil, fmt.Errorf("digest %q: %w", f.Digest, err)
		}
		sizes[i] = f.Bytes
	}
	return digests, sizes, nil
}

// KeepFiles notes the files of a version that is kept.
func (s *Site) KeepFiles(ctx context.Context, slug, version string, files []StoredFile) error {
	digests, sizes, err := columns(files)
	if err == nil {
		err = s.q.VersionFiles(ctx, s.main, dbsqlc.VersionFilesParams{Slug: slug, Version: version, Digests: digests, Sizes: sizes})
	}
	if err != nil {
		return fmt.Errorf("note the files of %s: %w", slug, err)
	}
	return nil
}

// NewBytes returns the size of those files together that no version has.
func (s *Site) NewBytes(ctx context.Context, files []StoredFile) (int64, error) {
	digests, sizes, err := columns(files)
	if err != nil {
		return 0, fmt.Errorf("look for files: %w", err)
	}
	n, err := s.q.FilesUnknown(ctx, s.main, dbsqlc.FilesUnknownParams{Digests: digests, Sizes: sizes})
	if err != nil {
		return 0, fmt.Errorf("look for files: %w", err)
	}
	return n, nil
}

// Usage is the room that the packages of a setter take, as far as nobody else's have the same files.
type Usage struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// SetterBytes returns the room that one setter takes.
func (s *Site) SetterBytes(ctx context.Context, name string) (int64, error) {
	n, err := s.q.SetterUsed(ctx, s.main, name)
	if err != nil {
		return 0, fmt.Errorf("room that %s takes: %w", name, err)
	}
	return n, nil
}

// SettersBytes returns the room that each takes who made a version, the most first.
func (s *Site) SettersBytes(ctx context.Context, limit int) ([]Usage, error) {
	found, err := s.q.SettersUsed(ctx, s.main, pg.Bounded(limit))
	if err != nil {
		return nil, fmt.Errorf("room that setters take: %w", err)
	}
	out := make([]Usage, len(found))
	for i, u := range found {
		out[i] = Usage{Name: u.Name, Bytes: u.Bytes}
	}
	return out, nil
}

// SetterDay is what a setter sent today, by UTC.
type SetterDay struct {
	Versions int32
	Saves    int32         // in the browser, beside those that count as versions
	Bytes    int64         // of archives
	Left     time.Duration // until tomorrow
}

// SetterToday returns what a setter sent today.
func (s *Site) SetterToday(ctx context.Context, name string) (SetterDay, error) {
	v, err := s.q.SetterDay(ctx, s.main, name)
	if err != nil {
		return SetterDay{}, fmt.Errorf("today of %s: %w", name, err)
	}
	return SetterDay{Versions: v.Versions, Saves: v.Saves, Bytes: v.Bytes, Left: time.Duration(v.SecondsLeft) * time.Second}, nil
}

// TakeVersion reserves one of the versions that a setter may make today, and reports
// whether there was one left, and room for an archive of some bytes; maxBytes 0 is any
// number. The bytes count when they have come: see [Site.CountArchive].
func (s *Site) TakeVersion(ctx context.Context, name string, maxVersions int32, bytes, maxBytes int64) (bool, error) {
	n, err := s.q.SetterDayTake(ctx, s.main, dbsqlc.SetterDayTakeParams{Name: name, MaxVersions: maxVersions, Bytes: bytes, MaxBytes: maxBytes})
	if err != nil {
		return false, fmt.Errorf("take a version of today for %s: %w", name, err)
	}
	return n > 0, nil
}

// TakeSave reserves a further save of a problem in the browser, and reports whether it was one: its setter saved a
// change of the same problem within the half hour before, has some left of the saves of today, and has not sent too
// much; maxBytes 0 is any number. It is no version of today.
func (s *Site) TakeSave(ctx context.Context, slug, name string, maxSaves int32, maxBytes int64) (bool, error) {
	n, err := s.q.SetterSaveTake(ctx, s.main, dbsqlc.SetterSaveTakeParams{Slug: slug, Name: name, MaxSaves: maxSaves, MaxBytes: maxBytes})
	if err != nil {
		return false, fmt.Errorf("take a save of today for %s: %w", name, err)
	}
	return n > 0, nil
}

// CountArchive counts what a setter sent, and gives versions and saves back that came to nothing.
func (s *Site) CountArchive(ctx context.Context, name string, bytes int64, versions, saves int32) error {
	if err := s.q.SetterDayAdd(ctx, s.main, dbsqlc.SetterDayAddParams{Name: name, Versions: -versions, Saves: -saves, Bytes: bytes}); err != nil {
		return fmt.Errorf("count what %s sent: %w", name, err)
	}
	return nil
}
