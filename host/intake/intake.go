// Package intake executes the jobs that take in plugins and problem packages. A plugin is compiled if need be,
// admitted, proved by the conformance suite and kept; a preview judges past submissions with it; a binding makes a
// version of a problem that is checked by it. A package is read, kept as a version and proved by its own submissions,
// which is what lets it go live.
//
// A worker hands such jobs over as it hands submissions to package judging. What is wrong with what came is in the
// job's report; an error is a failure of the platform, and the worker tries again.
package intake

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/plugin"
	"deepoj/host/plugin/conformance"
	"deepoj/host/problem"
	"deepoj/host/reading"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
	"deepoj/sql"
)

// Config says what plugins and packages are proved with. All but Runner, Reader, Quota, TempDir and Log are required.
type Config struct {
	Store   *sql.Site
	Blobs   blob.Store
	Plugins *plugin.Runtime
	Judge   *judging.Judge

	// Runner runs programs for the conformance suite; nil leaves out what needs a sandbox.
	Runner conformance.Runner

	// Reader bounds what reading a package may cost.
	Reader reading.Config

	// Quota is how many bytes the packages of a setter may take that nobody else has;
	// 0 = any number. Staff may take any number.
	Quota int64

	// TempDir is a folder for files without a name. Defaults to the system's.
	TempDir string

	// Log gets what goes wrong. Defaults to nothing.
	Log *slog.Logger
}

// Intake executes jobs about plugins and packages. It may be used by several goroutines.
type Intake struct{ cfg Config }

