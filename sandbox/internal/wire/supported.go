package wire

import (
	"fmt"
	"runtime"
)

// Supported reports why there is no sandbox for what this program was built for.
func Supported() error {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fmt.Errorf("the sandbox wants Linux on amd64, and this is %s on %s: start deepoj there, or in a virtual machine", runtime.GOOS, runtime.GOARCH)
	}
	return nil
}
