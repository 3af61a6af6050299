// Package abi is the plugin contract as Go types: the manifest every plugin
// carries and the JSON that a tool-chain adapter reads and writes.
//
// It imports next to nothing and compiles for wasip1, so host and guests share it: a guest that needs no reflection is
// half as large. Authors in other languages read the same facts in plugins/README.md.
package abi

import "errors"

// Version is the contract's number, the value of every "judge" field.
const Version = 1

// Section is the name of the WebAssembly custom section that holds a [Manifest]
// as JSON, at most ManifestMax bytes of it.
const (
	Section     = "judge.manifest"
	ManifestMax = 64 << 10
)

// Kind is what a plugin does.
type Kind string

// The kinds of plugins.
const (
	Checker    Kind = "checker"
	Interactor Kind = "interactor"
	Toolchain  Kind = "toolchain"
)

// Protocol is the dialect a plugin speaks.
type Protocol string

// The protocols.
const (
	Testlib1 Protocol = "testlib/1" // argv: input output answer [args]; exit 0 1 2 3 4 7 8
	ICPC1    Protocol = "icpc/1"    // argv: input answer feedback_dir/ [flags]; output on stdin; exit 42 43
	Plan1    Protocol = "plan/1"    // argv[1] is the operation, JSON on stdin and stdout
)

// Manifest says what a plugin is. Unknown fields are ignored.
type Manifest struct {
	Judge        int        `json:"judge"`
	Kind         Kind       `json:"kind"`
	Name         string     `json:"name"`
	Version      string     `json:"version"`
	Protocol     Protocol   `json:"protocol"`
	Needs        []string   `json:"needs,omitempty"` // of: interactive points feedback diagnostics
	Limits       Limits     `json:"limits,omitzero"` // requests, clipped by the operator
	EqualAccepts bool       `json:"equal_accepts,omitempty"`
	Options      RawMessage `json:"options,omitempty"` // JSON Schema of the options
	Args         []string   `json:"args,omitempty"`
	Tests        []Test     `json:"tests,omitempty"`
	Language     *Language  `json:"language,omitempty"` // tool-chain adapters only
}

// RawMessage is JSON as it stands, like that of encoding/json, which guests do without.
type RawMessage []byte

// MarshalJSON implements the Marshaler of encoding/json.
func (m RawMessage) MarshalJSON() ([]byte, error) {
	if m == nil {
		return []byte("null"), nil
	}
	return m, nil
}

// UnmarshalJSON implements the Unmarshaler of encoding/json.
func (m *RawMessage) UnmarshalJSON(data []byte) error {
	if m == nil {
		return errors.New("abi: a RawMessage that is nil cannot be read")
	}
	*m = append((*m)[:0], data...)
	return nil
}

// Limits are a guest's requests. Zero means the host's default.
type Limits struct {
	MemoryMiB int `json:"memory_mib,omitempty"`
	FuelM     int `json:"fuel_m,omitempty"` // millions of fuel units
	OutputKiB int `json:"output_kib,omitempty"`
}

// Test is a case that a plugin brings to prove itself. Expect is accepted, wrong, presentation, partial or failed.
type Test struct {
	Input  string   `json:"input"`
	Output string   `json:"output"`
	Answer string   `json:"answer"`
	Args   []string `json:"args,omitempty"`
	Expect string   `json:"expect"`
}

// Language is what an adapter says of its language.
type Language struct {
	ID         string   `json:"id"`                   // such as "cpp"
	Name       string   `json:"name"`                 // such as "C++"
	Extensions []string `json:"extensions"`           // without the dot, the preferred one first
	Shebangs   []string `json:"shebangs,omitempty"`   // interpreter names, such as "python3"
	Hints      []string `json:"hints,omitempty"`      // Go regular expressions that suggest this language in a source
	Editor     string   `json:"editor"`               // editor mode, such as "cpp"
	Tools      []Tool   `json:"tools"`                // all of them must be found
	Hello      []Source `json:"hello"`                // a program that prints "hello\n"
	Broken     []Source `json:"broken"`               // a program that does not compile
	BrokenLine int      `json:"broken_line"`          // the line of its first error
	Factor     float64  `json:"cpu_factor,omitempty"` // suggested time-limit factor; 0 = 1
	Compiled   bool     `json:"compiled"`             // whether a compile step exists
}

