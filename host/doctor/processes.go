package doctor

import (
	"bytes"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Roles of the processes of a running Deep-OJ.
const (
	RoleLauncher = "launcher"
	RoleAgent    = "sandbox agent"
	RoleProgram  = "program"
	RolePostgres = "PostgreSQL"
	RoleRedis    = "Redis"
	RolePlugin   = "plugin worker"
	RoleBox      = "box" // what the sandbox agent started
	RoleOther    = "other"
)

// Process is one process of a running Deep-OJ, as the kernel describes it.
type Process struct {
	PID          int
	Role         string
	UID          uint32
	Capabilities uint64           // that are effective
	NoNewPrivs   bool             // no program gives it more rights
	Filtered     bool             // a filter decides on its system calls
	Hidden       bool             // others of its account cannot read its memory, nor take its descriptors
	Closed       bool             // this process may not see where it listens
	Ports        []netip.AddrPort // where it takes connections over the network
}

// FindProcesses reads from the folder proc, which is /proc, the processes of the Deep-OJ whose program is the process
// pid: those that it started, and if root launched it, those of its launcher. Only root sees where all of them listen.
func FindProcesses(proc string, pid int) ([]Process, error) {
	parents, err := parentsIn(proc)
	if err != nil {
		return nil, err
	}
	top := pid
	if up := parents[pid]; up > 1 && roleOf(words(proc, up)) == RoleProgram {
		top = up
	}
	listening := listeners(proc, pid)
	var found []Process
	var visit func(pid int, above string)
	visit = func(pid int, above string) {
		p, err := readProcess(proc, pid)
		if err != nil {
			return // it has ended
		}
		switch p.Role = roleOf(words(proc, pid)); {
		case pid == top && top != parents[pid] && above == "" && hasProgram(proc, parents, pid):
			p.Role = RoleLauncher
		case above == RoleAgent || above == RoleBox:
			p.Role = RoleBox
		case p.Role == RoleOther && above != RoleLauncher && above != "":
			p.Role = above // of the server that started it
		}
		if p.Ports, err = portsOf(proc, pid, listening); err != nil {
			p.Closed = true
		}
		found = append(found, p)
		for child, parent := range parents {
			if parent == pid {
				visit(child, p.Role)
			}
		}
	}
	visit(top, "")
	return found, nil
}

// hasProgram reports whether a process is the parent of a program of Deep-OJ.
func hasProgram(proc string, parents map[int]int, pid int) bool {
	for child, parent := range parents {
		if parent == pid && roleOf(words(proc, child)) == RoleProgram {
			return true
		}
	}
	return false
}

// Others returns how many processes of the user uid are none of ps.
func Others(proc string, ps []Process, uid uint32) (n int) {
	pids, _ := filepath.Glob(filepath.Join(proc, "[0-9]*")) // the pattern is well formed
	for _, dir := range pids {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || slices.ContainsFunc(ps, func(p Process) bool { return p.PID == pid }) {
			continue
		}
		if p, err := readProcess(proc, pid); err == nil && p.UID == uid {
			n++
		}
	}
	return n
}

// parentsIn returns the parent of every process.
func parentsIn(proc string) (map[int]int, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, err
	}
	parents := map[int]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, err := strconv.Atoi(statusOf(proc, pid)["PPid"]); err == nil {
			parents[pid] = parent
		}
	}
	return parents, nil
}

// statusOf returns /proc/PID/status, empty for a process that is no more.
func statusOf(proc string, pid int) map[string]string {
	status := map[string]string{}
	b, _ := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "status")) // nothing is known of what is no more
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		status[key] = strings.TrimSpace(value)
	}
	return status
}

// readProcess reads what the kernel says about a process and the rights it has.
func readProcess(proc string, pid int) (Process, error) {
	p := Process{PID: pid}
	status := statusOf(proc, pid)
	uids := strings.Fields(status["Uid"])
	if len(uids) < 2 || strings.HasPrefix(status["State"], "Z") {
		return p, fs.ErrNotExist
	}
	uid, err := strconv.ParseUint(uids[1], 10, 32)
	if err != nil {
		return p, err
	}
	p.UID = uint32(uid)
	if p.Capabilities, err = strconv.ParseUint(status["CapEff"], 16, 64); err != nil {
		return p, err
	}
	p.NoNewPrivs, p.Filtered = status["NoNewPrivs"] == "1", status["Seccomp"] == "2"
	// The files of a process that hides its memory belong to root.
	info, err := os.Stat(filepath.Join(proc, strconv.Itoa(pid), "status"))
	if err != nil {
		return p, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	p.Hidden = ok && st.Uid != p.UID
	return p, nil
}

// words returns the command line of a process.
func words(proc string, pid int) []string {
	b, _ := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "cmdline")) // nothing is known of what is no more
	var ws []string
	for w := range bytes.SplitSeq(bytes.TrimRight(b, "\x00"), []byte{0}) {
		ws = append(ws, string(w))
	}
	return ws
}

// roleOf says by its command line what a process is.
func roleOf(ws []string) string {
	first := filepath.Base(strings.Fields(ws[0] + " ?")[0])
	second := strings.Join(ws[1:min(3, len(ws))], " ")
	verb, _, _ := strings.Cut(second, " ")
	switch {
	case strings.HasPrefix(first, "postgres"):
		return RolePostgres
	case strings.HasPrefix(first, "redis-server"):
		return RoleRedis
	case second == "sandbox agent":
		return RoleAgent
	case strings.HasPrefix(verb, "plugin-"):
		return RolePlugin
	case slices.Contains([]string{"up", "api", "worker", "scheduler"}, verb):
		return RoleProgram
	}
	return RoleOther
}

// listeners returns the addresses at which somebody listens in the network of a process, by the number of the socket.
func listeners(proc string, pid int) map[string]netip.AddrPort {
	const listening = "0A" // TCP_LISTEN in include/net/tcp_states.h of Linux
	all := map[string]netip.AddrPort{}
	for _, table := range []string{"tcp", "tcp6"} {
		b, _ := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "net", table)) // a kernel without IPv6 has none
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != listening {
				continue
			}
			if at, ok := parseAddress(f[1]); ok {
				all["socket:["+f[9]+"]"] = at
			}
		}
	}
	return all
}

// parseAddress reads an address as /proc/net/tcp has it: words of four bytes in the
// order of the processor, and the port.
func parseAddress(text string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil || len(host)%8 != 0 {
		return netip.AddrPort{}, false
	}
	var b []byte
	for i := 0; i < len(host); i += 8 {
		word, err := strconv.ParseUint(host[i:i+8], 16, 32)
		if err != nil {
			return netip.AddrPort{}, false
		}
		b = append(b, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
	}
	at, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(at.Unmap(), uint16(n)), ok
}

// portsOf returns where a process listens.
func portsOf(proc string, pid int, listening map[string]netip.AddrPort) (ports []netip.AddrPort, err error) {
	dir := filepath.Join(proc, strconv.Itoa(pid), "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		if os.IsNotExist(err) {
			return nil, nil // it has ended
		}
		return nil, err
	}
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if at, ok := listening[to]; err == nil && ok {
			ports = append(ports, at)
		}
	}
	slices.SortFunc(ports, netip.AddrPort.Compare)
	return slices.Compact(ports), nil
}
