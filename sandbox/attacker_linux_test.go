package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// An attacker is a process without any privilege that has the door to a keeper as
// descriptor 3, as a worker that was taken over. It speaks the protocol by itself.

// AttackerCommand makes the test binary an attacker. The arguments are a kind of
// attack and what it needs.
const AttackerCommand = "sandbox-attacker"

// Finding is what came of one try of an attacker.
type Finding struct {
	Try    string // in words
	Bad    bool   // whether it must be refused
	Answer string // "accepted", or what it was told
	Read   string // what it got to read
}

// Attack runs an attack and prints findings as JSON.
func Attack(args []string) error {
	a := &attacker{}
	var err error
	switch args[0] {
	case "descriptors":
		err = a.passEverything(args[1], args[2])
	case "folders":
		err = a.passFolders(args[1])
	case "messages":
		err = a.talkNonsense()
	case "memory":
		err = a.fillMemory()
	case "deaf":
		err = a.readNothing()
	default:
		err = fmt.Errorf("there is no attack %q", args[0])
	}
	return errors.Join(err, json.NewEncoder(os.Stdout).Encode(a.findings))
}

type attacker struct{ findings []Finding }

// doorFD is the door.
const attackerDoor = 3

// patience is how long an attacker waits for an answer.
const patience = time.Minute

// say sends a message with descriptors.
func say(sock int, message []byte, fds ...int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	return unix.Sendmsg(sock, message, oob, nil, unix.MSG_NOSIGNAL)
}

// message is a request as JSON, which says everything.
func message(q request) []byte {
	b, err := json.Marshal(q)
	if err != nil {
		panic(err)
	}
	return b
}

// errSilence says that the other side closed without a word.
var errSilence = errors.New("it said nothing")

// hear waits for an answer.
func hear(sock int) (reply, []*os.File, error) {
	var r reply
	fds := []unix.PollFd{{Fd: int32(sock), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(patience.Milliseconds()))
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(fds, int(patience.Milliseconds()))
	}
	if err != nil || n == 0 {
		return r, nil, fmt.Errorf("no answer within %s: %w", patience, err)
	}
	buf, oob := make([]byte, maxMessage), make([]byte, 1024)
	n, oobn, _, _, err := unix.Recvmsg(sock, buf, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return r, nil, errors.Join(errSilence, err)
	}
	files, err := rights(oob[:oobn])
	if err == nil {
		err = decode(buf[:n], &r)
	}
	return r, files, err
}

// ask sends a message on a line with a fresh socket for the answer, and fds.
func ask(line int, message []byte, fds ...int) (answers int, r reply, files []*os.File, err error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return -1, r, nil, err
	}
	err = say(line, message, append([]int{theirs}, fds...)...)
	if err := errors.Join(err, unix.Close(theirs)); err != nil {
		return -1, r, nil, errors.Join(err, unix.Close(ours))
	}
	r, files, err = hear(ours)
	return ours, r, files, err
}

// agent returns the line to the agent.
func (a *attacker) agent() (int, error) {
	answers, r, files, err := ask(attackerDoor, message(request{Op: opAgent}))
	if err != nil || len(files) != 1 {
		return -1, fmt.Errorf("no agent: %q, %w", r.Error, err)
	}
	defer closeAll(files)
	line, err := unix.FcntlInt(files[0].Fd(), unix.F_DUPFD_CLOEXEC, 3) // which nobody closes
	return line, errors.Join(err, unix.Close(answers))
}

// box opens a box on a line to an agent.
func (a *attacker) box(line int, o BoxOptions) (int, error) {
	answers, r, _, err := ask(line, message(request{Op: opOpen, Options: &o}))
	if err != nil || r.Error != "" {
		return -1, fmt.Errorf("no box: %q, %w", r.Error, err)
	}
	return answers, nil
}

// outcome says what an answer means.
func outcome(r reply, err error) string {
	switch {
	case errors.Is(err, errSilence):
		return "silence"
	case err != nil:
		return "broken: " + err.Error()
	case r.Error != "":
		return r.Error
	case r.Result != nil && r.Result.Verdict != OK:
		return string(r.Result.Verdict) + ": " + r.Result.Error
	default:
		return "accepted"
	}
}

func (a *attacker) note(try string, bad bool, answer string) {
	a.findings = append(a.findings, Finding{Try: try, Bad: bad, Answer: answer})
}

// thing is something to pass as a descriptor.
type thing struct {
	name string
	open func() (int, error)
	fits []slot // for which slots it is right
}

