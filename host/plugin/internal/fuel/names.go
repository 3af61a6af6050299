package fuel

import "strconv"

// ReservedPrefix begins the names that the rewriter adds.
const ReservedPrefix = "judge."

// Names that the rewriter adds to a module.
const (
	TickModule = "judge"
	TickName   = "tick"
	Counter    = ReservedPrefix + "fuel"
)

// State is under what name the rewriter exports the global number i of those
// that a call may change. A module whose instances cannot be used again has none.
func State(i int) string { return ReservedPrefix + "state." + strconv.Itoa(i) }
