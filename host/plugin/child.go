package plugin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The hidden commands that a program must hand to [Child].
const (
	CompileCommand = "plugin-compile"
	WorkerCommand  = "plugin-worker"
)

// Exit statuses of a child. A Go program that dies by itself has 2.
const (
	exitDone    = 0
	exitInvalid = 3 // the module is not valid; why is on stdout
	exitBroken  = 4 // the child could not do its work; why is on stderr
)

// Child is the whole life of a compile child or a worker: args are those of the
// process without its name, so args[0] is [CompileCommand] or [WorkerCommand].
// It returns the exit status. A main calls it before anything else:
//
//	if len(os.Args) > 1 && (os.Args[1] == plugin.CompileCommand || os.Args[1] == plugin.WorkerCommand) {
//		os.Exit(plugin.Child(os.Args[1:]))
//	}
func Child(args []string) int {
	status, err := child(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return status
}

func child(args []string) (int, error) {
	if len(args) != 2 {
		return exitBroken, fmt.Errorf("plugin child: %d arguments, want 2; this command is not for people", len(args))
	}
	var limits childLimits
	if err := json.Unmarshal([]byte(args[1]), &limits); err != nil {
		return exitBroken, fmt.Errorf("plugin child: read limits: %w", err)
	}
	var w walls
	switch args[0] {
	case CompileCommand:
		w = walls{descriptors: hostDescriptor, cache: filepath.Dir(limits.Dir), reads: limits.Dir, writes: filepath.Join(filepath.Dir(limits.Dir), codeDir)}
	case WorkerCommand:
		w = walls{descriptors: hostDescriptor + 1, cache: limits.Dir, reads: limits.Dir}
	default:
		return exitBroken, fmt.Errorf("plugin child: unknown command %q", args[0])
	}
	if err := limits.apply(w); err != nil {
		return exitBroken, fmt.Errorf("plugin child: limit itself: %w", err)
	}
	if args[0] == CompileCommand {
		return compileChild(limits.Dir, limits.Again)
	}
	return serve(limits.Dir, limits.GuestBytes)
}

// childLimits are what a child does to itself before it touches a module.
type childLimits struct {
	Dir        string        `json:"dir,omitempty"`         // compile child: the module's folder; worker: the cache
	Again      bool          `json:"again,omitempty"`       // compile child: the module was compiled before
	GuestBytes int64         `json:"guest_bytes,omitempty"` // worker: largest memory of a guest
	DataBytes  int64         `json:"data_bytes"`            // what it may allocate
	CPU        time.Duration `json:"cpu,omitempty"`         // whole seconds; 0 = no limit
}

// apply takes away what a child does not need: memory, time, core files, and all
// that is beyond its walls.
//
// The address space cannot be limited, since the Go runtime reserves much more
// of it than it uses. What it maps writable counts as data, so that is what is
// limited, on top of what it has mapped already.
func (l childLimits) apply(w walls) error {
	mapped, err := dataMapped()
	if err != nil {
		return err
	}
	type limit struct {
		resource int
		soft     uint64
		hard     uint64
	}
	data := uint64(mapped + l.DataBytes*dataFactor)
	limits := []limit{
		{unix.RLIMIT_DATA, data, data},
		{unix.RLIMIT_CORE, 0, 0},
		{unix.RLIMIT_NOFILE, 128, 128},
		{unix.RLIMIT_FSIZE, 1 << 30, 1 << 30},
	}
	if l.CPU > 0 {
		s := uint64(l.CPU / time.Second)
		// Go programs take no notice of the signal at the soft limit.
		limits = append(limits, limit{unix.RLIMIT_CPU, s, s})
	}
	for _, x := range limits {
		if err := unix.Setrlimit(x.resource, &unix.Rlimit{Cur: x.soft, Max: x.hard}); err != nil {
			return fmt.Errorf("resource %d to %d: %w", x.resource, x.soft, err)
		}
	}
	if err := w.build(); err != nil {
		return err
	}
	// Collect garbage harder before the limit is met.
	debug.SetMemoryLimit(l.DataBytes * 3 / 4)
	debug.SetGCPercent(400) // a call leaves little behind, and there are many
	return nil
}

// dataMapped returns how many bytes of data the process has mapped.
func dataMapped() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmData:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no VmData")
}
