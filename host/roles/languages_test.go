package roles

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"deepoj/host/judge"
	"deepoj/host/judging/build"
	"deepoj/plugins"
	"deepoj/sandbox"
)

// What `make run` installs and what the Debian package recommends is enough to compile
// checkers in C and C++.
func TestWhatIsInstalledCompilesCheckers(t *testing.T) {
	t.Parallel()
	control, err := os.ReadFile("../deploy/debian/control")
	if err != nil {
		t.Fatal(err)
	}
	_, recommended, _ := strings.Cut(string(control), "Recommends:")
	recommended, _, _ = strings.Cut(recommended, "Suggests:")
	deps, err := os.ReadFile("../../.tools/deps.sh")
	if err != nil {
		t.Fatal(err)
	}
	run, _, ok := strings.Cut(string(deps), `if [ "$want" = test ]`)
	if !ok {
		t.Fatal("deps.sh has no part for tests alone")
	}
	for _, source := range []string{"a.c", "a.cpp"} {
		p, err := build.PlanPlugin(plugins.SDK(), []sandbox.File{{Path: source}})
		if err != nil || p.Packages == "" {
			t.Fatalf("%s: %+v, %v", source, p, err)
		}
		for name := range strings.FieldsSeq(p.Packages) {
			if !strings.Contains(strings.ReplaceAll(recommended, "\n", "")+",", " "+name+",") {
				t.Errorf("%s needs %s, which the Debian package does not recommend", source, name)
			}
			if !strings.Contains(run, " "+name+" \"") {
				t.Errorf("%s needs %s, which make run does not install", source, name)
			}
		}
	}
}

// A machine that lacks a compiler is looked at again, one that has all is not.
func TestCompilersAreLookedAtUntilNothingIsMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		w := remembered{ask: func(context.Context) []judge.Language {
			return []judge.Language{{ID: "cpp", Available: asked.Add(1) == 3}}
		}}
		if w.known() != nil {
			t.Error("something is known before the first look")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*lookPause)
		defer cancel()
		if err := w.untilComplete(ctx); err != nil {
			t.Error(err)
		}
		if got := w.known(); asked.Load() != 3 || len(got) != 1 || !got[0].Available {
			t.Errorf("asked %d times, known %+v", asked.Load(), got)
		}
	})
}
