// Package userns maps the ids of user namespaces.
package userns

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"deepoj/sandbox/internal/proc"
)

// Enough is how many ids of its own a user needs for programs to have ids of their own. It is what distributions give.
const Enough = 65536

// idMap is how ids of one kind get into a user namespace.
type idMap struct {
	own     int    // of the user
	file    string // in /proc/PID
	ranges  string // which ids whose user may map
	program string // which maps them
}

func idMaps() []idMap {
	return []idMap{
		{os.Geteuid(), "uid_map", "/etc/subuid", "newuidmap"},
		{os.Getegid(), "gid_map", "/etc/subgid", "newgidmap"},
	}
}

// Map maps user and group ids into the user namespace of the process pid: the user's own as 0, and from 1 on those that
// /etc/subuid and /etc/subgid give it, which two programs of the system may map and nobody else.
func Map(pid int) error {
	var commands []*exec.Cmd
	for _, m := range idMaps() {
		b, _ := os.ReadFile(m.ranges) // a file that is not there gives nothing
		path, err := exec.LookPath(m.program)
		if first, count := subordinate(string(b), userNames()); count > 0 && err == nil {
			commands = append(commands, exec.Command(path, strconv.Itoa(pid),
				"0", strconv.Itoa(m.own), "1", "1", strconv.Itoa(first), strconv.Itoa(count)))
		}
	}
	if len(commands) < len(idMaps()) {
		return mapOwn(pid)
	}
	for _, c := range commands {
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s: mend /etc/subuid and /etc/subgid, or remove this user from them",
				strings.Join(c.Args, " "), err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// mapOwn maps only the user's own ids, which everybody may do who gives up changing groups.
func mapOwn(pid int) error {
	proc := "/proc/" + strconv.Itoa(pid) + "/"
	if err := os.WriteFile(proc+"setgroups", []byte("deny"), 0); err != nil {
		return fmt.Errorf("give up changing groups: %w", err)
	}
	for _, m := range idMaps() {
		if err := os.WriteFile(proc+m.file, fmt.Appendf(nil, "0 %d 1\n", m.own), 0); err != nil {
			return fmt.Errorf("map the user's own id: %w", err)
		}
	}
	return nil
}

// userNames returns what this user may be called in /etc/subuid.
func userNames() []string {
	names := []string{strconv.Itoa(os.Geteuid())}
	if u, err := user.LookupId(names[0]); err == nil {
		names = append(names, u.Username)
	}
	return names
}

// subordinate returns the first range of at least manyIDs ids that the text of
// /etc/subuid or /etc/subgid gives to one of names. Its count is 0 if there is none.
func subordinate(text string, names []string) (first, count int) {
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) != 3 || !slices.Contains(names, f[0]) {
			continue
		}
		first, err1 := strconv.Atoi(f[1])
		count, err2 := strconv.Atoi(f[2])
		if err := errors.Join(err1, err2); err == nil && count >= Enough {
			return first, count
		}
	}
	return 0, 0
}

// Inside reports whether this process is in a user namespace of somebody.
func Inside() bool {
	b, err := proc.ReadFile("/proc/self/uid_map")
	return err == nil && !slices.Equal(strings.Fields(string(b)), []string{"0", "0", "4294967295"})
}

// Available returns how many user and group ids from 0 on this process may use.
func Available() (int, error) {
	n := math.MaxInt
	for _, m := range idMaps() {
		b, err := proc.ReadFile("/proc/self/" + m.file)
		if err != nil {
			return 0, fmt.Errorf("read the ids of this process: %w", err)
		}
		n = min(n, mapped(string(b)))
	}
	return n, nil
}

// mapped returns how many ids from 0 on the text of a uid_map file maps, whose lines are in order.
func mapped(text string) int {
	next := 0
	for line := range strings.Lines(text) {
		var inside, outside, count int
		if n, _ := fmt.Sscan(line, &inside, &outside, &count); n == 3 && inside == next {
			next += count
		}
	}
	return next
}
