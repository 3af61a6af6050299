package platform_test

import (
	"fmt"
	"runtime"
	"strings"

	"deepoj/host/platform"
)

// What only Linux can do is refused elsewhere by name.
func ExampleMissing() {
	err := platform.Missing("running plugins")
	fmt.Println(strings.ReplaceAll(err.Error(), runtime.GOOS, "plan9"))
	// Output: running plugins wants Linux, and this is plan9: start deepoj there, or in a virtual machine
}
