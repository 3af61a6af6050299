package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// operation is an address that the description of the API has: all but pages, what
// machines ask without an account, and those of clients of Judge0.
type operation struct{ site.Address }

// operations are those of some addresses.
func operations(all []site.Address) []operation {
	var out []operation
	for _, a := range all {
		if a.Does != "" {
			out = append(out, operation{a})
		}
	}
	return out
}

var pathParameter = regexp.MustCompile(`:([a-z]+)`)

// Description is the description of the API that a server of a version serves.
func Description(version string) ([]byte, error) {
	return describeAPI(version, compose(new(site.Site)).addresses(), false)
}

// DescriptionForGo is the description of the API with extensions that tell the
// generator of package client which Go names and types the server has.
func DescriptionForGo(version string) ([]byte, error) {
	return describeAPI(version, compose(new(site.Site)).addresses(), true)
}

// describeAPI makes the OpenAPI 3.1 document of some addresses.
func describeAPI(version string, all []site.Address, forGo bool) ([]byte, error) {
	types := &schemas{named: map[string]any{}, types: map[string]reflect.Type{}, forGo: forGo}
	paths := map[string]map[string]any{}
	for _, op := range operations(all) {
		address := braced(op.Path())
		if paths[address] == nil {
			paths[address] = map[string]any{}
		}
		described, err := op.describe(types)
		if err != nil {
			return nil, fmt.Errorf("describe the API: %w", err)
		}
		paths[address][strings.ToLower(op.Method())] = described
	}
	document := map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "Deep-OJ", "version": version, "license": map[string]any{"name": "Apache License 2.0", "identifier": "Apache-2.0"},
			"description": "A refusal is a problem document (RFC 9457); the page /api/errors explains the reasons. Addresses under /judge0 speak as Judge0 does.",
		},
		"servers": []any{map[string]any{"url": "/", "description": "The server that this description comes from"}},
		"paths":   paths, "webhooks": describeWebhooks(types),
		"components": map[string]any{
			"schemas": types.named,
			"headers": describeHeaders(),
			"responses": map[string]any{"refused": map[string]any{
				"description": "A refusal", "headers": refer("Retry-After"), "content": map[string]any{"application/problem+json": map[string]any{"schema": types.of(site.Fault{})}},
			}},
			"securitySchemes": map[string]any{
				"bearer":  map[string]any{"type": "http", "scheme": "bearer", "description": "A key, or the token of a session"},
				"cookie":  map[string]any{"type": "apiKey", "in": "cookie", "name": peopleroom.SessionCookie, "description": "The session of a browser; changes also need X-CSRF-Token"},
				signature: map[string]any{"type": "apiKey", "in": "header", "name": "webhook-signature", "description": "v1, and in Base64 the HMAC-SHA256 of webhook-id, webhook-timestamp and body with points between; the key is the webhook's secret"},
			},
		},
	}
	if forGo {
		delete(document, "webhooks") // they are received, not called
	}
	if len(types.wrong) > 0 {
		return nil, fmt.Errorf("describe the API: %s", strings.Join(types.wrong, "; "))
	}
	out, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	return out, nil
}

// signature is the name of how messages to webhooks are proved to come from here.
const signature = "signature"

// describeWebhooks describes what is sent to webhooks. Its schema stands in each of them: generators drop the named
// schemas that no path refers to.
func describeWebhooks(types *schemas) map[string]any {
	message := types.inline(reflect.TypeFor[peopleroom.MessageJSON]())
	header := func(name, does string) any {
		return map[string]any{"name": name, "in": "header", "required": true, "description": does, "schema": map[string]any{"type": "string"}}
	}
	out := map[string]any{}
	for _, kind := range append([]string{peopleroom.WebhookTest}, judge.WebhookKinds...) {
		out[kind] = map[string]any{"post": map[string]any{
			"operationId": "webhook_" + strings.ReplaceAll(kind, ".", "_"), "tags": []string{"webhooks"}, "security": []any{map[string]any{signature: []string{}}},
			"summary": "A submission was " + string(peopleroom.WebhookKindText(kind)), "parameters": []any{
				header("webhook-id", "The same each time that a message is sent"), header("webhook-timestamp", "When this try was made, in seconds since 1970"),
			},
			"requestBody": map[string]any{"content": map[string]any{fiber.MIMEApplicationJSON: map[string]any{"schema": message}}},
			"responses": map[string]any{
				"2XX": map[string]any{"description": "The message was taken"}, "410": map[string]any{"description": "The webhook is disabled"},
				"4XX": map[string]any{"description": "The message has failed; after 408 and 429 it is sent again"},
				"5XX": map[string]any{"description": "The message is sent again, as it is without an answer"},
			},
		}}
	}
	return out
}

