package web

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
	"deepoj/web/plugins"
	"deepoj/web/site"
	"deepoj/web/solve"
)

// parameter describes a query parameter of the API. Tests send what it allows and
// what it does not, and compare what clients send with it.
type parameter struct {
	does     string
	kind     string // of JSON Schema
	least    any    // nil = no bound
	most     any    // likewise
	standard any    // without the parameter; nil = it chooses nothing
	one      any    // a list of all values; nil = any
	pattern  any    // that a string has; nil = any
}

// parameters are the query parameters by name, or by route and name where one name means several things.
var parameters = map[string]parameter{
	"before":   {does: "Only what has an id below this: the next of the page before", kind: "integer", least: 1},
	"ids":      {does: "Numbers of submissions, at most 50, separated by commas", kind: "string", pattern: "^[1-9][0-9]*(,[1-9][0-9]*)*$"},
	"limit":    {does: "At most so many", kind: "integer", least: 1, most: site.MaxPage, standard: site.PageSize},
	"all":      {does: "Also what is otherwise left out", kind: "boolean", standard: false},
	"actor":    {does: "Only what this user did", kind: "string"},
	"action":   {does: "Only this act, such as user_disable", kind: "string"},
	"subject":  {does: "Only what was done to this, such as user:ann, or user: for all users", kind: "string"},
	"prefix":   {does: "Only those whose name begins so", kind: "string"},
	"role":     {does: "Only those with this role", kind: "string", one: judge.Roles},
	"author":   {does: "Only those of this user; for staff", kind: "string"},
	"problem":  {does: "Only those to this problem, by its short name", kind: "string"},
	"language": {does: "Only those in this language, by its id", kind: "string"},
	"verdict":  {does: "Only those with this verdict", kind: "string", one: judge.Verdicts},
	"wait":     {does: "Seconds to wait until it is done; more than 30 count as 30", kind: "number", least: 0, standard: 0},
	"group":    {does: "Only what waits of this submitter; for contestants their own", kind: "string"},
	"lang":     {does: "The tag of a language of the statement, such as en; else that which Accept-Language wants most, or English, or the first", kind: "string"},
	"version":  {does: "The digest of a version; the live one when missing", kind: "string"},
	"kind":     {does: "Only those of this kind", kind: "string", one: plugins.Kinds},
	"name":     {does: "Only those with this name", kind: "string"},
	"after":    {does: "Only what has an id above this; for streams Last-Event-ID goes before it", kind: "integer", least: 0, standard: 0},

	"q":       {does: "Only those with all of these words in title, short name, source, tags or statement", kind: "string"},
	"tag":     {does: "Only those with this tag", kind: "string"},
	"easiest": {does: "Only those whose difficulty is at least this", kind: "integer", least: 1, most: 10_000},
	"hardest": {does: "Only those whose difficulty is at most this", kind: "integer", least: 1, most: 10_000},
	"solved":  {does: "Only those that the caller has solved, has not, has tried in vain, or has not tried", kind: "string", one: solve.SolvedChoices},
	"path":    {does: "The path of the file", kind: "string"},
	"from":    {does: "The digest of a version", kind: "string"},
	"to":      {does: "The digest of another version", kind: "string"},

	"GET /api/v1/problems after":                               {does: "Only short names behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/problems/:slug/drafts version":                {does: "Only those to this version", kind: "string"},
	"GET /api/v1/languages after":                              {does: "Only languages behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/workers after":                                {does: "Only workers behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/queues after":                                 {does: "Only queues behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/templates after":                              {does: "Only templates behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/plugins after":                                {does: "Only plugins, by the digest behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/problems/:slug/people after":                  {does: "Only people behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/problems/:slug/versions before":               {does: "Only versions, by the digest behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/problems/:slug/versions/:version/files after": {does: "Only files, by the path behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/spaces/:space/problems after":                 {does: "Only problems behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/spaces/:space/scores after":                   {does: "Only contestants behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/rounds before":                                {does: "Only rounds older than this one: the next of the page before", kind: "string"},
	"GET /api/v1/rounds space":                                 {does: "Only those of a space, by the short name that it has", kind: "string"},
	"GET /api/v1/rounds/:round/problems after":                 {does: "Only problems behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/rounds/:round/board view":                     {does: "For whom it is: everybody, or staff of the space, who see what is hidden", kind: "string", one: []string{"public", "staff"}},
	"GET /api/v1/rounds/:round/explain/:code view":             {does: "For whom it is: everybody, or staff of the space, who see what is hidden", kind: "string", one: []string{"public", "staff"}},
	"GET /api/v1/rounds/:round/awards view":                    {does: "For whom it is: everybody, or staff of the space, who see what is hidden", kind: "string", one: []string{"public", "staff"}},
	"GET /api/v1/rounds/:round/clarifications before":          {does: "Only clarifications older than this one: the next of the page before", kind: "string"},
	"GET /api/v1/rounds/:round/board/stream view":              {does: "For whom it is: everybody, or staff of the space, who see what is hidden", kind: "string", one: []string{"public", "staff"}},
	"GET /api/v1/rounds/:round/board/stream token":             {does: "The token of the board that one has; Last-Event-ID goes before it", kind: "string", pattern: "^[a-z][0-9]{1,18}$"},
	"GET /api/v1/rounds/:round/board at":                       {does: "The board as it was shown at a contest time, such as 3:41:00", kind: "string", pattern: "^[0-9]{1,5}:[0-5][0-9](:[0-5][0-9])?$"},
	"GET /api/v1/rounds/:round/board group":                    {does: "Only participants of a group, who rank among each other, by the short name that it has", kind: "string"},
	"GET /api/v1/rounds/:round/board after":                    {does: "Only rows behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/rounds/:round/adjustments after":              {does: "Only participants behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/rounds/:round/persons after":                  {does: "Only persons behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/rounds/:round/entries after":                  {does: "Only participants behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/spaces/:space/participants after":             {does: "Only participants behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/spaces/:space/groups after":                   {does: "Only groups behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/spaces/:space/organizations after":            {does: "Only organizations behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/spaces/:space/invitations before":             {does: "Only invitations behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/dlq before":                                   {does: "Only dead letters behind this one, JOB.GENERATION: the next of the page before", kind: "string", pattern: `^[1-9][0-9]{0,17}(\.[0-9]{1,9})?$`},
	"GET /api/v1/queue after":                                  {does: "With group, only what is behind this place in the queue: the next of the page before", kind: "string", pattern: `^[01](\.-?[0-9]{1,18}){4}$`},
	"GET /api/v1/spaces before":                                {does: "Only spaces older than this one: the next of the page before", kind: "string"},
	"GET /api/v1/spaces/:space/members after":                  {does: "Only names behind this one: the next of the page before", kind: "string"},
	"GET /api/v1/users after":                                  {does: "Only names behind this one: the next of the page before", kind: "string"},
	"POST /api/v1/problems problem":                            {does: "The short name of the problem", kind: "string"},
	"space":                                                    {does: "The space that it is in, by the short name that it has, by the caller's rights", kind: "string"},
	"code":                                                     {does: "The short name that the round gets, by the package where it is missing", kind: "string"},
	"preview":                                                  {does: "Whether nothing is imported, and only what would be is said", kind: "boolean", standard: false},
	"POST /api/v1/problems activate":                           {does: "Whether the version goes live when it is proved", kind: "boolean", standard: true},
	"POST /api/v1/plugins kind":                                {does: "What it is", kind: "string", one: plugins.Kinds, standard: "checker"},
	"POST /api/v1/plugins name":                                {does: "Its name; that of the module's manifest when missing", kind: "string"},
	"POST /api/v1/plugins version":                             {does: "Its version, likewise", kind: "string"},
	"POST /api/v1/plugins protocol":                            {does: "What it speaks, likewise", kind: "string", one: []string{"testlib/1", "icpc/1", "plan/1"}},
	"POST /api/v1/plugins problem":                             {does: "A problem that it is tried on", kind: "string"},
	"POST /api/v1/problems title":                              {does: "The title of a folder of tests or DMOJ problem that states none; its short name when missing", kind: "string"},
	"POST /api/v1/problems time":                               {does: "The time limit of such a problem in seconds", kind: "number", least: 0.001, most: judge.MostGivenSeconds, standard: 2},
	"POST /api/v1/problems memory":                             {does: "The memory limit of such a problem in MiB", kind: "integer", least: 1, most: judge.MostGivenMiB, standard: 256},
}

// parameterOf finds the description of a parameter of a route.
func parameterOf(route, name string) (parameter, bool) {
	p, ok := parameters[route+" "+name]
	if !ok {
		p, ok = parameters[name]
	}
	return p, ok
}

// schema is the parameter's in JSON Schema.
func (p parameter) schema() map[string]any {
	out := map[string]any{"type": p.kind}
	for name, value := range map[string]any{"minimum": p.least, "maximum": p.most, "default": p.standard, "enum": p.one, "pattern": p.pattern} {
		if value != nil {
			out[name] = value
		}
	}
	if format := map[string]string{"integer": "int64", "number": "double"}[p.kind]; format != "" {
		out["format"] = format
	}
	return out
}

// describe is the parameter as OpenAPI has it. For Go what is not sent is the zero of
// its type, and a list of all values is a type of its own if it is one of the domain.
func (p parameter) describe(name string, types *schemas) map[string]any {
	schema := p.schema()
	if types.forGo {
		delete(schema, "enum")
		schema["x-go-type-skip-optional-pointer"] = true
		if list := reflect.TypeOf(p.one); list != nil {
			maps.Copy(schema, goWord(list.Elem()))
		}
	}
	return map[string]any{"name": name, "in": "query", "description": p.does + ".", "schema": schema}
}

// rawBytes is the schema of bytes of a media type.
func rawBytes(media, does string) map[string]any {
	return map[string]any{"type": "string", "format": "binary", "contentMediaType": media, "description": does}
}

// uploads are the bodies that are no JSON by route: media types with their schemas. The fields of forms are the query
// parameters of the same address, which go with a file alone, and those that are named here.
var uploads = map[string]map[string]map[string]any{
	"POST /api/v1/problems": {
		"application/zip": nil, "multipart/form-data": {"package": rawBytes("application/zip", "The package: the last field"), "key": map[string]any{"type": "string", "description": "An Idempotency-Key"}},
	},
	"POST /api/v1/plugins": {
		"application/wasm": nil, "multipart/form-data": {
			"files": map[string]any{"type": "array", "items": rawBytes("application/octet-stream", "A module, or sources with their headers")},
			"key":   map[string]any{"type": "string", "description": "An Idempotency-Key"},
		},
	},
}

// bodies describes what is uploaded.
func (op operation) bodies() map[string]any {
	content := map[string]any{}
	for media, extra := range uploads[op.Route] {
		if extra == nil {
			content[media] = map[string]any{"schema": rawBytes(media, "The file alone; the rest in query parameters")}
			continue
		}
		properties, required := map[string]any{}, []string{}
		for name, schema := range extra {
			properties[name] = schema
			if name != "key" {
				required = append(required, name)
			}
		}
		for name := range strings.FieldsSeq(op.Query) {
			if p, ok := parameterOf(op.Route, name); ok {
				schema := p.schema()
				schema["description"] = p.does + "."
				properties[name] = schema
			}
		}
		content[media] = map[string]any{"schema": object(properties, required)}
	}
	return content
}

// eventSchema is what the data of an event of a stream is, by the event's name:
// where the job waits, how it ended, or what happened to it.
func eventSchema(types *schemas) map[string]any {
	return map[string]any{
		"place": types.of(job.PlaceJSON{}), "end": types.of(fiber.Map{"status": ""}), "default": types.of(judge.Event{}),
	}
}

// stream describes an answer that is no JSON.
func (op operation) stream(types *schemas) map[string]any {
	if op.Media != site.EventStream {
		return map[string]any{"schema": rawBytes(op.Media, op.Does)}
	}
	data := eventSchema(types)
	return map[string]any{
		"schema": map[string]any{
			"type": "string", "description": "Server-sent events: id where the stream can go on from it, event, and data in JSON.",
			"contentMediaType": op.Media, "contentSchema": map[string]any{"anyOf": []any{data["default"], data["place"], data["end"]}},
		},
		// OpenAPI 3.1 has no word for the data of each kind of event of a stream.
		"x-event-data": data,
	}
}

// knownOnly refuses query parameters that an address does not have, and those that are there twice, as members of
// bodies are refused.
func knownOnly(query string) fiber.Handler {
	known := strings.Fields(query)
	return func(c *fiber.Ctx) error {
		var wrong site.WrongFields
		seen := map[string]int{}
		c.Context().QueryArgs().VisitAll(func(key, _ []byte) {
			name := string(key)
			seen[name]++
			switch {
			case seen[name] == 2 && slices.Contains(known, name):
				wrong.Add(site.WrongField(name, "duplicate", "The parameter is there twice."))
			case seen[name] == 1 && !slices.Contains(known, name):
				wrong.Add(unknownParameter(site.Shorten(strings.ToValidUTF8(name, "�")), known))
			}
		})
		if err := wrong.Err(); err != nil {
			return err
		}
		return c.Next()
	}
}

func unknownParameter(name string, known []string) *judge.FieldError {
	if len(known) == 0 {
		return site.WrongField(name, site.ReasonUnknown, "There is no such parameter: the address has none.")
	}
	return site.WrongField(name, site.ReasonUnknown, "There is no such parameter; the parameters are %s.", judge.Names(known))
}
