package verify

import (
	"errors"
	"fmt"

	"deepoj/host/judging/blame"
)

// fault is what is wrong with a package, in an error of [Finish].
type fault struct{ why string }

func (e *fault) Error() string { return e.why }

func faultf(format string, args ...any) error { return &fault{fmt.Sprintf(format, args...)} }

// AtFault reports whether an error of [Finish], [Make] or [Infer] says what is wrong
// with the package, or that this machine lacks a language of it. Other errors are
// failures of the platform.
func AtFault(err error) bool {
	_, own := errors.AsType[*fault](err)
	missing, lacks := errors.AsType[*blame.UnavailableError](err)
	return own || lacks && !missing.Agent || blame.AtFault(err)
}
