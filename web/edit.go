package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/blob"
	"deepoj/host/draft"
	"deepoj/host/judge"
	"deepoj/host/platform"
	"deepoj/host/problem"
	"deepoj/host/reading"
	"deepoj/sql"
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
	Key     string
	field   string // what the key is called
}

// plan returns the revision of the base that the changes make.
func (s *Server) plan(ctx context.Context, e save) (*problem.Package, problem.Revision, error) {
	pkg, err := s.loadVersion(ctx, e.Slug, e.Base)
	if err != nil {
		return nil, problem.Revision{}, err
	}
	rev, wrong, err := draft.Plan(pkg, e.Changes, func(name string) (string, error) { return s.textOf(ctx, pkg, name, maxEditText) })
	if err != nil {
		return nil, rev, err
	}
	return pkg, rev, wrongFields(wrong).err()
}

// loadVersion returns the package of a version that there is.
func (s *Server) loadVersion(ctx context.Context, slug, version string) (*problem.Package, error) {
	if s.cfg.Blobs == nil {
		return nil, noBlobs()
	}
	v, err := s.packageVersion(ctx, slug, version)
	if err != nil {
		return nil, err
	}
	pkg, err := problem.Load(ctx, s.cfg.Blobs, blob.Digest(v.Version))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, refuse(fiber.StatusConflict, "not_kept", "The files of this version are not kept any more.", "Choose another version, or upload the package again.")
	}
	if err != nil {
		return nil, fmt.Errorf("load a version: %w", err)
	}
	return pkg, nil
}

// textOf returns a text file of a version.
func (s *Server) textOf(ctx context.Context, pkg *problem.Package, name string, most int64) (string, error) {
	i := slices.IndexFunc(pkg.Files, func(f problem.File) bool { return f.Path == name })
	if i < 0 {
		return "", refuse(fiber.StatusNotFound, "not_found", "The version has no file "+strconv.Quote(shorten(name))+".", "")
	}
	if pkg.Files[i].Size > most {
		return "", refuse(fiber.StatusRequestEntityTooLarge, reasonTooLong, name+" is larger than "+bytesText(most)+".", "Change it on your machine, and upload the package.")
	}
	b, err := blob.ReadAll(ctx, s.cfg.Blobs, pkg.Files[i].Digest, most)
	if err != nil {
		return "", fmt.Errorf("read a file of a version: %w", err)
	}
	return string(b), nil
}

// saveChanges stores the job that makes a new version of what is changed. It is never
// live by itself.
func (s *Server) saveChanges(ctx context.Context, v viewer, e save) (none sql.Receipt, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if _, err := s.packageVersion(ctx, e.Slug, e.Base); err != nil {
		return none, err
	}
	if err := s.mayChange(ctx, v, e.Slug); err != nil {
		return none, err
	}
	if wrong := checkKey(e.field, e.Key); wrong != nil {
		return none, wrong
	}
	if e.Changes.Empty() {
		return none, fieldRefusal(wrongField("changes", reasonEmpty, "Nothing is changed."))
	}
	pkg, rev, err := s.plan(ctx, e)
	if err != nil {
		return none, err
	}
	if e.Seen == "" {
		e.Seen = e.Base
	}
	if err := s.takeTurn(ctx, v, e); err != nil {
		return none, err
	}
	receipt, err := s.orderRevision(ctx, v, pkg, e.Slug, rev, e.Key, e.field)
	return receipt, errors.Join(err, s.store.EndEdit(context.WithoutCancel(ctx), e.Slug, e.Seen, v.Name, receipt.JobID))
}

// takeTurn refuses whoever does not know of the newest version, or is about to save
// what somebody else is saving.
func (s *Server) takeTurn(ctx context.Context, v viewer, e save) error {
	mine, err := s.store.BeginEdit(ctx, e.Slug, e.Seen, v.Name)
	if err != nil {
		return err
	}
	if !mine {
		return s.turnTaken(ctx, e)
	}
	newest, err := s.store.NewestVersion(ctx, e.Slug)
	if err == nil && newest.Version != e.Seen {
		err = s.overtaken(ctx, e, newest)
	}
	if err != nil {
		return errors.Join(err, s.store.EndEdit(ctx, e.Slug, e.Seen, v.Name, 0))
	}
	return nil
}

// reasonOvertaken says that somebody else has changed the problem meanwhile.
const reasonOvertaken = "overtaken"

