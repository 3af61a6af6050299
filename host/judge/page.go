package judge

import "encoding/json"

// Page is what people see of a version of a problem in one language.
type Page struct {
	Language string // tag of BCP 47, such as "en"
	Title    string // of the problem in that language
	HTML     string // the statement, safe to show; "" if it is a PDF only
	Text     string // the statement without markup, to be searched
	Document string // name of the file that is the statement as a PDF; "" = there is none
}

// PageFile is a file that pages show: a picture of a statement, or a statement that is a PDF.
type PageFile struct {
	Name   string // as pages name it: 64 digits of a SHA-256, and an extension
	Type   string // media type, such as "image/png"
	Digest string // of what is shown, in the blob store: "sha256:<hex>"
	Bytes  int64
}

// Rendering is what people see of a version of a problem, in all languages. It is made
// from the version's package and lies beside it: to make it again changes no version.
type Rendering struct {
	Renderer int // which renderer made it; 0 = something is still to be made
	Pages    []Page
	Files    []PageFile
	Warnings []string // what got lost: file, key and reason
}

// StatementLanguage is a language that a problem has a statement in.
type StatementLanguage struct {
	Language string `json:"language"`           // tag, such as "en"
	Title    string `json:"title"`              // of the problem in it
	Document string `json:"document,omitempty"` // name of the PDF that is the statement, under documents/
}

// RenderPayload is what a job of kind render carries, as JSON: it makes the pages of versions that are kept.
type RenderPayload struct {
	SchemaVersion int    `json:"schema_version"` // 1
	ContentType   string `json:"content_type"`   // "application/vnd.deepoj.render+json"
	By            string `json:"by"`             // user name

	// Problems are the short names of the problems whose versions are rendered; empty is all.
	Problems []string `json:"problems,omitempty"`

	// Due leaves out what the renderer of the worker has rendered already.
	Due bool `json:"due,omitempty"`
}

// RenderType is the content type of a [RenderPayload].
const RenderType = "application/vnd.deepoj.render+json"

// RenderReport is what a job of kind render did, in the result's field report.
type RenderReport struct {
	Versions int           `json:"versions"` // that were to be rendered
	Rendered int           `json:"rendered"`
	Failed   []RenderedRow `json:"failed,omitempty"`   // those that could not be, which stay as they were
	Warned   []RenderedRow `json:"warned,omitempty"`   // those of which something is not shown
	More     int           `json:"more,omitempty"`     // of such rows, that are left out here
	Renderer int           `json:"renderer,omitempty"` // which one did it
}

// RenderedRow is what is said of a version that was rendered, or could not be.
type RenderedRow struct {
	Problem  string   `json:"problem"`
	Version  string   `json:"version"`
	Why      string   `json:"why,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// ReadRender reads what is asked of a job of kind render, nil if payload is none.
func ReadRender(payload json.RawMessage) *RenderPayload {
	var p RenderPayload
	if json.Unmarshal(payload, &p) != nil || p.SchemaVersion != PayloadVersion || p.ContentType != RenderType {
		return nil
	}
	return &p
}
