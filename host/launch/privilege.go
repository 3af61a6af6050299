package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"deepoj/host/settings"
	"deepoj/sandbox/oneshot"
)

// sudoPatience is how long sudo may take to say whether it wants a password.
const sudoPatience = 10 * time.Second

// Contain makes sure, before anything is started, that programs can be contained: by root, by an ordinary user to whom
// control groups are delegated, or else through sudo, which takes this process over if it asks for no password. The
// error names the remedy. What it goes on through is told to people.
func Contain(ctx context.Context, told io.Writer, name string, args []string) error {
	if os.Geteuid() == 0 {
		return nil
	}
	why := oneshot.Rootless()
	if why == nil {
		return nil
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	sudo, err := exec.LookPath("sudo")
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, sudoPatience)
		defer cancel()
		err = exec.CommandContext(ctx, sudo, "-n", "true").Run()
	}
	command := append([]string{exe, name}, args...)
	if err != nil {
		return fmt.Errorf("nothing was started, because nobody would contain the programs that are judged:\n%w\nOr start it with: sudo %s",
			why, strings.Join(command, " "))
	}
	fmt.Fprintf(told, "deepoj: going on through sudo, because an ordinary user cannot contain programs here:\n%v\n", why)
	return fmt.Errorf("go on through sudo: %w", syscall.Exec(sudo, sudoArguments(command, os.LookupEnv), os.Environ()))
}

// sudoArguments returns how sudo runs command with the settings of this process. Settings may be secret, and an
// argument is not, so sudo is told their names only. It takes a PATH of its own, so that one is an argument.
func sudoArguments(command []string, lookup func(string) (string, bool)) []string {
	var keep []string
	for _, name := range settings.Variables() {
		if _, ok := lookup(name); ok {
			keep = append(keep, name)
		}
	}
	args := []string{"sudo", "-n"}
	if len(keep) > 0 {
		args = append(args, "--preserve-env="+strings.Join(keep, ","))
	}
	args = append(args, "env")
	for _, name := range []string{"PATH", "HOME"} {
		if v, ok := lookup(name); ok {
			args = append(args, name+"="+v)
		}
	}
	return append(args, command...)
}

// harmless are the variables of root's environment that the unprivileged process gets beside the settings: where
// programs and authorities are, what language and time zone, what proxy leads outside, and what the Go run-time reads.
var harmless = strings.Fields(`PATH LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LC_TIME TZ TZDIR TMPDIR
	SSL_CERT_FILE SSL_CERT_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy
	GOMAXPROCS GOMEMLIMIT GOGC GODEBUG GOTRACEBACK GORACE GOCOVERDIR`)

// postgresVariables are those that complete a DATABASE_URL.
var postgresVariables = strings.Fields(`PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGSSLMODE PGSSLROOTCERT PGSSLCERT PGSSLKEY PGSSLPASSWORD PGCONNECT_TIMEOUT PGAPPNAME`)

// HandedDown returns what of root's environment the unprivileged process gets.
func HandedDown(lookup func(string) (string, bool), database bool) []string {
	names := harmless
	if database {
		names = append(slices.Clip(names), postgresVariables...)
	}
	env := []string{}
	for _, name := range names {
		if v, ok := lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
