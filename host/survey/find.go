package survey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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
