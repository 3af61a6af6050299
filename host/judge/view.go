package judge

import "time"

// Submission is a submission as people see it: what was handed in, where it stands, and its live result.
type Submission struct {
	Job

	Problem     string // short name
	Title       string // the problem's title
	Language    string
	Sources     []Source
	Space       string // short name of the space that it was handed in to; "" = none
	SpaceID     int64  // of that space, also when it is gone; 0 = none
	Unofficial  bool   // of somebody who prepares the space, or of kind draft
	Round       string // short name of the round that it was handed in to; "" = none
	Participant int64  // who handed it in there; 0 = nobody who takes part
	Team        string // what that is called
	Version     string // of kind draft: the version of the problem that it was handed in to

	Told     CheckerMessages // who reads what the problem's checkers say
	Feedback Feedback        // how much of the result its participant is told now; "" = all
	Veiled   bool            // Result is without what Feedback does not tell
	Samples  []TestResult    // where Veiled leaves no Result: what is told of its tests
}

// Place is where a waiting job stands in the queue.
type Place struct {
	Position int64         // jobs that go first, plus one; a lower bound unless Most is the same
	Most     int64         // upper bound of Position; 0 = unknown
	ETALow   time.Duration // estimated wait, lower bound
	ETAHigh  time.Duration // estimated wait, upper bound; 0 = unknown
	Why      string        // why it waits: "", "paused", "no_live_worker", "unfit_workers", "not_before", "group_limit", "backlog"
	Language string        // name of its language; "" = it has none
}

// Exact reports whether Position is more than a lower bound.
func (p Place) Exact() bool { return p.Most == p.Position }

// AtMost returns p where at most n jobs go first. It changes nothing about an exact place.
func (p Place) AtMost(n int64) Place {
	if p.Exact() || p.Position <= 1 {
		return p
	}
	p.Most = max(n+1, p.Position)
	each := float64(2*p.ETALow) / float64(p.Position-1)
	p.ETAHigh = (2*time.Duration(each*float64(p.Most-1)) + 2*time.Second).Round(time.Second)
	return p
}

// Language is a language as a worker can serve it.
type Language struct {
	ID          string   `json:"id"`   // such as "cpp"
	Name        string   `json:"name"` // such as "C++"
	Version     string   `json:"version"`
	Command     string   `json:"command"`     // how a program is compiled, or run where nothing is compiled, as shown to people
	Extensions  []string `json:"extensions"`  // without the dot
	Available   bool     `json:"available"`   // whether the tool chain was found and works
	Unavailable string   `json:"unavailable"` // why not, and how to mend it
	Adapter     string   `json:"adapter"`     // digest of the adapter
	Editor      string   `json:"editor"`      // mode of the web editor, such as "cpp"

	// CompileCommand and RunCommand are the two steps for people; without the first nothing is compiled.
	CompileCommand string `json:"compile_command,omitempty"`
	RunCommand     string `json:"run_command,omitempty"`
}

// WorkerInfo is a worker as it reports itself with every heartbeat.
type WorkerInfo struct {
	Name      string     `json:"name"` // WORKER_ID with its boot id
	Pool      string     `json:"pool"`
	Slots     int        `json:"slots"`
	Busy      int        `json:"busy"`
	Languages []Language `json:"languages"`
	Version   string     `json:"version"`
	Sandbox   string     `json:"sandbox"` // cgroup driver, and what is degraded

	// Compilers are the languages that sources of plugins may have, each with what is
	// missing to compile it; empty = it is not known yet.
	Compilers []Language `json:"compilers,omitempty"`

	// Unfit names what the worker lacks and therefore takes no jobs, such as
	// "blob_store"; "" = it takes jobs. UnfitWhy is for staff.
	Unfit    string `json:"unfit,omitempty"`
	UnfitWhy string `json:"unfit_why,omitempty"`

	// Calibration is how fast a core is, in passes per second: see package capacity. 0 = not measured.
	Calibration float64 `json:"calibration,omitempty"`

	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"`
}

// Sample is a sample test that the statement shows.
type Sample struct {
	Name   string `json:"name"`
	Input  string `json:"input"`
	Output string `json:"output"`
}

// Problem is what the pages need to know of a problem's active version.
type Problem struct {
	Slug      string    `json:"slug"`
	Title     string    `json:"title"`
	Version   string    `json:"version"`   // digest of the package's manifest in the blob store
	Statement string    `json:"statement"` // HTML, made from the package, safe to show
	Samples   []Sample  `json:"samples"`
	Scoring   bool      `json:"scoring"`
	MaxScore  float64   `json:"max_score,omitempty"` // scoring problems
	CPUMillis int64     `json:"cpu_ms"`
	MemoryMiB int64     `json:"memory_mib"`
	OutputMiB int64     `json:"output_mib"`
	CodeKiB   int64     `json:"code_kib"`
	Tests     int       `json:"tests,omitempty"`     // 0 = of a version from before it was counted
	Languages []string  `json:"languages,omitempty"` // empty = all
	Checkers  []string  `json:"checkers,omitempty"`  // names, digests or files of those that decide on outputs
	Source    string    `json:"source,omitempty"`
	Author    string    `json:"author,omitempty"`
	License   string    `json:"license,omitempty"`
	Updated   time.Time `json:"updated"`
	Hidden    bool      `json:"hidden,omitempty"` // only setters see it, and members of a space that is open

	Tags       []string `json:"tags,omitempty"`
	Difficulty int      `json:"difficulty,omitempty"` // 1 to 10,000, of whatever scale the site uses; 0 = nobody says

	CheckerMessages CheckerMessages `json:"checker_messages,omitempty"` // as the package says; "" = it says nothing

	// Language is that of Statement and Title, and Statements are all that there are;
	// "" and none of a version that was never rendered.
	Language   string              `json:"language,omitempty"`
	Statements []StatementLanguage `json:"statements,omitempty"`

	// Document is the statement in this language as a PDF: its name under documents/.
	Document string `json:"document,omitempty"`

	// Files are the statements that are PDF, and what the package gives to contestants besides.
	Files []ProblemFile `json:"files,omitempty"`
}

// Papers are the statements that are PDF.
func (p Problem) Papers() (out []ProblemFile) {
	for _, f := range p.Files {
		if f.Statement {
			out = append(out, f)
		}
	}
	return out
}

// Attachments are the files that are no statements.
func (p Problem) Attachments() (out []ProblemFile) {
	for _, f := range p.Files {
		if !f.Statement {
			out = append(out, f)
		}
	}
	return out
}

// ProblemFile is a file of a problem that everybody may have.
type ProblemFile struct {
	Name   string `json:"name"` // such as "problem.pdf" or "tools/tester.py"
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"` // in the blob store

	Statement bool `json:"statement,omitempty"` // it is a statement, which is a PDF
}
