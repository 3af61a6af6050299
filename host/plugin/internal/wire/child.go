package wire

import "time"

// The hidden commands of a program, which it hands to the runtime's Child.
const (
	CompileCommand = "plugin-compile"
	WorkerCommand  = "plugin-worker"
)

// Exit statuses of a child. A Go program that dies by itself has 2.
const (
	ExitDone    = 0
	ExitInvalid = 3 // the module is not valid; why is on stdout
	ExitBroken  = 4 // the child could not do its work; why is on stderr
)

// Files of a module's folder in the cache, and the compiler's own folder beside
// them all.
const (
	ModuleFile = "module.wasm" // rewritten
	CodeDir    = "code"
)

// Limits are what a child does to itself before it touches a module.
type Limits struct {
	Dir        string        `json:"dir,omitempty"`         // compile child: the module's folder; worker: the cache
	Again      bool          `json:"again,omitempty"`       // compile child: the module was compiled before
	GuestBytes int64         `json:"guest_bytes,omitempty"` // worker: largest memory of a guest
	DataBytes  int64         `json:"data_bytes"`            // what it may allocate
	CPU        time.Duration `json:"cpu,omitempty"`         // whole seconds; 0 = no limit
}

// MaxDetail is how much is kept of what an engine says of a trap, and of other
// descriptions.
const MaxDetail = 2 << 10
