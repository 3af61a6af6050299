package web

import (
	"net"
	"strings"
	"testing"

	"deepoj/host/judge"
)

func TestAGroupHasATitle(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"secret/group1": "Group 1", "secret/02-large": "02-large", "sample": "Samples", "secret/subtask-3": "subtask-3", "secret/3": "Group 3",
	} {
		if got := groupTitle(name); got != want {
			t.Errorf("%s is called %q, want %q", name, got, want)
		}
	}
}

func TestAVerdictHasTextShapeAndColour(t *testing.T) {
	t.Parallel()
	css, err := siteFiles.ReadFile("static/app.css")
	if err != nil {
		t.Fatal(err)
	}
	shapesFile, err := siteFiles.ReadFile("templates/_shapes.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range append([]judge.Verdict{""}, judge.Verdicts...) {
		if !strings.Contains(string(css), ".v-"+strings.ToLower(string(v))+" ") && !strings.Contains(string(css), ".v-"+strings.ToLower(string(v))+",") {
			t.Errorf("%q has no colour", v)
		}
		if !strings.Contains(string(shapesFile), `id="s-`+shapeShown(v)+`"`) {
			t.Errorf("%q has no shape", v)
		}
		if v != "" && v != judge.SE && details[v] == "" {
			t.Errorf("%q has no explanation", v)
		}
	}
}

func FuzzSplitHost(f *testing.F) {
	for _, seed := range []string{"localhost:8080", "[::1]:8080", "::1", "a:b:c", "", "[", "]:1", "a@b:1"} {
		f.Add(seed)
	}
	policy := newHostPolicy("127.0.0.1:8080", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, nil)
	ours := map[string]bool{"localhost:8080": true, "127.0.0.1:8080": true, "[::1]:8080": true}
	f.Fuzz(func(t *testing.T, host string) {
		if policy.mayChange(host) != ours[strings.ToLower(host)] {
			t.Errorf("mayChange(%q) = %t", host, policy.mayChange(host))
		}
	})
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
