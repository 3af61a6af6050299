package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestOnlyTheCauseOfAnEndIsPrinted joins failures with what was cancelled because of
// them, as parts that end together do.
func TestOnlyTheCauseOfAnEndIsPrinted(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	stopped := fmt.Errorf("worker: %w", context.Canceled)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"one failure":                                {full, "deepoj: the disk is full\n"},
		"a failure and what it cancelled":            {errors.Join(stopped, full), "deepoj: the disk is full\n"},
		"a failure below others":                     {errors.Join(errors.Join(stopped, full), context.Canceled), "deepoj: the disk is full\n"},
		"a failure that was wrapped with the others": {fmt.Errorf("start: %w", errors.Join(full, stopped)), "deepoj: start: the disk is full\nworker: context canceled\n"},
		"a sentence about two":                       {fmt.Errorf("neither %w nor %w", full, context.Canceled), "deepoj: neither the disk is full nor context canceled\n"},
		"nothing but cancellations":                  {errors.Join(stopped, context.Canceled), "deepoj: stopped before it was done\n"},
	} {
		var out bytes.Buffer
		p := Program{Name: "deepoj", Verbs: []Verb{{Name: "fail", Make: func(*Flags) Run { return func(context.Context, *Call) error { return c.err } }}}}
		if status := p.Run(t.Context(), &Process{Err: &out}, []string{"fail"}); status != 1 || out.String() != c.want {
			t.Errorf("%s: status %d, %q; want 1, %q", name, status, out.String(), c.want)
		}
	}
}
