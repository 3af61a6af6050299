package judge

import (
	"encoding/json"
	"time"
)

// PluginOp is what a job about a plugin does.
type PluginOp string

// The operations. An upload is a job of kind plugin_build when sources came and
// plugin_test when a module did; the others are of kind plugin_test.
const (
	PluginUpload  PluginOp = "upload"  // compile if need be, admit, prove, keep
	PluginTest    PluginOp = "test"    // prove a kept plugin again
	PluginPreview PluginOp = "preview" // judge past submissions with it, beside their live verdicts
	PluginBind    PluginOp = "bind"    // make a version of a problem that is checked by it
)

// PluginPayload is what a job about a plugin carries, as JSON.
type PluginPayload struct {
	SchemaVersion int      `json:"schema_version"` // 1
	ContentType   string   `json:"content_type"`   // "application/vnd.deepoj.plugin+json"
	Op            PluginOp `json:"op"`
	By            string   `json:"by"` // user name

	// Of modules that bring no manifest, and of sources.
	Kind     string `json:"kind,omitempty"` // checker, interactor or toolchain
	Name     string `json:"name,omitempty"`
	Version  string `json:"version,omitempty"`
	Protocol string `json:"protocol,omitempty"` // testlib/1, icpc/1 or plan/1

	Problem string       `json:"problem,omitempty"` // upload, test: a problem to prove it with; preview, bind: the problem
	Digest  string       `json:"digest,omitempty"`  // test, preview, bind: the plugin
	Files   []PluginFile `json:"files,omitempty"`   // upload: one module, or sources and headers
	Limit   int          `json:"limit,omitempty"`   // preview: how many submissions at most
}

// PluginType is the content type of a [PluginPayload].
const PluginType = "application/vnd.deepoj.plugin+json"

// PluginFile is a file of an upload.
type PluginFile struct {
	Name string `json:"name"` // a plain file name
	Data []byte `json:"data"`
}

// Plugin is an admitted module. Its digest names its bytes for ever.
type Plugin struct {
	Digest   string          `json:"digest"` // "sha256:<hex>", also of the module in the blob store
	Kind     string          `json:"kind"`
	Name     string          `json:"name"`
	Version  string          `json:"version"`
	Protocol string          `json:"protocol"`
	Bytes    int64           `json:"bytes"`
	Manifest json.RawMessage `json:"manifest"`
	Conforms bool            `json:"conforms"` // whether its newest report found nothing wrong
	Leaks    *bool           `json:"leaks"`    // whether it found pieces of answers in what the plugin says; null: nobody knows
	Active   bool            `json:"active"`   // whether its name means this version
	JobID    int64           `json:"job_id"`   // the job that wrote the newest report
	By       string          `json:"by"`       // who uploaded it
	Created  time.Time       `json:"created"`
}

// PluginChange is one change of what a plugin's name means.
type PluginChange struct {
	Digest   string    `json:"digest"`
	Previous string    `json:"previous,omitempty"` // "" the first time
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

// SetterJob is a job that a setter asked for as people see it: about a plugin, a package, or the pages of problems.
type SetterJob struct {
	Job

	About   PluginPayload  // of jobs about plugins: what was asked, without files
	Package PackagePayload // of jobs about problem packages: what was asked
	Render  *RenderPayload // of jobs of kind render: what was asked
}