func (s *Server) turnTaken(ctx context.Context, e save) error {
	f := refuse(fiber.StatusConflict, reasonOvertaken, "Another change of this version is being saved.", "Wait until its import has ended, look at what it changed, and save again.")
	if other, err := s.store.EditOf(ctx, e.Slug, e.Seen); err == nil {
		f.Detail = other.By + " is saving another change of this version"
		if other.JobID > 0 {
			f.Detail += " (" + importURL(other.JobID) + ")"
		}
		f.Detail += "."
	}
	return f
}

// overtaken says what the newest version has otherwise than the one that was seen.
func (s *Server) overtaken(ctx context.Context, e save, newest judge.ProblemVersion) error {
	f := refuse(fiber.StatusConflict, reasonOvertaken, fmt.Sprintf("%s made version %s after %s, which your change is based on.", newest.By, newest.Version, e.Seen),
		"Look at what is new, and save your change on top of that version.")
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
		f.Detail += " It has other files: " + strings.Join(names, ", ") + "."
	}
	return f
}

// orderRevision writes the archive of a revision and stores the job that takes it in,
// as an upload of the same: it counts as one of the versions of today.
func (s *Server) orderRevision(ctx context.Context, v viewer, pkg *problem.Package, slug string, rev problem.Revision, key, field string) (none sql.Receipt, err error) {
	if err := s.takeVersion(ctx, v, 0); err != nil {
		return none, err
	}
	u := packageUpload{Problem: slug, Key: key, keyField: field}
	var receipt sql.Receipt
	if err = s.storeRevision(ctx, &u, pkg, rev); err == nil {
		receipt, err = s.orderImport(ctx, v, u, nil)
	}
	err = errors.Join(err, s.countVersion(ctx, v, u.bytes, err != nil || receipt.Existing))
	return receipt, err
}

// storeRevision puts the archive of a revision into the blob store.
func (s *Server) storeRevision(ctx context.Context, u *packageUpload, pkg *problem.Package, rev problem.Revision) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(pkg.Revise(ctx, w, rev)) }()
	digest, size, err := s.cfg.Blobs.Put(ctx, &bounded{r: r, left: s.cfg.MaxPackage})
	_ = r.CloseWithError(errors.New("nobody reads it any more"))
	switch {
	case errors.Is(err, errTooLong):
		return s.packageTooLong()
	case err != nil:
		return fmt.Errorf("store a changed package: %w", err)
	}
	u.archive, u.bytes = digest, size
	return nil
}

// changePreview is what a version would be with changes that are not saved.
type changePreview struct {
	Problem  *judge.Problem    // nil = the package would be refused
	Texts    map[string]string // statements, by language
	Refused  []problem.Finding
	Warnings []problem.Finding
}

