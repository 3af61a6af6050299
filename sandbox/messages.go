package sandbox

import (
	"errors"
	"strings"
)

// The wire. A client sends one message with one end of a fresh socket pair over
// the connection to the agent; every answer, and for a box every further
// request, goes over that pair. So requests of many clients never mix, a client
// that gives up just closes its end, and a room's thread reads its requests
// itself.
const (
	opStatus  = "status"  // on the connection: Status
	opTool    = "tool"    // on the connection: Tool
	opOpen    = "open"    // on the connection: a reply when a room is free, then box requests
	opPut     = "put"     // in a box, with a memfd of packed files
	opRun     = "run"     // in a box, with the descriptors that stdio names
	opCancel  = "cancel"  // in a box, while a run is under way: end it
	opCollect = "collect" // in a box: the reply carries a memfd of packed files
	opClean   = "clean"   // in a box
	opRenew   = "renew"   // in a box: the reply comes when a fresh room serves it

	opAgent   = "agent"   // to a keeper: the reply carries the connection to the agent
	opOneShot = "oneshot" // to a keeper: one run without an agent, with the descriptors of a oneShot
)

// maxMessage is the longest message in bytes; what is larger travels as a
// descriptor. An unprivileged socket buffer takes it in one piece.
const maxMessage = 128 << 10

// maxFDs is the most descriptors of one message.
const maxFDs = 16

type request struct {
	Op       string      `json:"op"`
	Tool     string      `json:"tool,omitempty"`
	Options  *BoxOptions `json:"options,omitempty"`
	Run      *runRequest `json:"run,omitempty"`
	Globs    []string    `json:"globs,omitempty"`
	MaxBytes int64       `json:"max_bytes,omitempty"`
	OneShot  *oneShot    `json:"one_shot,omitempty"`
}

// oneShot is one run of the command `deepoj judge`. With it come, in this order,
// where its standard output and error go, Dirs files with packed files for the
// working directory, with Keep a file to pack the working directory into, and the
// streams that the run names.
type oneShot struct {
	JobID     int64      `json:"job_id"`
	AttemptID int32      `json:"attempt_id"`
	Run       runRequest `json:"run"`
	Options   BoxOptions `json:"options"`
	Dirs      int        `json:"dirs,omitempty"`
	Keep      bool       `json:"keep,omitempty"`
}

// runRequest is a Cmd without its descriptors. Stdio says which of them follow
// with the message, in order.
type runRequest struct {
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

type reply struct {
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

// failure turns err into a reply.
func failure(err error) reply {
	r := reply{Error: brief(err.Error())}
	if errors.Is(err, ErrNoTool) {
		r.Code = codeNoTool
	} else if bad, ok := errors.AsType[*UnfitError](err); ok {
		r.Error, r.Code = bad.Reason, codeUnfit
	}
	return r
}

// brief cuts a text that is too long to travel.
func brief(text string) string {
	if len(text) <= maxWords {
		return text
	}
	return strings.ToValidUTF8(text[:maxWords], "") + "…"
}

// err returns the error that r carries.
func (r reply) err() error {
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
