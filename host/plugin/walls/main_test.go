package walls_test

import (
	"os"
	"testing"
)

// wallPrograms are what this program becomes when its first argument is their name:
// those that only Linux has register themselves.
var wallPrograms = map[string]func(args []string){}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && wallPrograms[os.Args[1]] != nil {
		wallPrograms[os.Args[1]](os.Args[2:])
		return
	}
	os.Exit(m.Run())
}