// previewChange reads what changes would make of a version in a process of its own, as an
// import does, with the tests empty. Nothing is stored.
func (s *Server) previewChange(ctx context.Context, e save) (*changePreview, error) {
	pkg, rev, err := s.plan(ctx, e)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	select {
	case s.previews <- struct{}{}:
		defer func() { <-s.previews }()
	case <-ctx.Done():
		return nil, refuse(fiber.StatusServiceUnavailable, "busy", "Too many previews are being made.", "Try again in a moment.")
	}
	file, err := platform.MemoryFile("preview")
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	defer file.Close()
	rev.Skim = true
	if err := pkg.Revise(ctx, &capped{w: file, left: maxPreviewed}, rev); err != nil {
		if errors.Is(err, errTooLong) {
			return nil, refuse(fiber.StatusRequestEntityTooLarge, reasonTooLong, "The package is too large for a preview.", "Save the change and look at the version.")
		}
		return nil, fmt.Errorf("preview: %w", err)
	}
	read, err := s.cfg.Reader.Archive(ctx, file)
	defer func() { _ = read.Close() }()
	out := &changePreview{Warnings: read.Report.Warnings}
	if failed, ok := errors.AsType[*reading.FailureError](err); ok {
		out.Refused = []problem.Finding{{File: "package", Reason: failed.Why}}
		return out, nil
	}
	if _, ok := errors.AsType[*problem.Error](err); ok {
		out.Refused = problem.Findings(err)
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	read.Slug = e.Slug
	p := read.Judge()
	p.Version = ""
	out.Problem, out.Texts = &p, read.Statements
	return out, nil
}

// capped is a writer that fails after a number of bytes.
type capped struct {
	w    io.Writer
	left int64
}

func (c *capped) Write(b []byte) (int, error) {
	if c.left -= int64(len(b)); c.left < 0 {
		return 0, errTooLong
	}
	return c.w.Write(b)
}

// editFields are the members of a change as /api/v1 takes it.
var editFields = []string{"seen", "limits", "names", "languages", "statements", "tests", "submissions", "checker", "files"}

// editJSON is a change of a version as /api/v1 takes it.
type editJSON struct {
	Seen string `json:"seen,omitempty"` // the newest version that is known; the one that is changed when missing

	draft.Changes
}

// readEdit reads a change of the version that the address names.
func (s *Server) readEdit(c *fiber.Ctx) (save, error) {
	e := save{Slug: c.Params("slug"), Base: c.Params("version"), Key: c.Get("Idempotency-Key"), field: "Idempotency-Key"}
	f, err := readFields(c, editFields...)
	if err != nil {
		return e, err
	}
	if f.has("seen") {
		e.Seen = f.text("seen")
	}
	ch := &e.Changes
	for name, to := range map[string]any{
		"limits": &ch.Limits, "names": &ch.Names, "languages": &ch.Languages, "statements": &ch.Statements, "tests": &ch.Tests,
		"submissions": &ch.Submissions, "checker": &ch.Checker, "files": &ch.Files,
	} {
		f.strict(name, to)
	}
	return e, f.wrong.err()
}

// apiEdit handles POST /api/v1/problems/:slug/versions/:version/edit.
func (s *Server) apiEdit(c *fiber.Ctx) error {
	e, err := s.readEdit(c)
	if err != nil {
		return err
	}
	receipt, err := s.saveChanges(c.UserContext(), viewerOf(c), e)
	if err != nil {
		return err
	}
	return acceptedPackage(c, receipt)
}

// apiPreview handles POST /api/v1/problems/:slug/versions/:version/preview.
func (s *Server) apiPreview(c *fiber.Ctx) error {
	e, err := s.readEdit(c)
	if err != nil {
		return err
	}
	if _, err := s.packageVersion(c.UserContext(), e.Slug, e.Base); err != nil {
		return err
	}
	if err := s.mayChange(c.UserContext(), viewerOf(c), e.Slug); err != nil {
		return err
	}
	p, err := s.previewChange(c.UserContext(), e)
	if err != nil {
		return err
	}
	return c.JSON(previewJSON{p.Problem, orNone(p.Texts), append([]problem.Finding{}, p.Refused...), append([]problem.Finding{}, p.Warnings...)})
}

// previewJSON is a preview as /api/v1 shows it.
type previewJSON struct {
	Problem    *judge.Problem    `json:"problem"` // null = the package would be refused
	Statements map[string]string `json:"statements"`
	Refused    []problem.Finding `json:"refused"`
	Warnings   []problem.Finding `json:"warnings"`
}

func orNone(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// fileJSON is a file of a version as /api/v1 shows it.
type fileJSON struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}

// apiVersionFiles handles GET /api/v1/problems/:slug/versions/:version/files.
func (s *Server) apiVersionFiles(c *fiber.Ctx) error {
	pkg, err := s.loadVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return err
	}
	files := make([]fileJSON, len(pkg.Files))
	for i, f := range pkg.Files {
		files[i] = fileJSON{f.Path, f.Size, string(f.Digest)}
	}
	return c.JSON(fiber.Map{"files": files})
}

// apiVersionFile handles GET /api/v1/problems/:slug/versions/:version/file?path=: one file of a version, for
// saving, whatever is in it.
func (s *Server) apiVersionFile(c *fiber.Ctx) error {
	pkg, err := s.loadVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return err
	}
	name := c.Query("path")
	i := slices.IndexFunc(pkg.Files, func(f problem.File) bool { return f.Path == name })
	if i < 0 {
		return refuse(fiber.StatusNotFound, "not_found", "The version has no file "+strconv.Quote(shorten(name))+".", "")
	}
	f, err := s.cfg.Blobs.File(c.UserContext(), pkg.Files[i].Digest)
	if err != nil {
		return fmt.Errorf("open a file of a version: %w", err)
	}
	c.Set(fiber.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(pkg.Files[i].Path)}))
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.SendStream(f, int(pkg.Files[i].Size)) // closes it
}

// difference compares two versions of a problem.
func (s *Server) difference(ctx context.Context, slug, from, to string) (draft.Difference, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), previewTime)
	defer cancel()
	a, err := s.loadVersion(ctx, slug, from)
	if err != nil {
		return draft.Difference{}, err
	}
	b, err := s.loadVersion(ctx, slug, to)
	if err != nil {
		return draft.Difference{}, err
	}
	return draft.Compare(ctx, a, b)
}

// apiDiff handles GET /api/v1/problems/:slug/diff?from=&to=.
func (s *Server) apiDiff(c *fiber.Ctx) error {
	d, err := s.difference(c.UserContext(), c.Params("slug"), c.Query("from"), c.Query("to"))
	if err != nil {
		return err
	}
	return c.JSON(d)
}
