package web

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
)

// schemas makes JSON schemas of Go types as encoding/json writes them, so that the
// description of the API follows the types that its handlers send.
type schemas struct {
	named map[string]any
	types map[string]reflect.Type // that a name belongs to
	forGo bool                    // with what makes the client's Go types those of the server
	wrong []string                // names that two types claim
}

// of is the schema of an example: of the types of its members if it is a [fiber.Map], else of its own. A member whose
// name begins with "?" may be left out.
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
		if m, ok := properties[bare].(map[string]any); ok && s.forGo && bare != name && reflect.ValueOf(value).Kind() != reflect.Pointer {
			m["x-go-type-skip-optional-pointer"] = true
		}
	}
	return object(properties, required)
}

func object(properties map[string]any, required []string) map[string]any {
	out := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		slices.Sort(required)
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
	out := s.plain(t)
	m, _ := out.(map[string]any)
	if s.forGo && t != nil && t.Kind() != reflect.Struct {
		maps.Copy(m, goWord(t))
	}
	return out
}

// wordsPackage has the words of the domain, which server and client share.
const wordsPackage = "/host/judge"

// goWord are extensions for a word of the domain, or for a type that Go tells apart and JSON does not.
func goWord(t reflect.Type) map[string]any {
	switch {
	case strings.HasSuffix(t.PkgPath(), wordsPackage):
		return map[string]any{"x-go-type": t.String(), "x-go-type-import": map[string]any{"path": t.PkgPath()}}
	case t == rawType || t.Kind() == reflect.Int || t == reflect.TypeFor[[]byte]():
		return map[string]any{"x-go-type": t.String()}
	}
	return nil
}

func (s *schemas) plain(t reflect.Type) any {
	switch {
	case t == nil || t == rawType:
		return map[string]any{}
	case t == timeType:
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[judge.Role]():
		return map[string]any{"type": "string", "enum": judge.Roles}
	case t == reflect.TypeFor[judge.Scope]():
		return map[string]any{"type": "string", "enum": judge.Scopes}
	case t == reflect.TypeFor[judge.Lane]():
		return map[string]any{"type": "integer", "format": "int32", "minimum": 0, "maximum": len(judge.Lanes) - 1}
	case t.Kind() != reflect.Pointer && t.Implements(marshalerType):
		return map[string]any{}
	case t.Kind() != reflect.Pointer && t.Implements(textType):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() { //nolint:exhaustive // the rest are whole numbers, or cannot be written as JSON
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16:
		return map[string]any{"type": "integer", "format": "int32"}
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
		return map[string]any{"type": "number", "format": "double"}
	case reflect.Interface:
		return map[string]any{}
	}
	return map[string]any{"type": "integer", "format": "int64"}
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

// clearer are the names of schemas whose Go types have shorter ones at home, or share
// theirs with a word of the domain: by the type, in lower case, or by package and type.
var clearer = map[string]string{
	"about": "PluginRequest", "aboutPackage": "PackageRequest", "audit": "AuditEntry", "entry": "BatchEntry",
	"change": "RejudgeChange", "count": "TriesCount", "delivery": "WebhookDelivery", "newKey": "MadeKey",
	"newWebhook": "MadeWebhook", "fault": "Refusal", "fieldFault": "RefusedField", "found": "FoundProblem",
	"language": "OfferedLanguage", "quotaView": "Quota", "runTest": "RanTest", "set": "RejudgeSet",
	"statement": "VersionStatement", "turn": "RejudgeTurn", "underway": "WorkerJob",

	"draft.File": "EditedFile", "draft.Statement": "EditedStatement", "draft.Submission": "EditedSubmission", "draft.Test": "EditedTest",
	"sql.Usage": "SetterUsage", "sql.ProblemPerson": "Person",
}

// nameOf is the name of a struct's schema. Words of the domain keep theirs.
func nameOf(t reflect.Type) string {
	name := strings.TrimSuffix(t.Name(), "JSON")
	if better, ok := clearer[path.Base(t.PkgPath())+"."+name]; ok {
		return better
	}
	if better, ok := clearer[strings.ToLower(name[:1])+name[1:]]; ok && !strings.HasSuffix(t.PkgPath(), wordsPackage) {
		return better
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// ofStruct keeps a named struct among the named schemas and refers to it.
func (s *schemas) ofStruct(t reflect.Type) any {
	properties, required := map[string]any{}, []string{}
	if t.Name() == "" {
		s.fields(t, properties, &required)
		return object(properties, required)
	}
	if word := goWord(t); s.forGo && word != nil {
		word["type"] = "object"
		return word
	}
	name := nameOf(t)
	if before, taken := s.types[name]; taken && before != t {
		s.wrong = append(s.wrong, fmt.Sprintf("%s and %s are both called %s", before, t, name))
	}
	if _, done := s.types[name]; !done {
		s.types[name] = t
		s.fields(t, properties, &required)
		s.named[name] = object(properties, required)
	}
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// inline is the schema of a struct in the place where it is used.
func (s *schemas) inline(t reflect.Type) any {
	properties, required := map[string]any{}, []string{}
	s.fields(t, properties, &required)
	return object(properties, required)
}

// shared are the names of examples that several addresses have, by their members.
var shared = map[string]string{
	"existing job_id url": "Receipt", "job_id place rank_at undone": "MovedJob", "job_id status": "EndedJob",
	"generation job_id": "RejudgedJob", "name paused": "PausedQueue", "id withdrawn": "WithdrawnLanguage",
	"delivery": "SentMessage", "why": "Reason", "hidden problem": "HiddenProblem", "next submissions": "SubmissionPage",
	"keys next": "KeyPage", "next people": "ProblemPeople", "expires_at label scope": "NewKey",
	"everyone kinds problem url": "NewWebhook",
}

// body is the schema of what is sent or answered. An example without a type of its own
// gets a name, so that clients have one as well.
func (s *schemas) body(name string, example any) any {
	members, ok := example.(fiber.Map)
	if !ok {
		return s.of(example)
	}
	names := slices.Sorted(maps.Keys(members))
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "?")
	}
	slices.Sort(names)
	schema := s.of(example)
	if common, ok := shared[strings.Join(names, " ")]; ok {
		before, taken := s.named[common]
		// A batch has receipts that are a type of their own.
		if common == "Receipt" || !taken || reflect.DeepEqual(before, schema) {
			name = common
		}
	}
	if s.types[name] == nil {
		s.named[name] = schema
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
		properties[tag] = s.ofField(f)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			*required = append(*required, tag)
		}
	}
}

// ofField is the schema of a field; for Go with its name, and without a pointer where the server has none.
func (s *schemas) ofField(f reflect.StructField) any {
	out := s.ofType(f.Type)
	m, ok := out.(map[string]any)
	if !s.forGo || !ok {
		return out
	}
	m["x-go-name"] = f.Name
	if f.Type.Kind() != reflect.Pointer {
		m["x-go-type-skip-optional-pointer"] = true
	}
	return m
}
