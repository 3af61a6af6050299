package judge

import (
	"encoding/json"
	"time"
)

// PackagePayload is what a job about a problem package carries, as JSON: one of kind import reads a package and proves
// it, one of kind verify proves a version that is kept.
type PackagePayload struct {
	SchemaVersion int    `json:"schema_version"` // 1
	ContentType   string `json:"content_type"`   // "application/vnd.deepoj.package+json"
	By            string `json:"by"`             // user name
	Problem       string `json:"problem"`        // the problem's short name

	Archive string `json:"archive,omitempty"` // import: digest of the ZIP file in the blob store
	Bytes   int64  `json:"bytes,omitempty"`   // import: its size
	Version string `json:"version,omitempty"` // verify: the version to prove

	// Instead is, of an import, a version of which nothing was known but what a contest said that was held elsewhere. Rounds that
	// have it, and say the same of the problem as its package, get what is made. "" = none.
	Instead string `json:"instead,omitempty"`

	Given // import: what the package need not say

	// Activate says that the version goes live if its proof finds nothing wrong.
	Activate bool `json:"activate,omitempty"`
}

// PackageType is the content type of a [PackagePayload].
const PackageType = "application/vnd.deepoj.package+json"

// ProblemVersion is a version of a problem that is kept, live or not.
type ProblemVersion struct {
	Problem   string          `json:"problem"` // the problem's short name
	Version   string          `json:"version"` // digest of the package
	Title     string          `json:"title"`
	Proved    *bool           `json:"proved"` // whether its newest proof found nothing wrong; nil = there is none
	Live      bool            `json:"live"`
	ImportJob int64           `json:"import_job,omitempty"` // the job that brought it; 0 = it came another way
	ProofJob  int64           `json:"proof_job,omitempty"`  // the job that proved it last
	By        string          `json:"by"`                   // who brought it
	Created   time.Time       `json:"created"`
	Report    json.RawMessage `json:"report,omitempty"` // of the proof; not in lists
}

// ProblemChange is one change of which version of a problem is live.
type ProblemChange struct {
	Version  string    `json:"version"`
	Previous string    `json:"previous,omitempty"` // "" the first time
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}
