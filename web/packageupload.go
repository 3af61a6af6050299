package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// problemName is what short names of uploaded problems look like: they stand in
// addresses.
var problemName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// packageFields are the fields of an upload besides its archive.
var packageFields = []string{"problem", "activate", "title", "time", "memory"}

// packageUpload is a problem package as it came in. Its archive is in the blob
// store.
type packageUpload struct {
	Problem  string
	Activate bool // when it is proved

	judge.Given // of a problem whose format need not say it

	Key      string
	keyField string // what the caller calls it
	archive  blob.Digest
	bytes    int64
	taken    bool // it is one of the versions that a setter may make today
	csrf     string
}

// Seconds is the time limit that was given, as people write it; "" = none.
func (u packageUpload) Seconds() string {
	if u.CPUMillis == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(u.CPUMillis)/1000, 'f', -1, 64)
}

// set sets a field; the error says what is wrong with the value.
func (u *packageUpload) set(field, value string, known []string) *judge.FieldError {
	value = strings.TrimSpace(value)
	switch {
	case !slices.Contains(known, field):
		return site.WrongField(site.Shorten(field), site.ReasonUnknown, "There is no such field; the fields are package, %s.", strings.Join(packageFields, ", "))
	case field == "problem":
		u.Problem = value
	case field == "key":
		u.Key, u.keyField = value, field
	case field == "csrf":
		u.csrf = value
	case field == "title":
		u.Title = value
	case field == "time" && value != "":
		x, err := strconv.ParseFloat(value, 64)
		if u.CPUMillis = int64(math.Round(x * 1000)); err != nil || !(x >= 0.001 && x <= judge.MostGivenSeconds) {
			return site.WrongField(field, site.ReasonInvalid, "A time limit has from 0.001 to %d seconds, not %q.", judge.MostGivenSeconds, site.Shorten(value))
		}
	case field == "memory" && value != "":
		n, err := strconv.ParseInt(value, 10, 64)
		if u.MemoryMiB = n; err != nil || n < 1 || n > judge.MostGivenMiB {
			return site.WrongField(field, site.ReasonInvalid, "A limit of memory is a whole number of MiB from 1 to %d, not %q.", judge.MostGivenMiB, site.Shorten(value))
		}
	case field == "activate":
		on, err := strconv.ParseBool(value)
		if u.Activate = on; err != nil {
			return site.WrongField(field, site.ReasonInvalid, "The field has to be true or false, not %q.", site.Shorten(value))
		}
	}
	return nil
}

// readPackage streams the archive of a request into the blob store: a ZIP file
// alone with the rest as query parameters, or a form whose fields come before the
// file, in "package". Nothing is stored for whoever may not upload.
func (s *Server) readPackage(c *fiber.Ctx) (packageUpload, site.WrongFields, error) {
	u := packageUpload{Activate: true, Key: c.Get("Idempotency-Key"), keyField: "Idempotency-Key", csrf: c.Get("X-CSRF-Token")}
	if s.Config.Blobs == nil {
		return u, nil, site.NoBlobs()
	}
	var wrong site.WrongFields
	body := c.Context().RequestBodyStream()
	if size := int64(c.Request().Header.ContentLength()); size > s.Config.MaxPackage+maxPackageForm {
		return u, nil, s.packageTooLong()
	}
	kind, params, _ := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	switch {
	case kind == "application/zip" || kind == "application/octet-stream":
		for field, value := range c.Queries() {
			wrong.Add(u.set(field, value, packageFields))
		}
		if err := u.mayStore(site.ViewerOf(c)); err != nil {
			return u, nil, err
		}
		if wrong = append(wrong, u.check()...); len(wrong) > 0 {
			return u, wrong, nil
		}
		size := int64(c.Request().Header.ContentLength())
		err := s.takeArchive(c, &u, &counted{r: body, want: size}, size, &wrong)
		return u, wrong, err
	case kind == fiber.MIMEMultipartForm && params["boundary"] != "":
		return s.readPackageForm(c, u, multipart.NewReader(body, params["boundary"]))
	}
	return u, nil, site.Refuse(fiber.StatusUnsupportedMediaType, "not_upload", "The body has to be a ZIP file, or a form with one.",
		"Send the bytes with the header Content-Type: application/zip, or multipart/form-data with the file in package.")
}

// maxPackageForm bounds what a form has around a package, in bytes.
const maxPackageForm = 64 << 10

func (s *Server) readPackageForm(c *fiber.Ctx, u packageUpload, form *multipart.Reader) (packageUpload, site.WrongFields, error) {
	var wrong site.WrongFields
	broken := site.BadBody(site.ReasonInvalid, "The form cannot be read: it is cut or malformed.")
	known := append([]string{"key", "csrf"}, packageFields...)
	for parts := 0; ; parts++ {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			if err := u.mayStore(site.ViewerOf(c)); err != nil {
				return u, nil, err
			}
			if u.archive == "" && len(wrong) == 0 {
				wrong.Add(site.WrongField("package", site.ReasonEmpty, "Choose a package: a ZIP file."))
			}
			return u, wrong, nil
		case err != nil || parts > 2*len(known):
			return u, nil, broken
		}
		if part.FormName() != "package" {
			value, err := io.ReadAll(io.LimitReader(part, maxPackageForm))
			if err != nil {
				return u, nil, broken
			}
			if u.archive != "" {
				wrong.Add(site.WrongField(site.Shorten(part.FormName()), site.ReasonInvalid, "The fields come before the file in the form."))
				continue
			}
			wrong.Add(u.set(part.FormName(), string(value), known))
			continue
		}
		if err := u.mayStore(site.ViewerOf(c)); err != nil {
			return u, nil, err
		}
		if u.archive != "" {
			wrong.Add(site.WrongField("package", "duplicate", "One package is taken at a time."))
			return u, wrong, nil
		}
		if part.FileName() == "" { // a form in which no file was chosen
			continue
		}
		if u.Problem == "" {
			u.Problem = strings.TrimSuffix(part.FileName(), ".zip")
		}
		if wrong = append(wrong, u.check()...); len(wrong) > 0 {
			return u, wrong, nil
		}
		if err := s.takeArchive(c, &u, part, int64(c.Request().Header.ContentLength()), &wrong); err != nil || len(wrong) > 0 {
			return u, wrong, err
		}
	}
}

