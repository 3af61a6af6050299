package setters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/blob"
	"deepoj/host/draft"
	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// What changing a version in the browser may cost.
const (
	saveTime     = 10 * time.Minute // to write the archive of a new version
	previewTime  = 30 * time.Second
	maxEditText  = 4 << 20  // bytes of a file that is read to be changed
	maxShownText = 1 << 20  // bytes of a file that a form shows
	maxPreviewed = 64 << 20 // bytes of the archive that a preview reads
)

// save is a change of a problem by somebody, on the files of a version.
type save struct {
	Slug    string
	Base    string // version whose files are changed
	Seen    string // the newest version that whoever changes it knows of; "" = Base
	Changes draft.Changes
	Key     site.Key
}

// plan returns the revision of the base that the changes make.
func (s *Room) plan(ctx context.Context, e save) (*problem.Package, problem.Revision, error) {
	pkg, err := s.loadVersion(ctx, e.Slug, e.Base)
	if err != nil {
		return nil, problem.Revision{}, err
	}
	rev, wrong, err := draft.Plan(pkg, e.Changes, func(name string) (string, error) { return s.textOf(ctx, pkg, name, maxEditText) })
	if err != nil {
		return nil, rev, err
	}
	return pkg, rev, site.WrongFields(wrong).Err()
}

// loadVersion returns the package of a version that there is.
func (s *Room) loadVersion(ctx context.Context, slug, version string) (*problem.Package, error) {
	if s.Config.Blobs == nil {
		return nil, site.NoBlobs()
	}
	v, err := s.packageVersion(ctx, slug, version)
	if err != nil {
		return nil, err
	}
	pkg, err := problem.Load(ctx, s.Config.Blobs, blob.Digest(v.Version))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, site.Refuse(fiber.StatusConflict, "not_kept", "The files of this version are not kept any more.", "Choose another version, or upload the package again.")
	}
	if err != nil {
		return nil, fmt.Errorf("load a version: %w", err)
	}
	return pkg, nil
}

// textOf returns a text file of a version.
func (s *Room) textOf(ctx context.Context, pkg *problem.Package, name string, most int64) (string, error) {
	i := slices.IndexFunc(pkg.Files, func(f problem.File) bool { return f.Path == name })
	if i < 0 {
		return "", site.Refuse(fiber.StatusNotFound, "not_found", "The version has no file %q.", "", site.Shorten(name))
	}
	if pkg.Files[i].Size > most {
		return "", site.Refuse(fiber.StatusRequestEntityTooLarge, site.ReasonTooLong, "%s is larger than %s.", "Change it on your machine, and upload the package.", name, locale.Bytes(most))
	}
	b, err := blob.ReadAll(ctx, s.Config.Blobs, pkg.Files[i].Digest, most)
	if err != nil {
		return "", fmt.Errorf("read a file of a version: %w", err)
	}
	return string(b), nil
}

// saveChanges stores the job that makes a new version of what is changed. It is never live by itself.
func (s *Room) saveChanges(ctx context.Context, v site.Viewer, e save) (none sql.Receipt, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if _, err := s.packageVersion(ctx, e.Slug, e.Base); err != nil {
		return none, err
	}
	if err := s.MayChange(ctx, v, e.Slug); err != nil {
		return none, err
	}
	if wrong := e.Key.Check(); wrong != nil {
		return none, wrong
	}
	if e.Changes.Empty() {
		return none, site.FieldRefusal(site.WrongField("changes", site.ReasonEmpty, "Nothing is changed."))
	}
	pkg, rev, err := s.plan(ctx, e)
	if err != nil {
		return none, err
	}
	if e.Seen == "" {
		e.Seen = e.Base
	}
	taken, err := s.takeSave(ctx, v, e.Slug) // before the turn, which forgets the save before
	if err != nil {
		return none, err
	}
	if err := s.takeTurn(ctx, v, e); err != nil {
		return none, errors.Join(err, s.countSpent(ctx, v, taken, 0, true))
	}
	receipt, err := s.orderRevision(ctx, v, pkg, e.Slug, rev, e.Key, taken)
	return receipt, errors.Join(err, s.Store.EndEdit(context.WithoutCancel(ctx), e.Slug, e.Seen, v.Name, receipt.JobID))
}

// takeTurn refuses whoever does not know of the newest version, or is about to save what somebody else is saving.
func (s *Room) takeTurn(ctx context.Context, v site.Viewer, e save) error {
	mine, err := s.Store.BeginEdit(ctx, e.Slug, e.Seen, v.Name)
	if err != nil {
		return err
	}
	if !mine {
		return s.turnTaken(ctx, e)
	}
	newest, err := s.Store.NewestVersion(ctx, e.Slug)
	if err == nil && newest.Version != e.Seen {
		err = s.overtaken(ctx, e, newest)
	}
	if err != nil {
		return errors.Join(err, s.Store.EndEdit(ctx, e.Slug, e.Seen, v.Name, 0))
	}
	return nil
}

// reasonOvertaken says that somebody else has changed the problem meanwhile.
const reasonOvertaken = "overtaken"

func (s *Room) turnTaken(ctx context.Context, e save) error {
	f := site.Refuse(fiber.StatusConflict, reasonOvertaken, "Another change of this version is being saved.", "Wait until its import has ended, look at what it changed, and save again.")
	switch other, err := s.Store.EditOf(ctx, e.Slug, e.Seen); {
	case err != nil: // it has ended meanwhile
	case other.JobID > 0:
		return f.Told("%s is saving another change of this version (%s).", other.By, site.ImportURL(other.JobID))
	default:
		return f.Told("%s is saving another change of this version.", other.By)
	}
	return f
}

// overtaken says what the newest version has otherwise than the one that was seen.
func (s *Room) overtaken(ctx context.Context, e save, newest judge.ProblemVersion) error {
	f := site.Refuse(fiber.StatusConflict, reasonOvertaken, "%s made version %s after %s, which your change is based on.",
		"Look at what is new, and save your change on top of that version.", newest.By, newest.Version, e.Seen)
	a, err := s.loadVersion(ctx, e.Slug, e.Seen)
	if err != nil {
		return f
	}
	b, err := s.loadVersion(ctx, e.Slug, newest.Version)
	if err != nil {
		return f
	}
	var names []string
	for _, file := range draft.Changed(a, b) {
		if len(names) == 10 {
			names = append(names, "…")
			break
		}
		names = append(names, file)
	}
	if len(names) > 0 {
		return f.Told("%s made version %s after %s, which your change is based on. It has other files: %s.", newest.By, newest.Version, e.Seen, judge.Names(names))
	}
	return f
}

// orderRevision writes the archive of a revision and stores the job that takes it in,
// as an upload of the same. It gives back what was taken for it if it comes to nothing.
func (s *Room) orderRevision(ctx context.Context, v site.Viewer, pkg *problem.Package, slug string, rev problem.Revision, key site.Key, taken spent) (receipt sql.Receipt, err error) {
	u := upload{Problem: slug, Key: key}
	if err = s.storeMade(ctx, &u, func(w io.Writer) error { return pkg.Revise(ctx, w, rev) }); err == nil {
		receipt, err = s.orderImport(ctx, v, u, nil)
	}
	return receipt, errors.Join(err, s.countSpent(ctx, v, taken, u.bytes, err != nil || receipt.Existing))
}
