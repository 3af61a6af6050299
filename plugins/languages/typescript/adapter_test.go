package typescript

import (
	"errors"
	"slices"
	"testing"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

func TestAnOldCompilerIsNotGivenFlagsThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for version, recent := range map[string]bool{
		"": true, "4.5.4": false, "3.9.10": false, "4.6.4": false, "4.7.0": true, "4.8.4": true, "5.0.2": true, "10.1.0": true, "next": true, "5.x": true,
	} {
		p, err := plan(abi.PlanRequest{
			Sources: []abi.Source{{Name: "a.ts"}},
			Host:    abi.Host{Tools: map[string]abi.ToolVersion{"tsc": {Version: version}}},
		})
		if err != nil || slices.Contains(p.Compile[0].Args, "--moduleDetection") != recent {
			t.Errorf("with tsc %q the plan is %+v, error %v", version, p, err)
		}
	}
}

func TestTheMainFileIsAProgram(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		names []string
		entry string // "" for a refusal
	}{
		"a single file is called main":    {[]string{"sum.ts"}, "out/main.js"},
		"whatever it is called":           {[]string{"types.d.ts"}, "out/main.js"},
		"main wins over an earlier one":   {[]string{"a.ts", "main.ts"}, "out/main.js"},
		"so does index":                   {[]string{"a.ts", "lib/index.ts"}, "out/lib/index.js"},
		"otherwise the first is run":      {[]string{"notes.txt", "b.ts", "a.ts"}, "out/b.js"},
		"declarations are nothing to run": {[]string{"main.d.ts", "b.ts"}, "out/b.js"},
		"not even alone":                  {[]string{"a.d.ts", "b.d.ts"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sources []abi.Source
			for _, n := range tt.names {
				sources = append(sources, abi.Source{Name: n})
			}
			p, err := plan(abi.PlanRequest{Sources: sources})
			if _, refused := errors.AsType[*sdk.SourceError](err); refused != (tt.entry == "") {
				t.Fatalf("error is %v", err)
			}
			if err == nil && p.Run.Args[len(p.Run.Args)-1] != tt.entry {
				t.Errorf("run by %q, want %s", p.Run.Args, tt.entry)
			}
		})
	}
}
