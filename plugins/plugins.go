// Package plugins carries the plugins that ship with Deep-OJ inside the binary:
// the standard checkers and the language adapters.
//
// It hands out bytes and knows nothing of WebAssembly; package host/plugin runs
// them. A plugin that somebody uploads never passes through here.
package plugins

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"deepoj/plugins/archive"
)

//go:embed dist
var dist embed.FS

//go:embed sdk/cpp/include sdk/cpp/exceptions.cpp
var sdk embed.FS

// SDK returns what a C++ plugin is compiled with: the folder include, which goes on the search path, and
// exceptions.cpp, which is compiled along. See README.md for the command line.
func SDK() fs.FS {
	cpp, err := fs.Sub(sdk, "sdk/cpp")
	if err != nil {
		panic(err) //nolint:forbidigo // only a malformed path fails, and this one is not
	}
	return cpp
}

// The names of files in dist.
const (
	checkerPrefix = "checker-"
	suffix        = ".wasm"
	adapters      = "dist/adapters.pack"
)

// ErrNotBuilt reports a binary that was built without its language adapters.
var ErrNotBuilt = errors.New("this binary holds no language adapters: run `make plugins` and build it again")

// ErrNoChecker reports the name of a checker that does not exist.
var ErrNoChecker = errors.New("no such standard checker")

// Checker returns the WebAssembly module of a standard checker, such as
// "tokens". The error matches [ErrNoChecker] and names those that exist.
func Checker(name string) ([]byte, error) {
	names := Checkers()
	if !slices.Contains(names, name) {
		return nil, fmt.Errorf("%w as %q: there are %s", ErrNoChecker, name, strings.Join(names, ", "))
	}
	return dist.ReadFile(path.Join("dist", checkerPrefix+name+suffix))
}

// Checkers returns the names of the standard checkers, sorted.
func Checkers() []string { return names(checkerPrefix) }

// Languages returns the WebAssembly modules of the language adapters by language id. With none at hand it returns an
// archive of none and [ErrNotBuilt]. Only the table of the modules is read: they are unpacked when one is asked for.
func Languages() (*archive.Archive, error) { return languages() }

var languages = sync.OnceValues(func() (*archive.Archive, error) {
	file, err := dist.ReadFile(adapters)
	if errors.Is(err, fs.ErrNotExist) {
		return &archive.Archive{}, ErrNotBuilt
	}
	if err != nil {
		return &archive.Archive{}, fmt.Errorf("read the language adapters: %w", err)
	}
	a, err := archive.Open(file)
	if err != nil {
		return &archive.Archive{}, fmt.Errorf("read the language adapters: %w", err)
	}
	return a, nil
})

// Digests returns the digest of every standard checker, as "sha256:" and 64 hexadecimal digits, by file name, such as
// "checker-tokens.wasm".
func Digests() (map[string]string, error) {
	digests := map[string]string{}
	for _, name := range Checkers() {
		module, err := Checker(name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(module)
		digests[checkerPrefix+name+suffix] = "sha256:" + hex.EncodeToString(sum[:])
	}
	return digests, nil
}

// names returns what stands between prefix and suffix in dist's file names, sorted.
func names(prefix string) []string {
	files, err := fs.Glob(dist, path.Join("dist", prefix+"*"+suffix))
	if err != nil {
		return nil // only a malformed pattern fails, and this one is not
	}
	var list []string
	for _, file := range files {
		list = append(list, strings.TrimSuffix(strings.TrimPrefix(path.Base(file), prefix), suffix))
	}
	return list
}
