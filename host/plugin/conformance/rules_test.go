package conformance_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/plugin"
	"deepoj/host/plugin/conformance"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/samples"
	"deepoj/plugins/abi"
)

// violation is a plugin that breaks the rules want, and no other.
type violation struct {
	wasm func(*testing.T) []byte
	opts func(*testing.T) conformance.Options
	run  func(*testing.T, []byte, conformance.Options) conformance.Report // defaults to prove
	want []string
}

// accepted and wrong are tests of the checker of testdata.
var (
	accepted = abi.Test{Output: "alpha beta\n12 gamma\n-5\n", Answer: "alpha beta\n12 gamma\n-5\n", Expect: "accepted"}
	rejected = abi.Test{Output: "alpha\n", Answer: "omega\n", Expect: "wrong"}
)

// with changes the options of a checker with good tests.
func with(change func(*abi.Manifest)) func(*testing.T) conformance.Options {
	return func(*testing.T) conformance.Options {
		m := checker(abi.Testlib1, accepted, rejected)
		change(m)
		return conformance.Options{Manifest: m, LargeBytes: 20_000_000}
	}
}

func as(p abi.Protocol) func(*testing.T) conformance.Options {
	return with(func(m *abi.Manifest) { m.Protocol = p })
}

// bad builds the checker that breaks a rule.
func bad(macros ...string) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		t.Helper()
		var flags []string
		for _, m := range macros {
			flags = append(flags, "-D"+m)
		}
		return buildC(t, "checker", flags...)
	}
}

// aplusb adds a sample problem.
func aplusb(t *testing.T) conformance.Options {
	t.Helper()
	fsys, err := samples.FS("aplusb")
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	o := as(abi.Testlib1)(t)
	o.Problem = p
	return o
}

