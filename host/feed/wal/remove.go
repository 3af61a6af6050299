package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Remove deletes the log in dir, whatever its content is worth, and returns how many files it had. The folder stays.
// With [ErrLocked] another process has the log, and nothing was deleted. What is no file of the log stays, too.
func Remove(dir string) (files int, err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	all, err := Files(dir)
	if err != nil {
		return 0, err
	}
	for _, path := range all { // by name, and so the oldest first, as cleaning does
		if err := os.Remove(path); err != nil {
			return files, fmt.Errorf("wal_dir: %w", err)
		}
		files++
	}
	return files, syncFolder(dir)
}

// Files lists the files of the log in dir by name, whether or not they belong together. A folder that is missing has none.
func Files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("wal_dir: %w", err)
	}
	var all []string
	for _, e := range entries {
		if segmentPattern.MatchString(e.Name()) {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all, nil
}
