// The children of a runtime and nothing else, built without the race detector
// where the tests run under it.
package main

import (
	"os"

	"deepoj/host/plugin"
)

func main() { os.Exit(plugin.Child(os.Args[1:])) }
