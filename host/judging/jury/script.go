package jury

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"deepoj/host/judging/blame"
	"deepoj/host/judging/build"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
	"deepoj/sandbox"
)

// shell is what runs scripts. It is in every box.
const shell = "/bin/sh"

// scriptProcesses bounds the processes of a script, which starts others.
const scriptProcesses = 64

// script makes a program of a shell script, or of a folder with a script that builds it, one that runs it, or both.
func (j *Jury) script(ctx context.Context, from *problem.Package, pkg *problem.Package, p problem.Program) (*Program, error) {
	made := &build.Program{}
	names := make([]string, len(p.Files))
	for i, f := range p.Files {
		names[i] = f.Path
	}
	top := folder(p.Files)
	for i, f := range p.Files {
		b, err := j.Content(ctx, from, f, maxCheckerSource)
		if err != nil {
			return nil, err
		}
		made.Files = append(made.Files, sandbox.File{Path: strings.TrimPrefix(names[i], top), Data: b, Mode: 0o755})
	}
	made.Cmd = sandbox.Cmd{Program: shell, Args: []string{path.Base(names[0])}}
	if p.Language == problem.LanguageScripts {
		if err := j.buildScript(ctx, pkg, p.Name, made); err != nil {
			return nil, err
		}
		made.Cmd.Args = []string{"-c", "exec " + folderOfBox + `run "$@"`, "run"}
	}
	made.Compile.OK = true
	made.Cmd.Limits = sandbox.Limits{
		CPU: pkg.Limits.CPU, MemoryBytes: pkg.Limits.MemoryMiB << 20, OutputBytes: pkg.Limits.OutputMiB << 20,
		FileBytes: pkg.Limits.OutputMiB << 20, Processes: scriptProcesses, Cores: 1,
	}
	return &Program{j: j, Name: p.Name, From: from, pkg: pkg, Built: made}, nil
}

// buildScript runs the script that builds a program, if there is one, once: what it leaves is kept.
func (j *Jury) buildScript(ctx context.Context, pkg *problem.Package, name string, p *build.Program) error {
	has := func(wanted string) bool {
		for _, f := range p.Files {
			if f.Path == wanted {
				return true
			}
		}
		return false
	}
	if !has("build") {
		return nil
	}
	type script struct {
		Kind  string
		Files []sandbox.File
	}
	built, err := j.Once(ctx, script{"script", p.Files}, func() ([]sandbox.File, error) {
		said, err := j.runBuild(ctx, pkg, p)
		if err != nil {
			return nil, err
		}
		if said != "" || !has("run") {
			return nil, blame.Packagef("%s cannot be built: %s", name, runner.Cut(strings.TrimSpace(said+"\nits script build must leave a program run"), runner.KeptWords))
		}
		return p.Files, nil
	})
	if err == nil {
		p.Files = built
	}
	return err
}

// runBuild runs build and takes what it leaves into p. It returns why it failed.
func (j *Jury) runBuild(ctx context.Context, pkg *problem.Package, p *build.Program) (said string, err error) {
	box, err := j.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{Writable: true, Locks: true})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	const name = "the script build"
	if err := box.Put(ctx, p.Files...); err != nil {
		return "", blame.Theirs(name, sandbox.Result{}, err)
	}
	streams, err := j.Streams()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, streams.Close()) }()
	ran, err := j.RunIn(ctx, box, sandbox.Cmd{
		Program: shell, Args: []string{"-c", "exec ./build"}, Stdout: streams.Out, Stderr: streams.Err, StdoutLimit: runner.KeptCompile, StderrLimit: runner.KeptCompile,
		Limits: sandbox.Limits{
			CPU: pkg.Limits.CompileCPU, Wall: runner.Patience*pkg.Limits.CompileCPU + 10*time.Second, MemoryBytes: pkg.Limits.CompileMemoryMiB << 20,
			Processes: scriptProcesses, Cores: 1,
		},
	})
	if err := blame.Theirs(name, ran, err); err != nil {
		return "", err
	}
	if ran.Verdict == sandbox.SE {
		return "", fmt.Errorf("build a program: the sandbox failed: %s", ran.Error)
	}
	if ran.Verdict != sandbox.OK {
		out, errs, err := streams.Read()
		return strings.TrimSpace(build.CompileFailure(ran) + "\n" + errs + "\n" + out), err
	}
	p.Files, err = box.Collect(ctx, []string{"**"}, build.MaxArtifacts)
	return "", blame.Theirs(name, ran, err)
}
