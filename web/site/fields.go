package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/locale"
)

// Reasons of a wrong field. Clients match them, so they stay.
const (
	ReasonMissing  = "missing"
	ReasonUnknown  = "unknown"
	ReasonWrong    = "wrong_type"
	ReasonEmpty    = "empty"
	ReasonTooLong  = "too_long"
	ReasonNUL      = "nul_byte"
	ReasonEncoding = "not_utf8"
	ReasonInvalid  = "invalid"
)

// Fields reads the members of a JSON object one by one, and collects what is Wrong with them: a struct and
// encoding/json would take unknown spellings, duplicates and broken UTF-8 without a word.
type Fields struct {
	Raw   map[string]json.RawMessage
	Wrong WrongFields
}

// ReadFields reads the body of a request that must be a JSON object with no other members than the known ones.
func ReadFields(c *fiber.Ctx, known ...string) (*Fields, error) {
	if err := NeedJSON(c); err != nil {
		return nil, err
	}
	return ParseFields(c.Body(), known...)
}

// NeedJSON refuses a body that is not declared as JSON.
func NeedJSON(c *fiber.Ctx) error {
	kind, _, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || kind != fiber.MIMEApplicationJSON {
		return Refuse(fiber.StatusUnsupportedMediaType, "not_json", "The body has to be JSON.",
			"Send it with the header Content-Type: application/json.")
	}
	return nil
}

// ParseFields is ReadFields on the body alone.
func ParseFields(body []byte, known ...string) (*Fields, error) {
	if !utf8.Valid(body) {
		return nil, BadBody(ReasonEncoding, "The body is not UTF-8.")
	}
	f := &Fields{Raw: map[string]json.RawMessage{}}
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))
	open, err := d.ReadToken()
	if err != nil {
		return nil, notJSON(err)
	}
	if open.Kind() != jsontext.KindBeginObject {
		return nil, BadBody(ReasonWrong, "The body has to be a JSON object.")
	}
	for d.PeekKind() != jsontext.KindEndObject {
		key, err := d.ReadToken()
		if err != nil {
			return nil, notJSON(err)
		}
		name := key.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, notJSON(err)
		}
		_, twice := f.Raw[name]
		switch {
		case !slices.Contains(known, name):
			f.Wrong.Add(WrongField(Shorten(name), ReasonUnknown, "There is no such field; the fields are %s.", judge.Names(known)))
		case twice:
			f.Wrong.Add(WrongField(name, "duplicate", "The field is there twice."))
		}
		f.Raw[name] = json.RawMessage(value.Clone())
	}
	if _, err := d.ReadToken(); err != nil || len(bytes.TrimSpace(body[d.InputOffset():])) > 0 {
		return nil, BadBody(ReasonInvalid, "The body is not one JSON object.")
	}
	return f, nil
}

// notJSON says where a body stops to be JSON. Half of a surrogate pair is refused
// too: taken, it would become another character than was sent.
func notJSON(err error) error {
	return BadBody(ReasonInvalid, "The body is not JSON: %s.", strings.TrimPrefix(err.Error(), "jsontext: "))
}

// BadBody refuses a body that cannot be read.
func BadBody(reason string, detail locale.Word, args ...any) *Fault {
	f := Refuse(fiber.StatusBadRequest, reason, detail, "", args...)
	f.Field = "body"
	return f
}

// Shorten keeps an invented name from filling the answer.
func Shorten(name string) string {
	if len(name) > 64 {
		return strings.ToValidUTF8(name[:64], "") + "…"
	}
	return name
}

// Has reports whether the field is there and not null.
func (f *Fields) Has(name string) bool {
	raw, ok := f.Raw[name]
	return ok && !bytes.Equal(raw, []byte("null"))
}

// Text reads a string that has to be there.
func (f *Fields) Text(name string) string {
	if !f.Has(name) {
		f.Wrong.Add(WrongField(name, ReasonMissing, "The field is missing."))
		return ""
	}
	text, err := jsontext.AppendUnquote(nil, f.Raw[name])
	if err != nil {
		f.Wrong.Add(WrongField(name, ReasonWrong, "The field has to be a string, not %s.", KindOf(f.Raw[name])))
		return ""
	}
	return string(text)
}

// Maybe is Text of a field that need not be there.
func (f *Fields) Maybe(name string) string {
	if !f.Has(name) {
		return ""
	}
	return f.Text(name)
}

// Program returns what is handed in: source is one file, and sources are several.
func (f *Fields) Program() []judge.Source {
	switch {
	case f.Has("source") && f.Has("sources"):
		f.Wrong.Add(WrongField("sources", ReasonInvalid, "Send either source or sources."))
		return nil
	case f.Has("sources"):
		return f.sources("sources")
	}
	return []judge.Source{{Text: f.Text("source")}}
}

// sources reads a list of {"name", "text"} objects.
func (f *Fields) sources(name string) []judge.Source {
	var list []json.RawMessage
	if json.Unmarshal(f.Raw[name], &list) != nil {
		f.Wrong.Add(WrongField(name, ReasonWrong, "The field has to be a list of objects, not %s.", KindOf(f.Raw[name])))
		return nil
	}
	var out []judge.Source
	for i, raw := range list {
		at := fmt.Sprintf("%s[%d]", name, i)
		if KindOf(raw) != "an object" {
			f.Wrong.Add(WrongField(at, ReasonWrong, "The entry has to be an object with name and text, not %s.", KindOf(raw)))
			continue
		}
		one, err := ParseFields(raw, "name", "text")
		if err != nil {
			f.Wrong.Add(WrongField(at, ReasonInvalid, "The entry cannot be read."))
			continue
		}
		source := judge.Source{Text: one.Text("text")}
		if one.Has("name") {
			source.Name = one.Text("name")
		}
		for _, e := range one.Wrong {
			e.Field = at + "." + e.Field
			f.Wrong.Add(e)
		}
		out = append(out, source)
	}
	return out
}

// KindOf says what a JSON value is, for people.
func KindOf(raw json.RawMessage) locale.Word {
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0 || raw[0] == 'n':
		return "null"
	case raw[0] == '"':
		return "a string"
	case raw[0] == '{':
		return "an object"
	case raw[0] == '[':
		return "a list"
	case raw[0] == 't' || raw[0] == 'f':
		return "a truth value"
	}
	return "a number"
}

// Strict reads a member into what to points at, and refuses members of it that are not known.
func (f *Fields) Strict(name string, to any) {
	if !f.Has(name) {
		return
	}
	d := json.NewDecoder(bytes.NewReader(f.Raw[name]))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		f.Wrong.Add(WrongField(name, ReasonWrong, "The field cannot be read: %s.", strings.TrimPrefix(err.Error(), "json: ")))
	}
}

// Value reads a field that may be missing.
func (f *Fields) Value(name string, what locale.Word, into any) {
	if f.Has(name) && json.Unmarshal(f.Raw[name], into) != nil {
		f.Wrong.Add(WrongField(name, ReasonWrong, "The field has to be %s, not %s.", what, KindOf(f.Raw[name])))
	}
}

// Moment reads a time. Null is none, and a missing one stays.
func (f *Fields) Moment(name string, into **time.Time) {
	if _, there := f.Raw[name]; !there {
		return
	}
	if *into = nil; !f.Has(name) {
		return
	}
	text := f.Text(name)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		f.Wrong.Add(WrongField(name, ReasonInvalid, "The time has to be like 2030-01-31T12:00:00Z, or null for none."))
		return
	}
	*into = &at
}
