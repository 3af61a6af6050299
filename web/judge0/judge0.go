// Package judge0 speaks the language of Judge0's HTTP interface: it turns what
// its clients send into runs, and runs into what they expect.
//
// It knows no HTTP and no database, and it executes nothing. What its clients rely on (names, status ids, defaults and
// the wording of refusals) follows Judge0 CE; the field tests of a submission is an extension.
package judge0

import (
	"slices"
	"syscall"

	"deepoj/host/judge"
)

// Status is a state or an outcome of a submission.
type Status struct {
	ID          int    `json:"id"`
	Description string `json:"description"`
}

// The statuses by id.
const (
	inQueue        = 1
	processing     = 2
	accepted       = 3
	wrongAnswer    = 4
	timeLimit      = 5
	compileError   = 6
	runtimeSegv    = 7
	runtimeFileBig = 8
	runtimeFPE     = 9
	runtimeAbort   = 10
	runtimeNonZero = 11
	runtimeOther   = 12
	internalError  = 13
	execFormat     = 14
)

// Statuses lists every status in the order of their ids.
var Statuses = []Status{
	{inQueue, "In Queue"},
	{processing, "Processing"},
	{accepted, "Accepted"},
	{wrongAnswer, "Wrong Answer"},
	{timeLimit, "Time Limit Exceeded"},
	{compileError, "Compilation Error"},
	{runtimeSegv, "Runtime Error (SIGSEGV)"},
	{runtimeFileBig, "Runtime Error (SIGXFSZ)"},
	{runtimeFPE, "Runtime Error (SIGFPE)"},
	{runtimeAbort, "Runtime Error (SIGABRT)"},
	{runtimeNonZero, "Runtime Error (NZEC)"},
	{runtimeOther, "Runtime Error (Other)"},
	{internalError, "Internal Error"},
	{execFormat, "Exec Format Error"},
}

func status(id int) Status {
	return Statuses[slices.IndexFunc(Statuses, func(s Status) bool { return s.ID == id })]
}

// statusOfRun returns where a run stands, or how it ended.
func statusOfRun(r *judge.Run) Status {
	verdict, signal := judge.Verdict(""), 0
	if r.Result != nil {
		verdict = r.Result.Verdict
		for _, t := range r.Result.Tests {
			if t.Verdict == verdict {
				signal = t.ExitSignal
				break
			}
		}
	}
	return StatusOf(r.Status, verdict, signal)
}

// StatusOf returns where a run stands, or how it ended: by its verdict, if it has one, and the signal of the test that
// decided.
func StatusOf(s judge.Status, v judge.Verdict, signal int) Status {
	switch s {
	case judge.Pending:
		return status(inQueue)
	case judge.Running:
		return status(processing)
	case judge.Cancelled, judge.Dead:
		return status(internalError)
	case judge.Finished:
	}
	if v == "" {
		return status(internalError)
	}
	return statusOf(v, signal)
}

func statusOf(v judge.Verdict, signal int) Status {
	switch v {
	case judge.AC:
		return status(accepted)
	case judge.WA, judge.PE, judge.PA: // Judge0 knows no points
		return status(wrongAnswer)
	case judge.TLE:
		return status(timeLimit)
	case judge.CE:
		return status(compileError)
	case judge.OLE:
		return status(runtimeFileBig)
	case judge.MLE:
		return status(runtimeOther)
	case judge.RE:
	case judge.JE, judge.SE:
		return status(internalError)
	}
	switch signal {
	case 0:
		return status(runtimeNonZero)
	case int(syscall.SIGSEGV):
		return status(runtimeSegv)
	case int(syscall.SIGXFSZ):
		return status(runtimeFileBig)
	case int(syscall.SIGFPE):
		return status(runtimeFPE)
	case int(syscall.SIGABRT):
		return status(runtimeAbort)
	}
	return status(runtimeOther)
}
