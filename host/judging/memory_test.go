package judging_test

import (
	"fmt"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

// What a program in Java keeps may be as large as the memory limit, in one piece or in
// many, and not much larger. What it used never looks like more than it had.
func TestAJavaProgramMayKeepAsMuchAsTheMemoryLimit(t *testing.T) {
	t.Parallel()
	const mib = 64
	keeping := map[string]string{
		"one array":     "byte[] b = new byte[(int) n]; for (int i = 0; i < n; i += 4096) b[i] = 1; kept = b;",
		"many arrays":   "var l = new java.util.ArrayList<byte[]>(); for (long s = 0; s < n; s += 1 << 20) l.add(new byte[(1 << 20) - 16]); kept = l;",
		"small objects": "for (long s = 0; s < n; s += 24) kept = new Object[] {kept};",
	}
	pkg := echo(t, map[string]string{"problem.yaml": fmt.Sprintf("name: Echo\nlimits: {memory: %d}\n", mib), ".timelimit": "10"})
	for kind, keep := range keeping {
		for percent, want := range map[int]judge.Verdict{95: judge.AC, 130: judge.MLE} {
			t.Run(fmt.Sprintf("%s of %d percent", kind, percent), func(t *testing.T) {
				t.Parallel()
				text := fmt.Sprintf("class Main { static Object kept; public static void main(String[] a) throws Exception {\nlong n = %d; %s\nSystem.in.transferTo(System.out); } }",
					mib<<20*percent/100, keep)
				p := judge.Payload{Problem: "echo", Language: "java", Sources: []judge.Source{{Name: "Main.java", Text: text}}}
				r := judged(t, judgingtest.Get(t).Judge, p, pkg)
				if r.Verdict != want {
					t.Errorf("it is %s: %s (%d KiB), want %s", r.Verdict, r.Message, r.Usage.MemoryKiB, want)
				}
				if r.Usage.ChargedKiB <= mib<<10 || r.Usage.MemoryKiB > r.Usage.ChargedKiB {
					t.Errorf("%d KiB were used of %d KiB that are charged", r.Usage.MemoryKiB, r.Usage.ChargedKiB)
				}
			})
		}
	}
}

func TestAProgramMayWriteNoMoreToStandardErrorThanToItsOutput(t *testing.T) {
	t.Parallel()
	pkg := echo(t, nil) // which allows 1 MiB
	for name, tt := range map[string]struct {
		text string
		want judge.Verdict
		says string
	}{
		"as much as is allowed": {"import sys\nsys.stderr.write('x' * (1 << 20))\n" + cat, judge.AC, ""},
		"a byte more":           {"import sys\nsys.stderr.write('x' * ((1 << 20) + 1))\n" + cat, judge.OLE, "1 MiB to standard error"},
		"without an end":        {"import sys\nwhile True: sys.stderr.write('x' * 4096)\n", judge.OLE, "1 MiB to standard error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judged(t, judgingtest.Get(t).Judge, python(tt.text), pkg)
			if r.Verdict != tt.want || !strings.Contains(r.Message, tt.says) {
				t.Errorf("it is %s: %s, want %s", r.Verdict, r.Message, tt.want)
			}
		})
	}
}
