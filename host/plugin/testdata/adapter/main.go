// A plan/1 adapter without a manifest section, as people write it in Go.
package main

import (
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
)

var at = regexp.MustCompile(`^([^:]+):(\d+):(\d+): (\w+): (.*)$`)

func main() {
	if len(os.Args) != 2 {
		os.Exit(1)
	}
	switch os.Args[1] {
	case abi.OpDescribe:
		answer(abi.Manifest{
			Judge: abi.Version, Kind: abi.Toolchain, Name: "test.lines", Version: "1.0", Protocol: abi.Plan1,
			Language: &abi.Language{
				ID: "lines", Name: "Lines", Extensions: []string{"lines"}, Editor: "text",
				Tools: []abi.Tool{{Name: "cat", Version: []string{"--version"}, Pattern: `(\d+)`, Package: "coreutils"}},
			},
		})
	case abi.OpPlan:
		var q abi.PlanRequest
		ask(&q)
		p := abi.Plan{Judge: abi.Version, Run: abi.Step{Tool: "cat", Args: []string{"main"}}}
		for i, s := range q.Sources {
			if strings.Contains(s.Text, "syntax error") {
				p = abi.Plan{Judge: abi.Version, Error: &abi.SourceError{Message: "syntax error", Source: i, Line: 1}}
				break
			}
			p.Files = append(p.Files, abi.File{Path: s.Name, Source: &i})
		}
		for _, s := range q.Sources {
			switch s.Text {
			case "wrong version":
				p.Judge = 2
			case "no answer":
				os.Exit(0)
			case "bad exit":
				os.Exit(5)
			case "panic":
				panic("the adapter is broken")
			}
		}
		answer(p)
	case abi.OpDiagnostics:
		var q abi.DiagnosticsRequest
		ask(&q)
		d := abi.DiagnosticsReply{Judge: abi.Version}
		for line := range strings.Lines(q.Stderr) {
			if m := at.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				n, _ := strconv.Atoi(m[2])
				d.Diagnostics = append(d.Diagnostics, abi.Diagnostic{File: m[1], Line: n, Severity: m[4], Message: m[5]})
			}
		}
		answer(d)
	default:
		os.Exit(1)
	}
}

func ask(into any) {
	data, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}

func answer(v any) {
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		os.Exit(1)
	}
}
