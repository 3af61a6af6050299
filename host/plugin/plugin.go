// Package plugin runs guests: checkers, interactors and tool-chain adapters that are WASI preview-1 command modules.
//
// A guest is not trusted. Three layers contain it. An admission scan refuses modules that would cost too much merely to
// look at, and rewrites the others so that they count what they do ([Refusal]). Compilation happens in a child process
// with little memory and time. Calls happen in worker processes that have no environment, no network and no files but
// the cache, see [walls.All], a fresh instance for each call; a worker that dies takes nothing with it but its own
// call, which is tried once more.
//
// A guest sees the files of its call and nothing else: the clock counts its readings, random numbers are the same each
// time, and the same input gives the same answer for the same fuel.
//
// What a guest does wrong is never the contestant's doing: it is an [*Error],
// and the caller makes it a judging error. What a program does to an interactor by
// speaking without end is [Judgement.Flooded]. Every other error is the platform's.
//
// Its files:
//
//	plugin.go     the runtime, its configuration, and its failures
//	module.go     admits a module and keeps it
//	manifest.go   manifests: put into a module, told of one, and checked against the dialects of this host
//	check.go      calls of checkers, and answers without one: of programs, and for outputs that are the answer
//	interact.go   calls of interactors
//	plan.go       calls of adapters
//	call.go       a call and what it leaves, and fuel for several together
//	queue.go      calls that wait go to a worker together
//	pool.go       workers: how many, how old, how large
//	process.go    starts and ends children, asks one for a compilation, and has their hidden commands
//	metrics.go    figures
//
// What a child does is in rooms of their own, each of which knows only those above it:
//
//	internal/op         words of WebAssembly's binary format
//	dialogue            what an interactor and a program may say to each other
//	walls               what processes give up that work on what strangers made
//	internal/wire       how host and worker speak, and what they say
//	internal/fuel       counts what a call uses
//	internal/wasi       WASI preview 1 for a guest that sees one call
//	internal/admission  reads modules, refuses them, and makes them count their fuel
//	internal/worker     the children: one compiles, the others call guests
package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/plugin/internal/admission"
)

// Config says where a [Runtime] keeps its files and what it allows guests. Every field but CacheDir has a default.
type Config struct {
	// CacheDir is the folder of admitted and compiled modules. It is made when it is missing and may be shared by
	// several runtimes. What is in it is trusted: nobody else may write there. Required.
	CacheDir string

	// Exe is the program that is run again as compile child and worker: its
	// main must hand the arguments to [Child]. Defaults to this program.
	Exe string

	// Workers is the number of worker processes, and so of calls at the same time. Defaults to the number of cores.
	Workers int

	// MaxModuleBytes is the largest module. Defaults to 16 MiB.
	MaxModuleBytes int64

	// MemoryMiB is the memory of a guest whose manifest asks for none, and
	// MaxMemoryMiB the most it can ask for. Default to 256 and 1024.
	MemoryMiB, MaxMemoryMiB int

	// FuelM is the fuel, in millions of units, of a call to a guest whose manifest asks for none, and MaxFuelM the
	// most it can ask for. A unit is about one instruction. Default to 20,000 and 100,000.
	FuelM, MaxFuelM int

	// OutputKiB is how much a guest may write in a call (stdout, stderr and feedback files together) when its
	// manifest asks for nothing, and MaxOutputKiB the most it can ask for. Default to 1024 and 16384.
	OutputKiB, MaxOutputKiB int

	// CompileCPU and CompileBytes bound the compilation of one module. CompileCPU is in whole seconds. Default to
	// 10 s, of which an adapter in Go takes 2.3 s on a small machine, and 1 GiB.
	CompileCPU   time.Duration
	CompileBytes int64

	// Patience is how long a call may take by the clock on the wall before its worker is killed. It is for worlds
	// that fuel does not see, such as a stalled disk. Defaults to 1 minute.
	Patience time.Duration

	// Log defaults to none.
	Log *slog.Logger

	// Registerer takes the metrics; nil keeps them private.
	Registerer prometheus.Registerer
}

// Validate reports every field that is missing or out of range.
func (c Config) Validate() error {
	var errs []error
	if c.CacheDir == "" {
		errs = append(errs, errors.New("CacheDir is missing"))
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"Workers", int64(c.Workers)},
		{"MaxModuleBytes", c.MaxModuleBytes},
		{"MemoryMiB", int64(c.MemoryMiB)},
		{"MaxMemoryMiB", int64(c.MaxMemoryMiB)},
		{"FuelM", int64(c.FuelM)},
		{"MaxFuelM", int64(c.MaxFuelM)},
		{"OutputKiB", int64(c.OutputKiB)},
		{"MaxOutputKiB", int64(c.MaxOutputKiB)},
		{"CompileCPU", int64(c.CompileCPU)},
		{"CompileBytes", c.CompileBytes},
		{"Patience", int64(c.Patience)},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("%s %d is negative", f.name, f.value))
		}
	}
	if c.MaxMemoryMiB > maxMemoryMiB {
		errs = append(errs, fmt.Errorf("MaxMemoryMiB %d is more than WebAssembly has, %d", c.MaxMemoryMiB, maxMemoryMiB))
	}
	return errors.Join(errs...)
}

