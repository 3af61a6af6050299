package judging_test

import (
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

func TestAProgramMayRaiseTheLimitOfItsStack(t *testing.T) {
	t.Parallel()
	const program = `import resource, sys, threading
resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
sys.setrecursionlimit(10**6)
print(input())
`
	if r := judged(t, judgingtest.Get(t).Judge, python(program), echo(t, nil)); r.Verdict != judge.AC {
		t.Errorf("%s: %s", r.Verdict, r.Message)
	}
}
