package setters

import (
	"errors"
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
	"deepoj/web/site"
)

// problemName is what short names of uploaded problems look like: they stand in addresses.
var problemName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// uploadFields are the fields of an upload besides its archive.
var uploadFields = []string{"problem", "activate", "title", "time", "memory"}

// upload is a problem package as it came in. Its archive is in the blob store.
type upload struct {
	Problem  string
	Activate bool // when it is proved

	judge.Given // of a problem whose format need not say it

	Key     site.Key
	instead string // version in whose place it comes; see [judge.PackagePayload]
	archive blob.Digest
	bytes   int64
	taken   bool // it is one of the versions that a setter may make today
	csrf    string
}

// Seconds is the time limit that was given, as people write it; "" = none.
func (u upload) Seconds() string {
	if u.CPUMillis == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(u.CPUMillis)/1000, 'f', -1, 64)
}

// set sets a field; the error says what is wrong with the value.
func (u *upload) set(field, value string, known []string) *judge.FieldError {
	value = strings.TrimSpace(value)
	switch {
	case !slices.Contains(known, field):
		return site.WrongField(site.Shorten(field), site.ReasonUnknown, "There is no such field; the fields are package, %s.", judge.Names(uploadFields))
	case field == "problem":
		u.Problem = value
	case field == "key":
		u.Key = site.Key{Text: value, Field: field}
	case field == "csrf":
		u.csrf = value
	case field == "title":
		u.Title = value
	case field == "time" && value != "":
		x, err := strconv.ParseFloat(value, 64)
		if u.CPUMillis = int64(math.Round(x * 1000)); err != nil || !(x >= 0.001 && x <= judge.MostGivenSeconds) {
			return site.WrongField(field, site.ReasonInvalid, "A time limit is a number of seconds from 0.001 up to %d, not %q.", judge.MostGivenSeconds, site.Shorten(value))
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

// readPackage streams the archive of a request into the blob store: a ZIP file alone with the rest as query parameters,
// or a form whose fields come before the file, in "package". Nothing is stored for whoever may not upload.
func (s *Room) readPackage(c *fiber.Ctx) (upload, site.WrongFields, error) {
	u := upload{Activate: true, Key: site.HeaderKey(c), csrf: c.Get("X-CSRF-Token")}
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
			wrong.Add(u.set(field, value, uploadFields))
		}
		if err := u.mayStore(site.ViewerOf(c)); err != nil {
			return u, nil, err
		}
		if wrong = append(wrong, u.check()...); len(wrong) > 0 {
			return u, wrong, nil
		}
		size := int64(c.Request().Header.ContentLength())
		err := s.takeArchive(c.UserContext(), site.ViewerOf(c), &u, &counted{r: body, want: size}, size, &wrong)
		return u, wrong, err
	case kind == fiber.MIMEMultipartForm && params["boundary"] != "":
		return s.readForm(c, u, multipart.NewReader(body, params["boundary"]))
	}
	return u, nil, site.Refuse(fiber.StatusUnsupportedMediaType, "not_upload", "The body has to be a ZIP file, or a form with one.",
		"Send the bytes with the header Content-Type: application/zip, or multipart/form-data with the file in package.")
}

// maxPackageForm bounds what a form has around a package, in bytes.
const maxPackageForm = 64 << 10

func (s *Room) readForm(c *fiber.Ctx, u upload, form *multipart.Reader) (upload, site.WrongFields, error) {
	var wrong site.WrongFields
	broken := site.BadBody(site.ReasonInvalid, "The form cannot be read: it is cut or malformed.")
	known := append([]string{"key", "csrf"}, uploadFields...)
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
		if err := s.takeArchive(c.UserContext(), site.ViewerOf(c), &u, part, int64(c.Request().Header.ContentLength()), &wrong); err != nil || len(wrong) > 0 {
			return u, wrong, err
		}
	}
}

// mayStore refuses a form of another session, before anything is stored.
func (u *upload) mayStore(v site.Viewer) error {
	if v.Token != "" && v.Ambient && !v.Proves(u.csrf) {
		return site.Refuse(fiber.StatusForbidden, "csrf", "The form is from another session.", "Reload the page and try again.")
	}
	return nil
}

// check returns what is wrong with the fields.
func (u *upload) check() site.WrongFields {
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
	wrong.Add(u.Key.Check())
	return wrong
}
