package intake_test

import (
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
)

// blanked prints a blank behind the answer, which the checker exact rejects.
const blanked = "print(str(3 * int(input())) + ' ')\n"

// A checker that somebody bound to a problem decides on new versions of the package,
// too, and their proof is made with it; the report says so. A package that asks for
// another checker than before gets that, and the report says that as well.
func TestABindingSurvivesANewVersionOfThePackageOrTheReportSaysWhyNot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	exact := b.execute(t, judge.PluginPayload{Op: judge.PluginUpload, Files: []judge.PluginFile{module(t, "exact")}}).report.Plugin
	if x := b.finish(t, b.importing(t, zipped(t, triple), true)); !x.report.Live || x.report.Binding != nil {
		t.Fatalf("imported %+v", x.report)
	}
	if x := b.execute(t, judge.PluginPayload{Op: judge.PluginBind, Digest: exact.Digest, Problem: "triple"}); !x.report.Live {
		t.Fatalf("bound %+v", x.report)
	}
	checkers := func() []string {
		t.Helper()
		p, err := b.store.Problem(t.Context(), "triple")
		must(t, err)
		return p.Checkers
	}

	// A new version with a submission that only the bound checker rejects.
	more := with("submissions/wrong_answer/blank.py", blanked, "statement/problem.en.md", "Three times.\n")
	x := b.finish(t, b.importing(t, zipped(t, more), true))
	kept := x.report.Binding
	if kept == nil || !kept.Kept || kept.Checker != exact.Digest || kept.Own != "default" || kept.Binding != "digest" {
		t.Fatalf("the binding: %+v", kept)
	}
	if !x.report.Live || !x.report.Proof.OK() || !slices.Equal(checkers(), []string{exact.Digest}) {
		t.Errorf("live %t, checked by %s: %+v", x.report.Live, checkers(), x.report.Proof)
	}
	if n := len(x.report.Warnings); n == 0 || !strings.Contains(x.report.Warnings[n-1].Reason, "stays bound to the problem") {
		t.Errorf("warnings %v", x.report.Warnings)
	}

	// The proof is that of the bound checker: what it accepts no more is found.
	x = b.finish(t, b.importing(t, zipped(t, with("submissions/accepted/blank.py", blanked)), true))
	if x.report.Live || x.report.Proof.OK() || x.report.Binding == nil || !x.report.Binding.Kept {
		t.Errorf("with an accepted program that it rejects: %+v", x.report)
	}

	// The package changes its checker: that is the newer choice.
	x = b.finish(t, b.importing(t, zipped(t, with("deepoj.yaml", "checker: {name: tokens}\n")), true))
	if gone := x.report.Binding; gone == nil || gone.Kept || gone.Own != "tokens" || !strings.Contains(gone.Why, "bind "+exact.Digest+" again") {
		t.Errorf("the binding: %+v", gone)
	}
	if !x.report.Live || !slices.Equal(checkers(), []string{"tokens"}) {
		t.Errorf("live %t, checked by %s", x.report.Live, checkers())
	}
	if x = b.finish(t, b.importing(t, zipped(t, with("deepoj.yaml", "checker: {name: tokens}\n", "statement/problem.en.md", "3n\n")), true)); x.report.Binding != nil {
		t.Errorf("nothing is bound any more: %+v", x.report.Binding)
	}
}

// What is bound by name follows the name in the new version.
func TestABindingByNameStaysOneByName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	exact := b.execute(t, judge.PluginPayload{Op: judge.PluginUpload, Files: []judge.PluginFile{module(t, "exact")}}).report.Plugin
	must(t, b.store.ActivatePlugin(t.Context(), exact.Digest, "setter"))
	b.finish(t, b.importing(t, zipped(t, triple), true))
	b.execute(t, judge.PluginPayload{Op: judge.PluginBind, Digest: exact.Digest, Problem: "triple"})
	x := b.finish(t, b.importing(t, zipped(t, with("statement/problem.en.md", "Three times.\n")), true))
	p, err := b.store.Problem(t.Context(), "triple")
	must(t, err)
	if x.report.Binding == nil || x.report.Binding.Binding != "name" || !slices.Equal(p.Checkers, []string{exact.Name}) {
		t.Errorf("%+v, checked by %s", x.report.Binding, p.Checkers)
	}
}
