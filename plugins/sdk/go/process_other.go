//go:build !wasip1

package sdk

import "os"

// An adapter that is a program of this machine can be tested without a plugin runtime.
var stdin, stdout, stderr = os.Stdin, os.Stdout, os.Stderr

func arguments() ([]string, error) { return os.Args, nil }

func exit(status int) { os.Exit(status) } //nolint:forbidigo // it stands for the adapter's main function