// things returns what can be passed. Below dir, which belongs to the attacker, they
// may be made; secret is a folder of root's that nobody else may enter.
func things(dir, secret string) []thing {
	path := func(name string, flags int) func() (int, error) {
		return func() (int, error) { return unix.Open(name, flags|unix.O_CLOEXEC, 0) }
	}
	file := func(name string, mode uint32, flags int) func() (int, error) {
		name = filepath.Join(dir, name)
		return func() (int, error) {
			if err := os.RemoveAll(name); err != nil {
				return -1, err
			}
			if err := os.WriteFile(name, []byte("words\n"), 0o600); err != nil {
				return -1, err
			}
			if err := unix.Chmod(name, mode); err != nil {
				return -1, err
			}
			return unix.Open(name, flags|unix.O_CLOEXEC, 0)
		}
	}
	memory := func(content string, seals int) func() (int, error) {
		return func() (int, error) {
			f, err := memfd("attack")
			if err != nil {
				return -1, err
			}
			if _, err := f.WriteString(content); err != nil {
				return -1, err
			}
			fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
			if err == nil && seals != 0 {
				_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
			}
			return fd, errors.Join(err, f.Close())
		}
	}
	pipe := func(end int) func() (int, error) {
		return func() (int, error) {
			var p [2]int
			if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
				return -1, err
			}
			if end == 0 {
				return p[0], unix.Close(p[1])
			}
			return p[1], nil // its reader stays
		}
	}
	socket := func(domain, kind int) func() (int, error) {
		return func() (int, error) {
			if domain != unix.AF_UNIX {
				return unix.Socket(domain, kind|unix.SOCK_CLOEXEC, 0)
			}
			p, err := unix.Socketpair(domain, kind|unix.SOCK_CLOEXEC, 0)
			return p[0], err
		}
	}
	controls, _ := filepath.Glob("/sys/fs/cgroup/cgroup.procs")
	if v1, _ := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs"); len(controls) == 0 {
		controls = v1
	}
	packed := "\x00\x00\x00\x02[]"
	all := []thing{
		{"a folder", path("/etc", unix.O_RDONLY|unix.O_DIRECTORY), nil},
		{"a folder of its own", path(dir, unix.O_RDONLY|unix.O_DIRECTORY), nil},
		{"a folder of root's by O_PATH", path(secret, unix.O_PATH|unix.O_DIRECTORY), nil},
		{"a file of root's by O_PATH", path("/etc/shadow", unix.O_PATH), nil},
		{"a file of its own by O_PATH", file("path", 0o600, unix.O_PATH), nil},
		{"a link by O_PATH", path("/proc/self/exe", unix.O_PATH|unix.O_NOFOLLOW), nil},
		{"a device", path("/dev/zero", unix.O_RDWR), nil},
		{"a terminal", path("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY), nil},
		{"a stream socket", socket(unix.AF_UNIX, unix.SOCK_STREAM), nil},
		{"a datagram socket", socket(unix.AF_UNIX, unix.SOCK_DGRAM), nil},
		{"a socket of the Internet", socket(unix.AF_INET, unix.SOCK_STREAM), nil},
		{"a socket that asks the kernel", socket(unix.AF_NETLINK, unix.SOCK_RAW), nil},
		{"a socket without another end", func() (int, error) { return unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0) }, nil},
		{"a setting of its process in /proc", path("/proc/self/comm", unix.O_RDWR), nil},
		{"a file of /proc to read", path("/proc/self/maps", unix.O_RDONLY), nil},
		{"a file of /proc to write", path("/proc/self/oom_score_adj", unix.O_RDWR), nil},
		{"a file of /sys", path("/sys/kernel/uevent_seqnum", unix.O_RDONLY), nil},
		{"a control file of a group", path(append(controls, "/no/control/groups")[0], unix.O_RDONLY), nil},
		{"a namespace", path("/proc/self/ns/mnt", unix.O_RDONLY), nil},
		{"an event counter", func() (int, error) { return unix.Eventfd(0, unix.EFD_CLOEXEC) }, nil},
		{"an epoll", func() (int, error) { return unix.EpollCreate1(unix.EPOLL_CLOEXEC) }, nil},
		{"a process", func() (int, error) { return unix.PidfdOpen(os.Getpid(), 0) }, nil},
		{"a named pipe", func() (int, error) {
			name := filepath.Join(dir, "fifo")
			if err := unix.Mkfifo(name, 0o600); err != nil && !errors.Is(err, unix.EEXIST) {
				return -1, err
			}
			return unix.Open(name, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		}, nil},
		{"the reading end of a pipe", pipe(0), []slot{slotReadable}},
		{"the writing end of a pipe", pipe(1), []slot{slotWritable, slotPipe}},
		{"a file to read", file("read", 0o400, unix.O_RDONLY), []slot{slotReadable}},
		{"a file to write", file("write", 0o600, unix.O_WRONLY), []slot{slotWritable}},
		{"a file to read and write", file("both", 0o600, unix.O_RDWR), []slot{slotReadable, slotWritable}},
		{"a file to append to", file("append", 0o600, unix.O_WRONLY|unix.O_APPEND), []slot{slotWritable}},
		{"a program with its owner's rights", file("setuid", 0o4700, unix.O_WRONLY), nil},
		{"a memory file", memory("words\n", 0), []slot{slotReadable, slotWritable}},
		{"an empty memory file", memory("", 0), []slot{slotReadable, slotWritable, slotKept}},
		{"packed files that can be changed", memory(packed, 0), []slot{slotReadable, slotWritable}},
		{"packed files that can be cut", memory(packed, unix.F_SEAL_GROW|unix.F_SEAL_WRITE), []slot{slotReadable}},
		{"packed files", memory(packed, sealed), []slot{slotReadable, slotPacked}},
	}
	return all
}

// place is a slot of a message: pass sends the message with a descriptor there.
type place struct {
	name string
	slot slot
	pass func(fd int) string
}

// run is a command that any stream will do for.
var anyRun = runRequest{
	Program: "/bin/true", Limits: Limits{CPU: time.Minute, Wall: patience, MemoryBytes: 64 << 20},
}

// withStream is anyRun with a descriptor as one stream.
func withStream(i int, raw bool) runRequest {
	q := anyRun
	q.Stdio[i], q.Raw = true, raw
	return q
}

// passEverything passes each thing in each slot of each message.
func (a *attacker) passEverything(dir, secret string) error {
	line, err := a.agent()
	if err != nil {
		return err
	}
	places := slices.Concat(a.placesOfBoxes(line), a.placesOfOneShots(), a.placesOfLines(line))
	for _, p := range places {
		for _, th := range things(dir, secret) {
			fd, err := th.open()
			if err != nil {
				return fmt.Errorf("%s: %w", th.name, err)
			}
			a.note(p.name+" is "+th.name, !slices.Contains(th.fits, p.slot), p.pass(fd))
			_ = unix.Close(fd) // it may have been passed on
		}
	}
	return nil
}

// placesOfBoxes are those of messages to a box.
func (a *attacker) placesOfBoxes(line int) []place {
	in := func(q request) func(int) string {
		return func(fd int) string {
			box, err := a.box(line, BoxOptions{})
			if err != nil {
				return "broken: " + err.Error()
			}
			defer unix.Close(box)
			if err := say(box, message(q), fd); err != nil {
				return "broken: " + err.Error()
			}
			r, _, err := hear(box)
			return outcome(r, err)
		}
	}
	streams := func(i int, raw bool) func(int) string {
		q := withStream(i, raw)
		return in(request{Op: opRun, Run: &q})
	}
	return []place{
		{"in a box, what is put", slotPacked, in(request{Op: opPut})},
		{"in a box, the standard input", slotReadable, streams(0, false)},
		{"in a box, the standard output", slotWritable, streams(1, false)},
		{"in a box, the standard error", slotWritable, streams(2, false)},
		{"in a box, the standard input of one of a pair", slotReadable, streams(0, true)},
		{"in a box, the standard output of one of a pair", slotPipe, streams(1, true)},
		{"in a box, with a run that names none", slotAnswers, in(request{Op: opRun, Run: &anyRun})},
		{"in a box, with a request to collect", slotAnswers, in(request{Op: opCollect, Globs: []string{"**"}, MaxBytes: 1})},
		{"in a box, with a request to clean", slotAnswers, in(request{Op: opClean})},
		{"in a box, with a request that there is not", slotAnswers, in(request{Op: "none"})},
	}
}

// placesOfOneShots are those of one-shot runs.
func (a *attacker) placesOfOneShots() []place {
	// at returns what sends a one-shot run with a descriptor in a place, and what is
	// right in the two that each run has.
	at := func(o oneShot, place int) func(int) string {
		o.JobID, o.AttemptID = 1, 1
		return func(fd int) string {
			var fds []int
			var ends []*os.File
			for range 2 {
				r, w, err := os.Pipe()
				if err != nil {
					return "broken: " + err.Error()
				}
				defer r.Close()
				ends, fds = append(ends, r, w), append(fds, int(w.Fd()))
			}
			if place < 2 {
				fds[place] = fd
			} else {
				fds = append(fds, fd)
			}
			answers, r, _, err := ask(attackerDoor, message(request{Op: opOneShot, OneShot: &o}), fds...)
			closeAll([]*os.File{ends[1], ends[3]})
			if answers >= 0 {
				defer unix.Close(answers)
			}
			if place >= 2 && err == nil && r.Error == "" {
				// The command itself says how it went.
				line, _ := io.ReadAll(ends[0])
				p, perr := ParseReport(line, 1, 1)
				if perr != nil {
					return "broken: " + perr.Error()
				}
				res := p.Result()
				r.Result = &res
			}
			return outcome(r, err)
		}
	}
	return []place{
		{"of a one-shot run, where its line goes", slotPipe, at(oneShot{Run: anyRun}, 0)},
		{"of a one-shot run, where its errors go", slotPipe, at(oneShot{Run: anyRun}, 1)},
		{"of a one-shot run, the files", slotPacked, at(oneShot{Run: anyRun, Dirs: 1}, 2)},
		{"of a one-shot run, where files are kept", slotKept, at(oneShot{Run: anyRun, Keep: true, Options: BoxOptions{Writable: true}}, 2)},
		{"of a one-shot run, the standard input", slotReadable, at(oneShot{Run: withStream(0, false)}, 2)},
		{"of a one-shot run, the standard output", slotWritable, at(oneShot{Run: withStream(1, false)}, 2)},
		{"of a one-shot run, the standard error", slotWritable, at(oneShot{Run: withStream(2, false)}, 2)},
		{"of a one-shot run, the standard output of one of a pair", slotPipe, at(oneShot{Run: withStream(1, true)}, 2)},
		{"of a one-shot run, one too many", slotAnswers, at(oneShot{Run: anyRun}, 2)},
	}
}

// placesOfLines are the sockets for answers. Nobody can be told there, so what counts
// is that the next request is answered.
func (a *attacker) placesOfLines(line int) []place {
	first := func(sock int, q request) func(int) string {
		return func(fd int) string {
			if err := say(sock, message(q), fd); err != nil {
				return "broken: " + err.Error()
			}
			answers, r, _, err := ask(sock, message(request{Op: opTool, Tool: "sh"}))
			if err != nil || r.Tool == nil {
				return "broken: " + outcome(r, err)
			}
			_ = unix.Close(answers)
			return "descriptor dropped"
		}
	}
	second := func(sock int, q request) func(int) string {
		return func(fd int) string {
			answers, r, _, err := ask(sock, message(q), fd)
			if answers >= 0 {
				_ = unix.Close(answers)
			}
			return outcome(r, err)
		}
	}
	var all []place
	for name, sock := range map[string]int{"the agent": line, "the keeper": attackerDoor} {
		for _, op := range []string{opStatus, opTool, opOpen, opAgent, opOneShot, "none"} {
			q := request{Op: op, Tool: "sh"}
			all = append(all,
				place{"to " + name + ", the answer to " + op, slotAnswers, first(sock, q)},
				place{"to " + name + ", one more with " + op, slotAnswers, second(sock, q)})
		}
	}
	return all
}

// passFolders passes a folder of root's as the files of a one-shot run, and as where
// to keep files.
func (a *attacker) passFolders(secret string) error {
	try := func(o oneShot, program string) error {
		folder, err := unix.Open(secret, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if _, err := os.ReadDir(secret); !errors.Is(err, unix.EACCES) {
			return fmt.Errorf("the folder is no secret: %w", err)
		}
		out, err := memfd("out")
		if err != nil {
			return err
		}
		var ends [2]*os.File
		if ends[0], ends[1], err = os.Pipe(); err != nil {
			return err
		}
		o.JobID, o.AttemptID, o.Run, o.Options.Writable = 1, 1, withStream(1, false), true
		o.Run.Program, o.Run.Args = "/bin/sh", []string{"-c", program}
		_, r, _, err := ask(attackerDoor, message(request{Op: opOneShot, OneShot: &o}),
			int(ends[1].Fd()), int(ends[1].Fd()), folder, int(out.Fd()))
		b, readErr := io.ReadAll(io.NewSectionReader(out, 0, 1<<20))
		a.findings = append(a.findings, Finding{"a folder of root's", true, outcome(r, err), string(b)})
		return readErr
	}
	return errors.Join(try(oneShot{Dirs: 1}, "find . -type f -exec cat {} +"), try(oneShot{Keep: true}, "echo planted >planted"))
}

// talkNonsense sends messages that make no sense, on each line and in a box, and looks
