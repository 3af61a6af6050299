package web

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/sql"
)

// schemas makes JSON schemas of Go types as encoding/json writes them, so that the
// description of the API follows the types that its handlers send.
type schemas struct {
	named map[string]any
	types map[string]reflect.Type
}

// of is the schema of an example: of the types of its members if it is a
// [fiber.Map], else of its own. A member whose name begins with "?" may be left
// out.
func (s *schemas) of(example any) any {
	members, ok := example.(fiber.Map)
	if !ok {
		return s.ofType(reflect.TypeOf(example))
	}
	properties, required := map[string]any{}, []string{}
	for name, value := range members {
		bare := strings.TrimPrefix(name, "?")
		if bare == name {
			required = append(required, name)
		}
		properties[bare] = s.of(value)
	}
	return object(properties, required)
}

func object(properties map[string]any, required []string) map[string]any {
	out := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	rawType       = reflect.TypeFor[json.RawMessage]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
)

func (s *schemas) ofType(t reflect.Type) any {
	switch {
	case t == nil || t == rawType:
		return map[string]any{}
	case t == timeType:
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[sql.Role]():
		return map[string]any{"type": "string", "enum": sql.Roles}
	case t == reflect.TypeFor[sql.Scope]():
		return map[string]any{"type": "string", "enum": sql.Scopes}
	case t.Kind() != reflect.Pointer && t.Implements(marshalerType):
		return map[string]any{}
	case t.Kind() != reflect.Pointer && t.Implements(textType):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() { //nolint:exhaustive // the rest are whole numbers, or cannot be written as JSON
	case reflect.Pointer:
		return orNothing(s.ofType(t.Elem()))
	case reflect.Struct:
		return s.ofStruct(t)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": "string", "contentEncoding": "base64"}
		}
		return map[string]any{"type": []string{"array", "null"}, "items": s.ofType(t.Elem())} // a list of nothing may be null
	case reflect.Map:
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": s.ofType(t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Interface:
		return map[string]any{}
	}
	return map[string]any{"type": "integer"}
}

// orNothing allows null as well.
func orNothing(schema any) any {
	m, _ := schema.(map[string]any)
	if name, ok := m["type"].(string); ok && m["enum"] == nil {
		with := maps.Clone(m)
		with["type"] = []string{name, "null"}
		return with
	}
	return map[string]any{"anyOf": []any{schema, map[string]any{"type": "null"}}}
}

// ofStruct keeps a named struct among the named schemas and refers to it.
func (s *schemas) ofStruct(t reflect.Type) any {
	properties, required := map[string]any{}, []string{}
	if t.Name() == "" {
		s.fields(t, properties, &required)
		return object(properties, required)
	}
	name := strings.TrimSuffix(t.Name(), "JSON")
	name = strings.ToUpper(name[:1]) + name[1:]
	if before, taken := s.types[name]; taken && before != t {
		pkg := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	if _, done := s.types[name]; !done {
		s.types[name] = t
		s.fields(t, properties, &required)
		s.named[name] = object(properties, required)
	}
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

func (s *schemas) fields(t reflect.Type, properties map[string]any, required *[]string) {
	for f := range t.Fields() {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct:
			s.fields(f.Type, properties, required)
			continue
		case !f.IsExported() || tag == "-":
			continue
		case tag == "":
			tag = f.Name
		}
		properties[tag] = s.ofType(f.Type)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			*required = append(*required, tag)
		}
	}
}
