// Package plugintest spares the tests of many packages what takes a runtime of plugins long: building the program of
// its children, and compiling the adapters, which are always the same. Both are kept below .build until the sources of
// package plugin change. Tests of programs that run for themselves get copies.
package plugintest

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"deepoj/host/plugin"
)

// Shared is what tests share, also those that run at the same time.
type Shared struct {
	Exe      string // the children's program, built without the race detector, which makes compiling modules slower than it is allowed to be
	CacheDir string // a cache of modules, for tests that are not about the cache
	Dir      string // of both, with room for what else is to be shared
}

// Open returns what is shared, and makes it when it is missing.
func Open() (Shared, error) {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return Shared{}, fmt.Errorf("where the sources are: %w", err)
	}
	root := strings.TrimSpace(string(module))
	source := filepath.Join(root, "host", "plugin")
	key, err := digest(filepath.Join(root, "go.mod"), filepath.Join(source, "*.go"), filepath.Join(source, "testdata", "child", "*.go"))
	if err != nil {
		return Shared{}, err
	}
	dir := filepath.Join(root, ".build", "plugintest-"+key)
	s := Shared{Exe: filepath.Join(dir, "child"), CacheDir: filepath.Join(dir, "cache"), Dir: dir}
	if err := os.MkdirAll(s.CacheDir, 0o755); err != nil {
		return s, err
	}
	unlock, err := s.Lock()
	if err != nil {
		return s, err
	}
	defer unlock()
	if _, err := os.Stat(s.Exe); err == nil {
		return s, s.name()
	}
	build := exec.Command("go", "build", "-o", fmt.Sprintf("%s.%d", s.Exe, os.Getpid()), "./testdata/child")
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=0") // as programs are built that people run
	if said, err := build.CombinedOutput(); err != nil {
		return s, fmt.Errorf("build the plugins' child: %w\n%s", err, said)
	}
	if err := os.Rename(fmt.Sprintf("%s.%d", s.Exe, os.Getpid()), s.Exe); err != nil {
		return s, err
	}
	return s, s.name()
}

// Lock keeps other processes from what is shared until unlock is called, so that
// one makes what is missing and the others wait for it.
func (s Shared) Lock() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(s.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return func() { _ = f.Close() }, nil // which unlocks it
}

// Compile takes modules into the cache, those that are not there yet: only they are read.
func (s Shared) Compile(
	ctx context.Context, r *plugin.Runtime, names []string, digest func(name string) string, read func(name string) ([]byte, error),
) error {
	unlock, err := s.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	var g errgroup.Group
	for _, name := range names {
		g.Go(func() error {
			if _, err := r.LoadDigest(ctx, digest(name), func() ([]byte, error) { return read(name) }, nil); err != nil {
				return fmt.Errorf("compile %s: %w", name, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// name gives the cache the folder that programs of ours use for their compiler, which they name by its version. A test
// binary may not know that version and use another name, under which it finds the same folder then.
func (s Shared) name() error {
	info, err := buildinfo.ReadFile(s.Exe)
	if err != nil {
		return fmt.Errorf("look into the plugins' child: %w", err)
	}
	version := ""
	for _, d := range info.Deps {
		if d.Path == "github.com/tetratelabs/wazero" {
			version = d.Version
		}
	}
	probe, err := os.MkdirTemp(s.Dir, "name-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(probe)
	r, err := plugin.New(plugin.Config{CacheDir: probe, Exe: s.Exe})
	if err != nil {
		return err
	}
	folders, err := os.ReadDir(probe)
	if err = errors.Join(err, r.Close()); err != nil || len(folders) != 1 || version == "" {
		return errors.Join(fmt.Errorf("the cache of compiler %q has the folders %v", version, folders), err)
	}
	ours := folders[0].Name()
	known := strings.Replace(ours, "-unknown-", "-"+version+"-", 1)
	if err := os.MkdirAll(filepath.Join(s.CacheDir, known), 0o700); err != nil || ours == known {
		return err
	}
	if err := os.Symlink(known, filepath.Join(s.CacheDir, ours)); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Copy makes dir a cache of modules for a program of ours.
func (s Shared) Copy(dir string) error {
	unlock, err := s.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	folders, err := os.ReadDir(s.CacheDir)
	if err != nil {
		return err
	}
	for _, f := range folders {
		if !f.IsDir() {
			continue // another name of one that is
		}
		if err := copyComplete(filepath.Join(s.CacheDir, f.Name()), filepath.Join(dir, f.Name())); err != nil {
			return fmt.Errorf("copy modules: %w", err)
		}
	}
	return nil
}

// copyComplete copies a folder without what other processes are about to write.
func copyComplete(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it had a name for the time being
		}
		if err != nil {
			return err
		}
		unfinished := strings.HasPrefix(e.Name(), "tmp-") || strings.HasSuffix(e.Name(), ".tmp")
		switch {
		case unfinished && e.IsDir():
			return fs.SkipDir
		case unfinished:
			return nil
		}
		at := filepath.Join(to, strings.TrimPrefix(path, from))
		if e.IsDir() {
			return os.MkdirAll(at, 0o700)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(at, b, 0o600)
	})
}

// digest names the content of files.
func digest(patterns ...string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), runtime.GOARCH)
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		for _, path := range paths {
			f, err := os.Open(path)
			if err != nil {
				return "", err
			}
			_, err = io.Copy(h, f)
			if err = errors.Join(err, f.Close()); err != nil {
				return "", fmt.Errorf("read %s: %w", path, err)
			}
		}
	}
	const half = sha256.Size / 2
	return hex.EncodeToString(h.Sum(nil)[:half]), nil
}
