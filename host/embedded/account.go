package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Accounts are the names that [Unprivileged] tries when none is given, best first. That is for tests, which put nothing
// at stake: the program names the account that is its own.
var accounts = []string{"deepoj", "postgres", "nobody"}

// Account is the account that children run as when this process is root.
type Account struct {
	Name string
	UID  uint32
	GID  uint32
}

// Unprivileged returns the account called name, or with an empty name the first that exists of deepoj, postgres and
// nobody. It returns nil when this process is not root, because then children run as whoever runs it.
func Unprivileged(name string) (*Account, error) {
	if os.Geteuid() != 0 {
		return nil, nil // no account is the answer, not a failure
	}
	names := accounts
	if name != "" {
		names = []string{name}
	}
	for _, n := range names {
		u, err := user.Lookup(n)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("account %s: user id %q: %w", n, u.Uid, err)
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("account %s: group id %q: %w", n, u.Gid, err)
		}
		if uid == 0 {
			return nil, fmt.Errorf("account %s is root; choose an unprivileged one", n)
		}
		return &Account{Name: n, UID: uint32(uid), GID: uint32(gid)}, nil
	}
	return nil, &UnknownAccountError{Names: names}
}

// UnknownAccountError says that no account has one of some names.
type UnknownAccountError struct{ Names []string }

func (e *UnknownAccountError) Error() string {
	return fmt.Sprintf("no account %s: create one with: useradd --system --shell /usr/sbin/nologin %s", strings.Join(e.Names, ", "), e.Names[0])
}

// own gives the file or folder at path to a. It does nothing when a is nil.
func (a *Account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, int(a.UID), int(a.GID))
}

// credential returns what a child of a starts with, or nil for our own.
func (a *Account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.UID, Gid: a.GID}
}

// UnreachableError says that an account cannot enter a folder above its data.
type UnreachableError struct {
	Path    string // the data folder
	Closed  string // the first folder on the way that is closed
	Account string
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("account %s cannot reach %s: %s is closed to it; choose a data folder elsewhere, or bind it at an open path first",
		e.Account, e.Path, e.Closed)
}

// Reach reports whether a may enter every folder above dir; the error is an [*UnreachableError]. Access control lists
// are not looked at. Everything is reachable for a nil account.
func Reach(dir string, a *Account) error {
	if a == nil {
		return nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	// A symbolic link leads through other folders than its name says.
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	at := string(filepath.Separator)
	for part := range strings.SplitSeq(filepath.Dir(abs), string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := os.Stat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it will be made
		}
		if err != nil {
			return err
		}
		if !a.maySearch(info) {
			return &UnreachableError{Path: abs, Closed: at, Account: a.Name}
		}
	}
	return nil
}

func (a *Account) maySearch(dir fs.FileInfo) bool {
	st, ok := dir.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	switch mode := dir.Mode().Perm(); {
	case st.Uid == a.UID:
		return mode&0o100 != 0
	case st.Gid == a.GID:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}
