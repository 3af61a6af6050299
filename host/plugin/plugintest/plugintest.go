// Package plugintest spares the tests of many packages what takes a runtime of
// plugins long: building the program of its children, and compiling the adapters,
// which are always the same. Both are kept below .build until the sources of
// package plugin change.
package plugintest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Shared is what tests share, also those that run at the same time.
type Shared struct {
	Exe      string // the children's program, built without the race detector, which makes compiling modules slower than it is allowed to be
	CacheDir string // a cache of modules, for tests that are not about the cache
}

// Open returns what is shared, and makes it when it is missing.
func Open() (Shared, error) {
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		return Shared{}, errors.New("the folder of package plugintest is unknown")
	}
	source := filepath.Dir(filepath.Dir(here))
	root := filepath.Dir(filepath.Dir(source))
	key, err := digest(filepath.Join(root, "go.mod"), filepath.Join(source, "*.go"), filepath.Join(source, "testdata", "child", "*.go"))
	if err != nil {
		return Shared{}, err
	}
	dir := filepath.Join(root, ".build", "plugintest-"+key)
	s := Shared{Exe: filepath.Join(dir, "child"), CacheDir: filepath.Join(dir, "cache")}
	if err := os.MkdirAll(s.CacheDir, 0o755); err != nil {
		return s, err
	}
	if _, err := os.Stat(s.Exe); err == nil {
		return s, nil
	}
	build := exec.Command("go", "build", "-o", fmt.Sprintf("%s.%d", s.Exe, os.Getpid()), "./testdata/child")
	build.Dir = source
	if said, err := build.CombinedOutput(); err != nil {
		return s, fmt.Errorf("build the plugins' child: %w\n%s", err, said)
	}
	return s, os.Rename(fmt.Sprintf("%s.%d", s.Exe, os.Getpid()), s.Exe)
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
