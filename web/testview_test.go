package web

import (
	"testing"

	"deepoj/host/judge"
)

func TestMemoryIsShownAgainstAllThatWasThere(t *testing.T) {
	t.Parallel()
	p := &judge.Problem{MemoryMiB: 128}
	for name, tt := range map[string]struct {
		used        judge.Usage
		text, limit string
		over        bool
	}{
		"a program that is compiled": {judge.Usage{MemoryKiB: 64 << 10}, "64 MiB", "128 MiB", false},
		"one that used it all":       {judge.Usage{MemoryKiB: 128 << 10}, "128 MiB", "128 MiB", true},
		"one with a runtime that passed": {
			judge.Usage{MemoryKiB: 188 << 10, ChargedKiB: 320 << 10}, "188 MiB", "320 MiB (128 MiB and 192 MiB of the runtime)", false,
		},
		"one with a runtime that did not": {
			judge.Usage{MemoryKiB: 320 << 10, ChargedKiB: 320 << 10}, "320 MiB", "320 MiB (128 MiB and 192 MiB of the runtime)", true,
		},
	} {
		if got := showUsage(tt.used, p).Memory; got.Text != tt.text || got.Limit != tt.limit || got.Over != tt.over {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