// describe is the operation as OpenAPI has it.
func (op operation) describe(types *schemas) (map[string]any, error) {
	parameters := []any{}
	for _, m := range pathParameter.FindAllStringSubmatch(op.Path(), -1) {
		schema := map[string]any{"type": "string"}
		if numbered(op.Path(), m[1]) {
			schema = map[string]any{"type": "integer", "format": "int64"}
		}
		parameters = append(parameters, map[string]any{"name": called(op.Path(), m[1]), "in": "path", "required": true, "schema": schema})
	}
	for name := range strings.FieldsSeq(op.Query) {
		p, known := parameterOf(op.Route, name)
		if !known {
			return nil, fmt.Errorf("%s: nobody says what the parameter %s is", op.Route, name)
		}
		parameters = append(parameters, p.describe(name, types))
	}
	if !types.forGo {
		parameters = append(parameters, op.headerParameters()...)
	}
	answer := map[string]any{"description": op.Does, "headers": refer(op.gives()...)}
	post := op.Method() == fiber.MethodPost
	switch {
	case op.Out != nil:
		answer["content"] = map[string]any{fiber.MIMEApplicationJSON: map[string]any{"schema": types.body(op.typeName()+"Answer", op.Out)}}
	case op.Media != "" && !post:
		answer["content"] = map[string]any{op.Media: op.stream(types)}
	}
	out := map[string]any{
		"operationId": op.id(), "summary": op.Does, "parameters": parameters, "security": op.security(), "tags": []string{op.tag()},
		"description": "For " + op.who() + ".",
		"responses":   op.responses(answer, types.forGo),
	}
	if post && op.Media != "" {
		out["requestBody"] = map[string]any{"required": true, "content": op.bodies()}
	} else if op.In != nil {
		out["requestBody"] = map[string]any{"content": map[string]any{fiber.MIMEApplicationJSON: map[string]any{"schema": types.body(op.typeName()+"Request", op.In)}}}
	}
	return out, nil
}

// responses are what an operation may answer, by status.
func (op operation) responses(answer map[string]any, forGo bool) map[string]any {
	refusal := map[string]any{"$ref": "#/components/responses/refused"}
	out := map[string]any{strconv.Itoa(cmp.Or(op.Status, fiber.StatusOK)): answer}
	if op.Also != 0 {
		out[strconv.Itoa(op.Also)] = answer
	}
	if forGo {
		out["default"] = refusal
		return out
	}
	if op.revalidates() {
		out["304"] = map[string]any{"description": "The caller has it: it is as If-None-Match says", "headers": refer("ETag")}
	}
	if op.Media == site.EventStream {
		out["204"] = map[string]any{"description": "There is nothing behind Last-Event-ID, and nothing more will come", "headers": refer()}
	}
	out["4XX"], out["5XX"] = refusal, refusal
	return out
}

// asks reports whether an operation has a query parameter.
func (op operation) asks(name string) bool { return slices.Contains(strings.Fields(op.Query), name) }

// who says whom an operation is for.
func (op operation) who() string {
	if op.proved() {
		return "administrators who have just proved who they are: a key cannot"
	}
	return map[site.Right]string{
		site.Anyone: "anybody, without an account", site.Guest: "whoever may use the site", site.User: "whoever has an account",
		site.Login: "whoever has logged in: a key cannot", site.Setter: "setters, staff and administrators", site.Staff: "staff and administrators", site.Admin: "administrators",
	}[op.For]
}

// proved reports whether an operation needs an administrator who has just proved who they are, and no key.
func (op operation) proved() bool { return op.For == site.Admin && op.Confirm != "" && !op.OrKey }

func (op operation) security() []any {
	if op.For == site.Anyone {
		return []any{}
	}
	ways := []any{map[string]any{"bearer": []string{}}, map[string]any{"cookie": []string{}}}
	if op.For == site.Guest {
		return append([]any{map[string]any{}}, ways...)
	}
	return ways
}

// numbered reports whether a parameter of a path is a number.
func numbered(path, name string) bool {
	return name == "delivery" || name == "id" && !strings.Contains(path, "/languages/")
}

// called is what a parameter of a path is called in the description: as everywhere else.
func called(path, name string) string {
	switch {
	case name == "slug":
		return "problem"
	case name == "id" && jobPath.MatchString(path):
		return "job_id"
	}
	return name
}

// jobPath is the begin of an address of one job, or of what became of it.
var jobPath = regexp.MustCompile(`/(submissions|runs|jobs|drafts|dlq|status)/:id(/|$)`)

// braced is a path with its parameters as OpenAPI writes them.
func braced(path string) string {
	return pathParameter.ReplaceAllStringFunc(path, func(p string) string { return "{" + called(path, p[1:]) + "}" })
}

// id names the operation by its method and path: get_user_keys is GET /users/:name/keys.
// What a parameter chooses is in the singular.
func (op operation) id() string {
	words := []string{strings.ToLower(op.Method())}
	for part := range strings.SplitSeq(strings.TrimPrefix(op.Path(), "/api/v1/"), "/") {
		last := words[len(words)-1]
		one := strings.TrimSuffix(last, "s")
		if stem, ok := strings.CutSuffix(last, "ies"); ok {
			one = stem + "y"
		}
		switch bare, parameter := strings.CutPrefix(part, ":"); {
		case part == "":
		case parameter && one != last && !strings.HasSuffix(last, "us"):
			words[len(words)-1] = one
		default:
			words = append(words, strings.FieldsFunc(bare, func(r rune) bool { return r == '.' || r == '-' })...)
		}
	}
	return strings.Join(words, "_")
}

// typeName is the id as a Go name: GetUserKeys.
func (op operation) typeName() string {
	var name strings.Builder
	for word := range strings.SplitSeq(op.id(), "_") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

// tag groups operations by what they are about.
func (op operation) tag() string {
	path := op.Path()
	rest, ours := strings.CutPrefix(path, "/api/v1/")
	if !ours {
		return map[bool]string{true: "description", false: "submissions"}[path == "/api/openapi.json"]
	}
	tag, _, _ := strings.Cut(rest, "/")
	return tag
}

// openapi handles GET /api/openapi.json.
func (s *Server) openapi(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(s.description)
}
