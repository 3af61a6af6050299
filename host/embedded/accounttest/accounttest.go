// Package accounttest gives tests that start Deep-OJ as root a /etc of their own,
// so that the accounts that they make and become are none of this machine's.
//
// A test binary calls [Main] first of all; it then goes on in a mount namespace in
// which /etc is a copy, in memory, that has the account deepoj. Everything that it
// starts sees the same. Nothing of it is left when the last process has ended.
package accounttest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Entered is set in the environment of a test binary, and of all that it starts, when /etc is its own. Who starts
// something with an environment of its own hands it down.
const Entered = "DEEPOJ_OWN_ETC"

// enter lays a copy over /etc in a mount namespace that is private, does to it what
// the first argument says, and becomes the command of the others.
const enter = `set -e
change=$1; shift
mount -t tmpfs -o mode=755 none /mnt
cp -a /etc/. /mnt/
mount --move /mnt /etc
eval "$change"
exec "$@"`

// Changes to a copy of /etc.
const (
	// WithAccount makes the account as Deep-OJ would.
	WithAccount = `grep -q ^deepoj: /etc/passwd || useradd --system --user-group --no-create-home --no-log-init --home-dir /var/lib/deepoj --shell /usr/sbin/nologin deepoj`

	// WithoutAccount takes it away.
	WithoutAccount = `sed -i /^deepoj:/d /etc/passwd /etc/shadow /etc/group /etc/gshadow`

	// ReadOnly is WithoutAccount where none can be made.
	ReadOnly = WithoutAccount + `; mount -o remount,ro /etc`
)

// Main makes the calling test binary go on with a /etc of its own that has the account. It returns when that is so, or
// if it is not root and becomes nobody, or with an error.
func Main() error {
	if os.Geteuid() != 0 || os.Getenv(Entered) != "" {
		return nil
	}
	args := append([]string{"/proc/self/exe"}, os.Args[1:]...)
	if exe, err := os.Executable(); err == nil {
		args[0] = exe
	}
	err := os.Setenv(Entered, "1")
	if err == nil {
		cmd := Command(WithAccount, args...)
		err = syscall.Exec(cmd.Path, cmd.Args, os.Environ())
	}
	return fmt.Errorf("a /etc for tests: %w", err)
}

// Command returns the command args with a /etc of its own that was changed. It keeps its process id.
func Command(change string, args ...string) *exec.Cmd {
	return exec.Command("unshare", append([]string{"--mount", "--propagation", "private", "sh", "-c", enter, "sh", change}, args...)...)
}
