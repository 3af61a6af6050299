package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"deepoj/host/command"
	"deepoj/host/feed/verbs"
)

// feedCommands are those of the change feed. This program holds nothing of it, so that it stays small: it becomes the
// one beside it that does.
func feedCommands() []command.Verb {
	return verbs.Table(verbs.Commands{Run: becomeFeed, Status: becomeFeed, VerifyWAL: becomeFeed, Reset: becomeFeed})
}

// becomeFeed replaces this program by deepoj-feed, with the same arguments. It returns only if it cannot.
func becomeFeed(_ context.Context, c *command.Call, _ verbs.Options) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), verbs.Program)
	args := append([]string{path}, strings.Fields(strings.TrimPrefix(c.Name, verbs.Group))...)
	err = syscall.Exec(path, append(args, c.Given...), os.Environ())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing: the change feed is a program of its own, which `make build` and the Debian package put beside %s; "+
			"copy it there", path, filepath.Base(self))
	}
	return fmt.Errorf("%s: %w", path, err)
}
