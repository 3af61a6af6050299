package plugin

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrBudget is what a call returns that used up the last of its [Budget], and each that
// follows. Who made the budget knows what it was for, so it is no [Error].
var ErrBudget = errors.New("the processor time of these calls is used up")

// Budget is processor time that calls share. Unlike time on the wall it is not used by
// what else the machine does.
type Budget struct{ left atomic.Int64 }

// NewBudget returns a budget. Time must be positive.
func NewBudget(time time.Duration) *Budget {
	b := &Budget{}
	b.left.Store(int64(time))
	return b
}

// Spent reports whether nothing is left.
func (b *Budget) Spent() bool { return b.left.Load() <= 0 }

type budgetKey struct{}

// Within returns a context whose calls of plugins share the budget. Calls that run at
// the same time may each use what is left.
func (b *Budget) Within(ctx context.Context) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// budgetOf returns the budget of a context, nil if there is none.
func budgetOf(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}
