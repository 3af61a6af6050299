// Package survey reads many problem packages, proves them, and sums up what came of it:
// what a site sees before it moves in. It needs no database, and nothing is kept.
//
// A package that is broken, or takes too long, is a line of the table; the others go on.
package survey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/problem"
	"deepoj/host/reading"
	"deepoj/host/verify"
)

// Config says how packages are surveyed. All fields have defaults.
type Config struct {
	// Reader bounds what reading a package may cost.
	Reader reading.Config

	// Judge judges the submissions that prove packages. Nil leaves the proofs out.
	Judge *judging.Judge

	// Blobs is where Judge finds packages. It is emptied now and then. Required with Judge.
	Blobs *blob.Dir

	// Parallel is how many packages are read or proved at once. Defaults to the number of cores.
	Parallel int

	// Patience is how long one package may take on the clock. Defaults to 15 minutes.
	Patience time.Duration

	// Told is told of each package that is done, from one goroutine at a time, and of
	// how many there are. Defaults to nobody.
	Told func(p Package, done, total int)
}

// State is how far a package came.
type State string

// The states of packages.
const (
	Proved   State = "proved"
	Unproved State = "not proved" // it imports, and its proof found something
	Imports  State = "imports"    // and nobody asked for a proof
	Refused  State = "refused"
	Failed   State = "failed" // the platform could not tell, or it took too long
	Left     State = "left"   // the survey was ended before
)

// Package is what is known of a package.
type Package struct {
	Path     string            `json:"path"`
	Slug     string            `json:"slug"`
	Format   string            `json:"format,omitempty"`
	State    State             `json:"state"`
	Refused  []problem.Finding `json:"refused,omitempty"`
	Warnings []problem.Finding `json:"warnings,omitempty"`
	Error    string            `json:"error,omitempty"` // with Refused or Failed, if there is more to say
	Tests    int               `json:"tests,omitempty"`
	Seconds  float64           `json:"seconds"` // on the clock

	// Proof is there if there was one, without the words of compilers.
	Proof *judge.Proof `json:"proof,omitempty"`
}

func (c Config) withDefaults() Config {
	c.Parallel = cmp.Or(c.Parallel, runtime.GOMAXPROCS(0))
	c.Patience = cmp.Or(c.Patience, 15*time.Minute)
	if c.Told == nil {
		c.Told = func(Package, int, int) {}
	}
	return c
}

// roomBytes is how much the packages may take that are stored for their proofs before what is stored is removed.
const roomBytes = 4 << 30

// Run surveys packages, each an open folder or ZIP file whose name is its path. What
// is not reached when ctx ends is Left; then the error says why.
func Run(ctx context.Context, cfg Config, files []*os.File) ([]Package, error) {
	cfg = cfg.withDefaults()
	all := make([]Package, len(files))
	for i, f := range files {
		all[i] = Package{Path: f.Name(), Slug: slugOf(f.Name()), State: Left}
	}
	s := &surveyor{cfg: cfg, total: len(files)}
	g := errgroup.Group{} // which one package does not end for the others
	g.SetLimit(cfg.Parallel)
	for i, f := range files {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			if ctx.Err() == nil {
				s.one(ctx, f, &all[i])
			}
			return nil
		})
	}
	_ = g.Wait() // none of them fails
	if ctx.Err() != nil {
		return all, fmt.Errorf("survey: %w", context.Cause(ctx))
	}
	return all, nil
}

func slugOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".zip") }

// surveyor is a survey under way.
type surveyor struct {
	cfg   Config
	total int

	mu   sync.Mutex
	done int

	room sync.RWMutex // held for writing while what is stored is removed
	used int64        // guarded by mu
}