// Tool is a program that an adapter needs, by its logical name. The operator
// maps the name to a path; an adapter never names a path.
type Tool struct {
	Name    string   `json:"name"`    // such as "g++"
	Version []string `json:"version"` // arguments that print the version, such as ["--version"]
	Pattern string   `json:"pattern"` // Go regular expression; group 1 is the version, searched in stdout then stderr
	Package string   `json:"package"` // Debian package that provides it, for the remedy
}

// Source is one submitted file.
type Source struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Operations of plan/1, given as argv[1].
const (
	OpDescribe    = "describe"    // nothing on stdin → Manifest
	OpPlan        = "plan"        // PlanRequest → Plan
	OpDiagnostics = "diagnostics" // DiagnosticsRequest → DiagnosticsReply
)

// PlanRequest asks an adapter how to compile and run a program.
type PlanRequest struct {
	Judge   int               `json:"judge"`
	Op      string            `json:"op"`
	Sources []Source          `json:"sources"`
	Options map[string]string `json:"options,omitempty"`
	Limits  RunLimits         `json:"limits"`
	Host    Host              `json:"host"`

	// Entry is the name of the source that the program starts with; "" = nobody says, and the adapter chooses.
	Entry string `json:"entry,omitempty"`
}

// RunLimits are the problem's limits for one run.
type RunLimits struct {
	CPUMillis int64 `json:"cpu_ms"`
	MemoryMiB int64 `json:"memory_mib"`
}

// Host is what the adapter may know of the machine.
type Host struct {
	Tools map[string]ToolVersion `json:"tools"` // by logical name
}

// ToolVersion is a tool's version as the probe read it.
type ToolVersion struct {
	Version string `json:"version"`
}

// Plan says how to compile and run. With Error set nothing else is: that is a
// compile error in the contestant's program, not a failure of the judge.
type Plan struct {
	Judge       int          `json:"judge"`
	Error       *SourceError `json:"error,omitempty"`
	Files       []File       `json:"files,omitempty"`     // written into the working directory
	Compile     []Step       `json:"compile,omitempty"`   // run in order; the first that fails is a compile error
	Artifacts   []string     `json:"artifacts,omitempty"` // globs kept for the run; ** crosses folders
	Run         Step         `json:"run"`
	Diagnostics Format       `json:"diagnostics,omitzero"`
}

// SourceError is an adapter's refusal of a source.
type SourceError struct {
	Message string `json:"message"`
	Source  int    `json:"source"` // index in PlanRequest.Sources
	Line    int    `json:"line"`
}

// File is a file to write: the text of a submitted source, or Text when Source is nil. Path is relative, without "..".
type File struct {
	Path   string `json:"path"`
	Source *int   `json:"source,omitempty"`
	Text   string `json:"text,omitempty"`
}

// Step is one command. Exactly one of Tool and Program is set: a logical tool
// name, or an artifact's path such as "./main".
type Step struct {
	Tool         string            `json:"tool,omitempty"`
	Program      string            `json:"program,omitempty"`
	Args         []string          `json:"args,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	Limits       StepLimits        `json:"limits,omitzero"`
	MemoryPolicy string            `json:"memory_policy,omitempty"` // "cgroup" (default) or "runtime+cgroup"
	MemoryExit   string            `json:"memory_exit,omitempty"`   // with runtime+cgroup: Go regular expression on stderr that means MLE
}

// StepLimits bound a step. Zero means the host's default (compile: 20 s CPU,
// 1024 MiB, 64 processes) or, for the run, the problem's limit.
type StepLimits struct {
	CPUMillis      int64 `json:"cpu_ms,omitempty"`
	MemoryMiB      int64 `json:"memory_mib,omitempty"`
	ExtraMemoryMiB int64 `json:"extra_memory_mib,omitempty"` // on top of the problem's, for a runtime's own needs
	Processes      int   `json:"processes,omitempty"`
	FileMiB        int64 `json:"file_mib,omitempty"`
}

// Format says how to read a compiler's words. Name is gcc, javac, regex or plugin; Pattern (regex only) has the named
// groups file, line, col, severity, message.
type Format struct {
	Name    string `json:"format"`
	Pattern string `json:"pattern,omitempty"`
}

// DiagnosticsRequest asks an adapter with format "plugin" to read a compiler's words.
type DiagnosticsRequest struct {
	Judge   int      `json:"judge"`
	Op      string   `json:"op"`
	Sources []Source `json:"sources"`
	Stdout  string   `json:"stdout"`
	Stderr  string   `json:"stderr"`
}

// DiagnosticsReply is the answer.
type DiagnosticsReply struct {
	Judge       int          `json:"judge"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Diagnostic is one message, mapped to a submitted source.
type Diagnostic struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column,omitempty"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}
