package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// keepDescriptors keeps what this process inherited, beyond the standard
// descriptors, from all that it starts. That is the door to the sandbox, and
// whatever else who started it left open.
func keepDescriptors() error {
	err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	// Linux before 5.11.
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("keep descriptors from other programs: %w", err)
	}
	for _, d := range open {
		fd, err := strconv.Atoi(d.Name())
		if err != nil || fd < 3 {
			continue
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil && !errors.Is(err, unix.EBADF) { // that of the folder is gone
			return fmt.Errorf("keep descriptor %d from other programs: %w", fd, err)
		}
	}
	return nil
}

// hideMemory keeps other processes of this account from reading this process's
// memory and environment, and from taking its descriptors, such as the door to the
// sandbox. What it starts has its own.
func hideMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide memory: %w", err)
	}
	return nil
}

// harmless are the variables of root's environment that the unprivileged process
// gets beside the settings: where programs and authorities are, what language and
// time zone, what proxy leads outside, and what the Go run-time reads.
var harmless = strings.Fields(`PATH LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LC_TIME TZ TZDIR TMPDIR
	SSL_CERT_FILE SSL_CERT_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy
	GOMAXPROCS GOMEMLIMIT GOGC GODEBUG GOTRACEBACK GORACE GOCOVERDIR`)

// postgresVariables are those that complete a DATABASE_URL.
var postgresVariables = strings.Fields(`PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGSSLMODE PGSSLROOTCERT PGSSLCERT PGSSLKEY PGSSLPASSWORD PGCONNECT_TIMEOUT PGAPPNAME`)

// handedDown returns what of root's environment the unprivileged process gets.
func handedDown(lookup func(string) (string, bool), database bool) []string {
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
