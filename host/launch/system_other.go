//go:build !linux

package launch

import (
	"context"
	"log/slog"

	"deepoj/host/embedded"
	"deepoj/host/platform"
)

func KeepDescriptors() error { return platform.Missing("keeping descriptors from other programs") }

func openThrough(string) (int, error) { return -1, platform.Missing("another mount namespace") }

func Become(int, int) error { return platform.Missing("giving up root") }

func inMemory(string) (int, error) { return -1, platform.Missing("a program in memory") }

func bindShort(string) (string, func(), error) {
	return "", nil, platform.Missing("a private mount namespace")
}

func takeOver(context.Context, string, *embedded.Account, *slog.Logger) error {
	return platform.Missing("giving a data folder away")
}
