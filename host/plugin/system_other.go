//go:build !linux

package plugin

import "deepoj/host/platform"

// swaps reports whether the system could have swapped something out.
func swaps() (bool, error) { return true, nil }

// socketPair is for workers, and there are none without walls around them.
func socketPair() ([2]int, error) { return [2]int{}, platform.Missing("running plugins") }

// closeReceived does nothing here.
const closeReceived = 0
