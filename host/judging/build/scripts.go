package build

import (
	"context"
	"slices"

	"deepoj/host/judge"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// The scripts of a program without a language, and what executes them.
const (
	bash          = "bash"
	runScript     = "run"
	compileScript = "compile"
)

// Scripts returns the program that files compile and run themselves, with the tools of every language at hand.
func (b *Builder) Scripts(ctx context.Context, pkg *problem.Package, x Extra) (*Program, error) {
	module := &plugin.Module{Digest: "scripts"}
	tc := &Toolchain{ID: "scripts", Module: module, versions: map[string]abi.ToolVersion{}}
	tool := abi.Tool{Name: bash, Package: bash, Version: []string{"--version"}, Pattern: `version ([0-9.]+)`}
	version, err := b.version(ctx, tool)
	if err != nil {
		return nil, err
	}
	tc.language.Tools, tc.versions[bash] = []abi.Tool{tool}, abi.ToolVersion{Version: version}
	for _, l := range b.Languages(ctx) {
		other, err := b.Toolchain(ctx, l.ID)
		if err != nil {
			continue // its tools are not at hand
		}
		for _, t := range other.language.Tools {
			if _, known := tc.versions[t.Name]; !known {
				tc.language.Tools, tc.versions[t.Name] = append(tc.language.Tools, t), other.versions[t.Name]
			}
		}
	}
	p := &Program{Toolchain: tc, Compile: judge.Compile{Tool: tc.Shown()}, extra: x}
	p.Plan.Run = abi.Step{Tool: bash, Args: []string{runScript}}
	has := func(name string) bool {
		return slices.ContainsFunc(x.Files, func(f sandbox.File) bool { return f.Path == name })
	}
	if has(compileScript) {
		p.Plan.Compile = []abi.Step{{Tool: bash, Args: []string{compileScript}}}
		p.Plan.Artifacts = []string{"**"}
	}
	if !has(runScript) {
		p.Refuse("there is no file " + runScript)
		return p, nil
	}
	if err := b.compile(ctx, p, pkg, nil, nil); err != nil {
		return nil, err
	}
	if err := runCmd(p, pkg, 1); err != nil {
		return nil, err
	}
	p.Cmd.ExtraTools = tc.tools()
	return p, nil
}
