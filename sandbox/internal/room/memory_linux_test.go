package room

import (
	"testing"

	"deepoj/sandbox/internal/cgroup"
	"deepoj/sandbox/internal/wait"
)

// pages are so many pages in bytes.
func pages(n int64) int64 { return touched(wait.Usage{Faults: n}) }

func TestWhatAGroupWasNotChargedForIsMadeUpForByOneBatchAtMost(t *testing.T) {
	const mib = 1 << 20
	tests := map[string]struct{ peak, limit, faults, want int64 }{
		"a program that an earlier batch paid for has what it touched": {0, 64 * mib, 28, pages(28)},
		"one that was charged more has that":                           {cgroup.ChargeBytes, 64 * mib, 28, cgroup.ChargeBytes},
		"one that met the same pages again and again has a batch more": {3 * mib, 64 * mib, 1 << 20, 3*mib + cgroup.ChargeBytes},
		"nothing is more than the limit":                               {2*mib - 1000, 2 * mib, 1 << 20, 2 * mib},
	}
	for name, tt := range tests {
		// What is resident says nothing, be it little or much.
		for _, resident := range []int64{0, 8 * mib, 1 << 40} {
			if got := charged(tt.peak, tt.limit, wait.Usage{Faults: tt.faults, ResidentBytes: resident}); got != tt.want {
				t.Errorf("%s: %d bytes, want %d", name, got, tt.want)
			}
		}
	}
}

func TestWithoutGroupsAProgramHasWhatTheAgentCannotHaveLeftIt(t *testing.T) {
	const mib = 1 << 20
	agent := wait.Usage{ResidentBytes: 8 * mib}
	tests := map[string]struct{ peak, faults, resident, want int64 }{
		"what is more than the agent had is the program's own":  {5 * mib, 100, 11 * mib, 11 * mib},
		"what the agent had is not, so what was touched counts": {0, 28, 8 * mib, pages(28)},
		"and no more of that than can have been resident":       {0, 1 << 20, 8 * mib, 8 * mib},
		"what was seen is never lowered":                        {20 * mib, 28, 11 * mib, 20 * mib},
	}
	for name, tt := range tests {
		if got := sampled(tt.peak, wait.Usage{Faults: tt.faults, ResidentBytes: tt.resident}, agent); got != tt.want {
			t.Errorf("%s: %d bytes, want %d", name, got, tt.want)
		}
	}
}