// mayStore refuses a form of another session, before anything is stored.
func (u *packageUpload) mayStore(v site.Viewer) error {
	if v.Token != "" && v.Ambient && !v.Proves(u.csrf) {
		return site.Refuse(fiber.StatusForbidden, "csrf", "The form is from another session.", "Reload the page and try again.")
	}
	return nil
}

// check returns what is wrong with the fields.
func (u *packageUpload) check() site.WrongFields {
	var wrong site.WrongFields
	switch {
	case u.Problem == "":
		wrong.Add(site.WrongField("problem", site.ReasonMissing, "Name the problem, such as aplusb."))
	case !problemName.MatchString(u.Problem):
		wrong.Add(site.WrongField("problem", site.ReasonInvalid, "A short name has letters, digits, dots, hyphens and underscores, at most 64, such as aplusb, not %q.", site.Shorten(u.Problem)))
	}
	if field, err := u.Check(); err != nil && field == "title" { // the others were looked at when they were set
		wrong.Add(site.WrongField(field, site.ReasonInvalid, "A title has at most %d bytes, on one line.", judge.MostGivenTitle))
	}
	wrong.Add(site.CheckKey(u.keyField, u.Key))
	return wrong
}

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

// bounded is a reader that fails after a number of bytes, and marks what goes wrong
// below it.
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
func (s *Server) takeArchive(c *fiber.Ctx, u *packageUpload, from io.Reader, size int64, wrong *site.WrongFields) error {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	if err := s.mayChange(ctx, v, u.Problem); err != nil {
		return err
	}
	if err := s.takeVersion(ctx, v, size); err != nil {
		return err
	}
	u.taken = true
	err := s.storeArchive(ctx, u, from, wrong)
	return errors.Join(err, s.countVersion(ctx, v, u.bytes, false))
}

// storeArchive puts an archive into the blob store.
func (s *Server) storeArchive(ctx context.Context, u *packageUpload, from io.Reader, wrong *site.WrongFields) error {
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

func (s *Server) packageTooLong() error {
	f := site.Refuse(fiber.StatusRequestEntityTooLarge, site.ReasonTooLong, "The package is larger than "+site.BytesText(s.Config.MaxPackage)+".", "Send a smaller one.")
	f.Field = "package"
	return f
}

// orderImport stores the job that takes a package in.
func (s *Server) orderImport(ctx context.Context, v site.Viewer, u packageUpload, wrong site.WrongFields) (sql.Receipt, error) {
	if err := wrong.Err(); err != nil {
		return sql.Receipt{}, err
	}
	return s.orderPackage(ctx, v, judge.KindImport, judge.PackagePayload{
		Problem: u.Problem, Archive: string(u.archive), Bytes: u.bytes, Activate: u.Activate, Given: u.Given,
	}, u.Key, u.keyField)
}

// takeIn reads a package from a request and stores the job that takes it in.
func (s *Server) takeIn(c *fiber.Ctx) (packageUpload, sql.Receipt, error) {
	var receipt sql.Receipt
	u, wrong, err := s.readPackage(c)
	if err == nil {
		receipt, err = s.orderImport(c.UserContext(), site.ViewerOf(c), u, wrong)
	}
	if u.taken && (err != nil || receipt.Existing) {
		err = errors.Join(err, s.countVersion(c.UserContext(), site.ViewerOf(c), 0, true))
	}
	return u, receipt, err
}

// orderPackage stores a job about a package and notes who asked for it. When it
// returns, the job and its queue row are committed.
func (s *Server) orderPackage(ctx context.Context, v site.Viewer, kind judge.Kind, p judge.PackagePayload, key, keyField string) (sql.Receipt, error) {
	var none sql.Receipt
	p.SchemaVersion, p.ContentType, p.By = judge.PayloadVersion, judge.PackageType, v.Name
	payload, err := json.Marshal(p)
	if err != nil {
		return none, fmt.Errorf("encode the job: %w", err)
	}
	receipt, err := s.SubmitJob(ctx, sql.NewJob{
		Kind: kind, Author: v.Name, GroupKey: v.Name, Payload: payload, IdempotencyKey: key, TraceID: site.TraceOf(ctx),
	})
	if err != nil {
		return none, site.FieldNames{Key: keyField}.Rename(err)
	}
	if receipt.Existing {
		return receipt, nil
	}
	detail := map[string]any{"job_id": receipt.JobID, "archive": p.Archive, "version": p.Version, "activate": p.Activate}
	if err := s.Store.AuditNote(ctx, v.Name, "package_"+string(kind), "problem:"+p.Problem, detail); err != nil {
		return none, fmt.Errorf("note a job about a package: %w", err)
	}
	return receipt, nil
}
