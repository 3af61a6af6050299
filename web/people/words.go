package people

import (
	"html/template"

	"deepoj/web/locale"
	"deepoj/web/site"
)

// Words are what the templates of this room call.
var Words = template.FuncMap{
	"webhookKind":  WebhookKindText,
	"webhookKinds": webhookKinds,
	"messageState": func(state string) locale.Word { return messageStates[state] },
	"problemLink":  func(slug string) template.HTML { return site.Link(site.ProblemURL("", slug), slug) },
	"fieldSaid":    site.FieldSaid,
}
