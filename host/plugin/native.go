package plugin

import (
	"maps"

	"deepoj/host/plugin/internal/wire"
	"deepoj/plugins/abi"
)

// OpinionOf returns what a checker or interactor says that ran as a program of its
// own and not as a guest: by its exit status, by what it wrote to standard error,
// and, with icpc/1, by the files that it left in its feedback folder. Kept says that
// the folder is there again in the next pass. The error is [ErrContract] or
// [ErrFailed].
func OpinionOf(protocol abi.Protocol, exit int, stderr []byte, left map[string][]byte, kept bool) (Opinion, error) {
	a := answer{exit: uint32(exit), parts: map[string][]byte{wire.PartStderr: stderr}}
	maps.Copy(a.parts, left)
	o := Opinion{Exit: exit}
	if protocol != abi.ICPC1 {
		return o, o.readTestlib(a)
	}
	if kept {
		o.Feedback = a.feedback(map[string][]byte{})
	}
	return o, o.readICPC(a)
}
