// Package platform does what each operating system does in its own way, or not at all. Deep-OJ runs on Linux; elsewhere
// it compiles, for whoever works on it, and what is missing says so.
//
//   - platform_linux.go is what is used
//   - platform_other.go is what there is elsewhere
package platform

import (
	"fmt"
	"runtime"
)

// Missing says that what cannot be done here.
func Missing(what string) error {
	return fmt.Errorf("%s wants Linux, and this is %s: start deepoj there, or in a virtual machine", what, runtime.GOOS)
}