// New returns an Intake.
func New(cfg Config) (*Intake, error) {
	var errs []error
	for _, f := range []struct {
		name    string
		missing bool
	}{
		{"Store", cfg.Store == nil},
		{"Blobs", cfg.Blobs == nil},
		{"Plugins", cfg.Plugins == nil},
		{"Judge", cfg.Judge == nil},
	} {
		if f.missing {
			errs = append(errs, fmt.Errorf("%s is missing", f.name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("intake: %w", err)
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Intake{cfg}, nil
}

// Execute does what a job of kind plugin_build or plugin_test asks for, and tells each finding to progress. The
// result's verdict is AC when all is well, WA when something was found, CE when the sources do not compile and JE when
// the request cannot be carried out.
func (x *Intake) Execute(ctx context.Context, job judge.Claim, progress func(judge.Progress)) (judge.Result, error) {
	var p judge.PluginPayload
	err := json.Unmarshal(job.Payload, &p)
	if err == nil && (p.SchemaVersion != judge.PayloadVersion || p.ContentType != judge.PluginType) {
		err = fmt.Errorf("schema_version %d and content_type %q are unknown", p.SchemaVersion, p.ContentType)
	}
	if err != nil {
		return judge.Result{}, fmt.Errorf("payload of a job about a plugin: %w", err)
	}
	r := judge.PluginReport{Op: p.Op, Problem: p.Problem}
	result := judge.Result{Verdict: judge.AC}
	switch p.Op {
	case judge.PluginUpload:
		err = x.upload(ctx, job, p, progress, &r, &result)
	case judge.PluginTest:
		err = x.test(ctx, job, p, progress, &r, &result)
	case judge.PluginPreview:
		err = x.preview(ctx, p, progress, &r, &result)
	case judge.PluginBind:
		err = x.bind(ctx, job, p, &r, &result)
	default:
		err = &refusal{fmt.Sprintf("the operation %q is unknown", p.Op)}
	}
	if no, ok := errors.AsType[*refusal](err); ok {
		r.Error, err = no.why, nil
		result.Verdict, result.Message = judge.JE, no.why
	}
	if err != nil {
		return judge.Result{}, fmt.Errorf("%s a plugin: %w", p.Op, err)
	}
	result.Report, err = json.Marshal(r)
	return result, err
}

// refusal says why a request cannot be carried out, and how to mend it.
type refusal struct{ why string }

func (e *refusal) Error() string { return e.why }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// upload compiles, proves and keeps a plugin.
func (x *Intake) upload(ctx context.Context, job judge.Claim, p judge.PluginPayload, progress func(judge.Progress), r *judge.PluginReport, result *judge.Result) error {
	wasm := []byte(nil)
	if len(p.Files) == 1 && bytes.HasPrefix(p.Files[0].Data, []byte("\x00asm")) {
		wasm = p.Files[0].Data
	} else {
		var files []sandbox.File
		for _, f := range p.Files {
			files = append(files, sandbox.File{Path: f.Name, Data: f.Data})
		}
		var compile judge.Compile
		var err error
		if wasm, compile, err = x.cfg.Judge.CompilePlugin(ctx, files); err != nil {
			return err
		}
		result.Compile = &compile
		progress(judge.Progress{Kind: judge.EventCompiled, Compile: &compile})
		if wasm == nil {
			result.Verdict = judge.CE
			return nil
		}
	}
	return x.prove(ctx, job, p, wasm, progress, r, result)
}

// test proves a kept plugin again, perhaps with another problem.
func (x *Intake) test(ctx context.Context, job judge.Claim, p judge.PluginPayload, progress func(judge.Progress), r *judge.PluginReport, result *judge.Result) error {
	kept, wasm, err := x.kept(ctx, p.Digest)
	if err != nil {
		return err
	}
	p.Kind, p.Name, p.Version, p.Protocol = kept.Kind, kept.Name, kept.Version, kept.Protocol
	return x.prove(ctx, job, p, wasm, progress, r, result)
}

// proofTime is the processor time that a plugin has in its proof. On a page nobody can give it longer, so it is long.
const proofTime = 5 * time.Minute

// prove runs the conformance suite on a module and keeps what was admitted.
func (x *Intake) prove(ctx context.Context, job judge.Claim, p judge.PluginPayload, wasm []byte, progress func(judge.Progress), r *judge.PluginReport, result *judge.Result) error {
	o := conformance.Options{
		Manifest: given(p), Runner: x.cfg.Runner, TempDir: x.cfg.TempDir, Time: proofTime,
		Event: func(e conformance.Event) { tell(progress, e) },
	}
	if p.Problem != "" {
		_, pkg, err := x.problem(ctx, p.Problem)
		if err != nil {
			return err
		}
		o.Problem = pkg
	}
	found, err := conformance.Run(ctx, x.cfg.Plugins, wasm, o)
	if err != nil {
		return err
	}
	r.Conformance = &found.Conformance
	if !found.Conforms {
		result.Verdict = judge.WA
	}
	if found.Plugin.Name == "" { // not admitted
		return nil
	}
	m, err := x.cfg.Plugins.Load(ctx, wasm, o.Manifest)
	if err != nil {
		return err
	}
	digest, size, err := x.cfg.Blobs.Put(ctx, bytes.NewReader(wasm))
	if err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	manifest, err := json.Marshal(m.Manifest)
	if err != nil {
		return err
	}
	kept := judge.Plugin{
		Digest: string(digest), Kind: string(m.Manifest.Kind), Name: m.Manifest.Name, Version: m.Manifest.Version, Protocol: string(m.Manifest.Protocol),
		Bytes: size, Manifest: manifest, Conforms: found.Conforms, Leaks: found.Leaks(), JobID: job.JobID, By: p.By,
	}
	if err := x.cfg.Store.SavePlugin(ctx, kept); err != nil {
		return err
	}
	r.Plugin, err = x.cfg.Store.Plugin(ctx, kept.Digest)
	return err
}

// tell reports an event of the suite.
func tell(progress func(judge.Progress), e conformance.Event) {
	kind, what := judge.EventFinding, any(e.Finding)
	if e.Stage != nil {
		kind, what = judge.EventStage, e.Stage
	}
	tellJSON(progress, kind, what)
}

// given is the manifest of a module that brings none.
func given(p judge.PluginPayload) *abi.Manifest {
	m := abi.Manifest{
		Judge: abi.Version, Kind: abi.Kind(p.Kind), Name: p.Name, Version: p.Version, Protocol: abi.Protocol(p.Protocol),
	}
	m.Kind = cmp.Or(m.Kind, abi.Checker)
	m.Name = cmp.Or(m.Name, "uploaded."+string(m.Kind))
	m.Version = cmp.Or(m.Version, "1")
	if m.Protocol == "" {
		m.Protocol = abi.Testlib1
		if m.Kind == abi.Toolchain {
			m.Protocol = abi.Plan1
		}
	}
	return &m
}

// kept returns an uploaded plugin with its module.
func (x *Intake) kept(ctx context.Context, digest string) (*judge.Plugin, []byte, error) {
	p, err := x.cfg.Store.Plugin(ctx, digest)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, nil, refuse("there is no uploaded plugin %s: upload it first", digest)
	}
	if err != nil {
		return nil, nil, err
	}
	wasm, err := blob.ReadAll(ctx, x.cfg.Blobs, blob.Digest(digest), p.Bytes)
	return p, wasm, err
}

// problem returns the active version of a problem with its package.
func (x *Intake) problem(ctx context.Context, slug string) (*judge.Problem, *problem.Package, error) {
	p, err := x.cfg.Store.Problem(ctx, slug)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, nil, refuse("there is no problem %s", slug)
	}
	if err != nil {
		return nil, nil, err
	}
	pkg, err := problem.Load(ctx, x.cfg.Blobs, blob.Digest(p.Version))
	return p, pkg, err
}
