package web

import (
	"reflect"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/site"
)

// headerField is a header field of requests or answers, in the description of the API.
type headerField struct {
	does    string
	kind    string // of JSON Schema
	example any
}

// sent are header fields of requests, by name.
var sent = map[string]headerField{
	"Idempotency-Key": {"The same again with the same key, at most 200 printable ASCII characters, gives what the first gave", "string", "7f0c2a1e-submission-1"},
	"Last-Event-ID":   {"Goes on behind the event with this id; it goes before the parameter after", "integer", 41},
	"If-None-Match":   {"ETags of answers that the caller has: if one of them is still right, the answer is 304 without a body", "string", `W/"5f2b9c"`},
	"Accept-Language": {"Languages of the statement, the best first, where the parameter lang chooses none", "string", "sv, en;q=0.5"},
}

// given are header fields of answers, by name.
var given = map[string]headerField{
	"ETag":                {"Names this answer: it is another when the answer is", "string", `W/"5f2b9c"`},
	"Location":            {"The address of what was made", "string", "/api/v1/submissions/7"},
	"Retry-After":         {"Seconds after which to try again, where that may help", "integer", 5},
	"RateLimit-Policy":    {"The most requests of whoever asks, and in how many seconds", "string", "600;w=60"},
	"RateLimit-Limit":     {"The most requests", "integer", 600},
	"RateLimit-Remaining": {"How many may follow at once", "integer", 599},
	"RateLimit-Reset":     {"Seconds until there are as many as the most", "integer", 1},
	"Trace-Id":            {"Names this request in the server's log", "string", "4bb046336f254ea4ae2ef455e89119ce"},
}

// everywhere are the header fields that any answer may have.
var everywhere = []string{"RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Trace-Id"}

// schema is the field's in JSON Schema.
func (h headerField) schema() map[string]any {
	out := map[string]any{"type": h.kind}
	if h.kind == "integer" {
		out["format"] = "int64"
	}
	return out
}

// describeHeaders is what is given, for all operations to refer to.
func describeHeaders() map[string]any {
	out := map[string]any{}
	for name, h := range given {
		out[name] = map[string]any{"description": h.does + ".", "schema": h.schema(), "example": h.example}
	}
	return out
}

// refer refers to header fields of answers.
func refer(names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range append(names, everywhere...) {
		out[name] = map[string]any{"$ref": "#/components/headers/" + name}
	}
	return out
}

// stores reports whether an operation stores a job and says where that is.
func (op operation) stores() bool {
	members, ok := op.Out.(fiber.Map)
	return ok && reflect.ValueOf(members).Pointer() == reflect.ValueOf(site.Stored).Pointer()
}

// keyed are the other operations that take a key.
var keyed = map[string]bool{"POST /api/v1/submissions/batch": true, "POST /api/v1/rejudgings": true, "POST /submit": true}

// located are the other operations that say where what they made is.
var located = map[string]bool{"POST /api/v1/spaces/:space/rounds": true, "POST /api/v1/rejudgings": true, "POST /api/v1/spaces": true}

// revalidates reports whether an operation names its answer, so that who has it need not get it again.
func (op operation) revalidates() bool {
	return op.Method() == fiber.MethodGet && op.Media != site.EventStream
}

// takes are the names of the header fields that an operation reads, beside those of all.
func (op operation) takes() (names []string) {
	if op.stores() || keyed[op.Route] {
		names = append(names, "Idempotency-Key")
	}
	if op.Media == site.EventStream && op.Method() == fiber.MethodGet {
		names = append(names, "Last-Event-ID")
	}
	if op.revalidates() {
		names = append(names, "If-None-Match")
	}
	if op.asks("lang") {
		names = append(names, "Accept-Language")
	}
	return names
}

// gives are the names of the header fields of what an operation answers, beside those of all.
func (op operation) gives() (names []string) {
	if op.stores() || located[op.Route] {
		names = append(names, "Location")
	}
	if op.revalidates() {
		names = append(names, "ETag")
	}
	return names
}

// headerParameters are what an operation takes, as OpenAPI has it.
func (op operation) headerParameters() (out []any) {
	for _, name := range op.takes() {
		h := sent[name]
		out = append(out, map[string]any{"name": name, "in": "header", "description": h.does + ".", "schema": h.schema(), "example": h.example})
	}
	return out
}
