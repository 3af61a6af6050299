package plugin

import (
	"errors"
	"fmt"

	"deepoj/host/plugin/internal/admission"
)

// Error is a plugin's failure to answer: it trapped, ran out of fuel or memory,
// or broke the contract. It is never the contestant's doing, so the caller
// reports a judging error and not a verdict.
type Error struct {
	Plugin  string // name and digest, such as "tokens@9f86d081"
	Call    string // what it was asked, such as "check" or "plan"
	Err     error  // what the runtime reported; often one of the sentinels below
	Fuel    uint64 // what the guest had used by then; 0 when that is not known
	Message string // what the guest had said by then, on stderr and in judgemessage.txt, for staff
}

func (e *Error) Error() string { return fmt.Sprintf("plugin %s: %s: %v", e.Plugin, e.Call, e.Err) }

// Unwrap returns what the runtime reported.
func (e *Error) Unwrap() error { return e.Err }

// What an [Error] can be about. With ErrContract and ErrFailed it was the guest
// that ended by itself.
var (
	ErrFuel     = errors.New("ran out of fuel")
	ErrMemory   = errors.New("ran out of memory")
	ErrTrap     = errors.New("trapped")
	ErrOutput   = errors.New("wrote more than it may")
	ErrDied     = errors.New("ended its worker process, twice")
	ErrPatience = errors.New("gave no answer in time")
	ErrContract = errors.New("broke the contract")
	ErrFailed   = errors.New("says that it failed")
)

// Refusal says why a module was not admitted.
type Refusal = admission.Refusal //nolint:errname // a refusal is a decision, and is named so by everybody
