package sandbox

import "deepoj/sandbox/internal/wire"

// The words that travel between clients and what runs as root. Their fields are described where they are declared.
type (
	// Verdict says how a run ended.
	Verdict = wire.Verdict

	// Limits bound a run. A zero field means its default; a negative one, or one
	// above what the machine has, makes the run an SE that names the field.
	Limits = wire.Limits

	// Result says how a run ended and what it used.
	Result = wire.Result

	// File is a file of a box.
	File = wire.File

	// BoxOptions say what a box is for.
	BoxOptions = wire.BoxOptions

	// Tool is where a logical tool is.
	Tool = wire.Tool

	// Status says what an agent is able to do.
	Status = wire.Status

	// Config says how an agent works. The zero value is good.
	Config = wire.Config

	// UnfitError says that files cannot lie in a box, or be taken out of it, as they are, or that a command is too
	// long. Whoever made them is at fault and not the platform, and it will be the same the next time.
	UnfitError = wire.UnfitError

	// ProtocolError says why a line of the Judge JSON protocol is refused.
	ProtocolError = wire.ProtocolError
)

// The verdicts of a run.
const (
	OK  = wire.OK  // exited with status 0 within all limits
	TLE = wire.TLE // used more CPU time or wall time than allowed
	MLE = wire.MLE // the kernel killed a process of the run for want of memory, or had no memory left for its text
	OLE = wire.OLE // wrote more than allowed
	RE  = wire.RE  // exited with another status, or died of a signal
	SE  = wire.SE  // could not be run; Result.Error says why
)

// Errors that callers match.
var (
	// ErrNoTool says that the agent found no program for a logical tool name.
	ErrNoTool = wire.ErrNoTool

	// ErrAgentGone says that the agent ended or closed the connection. What was
	// under way is lost and may be tried again with another agent.
	ErrAgentGone = wire.ErrAgentGone
)

// The control group drivers, as Config.Driver and Status.Driver name them.
const (
	DriverV2     = wire.DriverV2     // unified hierarchy
	DriverHybrid = wire.DriverHybrid // v1 limits, v2 for spawning, killing and CPU time
	DriverV1     = wire.DriverV1     // v1 only
	DriverNone   = wire.DriverNone   // no control groups: memory is not bounded well
)

// The reasons for which an agent is replaced by another one.
const (
	ReplacedRoom   = wire.ReplacedRoom   // something that it had killed did not go
	ReplacedSilent = wire.ReplacedSilent // it did not answer any more, and was killed
	ReplacedEnded  = wire.ReplacedEnded  // it could not start, failed or was killed
)

// ReplacedReasons are all reasons for which an agent is replaced.
var ReplacedReasons = wire.ReplacedReasons

// The reasons for which a line of the Judge JSON protocol is refused.
const (
	ReasonNoLine  = wire.ReasonNoLine // the command ended without a line
	ReasonNotJSON = wire.ReasonNotJSON
	ReasonVersion = wire.ReasonVersion
	ReasonJob     = wire.ReasonJob
	ReasonAttempt = wire.ReasonAttempt
	ReasonVerdict = wire.ReasonVerdict // unknown, or at odds with the error
	ReasonRange   = wire.ReasonRange   // a figure that cannot be
)

// Reasons are all reasons for which a line is refused.
var Reasons = wire.Reasons
