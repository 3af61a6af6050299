package sandbox_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/sandbox"
)

// BenchmarkRenew says what it costs that a run has another room than the one before:
// time until the run ends, and the agent's CPU time for all that it does about a run.
func BenchmarkRenew(b *testing.B) {
	a := shared.get(b)
	hello := staticHello(b, a)
	for name, c := range map[string]sandbox.Cmd{
		"hello":  {Program: "./hello"},
		"touch":  {Tool: "python3", Args: []string{"-c", "open('/tmp/x', 'w')"}},
		"python": {Tool: "python3", Args: []string{"-c", "pass"}},
	} {
		for _, renew := range []bool{false, true} {
			b.Run(name+"/renewed="+strconv.FormatBool(renew), func(b *testing.B) {
				box := open(b, a, sandbox.BoxOptions{})
				if err := box.Put(b.Context(), hello); err != nil {
					b.Fatal(err)
				}
				before := agentCPU(b)
				for b.Loop() {
					if renew {
						if err := box.Renew(b.Context()); err != nil {
							b.Fatal(err)
						}
					}
					if r, err := box.Run(b.Context(), c); err != nil || r.Verdict != sandbox.OK {
						b.Fatal(r, err)
					}
				}
				b.ReportMetric(float64((agentCPU(b)-before).Microseconds())/float64(b.N), "agent-µs/op")
			})
		}
	}
}

// agentCPU returns the CPU time that the shared agent has used.
func agentCPU(b *testing.B) time.Duration {
	b.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(shared.process.PID()) + "/stat")
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')'):]))
	var ticks int64
	for _, f := range fields[12:14] { // utime and stime, in hundredths of a second
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
