package solve

import (
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/web/site"
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
		if got := showUsage(tt.used, p, site.Viewer{}).Memory; got.Text != tt.text || got.Limit != tt.limit || got.Over != tt.over {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAGroupHasATitle(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"secret/group1": "Group 1", "secret/02-large": "02-large", "sample": "Samples", "secret/subtask-3": "subtask-3", "secret/3": "Group 3",
	} {
		if got := groupTitle(name, site.Viewer{}); got != want {
			t.Errorf("%s is called %q, want %q", name, got, want)
		}
	}
}

func TestAResultHasAnExplanation(t *testing.T) {
	t.Parallel()
	for _, v := range judge.Verdicts {
		if (v.Final() || v != judge.SE) && details[v] == "" {
			t.Errorf("the page of a submission has no sentence for %s", v)
		}
	}
}

func FuzzShowSources(f *testing.F) {
	f.Add("a\nb\n", 2, 1)
	f.Add("", 0, 0)
	f.Fuzz(func(t *testing.T, text string, line, column int) {
		shown := showSources([]judge.Source{{Name: "a", Text: text}}, &judge.Compile{Diagnostics: []judge.Diagnostic{{Line: line, Column: column}}})
		var back []string
		marks := 0
		for _, l := range shown[0].Lines {
			back = append(back, l.Text)
			marks += len(l.Marks)
		}
		if len(back) != strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1 {
			t.Errorf("%q has %d lines", text, len(back))
		}
		if (marks == 1) != (line >= 1 && line <= len(back)) {
			t.Errorf("line %d of %d has %d marks", line, len(back), marks)
		}
	})
}
