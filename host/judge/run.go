package judge

import (
	"cmp"
	"encoding/json"
)

// RunPayload is what a job of kind run carries, as JSON: a program to be run on
// inputs of whoever asks. It never counts as a submission.
type RunPayload struct {
	SchemaVersion int    `json:"schema_version"` // 1
	ContentType   string `json:"content_type"`   // RunType

	// Problem is the short name of a problem whose limits and added files hold; "" = none.
	Problem string `json:"problem,omitempty"`

	// Samples runs the samples of the problem, checked as in a submission, in place of Tests.
	Samples bool `json:"samples,omitempty"`

	Language string    `json:"language,omitempty"` // "" = what the files compile and run say, see Files
	Limits   RunLimits `json:"limits"`
	Sources  []Source  `json:"sources"`
	Options  []string  `json:"options,omitempty"` // further arguments of the compiler
	Args     []string  `json:"args,omitempty"`    // arguments of the program

	// Files lie beside the program when it is compiled and when it runs. Without a Language they hold a shell
	// script called run, and may hold one called compile that is executed once before.
	Files []RunFile `json:"files,omitempty"`

	Writable    bool `json:"writable,omitempty"`     // the program may write files of its working directory
	MergeStderr bool `json:"merge_stderr,omitempty"` // standard error goes where standard output goes
	Repeat      int  `json:"repeat,omitempty"`       // runs of each test, whose usage is averaged; 0 = 1

	Tests []RunTest `json:"tests,omitempty"`

	// Asked is what an API with fields of its own was asked, for its answers. Nothing depends on it.
	Asked json.RawMessage `json:"asked,omitempty"`
}

// RunType is the content type of a [RunPayload].
const RunType = "application/vnd.deepoj.run+json"

// RunFile is a file of a run. Its name is a path of plain names with slashes between them.
type RunFile struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
	Exec bool   `json:"exec,omitempty"` // it may be executed
}

// RunTest is an input, and the output that is expected of it.
type RunTest struct {
	Input []byte `json:"input,omitempty"`

	// Expected is compared with the output apart from white space at the ends of
	// lines and of the whole. Nil = every output is right.
	Expected *[]byte `json:"expected,omitempty"`
}

// RunLimits bound each run of the program. A zero field is that of the problem,
// or of [DefaultRunLimits] where there is none.
type RunLimits struct {
	CPUMillis  int64 `json:"cpu_ms,omitempty"`
	WallMillis int64 `json:"wall_ms,omitempty"` // 0 = twice the CPU time and a second
	MemoryKiB  int64 `json:"memory_kib,omitempty"`
	OutputKiB  int64 `json:"output_kib,omitempty"` // of standard output, and of each file
	Processes  int   `json:"processes,omitempty"`  // and threads; at least as many as the language needs
}

// DefaultRunLimits are the limits of a run that names neither limits nor a problem.
var DefaultRunLimits = RunLimits{CPUMillis: 5_000, MemoryKiB: 256 << 10, OutputKiB: 1 << 10}

// Or returns l with the fields of other where it has none.
func (l RunLimits) Or(other RunLimits) RunLimits {
	l.CPUMillis = cmp.Or(l.CPUMillis, other.CPUMillis)
	l.WallMillis = cmp.Or(l.WallMillis, other.WallMillis)
	l.MemoryKiB = cmp.Or(l.MemoryKiB, other.MemoryKiB)
	l.OutputKiB = cmp.Or(l.OutputKiB, other.OutputKiB)
	l.Processes = cmp.Or(l.Processes, other.Processes)
	return l
}

// RunReport is the report of a run's result: what the program wrote, test by test in the order of the result's tests.
type RunReport struct {
	Outputs []RunOutput `json:"outputs"`
}

// RunOutput is what a program wrote on one test.
type RunOutput struct {
	Stdout    []byte `json:"stdout,omitempty"`
	Stderr    []byte `json:"stderr,omitempty"`
	StdoutCut bool   `json:"stdout_cut,omitempty"` // there was more
	StderrCut bool   `json:"stderr_cut,omitempty"`
}

// Run is a job of kind run as people see it.
type Run struct {
	Job

	Token  string // its idempotency key; "" = none
	Asked  RunPayload
	Report RunReport       // of Result
	Told   CheckerMessages // who reads what the problem's checkers say
}