// maxMemoryMiB is what the 32-bit addresses of a guest reach, less the last page, whose end they do not.
const maxMemoryMiB = 4095

// The defaults that [Inspect] knows too.
const (
	defaultModuleBytes  = 16 << 20
	defaultMaxMemoryMiB = 1024
)

// withDefaults returns c with every zero field filled.
func (c Config) withDefaults() (Config, error) {
	c.Exe = cmp.Or(c.Exe, "/proc/self/exe")
	dir, err := filepath.Abs(c.CacheDir)
	if err != nil {
		return c, fmt.Errorf("find cache folder: %w", err)
	}
	c.CacheDir = dir
	fill(&c.Workers, runtime.GOMAXPROCS(0))
	fill(&c.MaxModuleBytes, defaultModuleBytes)
	fill(&c.MaxMemoryMiB, defaultMaxMemoryMiB)
	fill(&c.MemoryMiB, min(256, c.MaxMemoryMiB))
	fill(&c.MaxFuelM, 100_000)
	fill(&c.FuelM, min(20_000, c.MaxFuelM))
	fill(&c.MaxOutputKiB, 16<<10)
	fill(&c.OutputKiB, min(1024, c.MaxOutputKiB))
	fill(&c.CompileCPU, 10*time.Second)
	fill(&c.CompileBytes, 1<<30)
	fill(&c.Patience, time.Minute)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	return c, nil
}

// fill sets *field to value when it is zero.
func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Runtime admits modules and calls them. It may be used by several goroutines.
type Runtime struct {
	cfg       Config
	dir       string // of the cache, for this build
	spawner   *spawner
	pool      *pool
	compiling chan struct{} // one for each compile child that may be at work
	metrics   *metrics

	mu    sync.Mutex
	locks map[string]chan struct{} // by digest: who loads it
	sound map[string]*about        // by folder of the cache: what was found in it, and is what was admitted
}

// New returns a runtime. It starts no process yet.
func New(cfg Config) (*Runtime, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("plugin runtime: %w", err)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("plugin runtime: %w", err)
	}
	r := &Runtime{
		cfg:       cfg,
		dir:       filepath.Join(cfg.CacheDir, buildName()),
		spawner:   newSpawner(cfg.Exe),
		compiling: make(chan struct{}, cfg.Workers),
		locks:     map[string]chan struct{}{},
		sound:     map[string]*about{},
	}
	r.pool = newPool(r.spawner, r.dir, cfg.Workers, int64(cfg.MaxMemoryMiB)<<20)
	err = os.MkdirAll(r.dir, 0o700)
	if err == nil {
		err = sweep(r.dir)
	}
	if err == nil {
		r.metrics, err = newMetrics(cfg.Registerer)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("plugin runtime: %w", err), r.Close())
	}
	return r, nil
}

// buildName names the part of the cache that this build can use: another rewriter or compiler makes other code.
func buildName() string {
	compiler := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/tetratelabs/wazero" {
				compiler = d.Version
			}
		}
	}
	return fmt.Sprintf("r%d-wazero-%s-%s", admission.Revision, compiler, runtime.GOARCH)
}

// Close ends the workers, and with them the calls that are under way.
func (r *Runtime) Close() error {
	r.pool.close()
	r.spawner.close()
	return nil
}

// Error is a plugin's failure to answer: it trapped, ran out of fuel or memory, or broke the contract. It is never the
// contestant's doing, so the caller reports a judging error and not a verdict.
type Error struct {
	Plugin  string // name and digest, such as "tokens@9f86d081"
	Call    string // what it was asked, such as "check" or "plan"
	Err     error  // what the runtime reported; often one of the sentinels below
	Fuel    uint64 // what the guest had used by then; 0 when that is not known
	Message string // what the guest had said by then, on stderr and in judgemessage.txt, for staff
}

func (e *Error) Error() string { return fmt.Sprintf("plugin %s: %s: %v", e.Plugin, e.Call, e.Err) }

// Unwrap returns what the runtime reported.
func (e *Error) Unwrap() error { return e.Err }

// What an [Error] can be about. With ErrContract and ErrFailed it was the guest that ended by itself.
var (
	ErrFuel     = errors.New("ran out of fuel")
	ErrMemory   = errors.New("ran out of memory")
	ErrTrap     = errors.New("trapped")
	ErrOutput   = errors.New("wrote more than it may")
	ErrDied     = errors.New("ended its worker process, twice")
	ErrPatience = errors.New("gave no answer in time")
	ErrContract = errors.New("broke the contract")
	ErrFailed   = errors.New("says that it failed")
)

// Refusal says why a module was not admitted.
type Refusal = admission.Refusal //nolint:errname // a refusal is a decision, and is named so by everybody
