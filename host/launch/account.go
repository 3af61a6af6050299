package launch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"deepoj/host/embedded"
)

// AccountName is the account that a process of root becomes unless --user names another one. It is Deep-OJ's alone:
// whoever else ran as it would have the door to the sandbox, the database and the tests.
const AccountName = "deepoj"

// makingTime is how long making the account may take.
const makingTime = time.Minute

// makeAccount is the command that makes the account, as the Debian package does.
func makeAccount() []string {
	group := []string{"--user-group"}
	if _, err := user.LookupGroup(AccountName); err == nil {
		group = []string{"--gid", AccountName}
	}
	return append(append([]string{"useradd", "--system"}, group...),
		"--no-create-home", "--home-dir", "/var/lib/deepoj", "--shell", "/usr/sbin/nologin", "--comment", "Deep-OJ", AccountName)
}

// FindAccount returns the account called name, or with an empty name Deep-OJ's own, which it makes if there is none. It
// returns nil when this process is not root: then there is one account for everything.
func FindAccount(ctx context.Context, name string, log *slog.Logger) (*embedded.Account, error) {
	if os.Geteuid() != 0 {
		return nil, nil // no account is the answer, not a failure
	}
	if name != "" {
		a, err := embedded.Unprivileged(name)
		if err == nil && name != AccountName {
			if why := SharedAccount(a.UID); why != "" {
				log.WarnContext(ctx, "the account is not Deep-OJ's alone: whoever runs as it has what Deep-OJ has", slog.String("account", name), slog.String("why", why))
			}
		}
		return a, err
	}
	a, err := embedded.Unprivileged(AccountName)
	if _, unknown := errors.AsType[*embedded.UnknownAccountError](err); !unknown {
		return a, err
	}
	command := makeAccount()
	ctx, cancel := context.WithTimeout(ctx, makingTime)
	defer cancel()
	why := runTool(ctx, command)
	// Of two that make it at the same time, one fails.
	if a, err = embedded.Unprivileged(AccountName); err == nil {
		log.InfoContext(ctx, "made the account that everything without root runs as", slog.String("account", a.Name), slog.Uint64("uid", uint64(a.UID)))
		return a, nil
	}
	return nil, fmt.Errorf("there is no account %s, and it cannot be made here: %w; make it with: %s; or name another account, which nobody else uses, with --user",
		AccountName, errors.Join(why, err), strings.Join(command, " "))
}

// runTool runs a command of the system to its end.
func runTool(ctx context.Context, command []string) error {
	path, err := exec.LookPath(command[0])
	for _, dir := range []string{"/usr/sbin", "/sbin"} { // which sudo's PATH may lack
		if err != nil {
			path, err = exec.LookPath(filepath.Join(dir, command[0]))
		}
	}
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, command[1:]...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", command[0], err, strings.TrimSpace(string(said)))
	}
	return nil
}

// nobody is the user id of whoever has none of their own.
const nobody = 65534

// SharedAccount says why an account is not Deep-OJ's alone, or "".
func SharedAccount(uid uint32) string {
	if uid == nobody {
		return "it is everybody's who has no account"
	}
	passwd, _ := os.ReadFile("/etc/passwd") // what is not in it is nobody's login here
	for line := range strings.Lines(string(passwd)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) != 7 || f[2] != fmt.Sprint(uid) {
			continue
		}
		switch shell := filepath.Base(f[6]); {
		case f[0] == "postgres":
			return "PostgreSQL of this machine runs as it"
		case shell != "nologin" && shell != "false":
			return "somebody can log in as it, with " + f[6]
		}
	}
	return ""
}

// ChooseAccount finds the account to become and makes sure that the data folder
// belongs to it. Parents of the folder are left alone.
func ChooseAccount(ctx context.Context, name, data string, log *slog.Logger) (*embedded.Account, error) {
	a, err := FindAccount(ctx, name, log)
	if err != nil || data == "" {
		return a, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	return a, takeOver(ctx, data, a, log)
}

// OwnerName is the name of an account, or its number.
func OwnerName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "user " + id
}
