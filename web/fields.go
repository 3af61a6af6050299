package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
)

// Reasons of a wrong field. Clients match them, so they stay.
const (
	reasonMissing  = "missing"
	reasonUnknown  = "unknown"
	reasonWrong    = "wrong_type"
	reasonEmpty    = "empty"
	reasonTooLong  = "too_long"
	reasonNUL      = "nul_byte"
	reasonEncoding = "not_utf8"
	reasonInvalid  = "invalid"
)

// fields reads the members of a JSON object one by one, and collects what is
// wrong with them: a struct and encoding/json would take unknown spellings,
// duplicates and broken UTF-8 without a word.
type fields struct {
	raw   map[string]json.RawMessage
	wrong wrongFields
}

// readFields reads the body of a request that must be a JSON object with no
// other members than the known ones.
func readFields(c *fiber.Ctx, known ...string) (*fields, error) {
	if err := needJSON(c); err != nil {
		return nil, err
	}
	return parseFields(c.Body(), known...)
}

// needJSON refuses a body that is not declared as JSON.
func needJSON(c *fiber.Ctx) error {
	kind, _, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || kind != fiber.MIMEApplicationJSON {
		return refuse(fiber.StatusUnsupportedMediaType, "not_json", "The body has to be JSON.",
			"Send it with the header Content-Type: application/json.")
	}
	return nil
}

// parseFields is readFields on the body alone.
func parseFields(body []byte, known ...string) (*fields, error) {
	if !utf8.Valid(body) {
		return nil, badBody(reasonEncoding, "The body is not UTF-8.")
	}
	f := &fields{raw: map[string]json.RawMessage{}}
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))
	open, err := d.ReadToken()
	if err != nil {
		return nil, notJSON(err)
	}
	if open.Kind() != jsontext.KindBeginObject {
		return nil, badBody(reasonWrong, "The body has to be a JSON object.")
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
		_, twice := f.raw[name]
		switch {
		case !slices.Contains(known, name):
			f.wrong.add(wrongField(shorten(name), reasonUnknown, "There is no such field; the fields are %s.", strings.Join(known, ", ")))
		case twice:
			f.wrong.add(wrongField(name, "duplicate", "The field is there twice."))
		}
		f.raw[name] = json.RawMessage(value.Clone())
	}
	if _, err := d.ReadToken(); err != nil || len(bytes.TrimSpace(body[d.InputOffset():])) > 0 {
		return nil, badBody(reasonInvalid, "The body is not one JSON object.")
	}
	return f, nil
}

// notJSON says where a body stops to be JSON. Half of a surrogate pair is refused
// too: taken, it would become another character than was sent.
func notJSON(err error) error {
	return badBody(reasonInvalid, "The body is not JSON: "+strings.TrimPrefix(err.Error(), "jsontext: ")+".")
}

func badBody(reason, detail string) *fault {
	f := refuse(fiber.StatusBadRequest, reason, detail, "")
	f.Field = "body"
	return f
}

// shorten keeps an invented name from filling the answer.
func shorten(name string) string {
	if len(name) > 64 {
		return strings.ToValidUTF8(name[:64], "") + "…"
	}
	return name
}

// has reports whether the field is there and not null.
func (f *fields) has(name string) bool {
	raw, ok := f.raw[name]
	return ok && !bytes.Equal(raw, []byte("null"))
}

// text reads a string that has to be there.
func (f *fields) text(name string) string {
	if !f.has(name) {
		f.wrong.add(wrongField(name, reasonMissing, "The field is missing."))
		return ""
	}
	text, err := jsontext.AppendUnquote(nil, f.raw[name])
	if err != nil {
		f.wrong.add(wrongField(name, reasonWrong, "The field has to be a string, not %s.", kindOf(f.raw[name])))
		return ""
	}
	return string(text)
}

// program returns what is handed in: source is one file, and sources are several.
func (f *fields) program() []judge.Source {
	switch {
	case f.has("source") && f.has("sources"):
		f.wrong.add(wrongField("sources", reasonInvalid, "Send either source or sources."))
		return nil
	case f.has("sources"):
		return f.sources("sources")
	}
	return []judge.Source{{Text: f.text("source")}}
}

// sources reads a list of {"name", "text"} objects.
func (f *fields) sources(name string) []judge.Source {
	var list []json.RawMessage
	if json.Unmarshal(f.raw[name], &list) != nil {
		f.wrong.add(wrongField(name, reasonWrong, "The field has to be a list of objects, not %s.", kindOf(f.raw[name])))
		return nil
	}
	var out []judge.Source
	for i, raw := range list {
		at := fmt.Sprintf("%s[%d]", name, i)
		if kindOf(raw) != "an object" {
			f.wrong.add(wrongField(at, reasonWrong, "The entry has to be an object with name and text, not %s.", kindOf(raw)))
			continue
		}
		one, err := parseFields(raw, "name", "text")
		if err != nil {
			f.wrong.add(wrongField(at, reasonInvalid, "The entry cannot be read."))
			continue
		}
		source := judge.Source{Text: one.text("text")}
		if one.has("name") {
			source.Name = one.text("name")
		}
		for _, e := range one.wrong {
			f.wrong.add(wrongField(at+"."+e.Field, e.Reason, "%s", e.Remedy))
		}
		out = append(out, source)
	}
	return out
}

// kindOf says what a JSON value is, for people.
func kindOf(raw json.RawMessage) string {
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

// strict reads a member into what to points at, and refuses members of it that are not
// known.
func (f *fields) strict(name string, to any) {
	if !f.has(name) {
		return
	}
	d := json.NewDecoder(bytes.NewReader(f.raw[name]))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		f.wrong.add(wrongField(name, reasonWrong, "The field cannot be read: %s.", strings.TrimPrefix(err.Error(), "json: ")))
	}
}
