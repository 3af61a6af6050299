package solve

import (
	"encoding/json"
	"testing"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// FuzzRun sends anything to POST /api/v1/runs. What is taken says what an ordinary
// decoder reads, and keeps its bounds once it was checked.
func FuzzRun(f *testing.F) {
	for _, seed := range []string{
		`{"language": "cpp", "source": "x", "stdin": "1", "expected_output": "", "limits": {"cpu_ms": 10, "processes": 3}}`,
		`{"language": "cpp", "sources": [{"name": "a.cpp", "text": "x"}], "tests": [{"stdin": "\u0000"}, {}], "args": ["a"]}`,
		`{"language": "cpp", "source": "x", "limits": {"cpu_ms": -1, "cpu_ms": 1e9}, "samples": true}`, `{"limits": []}`, `{"tests": {}}`, `null`, "\xff", `{`,
	} {
		f.Add([]byte(seed))
	}
	most := judge.RunLimits{CPUMillis: 1000, WallMillis: 1000, MemoryKiB: 4096, OutputKiB: 10, Processes: 5}
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := readRun(body, "")
		if err != nil {
			return
		}
		var want struct {
			Language, Source, Stdin string
			Args                    []string
			Tests                   []struct{ Stdin string }
			Limits                  struct {
				CPU int64 `json:"cpu_ms"`
			}
		}
		if err := json.Unmarshal(body, &want); err != nil {
			t.Fatalf("taken, and yet: %v", err)
		}
		p := in.payload
		if in.Language != want.Language || want.Source != "" && in.Sources[0].Text != want.Source || len(p.Args) != len(want.Args) || p.Limits.CPUMillis != want.Limits.CPU {
			t.Fatalf("%q became %+v", body, in)
		}
		switch {
		case len(want.Tests) > 0:
			if len(p.Tests) != len(want.Tests) || string(p.Tests[0].Input) != want.Tests[0].Stdin {
				t.Fatalf("%q has the tests %+v", body, p.Tests)
			}
		case len(p.Tests) == 1 && string(p.Tests[0].Input) != want.Stdin:
			t.Fatalf("%q has the input %q", body, p.Tests[0].Input)
		}
		offers := []site.Offer{{Language: judge.Language{ID: "cpp"}}}
		if wrong := checkRun(in, nil, offers, most); len(wrong) == 0 {
			l := p.Limits
			if in.Language != "cpp" || in.Problem != "" || len(p.Tests) > maxRunTests || l.CPUMillis < 0 || l.CPUMillis > 1000 || l.MemoryKiB > 4096 || l.Processes > 5 {
				t.Fatalf("%q passes as %+v", body, in)
			}
		}
	})
}
