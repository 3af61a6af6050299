package apart

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/host/plugin/walls"
)

// ExitBroken is the exit status of a process that could not do its work. A Go program that dies by itself has 2.
const ExitBroken = 4

// Source is the descriptor where what is read is open.
const Source = 3

// maxOpen is how many files may be open at once: a path through folders takes one for each.
const maxOpen = 64

// Limits are what a process keeps of itself.
type Limits struct {
	CPU    time.Duration `json:"cpu"`
	Data   int64         `json:"data"`             // memory, in bytes
	Reads  string        `json:"reads,omitempty"`  // a folder below which it may open files; "" = none
	Closed bool          `json:"closed,omitempty"` // nothing is open at [Source]
}

// Child is the whole life of a process whose args, without its name, are its command and an order, which do works on. It returns the
// exit status.
func Child(args []string, do func(order []byte) error) int {
	const words = 2
	err := errors.New("this command is not for people")
	if len(args) == words {
		err = do([]byte(args[1]))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", args[0], err)
		return ExitBroken
	}
	return 0
}

// Confine gives up all that reading needs not. Nothing of it can be taken back.
func (l Limits) Confine() error {
	c := walls.Confinement{Descriptors: Source + 1, DataBytes: l.Data, CPU: l.CPU, Reads: l.Reads}
	if l.Closed {
		c.Descriptors = Source
	}
	if err := c.Begin(); err != nil {
		return err
	}
	for resource, most := range map[int]uint64{unix.RLIMIT_FSIZE: 0, unix.RLIMIT_NOFILE: maxOpen} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("resource %d to %d: %w", resource, most, err)
		}
	}
	return nil
}
