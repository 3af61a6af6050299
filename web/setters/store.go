package setters

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// Errors of a body that is streamed.
var (
	errTooLong = errors.New("it is too long")
	errCut     = errors.New("it is cut")
)

// counted is a body that must have a length, unless that is negative. The stream
// below ends without an error where a client hangs up.
type counted struct {
	r    io.Reader
	n    int64
	want int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	if errors.Is(err, io.EOF) && c.want >= 0 && c.n < c.want {
		err = errCut
	}
	return n, err
}

// bounded is a reader that fails after a number of bytes, and marks what goes wrong below it.
type bounded struct {
	r      io.Reader
	left   int64
	broken bool
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLong
	}
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		b.broken = true
	}
	return n, err
}

// takeArchive stores the archive of somebody who may make a version of the problem, of
// a body of about size bytes; negative = nobody knows. Nobody else's is read.
func (s *Room) takeArchive(ctx context.Context, v site.Viewer, u *upload, from io.Reader, size int64, wrong *site.WrongFields) error {
	if err := s.MayChange(ctx, v, u.Problem); err != nil {
		return err
	}
	if err := s.TakeVersion(ctx, v, size); err != nil {
		return err
	}
	u.taken = true
	err := s.storeArchive(ctx, u, from, wrong)
	return errors.Join(err, s.CountVersion(ctx, v, u.bytes, false))
}

// storeArchive puts an archive into the blob store.
func (s *Room) storeArchive(ctx context.Context, u *upload, from io.Reader, wrong *site.WrongFields) error {
	limited := &bounded{r: from, left: s.Config.MaxPackage}
	r := bufio.NewReaderSize(limited, 64<<10)
	if magic, err := r.Peek(4); err != nil && !errors.Is(err, io.EOF) || !bytes.HasPrefix(magic, []byte("PK\x03\x04")) {
		wrong.Add(site.WrongField("package", "not_archive", "The file is no ZIP archive with anything in it: it does not begin with PK."))
		return nil
	}
	digest, size, err := s.Config.Blobs.Put(ctx, r)
	switch {
	case errors.Is(err, errTooLong):
		return s.packageTooLong()
	case err != nil && limited.broken:
		return site.BadBody(site.ReasonInvalid, "The package did not come whole: the connection broke off.")
	case err != nil:
		return fmt.Errorf("store a package: %w", err)
	}
	u.archive, u.bytes = digest, size
	return nil
}

func (s *Room) packageTooLong() error {
	f := site.Refuse(fiber.StatusRequestEntityTooLarge, site.ReasonTooLong, "The package is larger than %s.", "Send a smaller one.", locale.Bytes(s.Config.MaxPackage))
	f.Field = "package"
	return f
}

// orderImport stores the job that takes a package in.
func (s *Room) orderImport(ctx context.Context, v site.Viewer, u upload, wrong site.WrongFields) (sql.Receipt, error) {
	if err := wrong.Err(); err != nil {
		return sql.Receipt{}, err
	}
	return s.orderPackage(ctx, v, judge.KindImport, judge.PackagePayload{
		Problem: u.Problem, Archive: string(u.archive), Bytes: u.bytes, Activate: u.Activate, Given: u.Given, Instead: u.instead,
	}, u.Key)
}

// takeIn reads a package from a request and stores the job that takes it in.
func (s *Room) takeIn(c *fiber.Ctx) (upload, sql.Receipt, error) {
	u, wrong, err := s.readPackage(c)
	receipt, err := s.orderTaken(c.UserContext(), site.ViewerOf(c), u, wrong, err)
	return u, receipt, err
}

// orderTaken stores the job that takes in what came without an error. Of what comes to nothing the version of the day is given back.
func (s *Room) orderTaken(ctx context.Context, v site.Viewer, u upload, wrong site.WrongFields, err error) (receipt sql.Receipt, _ error) {
	if err == nil {
		receipt, err = s.orderImport(ctx, v, u, wrong)
	}
	if u.taken && (err != nil || receipt.Existing) {
		err = errors.Join(err, s.CountVersion(ctx, v, 0, true))
	}
	return receipt, err
}

// Bring stores an archive that came with something else, and the job that takes it in and makes it live once it is proved. Rounds
// that have the version instead get what is made, as [judge.PackagePayload] says.
func (s *Room) Bring(ctx context.Context, v site.Viewer, slug, instead string, from io.Reader) (sql.Receipt, error) {
	if s.Config.Blobs == nil {
		return sql.Receipt{}, site.NoBlobs()
	}
	u := upload{Problem: slug, Activate: true, instead: instead}
	wrong := u.check()
	err := wrong.Err()
	if err == nil {
		err = s.takeArchive(ctx, v, &u, from, -1, &wrong)
	}
	return s.orderTaken(ctx, v, u, wrong, err)
}

// orderPackage stores a job about a package.
func (s *Room) orderPackage(ctx context.Context, v site.Viewer, kind judge.Kind, p judge.PackagePayload, key site.Key) (sql.Receipt, error) {
	p.SchemaVersion, p.ContentType, p.By = judge.PayloadVersion, judge.PackageType, v.Name
	return s.Order(ctx, v, Order{
		Kind: kind, Payload: p, Key: key, Act: "package_" + string(kind), Subject: "problem:" + p.Problem,
		Detail: map[string]any{"archive": p.Archive, "version": p.Version, "activate": p.Activate},
	})
}

// Order is a job that a setter asks for.
type Order struct {
	Kind    judge.Kind
	Payload any
	Key     site.Key

	Act, Subject string         // for the audit log
	Detail       map[string]any // likewise, beside the number of the job
}

// Order stores a job and notes who asked for it. When it returns, the job and its queue row are committed.
func (s *Room) Order(ctx context.Context, v site.Viewer, o Order) (none sql.Receipt, err error) {
	payload, err := json.Marshal(o.Payload)
	if err != nil {
		return none, fmt.Errorf("encode the job: %w", err)
	}
	receipt, err := s.SubmitJob(ctx, sql.NewJob{
		Kind: o.Kind, Author: v.Name, GroupKey: v.Name, Payload: payload, IdempotencyKey: o.Key.Text, TraceID: site.TraceOf(ctx),
	})
	if err != nil {
		return none, site.FieldNames{Key: o.Key.Field}.Rename(err)
	}
	if receipt.Existing {
		return receipt, nil
	}
	o.Detail["job_id"] = receipt.JobID
	if err := s.Store.AuditNote(ctx, v.Name, o.Act, o.Subject, o.Detail); err != nil {
		return none, fmt.Errorf("note a job of a setter: %w", err)
	}
	return receipt, nil
}

// storeMade puts an archive that is made here into the blob store.
func (s *Room) storeMade(ctx context.Context, u *upload, write func(io.Writer) error) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(w)) }()
	digest, size, err := s.Config.Blobs.Put(ctx, &bounded{r: r, left: s.Config.MaxPackage})
	_ = r.CloseWithError(errors.New("nobody reads it any more"))
	switch {
	case errors.Is(err, errTooLong):
		return s.packageTooLong()
	case err != nil:
		return fmt.Errorf("store a package that was made: %w", err)
	}
	u.archive, u.bytes = digest, size
	return nil
}

// zipFolder writes the files of a folder as an archive.
func zipFolder(w io.Writer, fsys fs.FS) error {
	z := zip.NewWriter(w)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		to, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = to.Write(b)
		}
		return err
	})
	return errors.Join(err, z.Close())
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
