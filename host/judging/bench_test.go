package judging_test

import (
	"fmt"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

// BenchmarkTest is the cost of one test whose program does next to nothing: run,
// check and what belongs to them.
func BenchmarkTest(b *testing.B) {
	files := map[string]string{}
	const tests = 200
	for i := range tests {
		files[fmt.Sprintf("data/secret/%03d.in", i)] = fmt.Sprintf("%d\n", i)
		files[fmt.Sprintf("data/secret/%03d.ans", i)] = fmt.Sprintf("%d\n", i)
	}
	pkg := echo(b, files)
	p := judge.Payload{Problem: "echo", Language: "c", Sources: []judge.Source{{
		Name: "a.c", Text: "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); }\n",
	}}}
	judged(b, judgingtest.Get(b).Judge, p, pkg) // compiles
	b.ResetTimer()
	for b.Loop() {
		if r := judged(b, judgingtest.Get(b).Judge, p, pkg); r.Verdict != judge.AC {
			b.Fatalf("verdict %s: %s", r.Verdict, r.Message)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N)/float64(tests+2), "µs/test")
}
