package judging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"time"

	"deepoj/host/problem"
	"deepoj/sandbox"
)

// shell is what runs scripts. It is in every box.
const shell = "/bin/sh"

// scriptProcesses bounds the processes of a script, which starts others.
const scriptProcesses = 64

// script makes a program of a shell script, or of a folder with a script that builds
// it, one that runs it, or both.
func (j *Judge) script(ctx context.Context, from *problem.Package, pkg *problem.Package, p problem.Program) (*Program, error) {
	made := &program{}
	names := make([]string, len(p.Files))
	for i, f := range p.Files {
		names[i] = f.Path
	}
	top := folder(p.Files)
	for i, f := range p.Files {
		b, err := j.content(ctx, from, f, maxCheckerSource)
		if err != nil {
			return nil, err
		}
		made.files = append(made.files, sandbox.File{Path: strings.TrimPrefix(names[i], top), Data: b, Mode: 0o755})
	}
	made.cmd = sandbox.Cmd{Program: shell, Args: []string{path.Base(names[0])}}
	if p.Language == problem.LanguageScripts {
		if err := j.buildScript(ctx, pkg, p.Name, made); err != nil {
			return nil, err
		}
		made.cmd.Args = []string{"-c", "exec " + folderOfBox + `run "$@"`, "run"}
	}
	made.compile.OK = true
	made.cmd.Limits = sandbox.Limits{
		CPU: pkg.Limits.CPU, MemoryBytes: pkg.Limits.MemoryMiB << 20, OutputBytes: pkg.Limits.OutputMiB << 20,
		FileBytes: pkg.Limits.OutputMiB << 20, Processes: scriptProcesses, Cores: 1,
	}
	return &Program{j: j, name: p.Name, from: from, pkg: pkg, prog: made}, nil
}

// buildScript runs the script that builds a program, if there is one, once: what it
// leaves is kept.
func (j *Judge) buildScript(ctx context.Context, pkg *problem.Package, name string, p *program) error {
	has := func(wanted string) bool {
		for _, f := range p.files {
			if f.Path == wanted {
				return true
			}
		}
		return false
	}
	if !has("build") {
		return nil
	}
	k, err := key(struct {
		Kind  string
		Files []sandbox.File
	}{"script", p.files})
	if err != nil {
		return err
	}
	unlock, err := j.locks.lock(ctx, k)
	if err != nil {
		return err
	}
	defer unlock()
	var known compiled
	if files, ok := j.cache.get(k, &known); ok {
		p.files = files
		return nil
	}
	said, err := j.runBuild(ctx, pkg, p)
	if err != nil {
		return err
	}
	if said != "" || !has("run") {
		return &packageError{fmt.Errorf("%s cannot be built: %s", name, cut(strings.TrimSpace(said+"\nits script build must leave a program run"), keptWords))}
	}
	if err := j.cache.put(k, compiled{}, p.files); err != nil {
		j.cfg.Log.WarnContext(ctx, "a built program is not cached", slog.Any("err", err))
	}
	return nil
}

// runBuild runs build and takes what it leaves into p. It returns why it failed.
func (j *Judge) runBuild(ctx context.Context, pkg *problem.Package, p *program) (said string, err error) {
	box, err := j.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{Writable: true, Locks: true})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	const name = "the script build"
	if err := box.Put(ctx, p.files...); err != nil {
		return "", theirs(name, sandbox.Result{}, err)
	}
	streams, err := j.streams()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, streams.close()) }()
	leave, err := j.crowd.join(ctx)
	if err != nil {
		return "", err
	}
	ran, err := runTraced(ctx, box.Run, sandbox.Cmd{
		Program: shell, Args: []string{"-c", "exec ./build"}, Stdout: streams.out, Stderr: streams.err, StdoutLimit: keptCompile, StderrLimit: keptCompile,
		Limits: sandbox.Limits{
			CPU: pkg.Limits.CompileCPU, Wall: patience*pkg.Limits.CompileCPU + 10*time.Second, MemoryBytes: pkg.Limits.CompileMemoryMiB << 20,
			Processes: scriptProcesses, Cores: 1,
		},
	})
	leave()
	if err := theirs(name, ran, err); err != nil {
		return "", err
	}
	if ran.Verdict == sandbox.SE {
		return "", fmt.Errorf("build a program: the sandbox failed: %s", ran.Error)
	}
	if ran.Verdict != sandbox.OK {
		out, errs, err := streams.read()
		return strings.TrimSpace(compileFailure(ran) + "\n" + errs + "\n" + out), err
	}
	p.files, err = box.Collect(ctx, []string{"**"}, maxArtifacts)
	return "", theirs(name, ran, err)
}
