package wire

import (
	"errors"
	"strings"
)

// The wire. A client sends one message with one end of a fresh socket pair over the connection to the agent; every
// answer, and for a box every further request, goes over that pair. So requests of many clients never mix, a client
// that gives up just closes its end, and a room's thread reads its requests itself.
const (
	OpStatus  = "status"  // on the connection: Status
	OpTool    = "tool"    // on the connection: Tool
	OpOpen    = "open"    // on the connection: a reply when a room is free, then box requests
	OpPut     = "put"     // in a box, with a memfd of packed files
	OpRun     = "run"     // in a box, with the descriptors that stdio names
	OpCancel  = "cancel"  // in a box, while a run is under way: end it
	OpCollect = "collect" // in a box: the reply carries a memfd of packed files
	OpClean   = "clean"   // in a box
	OpRenew   = "renew"   // in a box: the reply comes when a fresh room serves it

	OpAgent   = "agent"   // to a keeper: the reply carries the connection to the agent
	OpOneShot = "oneshot" // to a keeper: one run without an agent, with the descriptors of a oneShot
)

// MaxMessage is the longest message in bytes; what is larger travels as a
// descriptor. An unprivileged socket buffer takes it in one piece.
const MaxMessage = 128 << 10

// MaxFDs is the most descriptors of one message.
const MaxFDs = 16

// Request is what a client asks of an agent, a box or a keeper.
type Request struct {
	Op       string      `json:"op"`
	Tool     string      `json:"tool,omitempty"`
	Options  *BoxOptions `json:"options,omitempty"`
	Run      *RunRequest `json:"run,omitempty"`
	Globs    []string    `json:"globs,omitempty"`
	MaxBytes int64       `json:"max_bytes,omitempty"`
	OneShot  *OneShot    `json:"one_shot,omitempty"`
}

// OneShot is one run of the command `deepoj judge`. With it come, in this order, where its standard output and error
// go, Dirs files with packed files for the working directory, with Keep a file to pack the working directory into, and
// the streams that the run names.
type OneShot struct {
	JobID     int64      `json:"job_id"`
	AttemptID int32      `json:"attempt_id"`
	Run       RunRequest `json:"run"`
	Options   BoxOptions `json:"options"`
	Dirs      int        `json:"dirs,omitempty"`
	Keep      bool       `json:"keep,omitempty"`
}

// RunRequest is a Cmd without its descriptors. Stdio says which of them follow with the message, in order.
type RunRequest struct {
	Tool        string   `json:"tool,omitempty"`
	Program     string   `json:"program,omitempty"`
	Args        []string `json:"args,omitempty"`
	Env         []string `json:"env,omitempty"`
	ExtraTools  []string `json:"extra_tools,omitempty"`
	StdoutLimit int64    `json:"stdout_limit,omitempty"`
	StderrLimit int64    `json:"stderr_limit,omitempty"`
	Limits      Limits   `json:"limits"`
	Stdio       [3]bool  `json:"stdio"`
	Raw         bool     `json:"raw,omitempty"` // give Stdout to the program itself: a pair of programs
}

// Reply is the answer to a request.
type Reply struct {
	Error  string  `json:"error,omitempty"`
	Code   string  `json:"code,omitempty"`
	Status *Status `json:"status,omitempty"`
	Tool   *Tool   `json:"tool,omitempty"`
	Result *Result `json:"result,omitempty"`
	Ended  string  `json:"ended,omitempty"` // how the process of a one-shot run ended

	Replaced map[string]int64 `json:"replaced,omitempty"` // of a keeper: how often an agent ended, by reason
}

// What marks a reply whose error is ErrNoTool, or an [UnfitError].
const (
	codeNoTool = "no_tool"
	codeUnfit  = "unfit"
)

// maxWords bounds the bytes of an error that travels: it may repeat what a client said.
const maxWords = 4 << 10

// Failure turns err into a reply.
func Failure(err error) Reply {
	r := Reply{Error: Brief(err.Error())}
	if errors.Is(err, ErrNoTool) {
		r.Code = codeNoTool
	} else if bad, ok := errors.AsType[*UnfitError](err); ok {
		r.Error, r.Code = bad.Reason, codeUnfit
	}
	return r
}

// Brief cuts a text that is too long to travel.
func Brief(text string) string {
	if len(text) <= maxWords {
		return text
	}
	return strings.ToValidUTF8(text[:maxWords], "") + "…"
}

// err returns the error that r carries.
func (r Reply) err() error {
	switch {
	case r.Error == "":
		return nil
	case r.Code == codeNoTool:
		return &remoteError{text: r.Error, is: ErrNoTool}
	case r.Code == codeUnfit:
		return &UnfitError{r.Error}
	default:
		return errors.New(r.Error)
	}
}

// remoteError is an error that crossed the wire and is still matched.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string        { return e.text }
func (e *remoteError) Is(target error) bool { return target == e.is }