// one surveys one package.
func (s *surveyor) one(ctx context.Context, f *os.File, p *Package) {
	begun := time.Now()
	within, cancel := context.WithTimeout(ctx, s.cfg.Patience)
	err := s.look(within, f, p)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("it took longer than %s", s.cfg.Patience)
	}
	cancel()
	p.Seconds = float64(time.Since(begun).Milliseconds()) / 1000
	switch {
	case ctx.Err() != nil && p.State == Left:
		return // nobody knows what would have come of it
	case err != nil:
		p.State, p.Error = Failed, brief(err.Error())
		if verify.AtFault(err) {
			p.State = Refused
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	s.cfg.Told(*p, s.done, s.total)
}

// look reads a package and proves it. The error is why there is no state.
func (s *surveyor) look(ctx context.Context, f *os.File, p *Package) error {
	r, err := s.cfg.Reader.Archive(ctx, f)
	defer func() { _ = r.Close() }()
	p.Warnings = r.Report.Warnings
	failure, own := errors.AsType[*reading.FailureError](err)
	_, refused := errors.AsType[*problem.Error](err)
	switch {
	case own:
		p.State, p.Error = Refused, failure.Why
		return nil
	case refused:
		p.State, p.Refused = Refused, problem.Findings(err)
		return nil
	case err != nil:
		return err
	}
	p.Format, p.Tests, p.State = r.Format, len(r.Tests()), Imports
	if s.cfg.Judge == nil {
		return nil
	}
	p.State = Left
	r.Slug = p.Slug
	defer s.claim(r.Package)()
	if _, err := r.Save(ctx, s.cfg.Blobs); problem.Unreadable(err) && ctx.Err() == nil {
		p.State, p.Error = Refused, err.Error()
		return nil
	} else if err != nil {
		return err
	}
	return s.prove(ctx, r.Package, p)
}

// claim makes room for a package, which may be used until what is returned is called.
func (s *surveyor) claim(pkg *problem.Package) (release func()) {
	size := int64(0)
	for _, f := range pkg.Files {
		size += f.Size
	}
	s.mu.Lock()
	s.used += size
	full := s.used > roomBytes
	if full {
		s.used = size
	}
	s.mu.Unlock()
	if full {
		s.room.Lock() // waits for those that are under way
		s.empty()
		s.room.Unlock()
	}
	s.room.RLock()
	return s.room.RUnlock
}

// empty removes what is stored. What stays only takes room.
func (s *surveyor) empty() {
	entries, err := os.ReadDir(s.cfg.Blobs.Root())
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(s.cfg.Blobs.Root(), e.Name())
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, f := range files {
			_ = os.Remove(f)
		}
	}
}

// prove finishes a package that is stored, and proves it.
func (s *surveyor) prove(ctx context.Context, pkg *problem.Package, p *Package) error {
	cfg := verify.Config{Judge: s.cfg.Judge, Parallel: s.cfg.Parallel}
	finished, err := verify.Finish(ctx, cfg, pkg)
	if err != nil {
		return err
	}
	report, err := verify.Run(ctx, cfg, finished)
	if err != nil {
		return err
	}
	for i := range report.Rows {
		report.Rows[i].Groups, report.Rows[i].Message = nil, ""
		report.Rows[i].Problem = firstLine(report.Rows[i].Problem)
	}
	if p.Proof, p.State = &report, Unproved; report.OK() {
		p.State = Proved
	}
	return nil
}

// brief are the first words of an error, in one line.
func brief(s string) string {
	words := strings.Join(strings.Fields(s), " ")
	if r := []rune(words); len(r) > maxError {
		return string(r[:maxError]) + "…"
	}
	return words
}

// maxError bounds an error, in characters.
const maxError = 600

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// What is looked through to find packages.
const (
	maxFolders = 100_000
	maxDeep    = 12
)

// signs are the files that make a folder a package.
var signs = []string{"problem.yaml", "problem.xml", "init.yml"}

// Find returns the packages at and below paths, each once and in order: folders that
// hold a sign of a package, and ZIP files. A path that holds none is taken for a
// package itself. Hidden folders are not looked into, nor are folders of packages.
func Find(paths []string) ([]string, error) {
	var all []string
	left := maxFolders
	for _, p := range paths {
		found, err := find(filepath.Clean(p), 0, &left)
		if err != nil {
			return nil, fmt.Errorf("look for packages: %w", err)
		}
		if len(found) == 0 {
			found = []string{filepath.Clean(p)}
		}
		all = append(all, found...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(p string) bool {
		twice := seen[p]
		seen[p] = true
		return twice
	}), nil
}

func find(dir string, deep int, left *int) (found []string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{dir}, nil
	}
	if *left--; *left < 0 {
		return nil, fmt.Errorf("%s: there are more than %d folders: name those that hold packages", dir, maxFolders)
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) && deep > 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if slices.Contains(signs, e.Name()) && !e.IsDir() {
			return []string{dir}, nil
		}
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && deep < maxDeep:
			below, err := find(name, deep+1, left)
			if err != nil {
				return nil, err
			}
			found = append(found, below...)
		case e.Type().IsRegular() && strings.EqualFold(filepath.Ext(name), ".zip"):
			found = append(found, name)
		}
	}
	return found, nil
}