// section gives the module of a checker a manifest of its own.
func section(wasm func(*testing.T) []byte) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		t.Helper()
		embedded, err := plugin.Embed(wasm(t), []byte(`{"judge":1,"kind":"checker","name":"test","version":"1","protocol":"testlib/1","tests":[
			{"output":"alpha\n","answer":"alpha\n","expect":"accepted"},{"output":"alpha\n","answer":"beta\n","expect":"wrong"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return embedded
	}
}

// checkerViolations are checkers, one for each rule about them.
var checkerViolations = map[string]violation{
	"describe":                   {wasm: section(bad("BAD_DESCRIBE")), want: []string{"describe"}},
	"options":                    {wasm: bad(), opts: with(func(m *abi.Manifest) { m.Args = []string{"--eps={eps}"} }), want: []string{"options"}},
	"options that are no schema": {wasm: bad(), opts: with(func(m *abi.Manifest) { m.Options = []byte(`{"type":"array"}`) }), want: []string{"options"}},
	"limits":                     {wasm: bad(), opts: with(func(m *abi.Manifest) { m.Limits.FuelM = 200_000 }), want: []string{"limits"}},
	"no-tests":                   {wasm: bad(), opts: with(func(m *abi.Manifest) { m.Tests = m.Tests[:1] }), want: []string{"no-tests"}},
	"own-test":                   {wasm: bad(), opts: with(func(m *abi.Manifest) { m.Tests[1].Expect = "presentation" }), want: []string{"own-test"}},
	"deterministic": {wasm: bad(), opts: as(abi.Testlib1), want: []string{"deterministic"}, run: func(t *testing.T, wasm []byte, o conformance.Options) conformance.Report {
		t.Helper()
		r, err := conformance.RunDisturbed(t.Context(), runtime(t), wasm, o, 3)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}},
	"oracle-answer":            {wasm: bad("BAD_ORACLE"), opts: aplusb, want: []string{"oracle-answer"}},
	"hostile-trap":             {wasm: bad("BAD_TRAP"), opts: as(abi.Testlib1), want: []string{"hostile-trap"}},
	"hostile-trap in icpc/1":   {wasm: bad("BAD_TRAP", "ICPC"), opts: as(abi.ICPC1), want: []string{"hostile-trap"}},
	"hostile-memory":           {wasm: bad("BAD_MEMORY"), opts: with(func(m *abi.Manifest) { m.Limits.MemoryMiB = 16 }), want: []string{"hostile-memory"}},
	"hostile-fuel":             {wasm: bad("BAD_FUEL"), opts: with(func(m *abi.Manifest) { m.Limits.FuelM = 12_000 }), want: []string{"hostile-fuel"}},
	"hostile-exit":             {wasm: bad("BAD_EXIT"), opts: as(abi.Testlib1), want: []string{"hostile-exit"}},
	"hostile-exit in icpc/1":   {wasm: bad("BAD_EXIT", "ICPC"), opts: as(abi.ICPC1), want: []string{"hostile-exit"}},
	"hostile-blame":            {wasm: bad("BAD_BLAME"), opts: as(abi.Testlib1), want: []string{"hostile-blame"}},
	"equal-accepts":            {wasm: bad("BAD_EQUAL"), opts: with(func(m *abi.Manifest) { m.EqualAccepts = true }), want: []string{"equal-accepts"}},
	"mutant":                   {wasm: bad("BAD_MUTANT"), opts: as(abi.Testlib1), want: []string{"mutant"}},
	"first-line-only":          {wasm: bad("BAD_FIRST_LINE"), opts: as(abi.Testlib1), want: []string{"first-line-only", "mutant"}},
	"leak":                     {wasm: bad("BAD_LEAK", "ICPC"), opts: as(abi.ICPC1), want: []string{"leak"}},
	"leak-testlib":             {wasm: bad("BAD_LEAK"), opts: as(abi.Testlib1), want: []string{"leak-testlib"}},
	"slow":                     {wasm: bad("BAD_SLOW"), opts: with(func(m *abi.Manifest) { m.Limits.FuelM = 2_000 }), want: []string{"slow"}},
	"nothing":                  {wasm: bad(), opts: as(abi.Testlib1)},
	"nothing in icpc/1":        {wasm: bad("ICPC"), opts: as(abi.ICPC1)},
	"nothing with a section":   {wasm: section(bad())},
	"nothing with equal files": {wasm: bad(), opts: with(func(m *abi.Manifest) { m.EqualAccepts = true })},
	"nothing with a package":   {wasm: bad(), opts: aplusb},
}

func TestEachBadCheckerIsCaughtByItsRule(t *testing.T) {
	t.Parallel()
	caught(t, checkerViolations)
}

// caught proves each plugin and compares the rules of the findings.
func caught(t *testing.T, violations map[string]violation) {
	t.Helper()
	for name, v := range violations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o conformance.Options
			if v.opts != nil {
				o = v.opts(t)
			}
			run := v.run
			if run == nil {
				run = prove
			}
			r := run(t, v.wasm(t), o)
			found := map[string]bool{}
			conforms := true
			for _, f := range r.Findings {
				found[f.Rule] = true
				conforms = conforms && f.Severity != conformance.Failure
				if f.Offender == "" || f.Remedy == "" || f.Stage == "" {
					t.Errorf("a finding says too little: %+v", f)
				}
			}
			if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, v.want) {
				t.Errorf("it breaks %q, want %q:\n%s", got, v.want, text(t, r))
			}
			if r.Conforms != conforms {
				t.Errorf("it conforms: %t, want %t", r.Conforms, conforms)
			}
		})
	}
}

// A rule that no module breaks may be one that never fires.
func TestEveryRuleHasAModuleThatBreaksIt(t *testing.T) {
	t.Parallel()
	broken := map[string]bool{"time": true} // by TestAPluginThatNeverEndsIsDoneWithInTime
	for _, vs := range []map[string]violation{checkerViolations, adapterViolations, refused(), programViolations, talkViolations} {
		for _, v := range vs {
			for _, rule := range v.want {
				broken[rule] = true
			}
		}
	}
	for _, r := range conformance.Rules() {
		if !broken[r.Name] {
			t.Errorf("no module breaks %s", r.Name)
		}
		delete(broken, r.Name)
		if r.Demands == "" || r.Stage == "" || r.Remedy == "" && r.Stage != "admission" {
			t.Errorf("%s is described too little: %+v", r.Name, r)
		}
	}
	for rule := range broken {
		t.Errorf("%s is not in the list of rules", rule)
	}
}

func TestAStageThatCannotBeRunIsNotPassed(t *testing.T) {
	t.Parallel()
	r := prove(t, buildC(t, "checker"), conformance.Options{Manifest: checker(abi.Testlib1), LargeBytes: 1_000_000})
	reasons := map[string]string{}
	for _, st := range r.Stages {
		if st.Outcome == conformance.NotRun {
			reasons[st.Name] = st.Reason
		}
	}
	for stage, want := range map[string]string{
		"own-tests": "no tests", "oracle": "package", "submissions": "package", "equal-accepts": "does not claim",
		"mutants": "manifest tests", "messages": "manifest tests",
	} {
		if !strings.Contains(reasons[stage], want) {
			t.Errorf("%s was not run for the reason %q, want %q", stage, reasons[stage], want)
		}
	}
	if len(reasons) != 6 || !r.Conforms {
		t.Errorf("%d stages were not run:\n%s", len(reasons), text(t, r))
	}
}

func TestAnInteractorHearsHostileProgramsAndNeedsAPackageForTheRest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		macros  []string
		p       abi.Protocol
		want    []string
		outcome judge.StageOutcome
	}{
		"a good one":            {[]string{"ICPC"}, abi.ICPC1, nil, conformance.Passed},
		"one that traps":        {[]string{"ICPC", "BAD_TRAP"}, abi.ICPC1, []string{"hostile-trap"}, conformance.Failed},
		"a good one of testlib": {[]string{"INTERACTOR"}, abi.Testlib1, nil, conformance.Passed},
		"a trapping one of it":  {[]string{"INTERACTOR", "BAD_TRAP"}, abi.Testlib1, []string{"hostile-trap"}, conformance.Failed},
		"one that leaves by 77": {[]string{"ICPC", "BAD_EXIT"}, abi.ICPC1, []string{"hostile-exit"}, conformance.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := checker(tt.p)
			m.Kind = abi.Interactor
			r := prove(t, bad(tt.macros...)(t), conformance.Options{Manifest: m, LargeBytes: 1_000_000})
			var rules []string
			for _, f := range r.Findings {
				if !slices.Contains(rules, f.Rule) {
					rules = append(rules, f.Rule)
				}
			}
			if !slices.Equal(rules, tt.want) {
				t.Errorf("it breaks %q, want %q:\n%s", rules, tt.want, text(t, r))
			}
			for _, st := range r.Stages {
				if st.Name == "hostile" && st.Outcome != tt.outcome {
					t.Errorf("the stage hostile is %s, want %s", st.Outcome, tt.outcome)
				}
				if st.Name == "conversation" && (st.Outcome != conformance.NotRun || st.Reason != "it needs the package of an interactive problem") {
					t.Errorf("the stage conversation is %+v", st)
				}
			}
		})
	}
}
