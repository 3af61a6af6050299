package judge

import "strings"

// Withdrawal says who cancelled a job, and why in their words, or "".
type Withdrawal struct{ By, Why string }

// ReadWithdrawal reads what a cancelled job keeps in place of its last failure. It is
// zero for a job that was cancelled before that was kept.
func ReadWithdrawal(kept string) (w Withdrawal) {
	w.By, w.Why, _ = strings.Cut(kept, "\n")
	return w
}
