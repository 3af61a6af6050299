package judging

import (
	"time"

	"deepoj/host/judging/runner"
	"deepoj/sandbox"
)

// A run may go beyond its CPU limit by a tenth before it is ended. One that ends there is run again while nothing else
// runs or compiles on this machine: what others do to caches and cores costs a few per cent, and must not decide. The
// second run counts.

// nearPart is how far beyond its limit a run is in doubt, as a part of the limit.
const nearPart = 10

// ceiling is the CPU time at which a run is ended.
func ceiling(limit time.Duration) time.Duration { return limit + limit/nearPart }

// wall is how long a run may take on the clock, if it need not wait for a CPU.
func (l *lane) wall() time.Duration {
	if limits := l.e.prog.Cmd.Limits; limits.Wall > 0 {
		return limits.Wall
	}
	return 2*l.e.prog.Cmd.Limits.CPU + time.Second
}

// late makes a TLE of a run that went on beyond its limit, however it ended. Only memory is more certain.
func (l *lane) late(ran *sandbox.Result) {
	if ran.CPU > l.e.prog.Cmd.Limits.CPU && ran.Verdict != sandbox.MLE && ran.Verdict != sandbox.SE {
		ran.Verdict, ran.OverWall = sandbox.TLE, false
	}
}

// doubtful reports whether a run may be TLE by what else the machine did: it is beyond its limit by little, or waited
// for a CPU until the clock ran out. The wall time is what another run may take: programs that are not ours may keep
// the CPUs busy, and then waiting must not decide, either.
func (l *lane) doubtful(ran sandbox.Result) (wall time.Duration, doubtful bool) {
	near := ran.Verdict == sandbox.TLE && !ran.OverWall && ran.CPU < ceiling(l.e.prog.Cmd.Limits.CPU)
	return runner.Patience * l.wall(), near || runner.Starved(ran)
}
