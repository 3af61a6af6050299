package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
	"deepoj/sandbox/internal/wire"
)

// An attacker is a process without any privilege that has the door to a keeper as
// descriptor 3, as a worker that was taken over. It speaks the protocol by itself.

// attackerCommand makes the test binary an attacker. The arguments are a kind of
// attack and what it needs.
const attackerCommand = "sandbox-attacker"

// finding is what came of one try of an attacker.
type finding struct {
	Try    string // in words
	Bad    bool   // whether it must be refused
	Answer string // "accepted", or what it was told
	Read   string // what it got to read
}

// runAttack runs an attack and prints findings as JSON.
func runAttack(args []string) error {
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

type attacker struct{ findings []finding }

// doorFD is the door.
const attackerDoor = 3

// attackerPatience is how long an attacker waits for an answer.
const attackerPatience = time.Minute

// say sends a message with descriptors.
func say(sock int, message []byte, fds ...int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	return unix.Sendmsg(sock, message, oob, nil, unix.MSG_NOSIGNAL)
}

// message is a request as JSON, which says everything.
func message(q wire.Request) []byte {
	b, err := json.Marshal(q)
	if err != nil {
		panic(err)
	}
	return b
}

// errSilence says that the other side closed without a word.
var errSilence = errors.New("it said nothing")

// hear waits for an answer.
func hear(sock int) (wire.Reply, []*os.File, error) {
	var r wire.Reply
	fds := []unix.PollFd{{Fd: int32(sock), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(attackerPatience.Milliseconds()))
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(fds, int(attackerPatience.Milliseconds()))
	}
	if err != nil || n == 0 {
		return r, nil, fmt.Errorf("no answer within %s: %w", attackerPatience, err)
	}
	buf, oob := make([]byte, wire.MaxMessage), make([]byte, 1024)
	n, oobn, _, _, err := unix.Recvmsg(sock, buf, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return r, nil, errors.Join(errSilence, err)
	}
	files, err := wire.Rights(oob[:oobn])
	if err == nil {
		err = wire.Decode(buf[:n], &r)
	}
	return r, files, err
}

// ask sends a message on a line with a fresh socket for the answer, and fds.
func ask(line int, message []byte, fds ...int) (answers int, r wire.Reply, files []*os.File, err error) {
	ours, theirs, err := wire.SocketPair()
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
	answers, r, files, err := ask(attackerDoor, message(wire.Request{Op: wire.OpAgent}))
	if err != nil || len(files) != 1 {
		return -1, fmt.Errorf("no agent: %q, %w", r.Error, err)
	}
	defer wire.CloseAll(files)
	line, err := unix.FcntlInt(files[0].Fd(), unix.F_DUPFD_CLOEXEC, 3) // which nobody closes
	return line, errors.Join(err, unix.Close(answers))
}

// box opens a box on a line to an agent.
func (a *attacker) box(line int, o sandbox.BoxOptions) (int, error) {
	answers, r, _, err := ask(line, message(wire.Request{Op: wire.OpOpen, Options: &o}))
	if err != nil || r.Error != "" {
		return -1, fmt.Errorf("no box: %q, %w", r.Error, err)
	}
	return answers, nil
}

// answerOf says what an answer means.
func answerOf(r wire.Reply, err error) string {
	switch {
	case errors.Is(err, errSilence):
		return "silence"
	case err != nil:
		return "broken: " + err.Error()
	case r.Error != "":
		return r.Error
	case r.Result != nil && r.Result.Verdict != sandbox.OK:
		return string(r.Result.Verdict) + ": " + r.Result.Error
	default:
		return "accepted"
	}
}

func (a *attacker) note(try string, bad bool, answer string) {
	a.findings = append(a.findings, finding{Try: try, Bad: bad, Answer: answer})
}

// place is a slot of a message: pass sends the message with a descriptor there.
type place struct {
	name string
	slot wire.Slot
	pass func(fd int) string
}

// run is a command that any stream will do for.
var anyRun = wire.RunRequest{
	Program: "/bin/true", Limits: sandbox.Limits{CPU: time.Minute, Wall: attackerPatience, MemoryBytes: 64 << 20},
}

// withStream is anyRun with a descriptor as one stream.
func withStream(i int, raw bool) wire.RunRequest {
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
	in := func(q wire.Request) func(int) string {
		return func(fd int) string {
			box, err := a.box(line, sandbox.BoxOptions{})
			if err != nil {
				return "broken: " + err.Error()
			}
			defer unix.Close(box)
			if err := say(box, message(q), fd); err != nil {
				return "broken: " + err.Error()
			}
			r, _, err := hear(box)
			return answerOf(r, err)
		}
	}
	streams := func(i int, raw bool) func(int) string {
		q := withStream(i, raw)
		return in(wire.Request{Op: wire.OpRun, Run: &q})
	}
	return []place{
		{"in a box, what is put", wire.SlotPacked, in(wire.Request{Op: wire.OpPut})},
		{"in a box, the standard input", wire.SlotReadable, streams(0, false)},
		{"in a box, the standard output", wire.SlotWritable, streams(1, false)},
		{"in a box, the standard error", wire.SlotWritable, streams(2, false)},
		{"in a box, the standard input of one of a pair", wire.SlotReadable, streams(0, true)},
		{"in a box, the standard output of one of a pair", wire.SlotPipe, streams(1, true)},
		{"in a box, with a run that names none", wire.SlotAnswers, in(wire.Request{Op: wire.OpRun, Run: &anyRun})},
		{"in a box, with a request to collect", wire.SlotAnswers, in(wire.Request{Op: wire.OpCollect, Globs: []string{"**"}, MaxBytes: 1})},
		{"in a box, with a request to clean", wire.SlotAnswers, in(wire.Request{Op: wire.OpClean})},
		{"in a box, with a request that there is not", wire.SlotAnswers, in(wire.Request{Op: "none"})},
	}
}

// placesOfOneShots are those of one-shot runs.
func (a *attacker) placesOfOneShots() []place {
	// at returns what sends a one-shot run with a descriptor in a place, and what is
	// right in the two that each run has.
	at := func(o wire.OneShot, place int) func(int) string {
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
			answers, r, _, err := ask(attackerDoor, message(wire.Request{Op: wire.OpOneShot, OneShot: &o}), fds...)
			wire.CloseAll([]*os.File{ends[1], ends[3]})
			if answers >= 0 {
				defer unix.Close(answers)
			}
			if place >= 2 && err == nil && r.Error == "" {
				// The command itself says how it went.
				line, _ := io.ReadAll(ends[0])
				p, perr := wire.ParseReport(line, 1, 1)
				if perr != nil {
					return "broken: " + perr.Error()
				}
				res := p.Result()
				r.Result = &res
			}
			return answerOf(r, err)
		}
	}
	return []place{
		{"of a one-shot run, where its line goes", wire.SlotPipe, at(wire.OneShot{Run: anyRun}, 0)},
		{"of a one-shot run, where its errors go", wire.SlotPipe, at(wire.OneShot{Run: anyRun}, 1)},
		{"of a one-shot run, the files", wire.SlotPacked, at(wire.OneShot{Run: anyRun, Dirs: 1}, 2)},
		{"of a one-shot run, where files are kept", wire.SlotKept, at(wire.OneShot{Run: anyRun, Keep: true, Options: sandbox.BoxOptions{Writable: true}}, 2)},
		{"of a one-shot run, the standard input", wire.SlotReadable, at(wire.OneShot{Run: withStream(0, false)}, 2)},
		{"of a one-shot run, the standard output", wire.SlotWritable, at(wire.OneShot{Run: withStream(1, false)}, 2)},
		{"of a one-shot run, the standard error", wire.SlotWritable, at(wire.OneShot{Run: withStream(2, false)}, 2)},
		{"of a one-shot run, the standard output of one of a pair", wire.SlotPipe, at(wire.OneShot{Run: withStream(1, true)}, 2)},
		{"of a one-shot run, one too many", wire.SlotAnswers, at(wire.OneShot{Run: anyRun}, 2)},
	}
}

