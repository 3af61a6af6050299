package judging_test

import (
	"log/slog"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
)

// optional are the languages whose tools may be missing even where all others
// must be there.
var optional = map[string]bool{"csharp": true, "kotlin": true}

func TestLanguagesSayWhatTheyHave(t *testing.T) {
	t.Parallel()
	for _, l := range judgingtest.Get(t).Judge.Languages(t.Context()) {
		if !l.Available && optional[l.ID] {
			if !strings.Contains(l.Unavailable, "apt-get install") {
				t.Errorf("%s is unavailable: %s", l.Name, l.Unavailable)
			}
			continue
		}
		if !l.Available {
			judgingtest.Missing(t, l.Name+" ("+l.Unavailable+")")
		}
		if l.Version == "" || l.Command == "" || l.Name == "" || len(l.Extensions) == 0 || l.Editor == "" || !strings.HasPrefix(l.Adapter, "sha256:") {
			t.Errorf("incomplete: %+v", l)
		}
		compile, interpreted := "", l.ID == "python" || l.ID == "javascript"
		if !interpreted {
			compile = l.Command
		}
		if l.CompileCommand != compile || interpreted != (l.Command == l.RunCommand) || l.RunCommand == "" || l.ID == "java" && !strings.HasPrefix(l.RunCommand, "java ") {
			t.Errorf("%s is compiled by %q and run by %q, and shown by %q", l.ID, l.CompileCommand, l.RunCommand, l.Command)
		}
	}
}

func TestALanguageWithoutItsToolSaysHowToMendIt(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	j, err := m.Open(func(c *judging.Config) {
		c.Adapters = judging.Modules(map[string][]byte{"klingon": adapter(`{"judge":1,"kind":"toolchain","name":"test.klingon","version":"1","protocol":"plan/1",
			"language":{"id":"klingon","name":"Klingon","extensions":["kli"],"editor":"text","hello":[{"name":"a","text":"b"}],"broken":[{"name":"a","text":"b"}],"broken_line":1,
			"tools":[{"name":"klingonc","version":["--version"],"pattern":"(.+)","package":"klingon-tools"}]}}`)})
		c.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	})
	if err != nil {
		t.Fatal(err)
	}
	l := j.Languages(t.Context())
	if len(l) != 1 || l[0].Available || l[0].Name != "Klingon" || !strings.Contains(l[0].Unavailable, "klingonc is not installed: apt-get install klingon-tools") {
		t.Errorf("languages are %+v", l)
	}
}

// adapter is a module that does nothing and has a manifest.
func adapter(manifest string) []byte {
	const section = "judge.manifest"
	custom := append([]byte{byte(len(section))}, section+manifest...)
	size := []byte{byte(len(custom)) | 0x80, byte(len(custom)>>7) | 0x80, byte(len(custom) >> 14)}
	m := append([]byte("\x00asm\x01\x00\x00\x00\x00"), size...)
	m = append(m, custom...)
	return append(m, "\x01\x04\x01\x60\x00\x00"+"\x03\x02\x01\x00"+"\x07\x0a\x01\x06_start\x00\x00"+"\x0a\x04\x01\x02\x00\x0b"...)
}

func TestErrorsOfEveryCompilerPointIntoTheSubmittedFile(t *testing.T) {
	t.Parallel()
	pkg := echo(t, nil)
	for _, l := range judgingtest.Get(t).Judge.Languages(t.Context()) {
		t.Run(l.ID, func(t *testing.T) {
			t.Parallel()
			if !l.Available && optional[l.ID] {
				t.Skip(l.Unavailable)
			}
			if !l.Available {
				judgingtest.Missing(t, l.Name)
			}
			example := broken(t, l.ID)
			name := "my file." + l.Extensions[0]
			r := judged(t, judgingtest.Get(t).Judge, judge.Payload{Problem: "echo", Language: l.ID, Sources: []judge.Source{{Name: name, Text: example.text}}}, pkg)
			if r.Verdict != judge.CE || r.Compile.OK || r.Compile.Output == "" {
				t.Fatalf("verdict %s: %+v", r.Verdict, r.Compile)
			}
			for _, d := range r.Compile.Diagnostics {
				if d.File == name && d.Line == example.line && d.Severity == "error" {
					return
				}
			}
			t.Errorf("no error at %s:%d in %+v\n%s", name, example.line, r.Compile.Diagnostics, r.Compile.Output)
		})
	}
}
