// Package trial runs programs for the conformance suite the way submissions are
// judged: through judging and the sandbox.
package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/blame"
	"deepoj/host/plugin/conformance"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/verify"
	"deepoj/plugins/abi"
)

// Runner runs programs. It is a [conformance.Runner].
type Runner struct {
	dir string
	cfg judging.Config

	mu    sync.Mutex
	hello blob.Digest    // the problem that programs are tried on
	judge *judging.Judge // of submissions; nil before the first
}

// New returns a Runner that judges with cfg, whose Blobs and CacheDir it sets to
// folders in dir. The caller removes dir.
func New(dir string, cfg judging.Config) (*Runner, error) {
	blobs, err := blob.OpenDir(filepath.Join(dir, "blobs"))
	if err != nil {
		return nil, fmt.Errorf("trial: %w", err)
	}
	cfg.Blobs, cfg.CacheDir = blobs, filepath.Join(dir, "judging")
	return &Runner{dir: dir, cfg: cfg}, nil
}

// helloProblem is what programs are tried on: there is no input, and the output must
// be hello. The limits leave room for any language on a busy machine.
var helloProblem = map[string]string{
	"problem.yaml":      "name: Hello\nlimits:\n  memory: 1024\n",
	".timelimit":        "20\n",
	"data/sample/1.in":  "",
	"data/sample/1.ans": "hello\n",
	"data/secret/1.in":  "",
	"data/secret/1.ans": "hello\n",
}

// problem stores the problem that programs are tried on, once.
func (r *Runner) problem(ctx context.Context) (d blob.Digest, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hello != "" {
		return r.hello, nil
	}
	dir, err := os.MkdirTemp(r.dir, "hello-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for name, text := range helloProblem {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			return "", err
		}
	}
	p, _, err := importing.Read(os.DirFS(dir))
	if err != nil {
		return "", err
	}
	p.Slug = "hello"
	r.hello, err = p.Save(ctx, r.cfg.Blobs)
	return r.hello, err
}

// Program implements [conformance.Runner].
func (r *Runner) Program(ctx context.Context, adapter []byte, language string, sources []abi.Source) (conformance.Ran, error) {
	ran, err := r.program(ctx, adapter, language, sources)
	if missing, ok := errors.AsType[*blame.UnavailableError](err); ok {
		return conformance.Ran{Missing: missing.Error()}, nil
	}
	if err != nil {
		return ran, fmt.Errorf("try a program in %s: %w", language, err)
	}
	return ran, nil
}

func (r *Runner) program(ctx context.Context, adapter []byte, language string, sources []abi.Source) (ran conformance.Ran, err error) {
	version, err := r.problem(ctx)
	if err != nil {
		return ran, err
	}
	cfg := r.cfg
	cfg.Adapters, cfg.Uploaded = judging.Modules(map[string][]byte{language: adapter}), nil
	j, err := judging.New(cfg)
	if err != nil {
		return ran, err
	}
	payload := judge.Payload{SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: "hello", Language: language}
	for _, s := range sources {
		payload.Sources = append(payload.Sources, judge.Source{Name: s.Name, Text: s.Text})
	}
	result, err := j.Judge(ctx, payload, version, nil)
	if err != nil {
		return ran, err
	}
	ran.Verdict, ran.Words = string(result.Verdict), result.Message
	if result.JudgeNote != "" {
		ran.Words = result.JudgeNote
	}
	if c := result.Compile; c != nil {
		ran.Compiled = c.OK
		if c.Output != "" {
			ran.Words = c.Output
		}
		for _, d := range c.Diagnostics {
			ran.Diagnostics = append(ran.Diagnostics, abi.Diagnostic{File: d.File, Line: d.Line, Column: d.Column, Severity: d.Severity, Message: d.Message})
		}
	}
	for _, t := range result.Tests {
		if t.Sample {
			ran.Output = t.Output
		}
	}
	return ran, nil
}

// Submissions implements [conformance.Runner].
func (r *Runner) Submissions(ctx context.Context, p *problem.Package, wasm []byte, m abi.Manifest, others []abi.Source) ([]conformance.Judged, error) {
	judged, err := r.submissions(ctx, p, wasm, m, others)
	if err != nil {
		return nil, fmt.Errorf("judge the submissions of %s: %w", p.Slug, err)
	}
	return judged, nil
}

// otherFolder is where submissions that are none of the package's are put.
const otherFolder = "submissions/.others/"

func (r *Runner) submissions(ctx context.Context, p *problem.Package, wasm []byte, m abi.Manifest, others []abi.Source) ([]conformance.Judged, error) {
	with, err := r.withPlugin(ctx, p, wasm, m)
	if err != nil {
		return nil, err
	}
	right := map[string]bool{}
	with.Submissions = nil
	for _, s := range p.Submissions {
		for _, v := range []judge.Verdict{judge.AC, judge.WA} {
			if !s.Partial && len(s.Allowed) == 1 && s.Allowed[0] == v {
				right[strings.TrimPrefix(s.Path, "submissions/")] = v == judge.AC
				with.Submissions = append(with.Submissions, s)
			}
		}
	}
	for _, o := range others {
		digest, size, err := r.cfg.Blobs.Put(ctx, strings.NewReader(o.Text))
		if err != nil {
			return nil, err
		}
		path := otherFolder + o.Name
		with.Submissions = append(with.Submissions, problem.Submission{Path: path, Files: []problem.File{{Path: path, Size: size, Digest: digest}}})
	}
	j, err := r.judges()
	if err != nil {
		return nil, err
	}
	report, err := verify.Run(ctx, verify.Config{Judge: j}, with)
	if err != nil {
		return nil, err
	}
	var all []conformance.Judged
	for _, row := range report.Rows {
		one := conformance.Judged{Path: row.Path, Right: right[row.Path], Verdict: string(row.Verdict), Message: row.Message}
		one.Path, one.Other = strings.CutPrefix(row.Path, strings.TrimPrefix(otherFolder, "submissions/"))
		if row.Verdict == "" || row.Verdict == judge.JE {
			one.Message = row.Problem
		}
		if row.Verdict == "" {
			one.Missing = row.Problem
		}
		all = append(all, one)
	}
	return all, nil
}

// judges returns the Judge of submissions, which remembers what it learned of the tools of this machine.
func (r *Runner) judges() (*judging.Judge, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.judge == nil {
		j, err := judging.New(r.cfg)
		if err != nil {
			return nil, err
		}
		r.judge = j
	}
	return r.judge, nil
}

// withPlugin stores the package with the checker or interactor in the place of its own.
func (r *Runner) withPlugin(ctx context.Context, p *problem.Package, wasm []byte, m abi.Manifest) (*problem.Package, error) {
	digest, size, err := r.cfg.Blobs.Put(ctx, bytes.NewReader(wasm))
	if err != nil {
		return nil, err
	}
	if _, err := p.Save(ctx, r.cfg.Blobs); err != nil {
		return nil, err
	}
	module := problem.File{Path: ".plugin-under-test.wasm", Size: size, Digest: digest}
	bound := problem.Checker{Wasm: &module, Protocol: string(m.Protocol)}
	with := p.WithChecker(bound)
	if m.Kind == abi.Interactor {
		with = p.WithInteractor(bound)
	}
	with.Files = append(append([]problem.File{}, p.Files...), module)
	if _, err := with.Save(ctx, r.cfg.Blobs); err != nil {
		return nil, err
	}
	return with, nil
}
