package plugins

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// upload is a plugin as it came in.
type upload struct {
	Kind, Name, Version, Protocol, Problem string
	Files                                  []judge.PluginFile
	Key                                    site.Key
}

// uploadFields are the fields of an upload besides its files.
var uploadFields = []string{"kind", "name", "version", "protocol", "problem"}

func (u *upload) set(field, value string) {
	value = strings.TrimSpace(value)
	switch field {
	case "kind":
		u.Kind = value
	case "name":
		u.Name = value
	case "version":
		u.Version = value
	case "protocol":
		u.Protocol = value
	case "problem":
		u.Problem = value
	case "key":
		u.Key = site.Key{Text: value, Field: field}
	}
}

// readUpload reads the body of a request: a multipart form with the files in
// "files", or a module alone with the rest as query parameters.
func readUpload(c *fiber.Ctx) (upload, site.WrongFields, error) {
	u, wrong := upload{Kind: Kinds[0], Key: site.HeaderKey(c)}, site.WrongFields(nil)
	kind, _, _ := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	switch kind {
	case "application/wasm":
		for field, value := range c.Queries() {
			wrong.Add(u.take(field, []string{value}, uploadFields))
		}
		u.Files = []judge.PluginFile{{Name: "plugin.wasm", Data: c.Body()}}
	case fiber.MIMEMultipartForm:
		form, err := c.MultipartForm()
		if err != nil {
			return u, nil, site.BadBody(site.ReasonInvalid, "The form cannot be read: it is cut or malformed.")
		}
		known := append([]string{"key", "csrf"}, uploadFields...)
		for field, values := range form.Value {
			wrong.Add(u.take(field, values, known))
		}
		for field, headers := range form.File {
			if field != "files" {
				wrong.Add(site.WrongField(site.Shorten(field), site.ReasonUnknown, "There is no such field; files are sent as files."))
				continue
			}
			if u.Files, err = readFiles(headers); err != nil {
				return u, nil, err
			}
		}
	default:
		return u, nil, site.Refuse(fiber.StatusUnsupportedMediaType, "not_upload", "The body has to be a form with files, or a WebAssembly module.",
			"Send multipart/form-data, or the module's bytes with the header Content-Type: application/wasm.")
	}
	return u, wrong, nil
}

// take sets a field to its only value.
func (u *upload) take(field string, values, known []string) *judge.FieldError {
	switch {
	case field == "files" && len(values) == 1 && values[0] == "": // a form in which no file was chosen
	case !slices.Contains(known, field):
		return site.WrongField(site.Shorten(field), site.ReasonUnknown, "There is no such field; the fields are files, %s.", judge.Names(uploadFields))
	case len(values) != 1:
		return site.WrongField(field, "duplicate", "The field is there twice.")
	default:
		u.set(field, values[0])
	}
	return nil
}

// readFiles reads uploaded files.
func readFiles(headers []*multipart.FileHeader) (files []judge.PluginFile, err error) {
	for _, h := range headers {
		data, err := site.ReadFormFile(h)
		if err != nil {
			return nil, err
		}
		files = append(files, judge.PluginFile{Name: h.Filename, Data: data})
	}
	return files, nil
}

// storeUpload checks an upload and stores the job that takes it in.
func (s *Room) storeUpload(ctx context.Context, v site.Viewer, u upload, wrong site.WrongFields) (sql.Receipt, error) {
	wrong = append(wrong, u.check()...)
	found, err := s.checkProblem(ctx, "problem", u.Problem)
	if err != nil {
		return sql.Receipt{}, err
	}
	wrong.Add(found)
	if err := wrong.Err(); err != nil {
		return sql.Receipt{}, err
	}
	return s.order(ctx, v, judge.PluginPayload{
		Op: judge.PluginUpload, Kind: u.Kind, Name: u.Name, Version: u.Version, Protocol: u.Protocol, Problem: u.Problem, Files: u.Files,
	}, u.Key)
}

// checkProblem says that there is no problem of a name, unless the name is empty.
func (s *Room) checkProblem(ctx context.Context, field, slug string) (*judge.FieldError, error) {
	if slug == "" {
		return nil, nil //nolint:nilnil // nothing is wrong
	}
	err := sql.ErrNotFound
	if site.PlainWord(slug) {
		_, err = s.Store.Problem(ctx, slug)
	}
	switch {
	case errors.Is(err, sql.ErrNotFound):
		return site.WrongField(field, site.ReasonUnknown, "There is no problem %q.", site.Shorten(slug)), nil
	case err != nil:
		return nil, fmt.Errorf("look up problem: %w", err)
	}
	return nil, nil //nolint:nilnil // nothing is wrong
}
