package judge

import (
	"encoding/json"
	"time"
)

// Ticket is a message of the queue: it names a job and grants nothing.
type Ticket struct {
	JobID      int64
	TraceID    string
	PayloadRef string // "pg:<job id>" or "sha256:<hex>"
	Priority   int
	Enqueued   time.Time
}

// Entry is a Ticket as a worker received it.
type Entry struct {
	Ticket
	ID     string // the stream entry's id; empty for the PostgreSQL delivery
	Reason string // empty, or why the entry is malformed: "missing_field" or "payload_missing_or_invalid"
}

// Attempt is one worker's try at a job. AttemptID is the fence: it only grows,
// also over rejudges, and only the newest may write.
type Attempt struct {
	JobID      int64
	Generation int32
	AttemptID  int32
	Owner      string // lease_owner: the worker's name with its boot id
	Token      string // lease_token: a UUID made at the claim; never leaves the worker
}

// Claim is what a successful claim returns: an attempt, and the job that it is at.
type Claim struct {
	Attempt
	Kind     Kind
	Queue    string
	GroupKey string
	TraceID  string
	Tries    int32
	MaxTries int32
	Created  time.Time
	Payload  json.RawMessage // a [Payload] for submissions

	// ProblemVersion is the version of a submission's problem that is active at
	// the claim; "" if there is no such problem any more.
	ProblemVersion string
}

// Diagnostic is one message of a compiler, mapped to the submitted source.
type Diagnostic struct {
	File     string `json:"file"`
	Line     int    `json:"line"`             // from 1; 0 = unknown
	Column   int    `json:"column,omitempty"` // from 1; 0 = unknown
	Severity string `json:"severity"`         // error, warning, note
	Message  string `json:"message"`
}

// Compile says how compilation went.
type Compile struct {
	OK          bool         `json:"ok"`
	Output      string       `json:"output,omitempty"` // the compiler's words, cut at 64 KiB
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
	Usage       Usage        `json:"usage"`
	Tool        string       `json:"tool,omitempty"`    // such as "g++ 12.2.0"
	Command     string       `json:"command,omitempty"` // the command line as shown to people
}

// TestResult is the verdict on one test. A test that was not run because the
// outcome was decided before has an empty Verdict.
type TestResult struct {
	Index      int      `json:"index"` // from 1, in judging order
	Name       string   `json:"name"`  // such as "sample/1"
	Group      string   `json:"group"` // such as "secret/group1"
	Sample     bool     `json:"sample"`
	Verdict    Verdict  `json:"verdict"`
	Score      *float64 `json:"score,omitempty"`
	Usage      Usage    `json:"usage"`
	ExitCode   int      `json:"exit_code,omitempty"`
	ExitSignal int      `json:"exit_signal,omitempty"`
	Message    string   `json:"message,omitempty"`       // for the contestant, if it is not a checker's that is for others
	MessageBy  Speaker  `json:"message_by,omitempty"`    // who wrote Message; "" in results from before this was noted
	JudgeNote  string   `json:"judge_message,omitempty"` // for staff only
	Output     string   `json:"output,omitempty"`        // first bytes of the program's output, samples only
	Reused     bool     `json:"reused,omitempty"`        // the same run was judged before in this submission
	Rerun      *Usage   `json:"rerun,omitempty"`         // first of two runs, when a TLE was in doubt and run again alone
}

// GroupResult is the verdict and score of a test group.
type GroupResult struct {
	Name     string   `json:"name"` // such as "secret/group1"; "" is the whole package
	Verdict  Verdict  `json:"verdict"`
	Score    *float64 `json:"score,omitempty"`
	MaxScore *float64 `json:"max_score,omitempty"`
	Formula  string   `json:"formula,omitempty"` // how the score came about, such as "sum(20, 30, 0)"
}

// Result is everything that is recorded about a judging. PostgreSQL keeps one per job and generation.
type Result struct {
	Verdict        Verdict       `json:"verdict"`
	Score          *float64      `json:"score,omitempty"`
	MaxScore       *float64      `json:"max_score,omitempty"`
	Usage          Usage         `json:"usage"` // the worst test, each figure by itself
	Compile        *Compile      `json:"compile,omitempty"`
	Tests          []TestResult  `json:"tests,omitempty"`
	Groups         []GroupResult `json:"groups,omitempty"`
	Message        string        `json:"message,omitempty"`    // why, in words for the contestant
	MessageBy      Speaker       `json:"message_by,omitempty"` // who wrote what Message says of the test that decided
	JudgeNote      string        `json:"judge_message,omitempty"`
	ProblemVersion string        `json:"problem_version,omitempty"` // digest of the package
	Adapter        string        `json:"adapter,omitempty"`         // digest of the language adapter
	Checker        string        `json:"checker,omitempty"`         // digest of the checker
	Tool           string        `json:"tool,omitempty"`            // compiler or interpreter version
	Worker         string        `json:"worker,omitempty"`

	// Report is what a job of another kind than submission found, as JSON that
	// its kind defines: a [RunReport] for runs.
	Report json.RawMessage `json:"report,omitempty"`
}
