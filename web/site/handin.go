package site

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// What is the same for whatever is handed in.
const (
	maxFileName = 64  // bytes
	maxKey      = 200 // bytes of an idempotency key
)

// FieldNames are what the caller calls the fields.
type FieldNames struct{ Problem, Language, Source, Key string }

// Rename gives a field error of the store the name that the caller knows.
func (n FieldNames) Rename(err error) error {
	var field *judge.FieldError
	if !errors.As(err, &field) {
		return fmt.Errorf("submit: %w", err)
	}
	names := map[string]string{
		"problem": n.Problem, "language": n.Language, "source": n.Source, "sources": n.Source,
		"idempotency_key": n.Key, "key": n.Key,
	}
	renamed := *field
	if name, ok := names[field.Field]; ok {
		renamed.Field = name
	}
	return &renamed
}

// Key is an idempotency key: what is sent again under the same one is stored once.
type Key struct {
	Text  string // "" = none
	Field string // what the caller calls it
}

// HeaderKey is the key that a program sends.
func HeaderKey(c *fiber.Ctx) Key { return Key{c.Get("Idempotency-Key"), "Idempotency-Key"} }

// FormKey is the key of a form.
func FormKey(c *fiber.Ctx) Key { return Key{c.FormValue("key"), "key"} }

// Check returns what is wrong with the key.
func (k Key) Check() *judge.FieldError { return CheckKey(k.Field, k.Text) }

func (k Key) String() string { return k.Text }

// CheckKey checks an idempotency key.
func CheckKey(field, key string) *judge.FieldError {
	if len(key) <= maxKey && !strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil
	}
	return WrongField(field, ReasonInvalid, "The key has to be at most %d printable ASCII characters.", maxKey)
}

// CheckFileName checks the plain file name of a source. One source may go without.
func CheckFileName(field, name string, seen map[string]bool, several bool) *judge.FieldError {
	switch {
	case name == "" && several:
		return WrongField(field+".name", ReasonMissing, "Each of several files needs a name.")
	case name == "":
		return nil
	case len(name) > maxFileName:
		return WrongField(field+".name", ReasonInvalid, "The file name has more than %d bytes.", maxFileName)
	case name != path.Base(name) || name[0] == '.' || name[0] == '-' || strings.ContainsFunc(name, badInName):
		return WrongField(field+".name", ReasonInvalid, "%q is not a plain file name.", Shorten(name))
	case seen[name]:
		return WrongField(field+".name", "duplicate", "Two files are called %q.", name)
	}
	seen[name] = true
	return nil
}

func badInName(r rune) bool {
	return r < ' ' || r == utf8.RuneError || strings.ContainsRune(`/\:*?"<>|`, r) || r == 0x7f
}

// FormValues returns all values of a field of a form.
func FormValues(c *fiber.Ctx, name string) (values []string) {
	if form, err := c.MultipartForm(); err == nil {
		return form.Value[name]
	}
	for _, value := range c.Request().PostArgs().PeekMulti(name) {
		values = append(values, string(value))
	}
	return values
}

// Accepted answers with a job that was stored, and where its page is.
func Accepted(c *fiber.Ctx, r sql.Receipt, page string) error {
	c.Set(fiber.HeaderLocation, "/api/v1/jobs/"+strconv.FormatInt(r.JobID, 10))
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"job_id": r.JobID, "url": page, "existing": r.Existing})
}

// ReadFormFile reads a file of a form.
func ReadFormFile(header *multipart.FileHeader) ([]byte, error) {
	f, err := header.Open()
	if err != nil {
		return nil, fmt.Errorf("open an uploaded file: %w", err)
	}
	defer f.Close()
	body, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read an uploaded file: %w", err)
	}
	return body, nil
}