// placesOfLines are the sockets for answers. Nobody can be told there, so what counts
// is that the next request is answered.
func (a *attacker) placesOfLines(line int) []place {
	first := func(sock int, q wire.Request) func(int) string {
		return func(fd int) string {
			if err := say(sock, message(q), fd); err != nil {
				return "broken: " + err.Error()
			}
			answers, r, _, err := ask(sock, message(wire.Request{Op: wire.OpTool, Tool: "sh"}))
			if err != nil || r.Tool == nil {
				return "broken: " + answerOf(r, err)
			}
			_ = unix.Close(answers)
			return "descriptor dropped"
		}
	}
	second := func(sock int, q wire.Request) func(int) string {
		return func(fd int) string {
			answers, r, _, err := ask(sock, message(q), fd)
			if answers >= 0 {
				_ = unix.Close(answers)
			}
			return answerOf(r, err)
		}
	}
	var all []place
	for name, sock := range map[string]int{"the agent": line, "the keeper": attackerDoor} {
		for _, op := range []string{wire.OpStatus, wire.OpTool, wire.OpOpen, wire.OpAgent, wire.OpOneShot, "none"} {
			q := wire.Request{Op: op, Tool: "sh"}
			all = append(all,
				place{"to " + name + ", the answer to " + op, wire.SlotAnswers, first(sock, q)},
				place{"to " + name + ", one more with " + op, wire.SlotAnswers, second(sock, q)})
		}
	}
	return all
}

// passFolders passes a folder of root's as the files of a one-shot run, and as where
// to keep files.
func (a *attacker) passFolders(secret string) error {
	try := func(o wire.OneShot, program string) error {
		folder, err := unix.Open(secret, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if _, err := os.ReadDir(secret); !errors.Is(err, unix.EACCES) {
			return fmt.Errorf("the folder is no secret: %w", err)
		}
		out, err := wire.MemoryFile("out")
		if err != nil {
			return err
		}
		var ends [2]*os.File
		if ends[0], ends[1], err = os.Pipe(); err != nil {
			return err
		}
		o.JobID, o.AttemptID, o.Run, o.Options.Writable = 1, 1, withStream(1, false), true
		o.Run.Program, o.Run.Args = "/bin/sh", []string{"-c", program}
		_, r, _, err := ask(attackerDoor, message(wire.Request{Op: wire.OpOneShot, OneShot: &o}),
			int(ends[1].Fd()), int(ends[1].Fd()), folder, int(out.Fd()))
		b, readErr := io.ReadAll(io.NewSectionReader(out, 0, 1<<20))
		a.findings = append(a.findings, finding{"a folder of root's", true, answerOf(r, err), string(b)})
		return readErr
	}
	return errors.Join(try(wire.OneShot{Dirs: 1}, "find . -type f -exec cat {} +"), try(wire.OneShot{Keep: true}, "echo planted >planted"))
}

// talkNonsense sends messages that make no sense, on each line and in a box, and looks
