// Package build makes programs and plugins ready to run on this machine: adapters say
// how a language is compiled, the sandbox does it, and what was made is kept.
//
//	builder.go      the builder and its configuration
//	toolchain.go    languages that can be judged here
//	adapters.go     adapters that were uploaded
//	build.go        compiles a submission
//	program.go      what becomes of it
//	scripts.go      programs that compile and run themselves
//	unfit.go        submissions whose files make judging impossible
//	diagnostics.go  what compilers say, as places in sources
//	warm.go         caches that make slow compilers quick
//	cache.go        files that were expensive to make
//	recent.go       what was used last, in memory
//	made.go         files that are put into many boxes
//	keylocks.go     one goroutine at a time for one key
//	wasi.go         compiles plugins
//	testlib.go      checkers in C++ with testlib's header
//	compilers.go    compilers of plugins, and what they lack
package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging/runner"
	"deepoj/host/plugin"
	"deepoj/sandbox"
)

// Config says what judging works with.
type Config struct {
	Sandbox runner.Sandbox  // runs programs; required
	Plugins *plugin.Runtime // runs checkers and adapters; required
	Blobs   blob.Store      // holds the packages; required

	// Adapters are the modules of the language adapters by language id. Required.
	Adapters Adapters

	// Checker returns the module of a standard checker by name. Required.
	Checker func(name string) ([]byte, error)

	// Uploaded returns the uploaded plugins of a kind (checker, interactor or toolchain) that are active now; their
	// modules are in Blobs. An active adapter stands in for one of Adapters. Defaults to none.
	Uploaded func(ctx context.Context, kind string) ([]judge.Plugin, error)

	// SDK is what C++ plugins are compiled with: include/ and exceptions.cpp. Required.
	SDK fs.FS

	// CacheDir is a folder of this machine for compiled programs and checkers. What is in it is trusted: nobody
	// else may write there. It may be deleted while nothing runs. Required.
	CacheDir string

	// CacheBytes bounds what is kept in CacheDir. Defaults to 2 GiB.
	CacheBytes int64

	// KeepPlans keeps in CacheDir what adapters say how a program is compiled and run,
	// for whoever judges the same programs again and again.
	KeepPlans bool

	// Cores is how many tests of one submission run at once. Defaults to the
	// sandbox's slots, and no more than its cores.
	Cores int

	// Factors multiply the time limit by language id. Defaults to 1 for each.
	Factors map[string]float64

	// Log defaults to none.
	Log *slog.Logger

	// Registerer takes the metrics; nil keeps them private.
	Registerer prometheus.Registerer
}

// Validate reports every field that is missing or out of range.
func (c Config) Validate() error {
	var errs []error
	for _, f := range []struct {
		name    string
		missing bool
	}{
		{"Sandbox", c.Sandbox == nil},
		{"Plugins", c.Plugins == nil},
		{"Blobs", c.Blobs == nil},
		{"Adapters", c.Adapters == nil},
		{"Checker", c.Checker == nil},
		{"SDK", c.SDK == nil},
		{"CacheDir", c.CacheDir == ""},
	} {
		if f.missing {
			errs = append(errs, fmt.Errorf("%s is missing", f.name))
		}
	}
	if c.CacheBytes < 0 {
		errs = append(errs, fmt.Errorf("CacheBytes %d is negative", c.CacheBytes))
	}
	if c.Cores < 0 {
		errs = append(errs, fmt.Errorf("Cores %d is negative", c.Cores))
	}
	for id, f := range c.Factors {
		if f <= 0 {
			errs = append(errs, fmt.Errorf("Factors has %g for %s, which is not positive", f, id))
		}
	}
	return errors.Join(errs...)
}

// Complete returns the configuration with the defaults of what was left out.
func (c Config) Complete() Config {
	if c.CacheBytes == 0 {
		c.CacheBytes = 2 << 30
	}
	if c.Cores == 0 {
		c.Cores = min(c.Sandbox.Slots(), c.Sandbox.Cores())
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	return c
}

// Builder compiles programs and plugins. It may be used by several goroutines.
type Builder struct {
	*runner.Runner

	cfg     Config
	cache   *cache // of compiled programs and plugins, and of filled compile caches
	told    *cache // what tools and adapters said of themselves
	plans   *recent[[]byte]
	locks   keyLocks
	builds  *prometheus.CounterVec // by where the program came from
	plugins atomic.Int64           // how often sources of a plugin were compiled

	mu     sync.Mutex
	probes map[string]probe          // by logical tool name
	extra  map[string]adapter        // that were uploaded, by language id
	found  map[string]foundToolchain // by language id
}

// What is kept of what tools and adapters say, in bytes.
const (
	maxTold  = 4 << 20
	maxPlans = 4 << 20
)

// New returns a Builder with a valid configuration in which nothing is left out.
func New(cfg Config) (*Builder, error) {
	b := &Builder{cfg: cfg, probes: map[string]probe{}, locks: newKeyLocks(), plans: newRecent[[]byte](maxPlans), found: map[string]foundToolchain{}}
	var err error
	if b.Runner, err = runner.New(filepath.Join(cfg.CacheDir, "temp"), cfg.Registerer); err != nil {
		return nil, err
	}
	if b.cache, err = openCache(filepath.Join(cfg.CacheDir, "built"), cfg.CacheBytes); err != nil {
		return nil, err
	}
	if b.told, err = openCache(filepath.Join(cfg.CacheDir, "told"), maxTold); err != nil {
		return nil, err
	}
	b.builds = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "judging_builds_total", Help: "Programs made ready, by origin: compiled, cached or refused.",
	}, []string{"origin"})
	return b, cfg.Registerer.Register(b.builds)
}

// Once returns what made makes of what of, which is encodable as JSON, or made of it before.
func (b *Builder) Once(ctx context.Context, of any, made func() ([]sandbox.File, error)) ([]sandbox.File, error) {
	k, err := key(of)
	if err != nil {
		return nil, err
	}
	unlock, err := b.locks.lock(ctx, k)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var known struct{}
	if files, ok := b.cache.get(k, &known); ok {
		return files, nil
	}
	files, err := made()
	if err != nil {
		return nil, err
	}
	if err := b.cache.put(k, known, files); err != nil {
		b.cfg.Log.WarnContext(ctx, "what was made is not kept", slog.Any("err", err))
	}
	return files, nil
}
