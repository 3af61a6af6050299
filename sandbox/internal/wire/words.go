package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"time"
)

// Verdict says how a run ended.
type Verdict string

// The verdicts of a run.
const (
	OK  Verdict = "OK"  // exited with status 0 within all limits
	TLE Verdict = "TLE" // used more CPU time or wall time than allowed
	MLE Verdict = "MLE" // the kernel killed a process of the run for want of memory, or had no memory left for its text
	OLE Verdict = "OLE" // wrote more than allowed
	RE  Verdict = "RE"  // exited with another status, or died of a signal
	SE  Verdict = "SE"  // could not be run; Result.Error says why
)

// Errors that callers match.
var (
	// ErrNoTool says that the agent found no program for a logical tool name.
	ErrNoTool = errors.New("no such tool")

	// ErrAgentGone says that the agent ended or closed the connection. What was
	// under way is lost and may be tried again with another agent.
	ErrAgentGone = errors.New("the sandbox agent is gone")
)

// UnfitError says that files cannot lie in a box, or be taken out of it, as they are, or that a command is too long: a
// name is too long, a file lies where a folder should, there are too many, or they are too large. Whoever made them is
// at fault and not the platform, and it will be the same the next time.
type UnfitError struct{ Reason string }

func (e *UnfitError) Error() string { return e.Reason }

// Unfit returns an [UnfitError].
func Unfit(format string, args ...any) error { return &UnfitError{fmt.Sprintf(format, args...)} }

// Limits bound a run. A zero field means its default; a negative one, or one
// above what the machine has, makes the run an SE that names the field.
type Limits struct {
	CPU         time.Duration // CPU time of all processes and threads together; default 1 s
	Wall        time.Duration // time on the clock; default 2 × CPU + 1 s
	MemoryBytes int64         // memory of all processes, including /tmp and /dev/shm; default 256 MiB
	OutputBytes int64         // more on standard output, or on standard error, is OLE; default 64 MiB
	FileBytes   int64         // size of one file; more is OLE; default 64 MiB
	Processes   int           // processes and threads at once; default 64
	OpenFiles   int           // descriptors per process; default 256
	Cores       int           // CPU cores it may use at once; default 1
}

// Result says how a run ended and what it used.
type Result struct {
	Verdict     Verdict       `json:"verdict"`
	CPU         time.Duration `json:"cpu_ns"`       // of all processes and threads of the run
	Wall        time.Duration `json:"wall_ns"`      // from the start of the program to its end
	MemoryBytes int64         `json:"memory_bytes"` // highest memory use, to about 256 KiB; see README.md
	ExitCode    int           `json:"exit_code"`    // exit status, when Signal is 0
	Signal      int           `json:"signal"`       // signal that ended the main process; 0 = none
	OOM         bool          `json:"oom"`          // the kernel killed a process for want of memory
	OverWall    bool          `json:"over_wall"`    // a TLE by the clock, not by CPU time
	StdoutBytes int64         `json:"stdout_bytes"` // written, kept or not
	StderrBytes int64         `json:"stderr_bytes"` // written, kept or not

	StdoutTruncated bool `json:"stdout_truncated"`
	StderrTruncated bool `json:"stderr_truncated"`

	// Pressure is, with OverWall, how long some process of the run was ready and waited for a CPU: it says that the
	// machine and not the program was slow. Zero otherwise, and where the driver cannot tell.
	Pressure time.Duration `json:"pressure_ns"`

	// Ended is when the main process was seen to end, or was killed, on the agent's monotonic clock: of two
	// programs that talk to each other, the smaller one ended first. Ends that are less than a millisecond apart
	// may be seen in either order.
	Ended time.Duration `json:"ended_ns"`

	// Error says with SE what failed.
	Error string `json:"error,omitempty"`

	// Unfit says with SE that the platform is well and the run is at fault: the program is a file of the box, and
	// none that this machine executes, or the command is too long. Where a run brings its own box, it may also be
	// what an [UnfitError] says. It will be the same the next time.
	Unfit bool `json:"unfit,omitempty"`

	// Driver is the control group driver that measured: v2, hybrid, v1 or none.
	Driver string `json:"driver"`
}

// File is a file of a box.
type File struct {
	Path string      // relative to /box, without "..", slashes as separators
	Mode fs.FileMode // permission bits; 0 means 0644
	Data []byte
}

// BoxOptions say what a box is for.
type BoxOptions struct {
	// Writable lets the program write to /box, for compiling. Otherwise what was
	// Put belongs to root and the program can only read it.
	Writable bool

	// Locks lets the program lock files (flock and fcntl), as compilers do that share a cache among their
	// processes. A lock on a file of /usr can be seen in every other box with Locks, so programs of contestants do
	// without: they are told that they have the lock, and nobody is kept out by it.
	Locks bool

	// TmpBytes bounds each of /tmp, /dev/shm and a writable /box. Whatever is in them also counts as the program's
	// memory. Default 512 MiB. What /box may hold is bounded besides, so that all boxes together never take more
	// than half of the machine's memory by what was put into them.
	TmpBytes int64
}

// Tool is where a logical tool is.
type Tool struct {
	Name  string   `json:"name"`  // as asked
	Path  string   `json:"path"`  // absolute, the same inside and outside a box
	Roots []string `json:"roots"` // folders beyond /usr, /bin and /lib* that it needs to read
}

// Status says what an agent is able to do.
type Status struct {
	Driver   string   `json:"driver"`    // v2, hybrid, v1 or none
	Degraded []string `json:"degraded"`  // what is weaker than it should be, as sentences
	Slots    int      `json:"slots"`     // boxes at once
	Cores    []int    `json:"cores"`     // CPU cores that boxes run on
	Kernel   string   `json:"kernel"`    // release, such as "6.1.0-18-amd64"
	Landlock int      `json:"landlock"`  // ABI version; 0 = absent
	Seccomp  bool     `json:"seccomp"`   // whether system calls are filtered
	Swap     bool     `json:"swap"`      // whether the machine swaps
	Rootless bool     `json:"rootless"`  // whether the agent is root of a user namespace only
	SelfTest string   `json:"self_test"` // "" = passed a moment ago, else what failed
}

// The reasons for which an agent is replaced by another one.
const (
	ReplacedRoom   = "room"   // something that it had killed did not go
	ReplacedSilent = "silent" // it did not answer any more, and was killed
	ReplacedEnded  = "ended"  // it could not start, failed or was killed
)

// ReplacedReasons are all reasons for which an agent is replaced.
var ReplacedReasons = []string{ReplacedRoom, ReplacedSilent, ReplacedEnded}

// Supported reports why there is no sandbox for what this program was built for.
func Supported() error {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fmt.Errorf("the sandbox wants Linux on amd64, and this is %s on %s: start deepoj there, or in a virtual machine", runtime.GOOS, runtime.GOARCH)
	}
	return nil
}
