package jury

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"strings"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/build"
	"deepoj/host/judging/runner"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// Checker is a checker that is ready to be asked.
type Checker struct {
	Module *plugin.Module // nil if it is native
	Native *Native
	Flags  []string
	Points bool
	why    string // it is a program and no plugin, though its sources might be one; "" = it is what it can be
}

// Checkers loads the checkers of a package. A checker that cannot be used is a [*blame.PackageError].
func (j *Jury) Checkers(ctx context.Context, pkg *problem.Package) ([]Checker, error) {
	var all []Checker
	for _, c := range pkg.Checkers {
		one, err := j.guest(ctx, pkg, c, abi.Checker)
		if err != nil {
			return nil, err
		}
		all = append(all, *one)
	}
	return all, nil
}

// Interactor loads the interactor of a package, if it has one.
func (j *Jury) Interactor(ctx context.Context, pkg *problem.Package) (*Checker, error) {
	if pkg.Interactor == nil {
		return nil, nil
	}
	return j.guest(ctx, pkg, *pkg.Interactor, abi.Interactor)
}

// guest loads a checker or interactor.
func (j *Jury) guest(ctx context.Context, pkg *problem.Package, c problem.Checker, kind abi.Kind) (*Checker, error) {
	if c.Program != nil {
		return j.native(ctx, pkg, c, kind)
	}
	m, err := j.module(ctx, pkg, c, kind)
	if len(c.Sources) > 0 && noPlugin(err) {
		n, nativeErr := j.native(ctx, pkg, c.AsProgram(), kind)
		if nativeErr == nil {
			n.why = err.Error()
		}
		if nativeErr == nil || !blame.AtFault(nativeErr) || !blame.AtFault(err) || errors.Is(err, errCatches) {
			return n, nativeErr
		}
	}
	if _, refused := errors.AsType[*plugin.Refusal](err); refused {
		return nil, blame.Packagef("%s: %w", kind, err)
	}
	if err != nil {
		return nil, err
	}
	if m.Manifest.Kind != kind {
		return nil, blame.Packagef("%s: the module %s is a %s", kind, m.Manifest.Name, m.Manifest.Kind)
	}
	return &Checker{Module: m, Flags: c.Flags, Points: c.Points}, nil
}

// noPlugin reports whether sources cannot be compiled to a plugin, here or anywhere.
func noPlugin(err error) bool {
	_, missing := errors.AsType[*blame.UnavailableError](err)
	return missing || blame.AtFault(err)
}

// catches is how C++ catches exceptions, which plugins cannot.
var catches = regexp.MustCompile(`\bcatch\s*\(`)

// errCatches says why sources are not compiled to a plugin.
var errCatches = blame.Package(errors.New("the checker catches exceptions, which a plugin cannot"))

// unnamed is what names of folders of packages may hold and those of modules may not.
var unnamed = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// manifest is that of a module that brings none.
func manifest(pkg *problem.Package, c problem.Checker, kind abi.Kind) *abi.Manifest {
	name := "problem." + string(kind)
	if plain := strings.Trim(unnamed.ReplaceAllString(pkg.Slug, "-"), "-._"); plain != "" {
		name = plain[:min(len(plain), 64)] + "." + string(kind)
	}
	return &abi.Manifest{
		Judge: abi.Version, Kind: kind, Name: name, Version: "1", Protocol: abi.Protocol(c.Protocol),
		Limits: abi.Limits{
			MemoryMiB: int(pkg.Limits.CheckMemoryMiB),
			FuelM:     int(pkg.Limits.CheckCPU / time.Millisecond), // a CPU does about 10^9 units a second
			OutputKiB: int(pkg.Limits.CheckOutputMiB << 10),
		},
	}
}

// module loads the module of a checker or interactor.
func (j *Jury) module(ctx context.Context, pkg *problem.Package, c problem.Checker, kind abi.Kind) (*plugin.Module, error) {
	for {
		digest, read, err := j.guestModule(ctx, pkg, c, kind)
		if err != nil {
			return nil, err
		}
		var unread error
		m, err := j.cfg.Plugins.LoadDigest(ctx, digest, func() (wasm []byte, err error) {
			wasm, unread = read()
			return wasm, unread
		}, manifest(pkg, c, kind))
		if unread != nil {
			err = unread
		}
		if _, refused := errors.AsType[*plugin.Refusal](err); err == nil || refused || !j.forget(digest) {
			return m, err
		}
		// Another compiler makes another module of the same sources, or none.
	}
}

// forget forgets that a digest is that of a module, and reports whether it was known.
func (j *Jury) forget(digest string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := len(j.digests)
	maps.DeleteFunc(j.digests, func(_, known string) bool { return known == digest })
	return len(j.digests) < before
}

// guestModule returns the digest of the module of a checker or interactor, and how its bytes are read.
func (j *Jury) guestModule(ctx context.Context, pkg *problem.Package, c problem.Checker, kind abi.Kind) (digest string, read func() ([]byte, error), err error) {
	switch {
	case c.Standard != "":
		return j.digestOf("standard "+c.Standard, func() ([]byte, error) {
			wasm, err := j.cfg.Checker(c.Standard)
			if err != nil {
				return nil, blame.Package(err)
			}
			return wasm, nil
		})
	case c.Plugin != "":
		digest, err = j.active(ctx, kind, c.Plugin)
	case c.Digest != "":
		digest = c.Digest
	case c.Wasm != nil:
		return j.digestOf("file "+string(c.Wasm.Digest), func() ([]byte, error) { return j.Content(ctx, pkg, *c.Wasm, build.MaxModule) })
	default:
		var sources strings.Builder
		for _, f := range c.Sources {
			fmt.Fprintf(&sources, "source %q %s ", f.Path, f.Digest)
		}
		return j.digestOf(sources.String(), func() ([]byte, error) { return j.compileChecker(ctx, pkg, c) })
	}
	return digest, func() ([]byte, error) { return j.uploaded(ctx, digest) }, err
}

// maxDigests is how many digests a Jury remembers.
const maxDigests = 1 << 10

// digestOf returns the digest of a module that always is what read gives, which is read only once for that.
func (j *Jury) digestOf(name string, read func() ([]byte, error)) (string, func() ([]byte, error), error) {
	j.mu.Lock()
	digest := j.digests[name]
	j.mu.Unlock()
	if digest != "" {
		return digest, read, nil
	}
	wasm, err := read()
	if err != nil {
		return "", nil, err
	}
	digest = plugin.Digest(wasm)
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.digests) >= maxDigests {
		clear(j.digests)
	}
	j.digests[name] = digest
	return digest, read, nil
}

// maxCheckerSource bounds one source of a checker, in bytes.
const maxCheckerSource = 1 << 20

// compileChecker compiles a package's checker to WASI, once.
func (j *Jury) compileChecker(ctx context.Context, pkg *problem.Package, c problem.Checker) ([]byte, error) {
	var files []sandbox.File
	top := folder(c.Sources)
	for _, f := range c.Sources {
		b, err := j.Content(ctx, pkg, f, maxCheckerSource)
		if err != nil {
			return nil, err
		}
		files = append(files, sandbox.File{Path: strings.TrimPrefix(f.Path, top), Data: b})
		if path.Base(f.Path) != "testlib.h" && catches.Match(b) {
			return nil, errCatches
		}
	}
	wasm, compile, err := j.CompilePlugin(ctx, files)
	if err == nil && wasm == nil {
		err = blame.Packagef("the checker does not compile:\n%s", runner.Cut(compile.Output, runner.KeptWords))
	}
	return wasm, err
}

// folder returns the folder that holds all files, "" or with a slash at its end.
func folder(files []problem.File) string {
	top := ""
	for i, f := range files {
		if i == 0 {
			top = f.Path[:strings.LastIndexByte(f.Path, '/')+1]
		}
		for !strings.HasPrefix(f.Path, top) {
			top = top[:strings.LastIndexByte(strings.TrimSuffix(top, "/"), '/')+1]
		}
	}
	return top
}

// uploaded returns the module of an uploaded plugin.
func (j *Jury) uploaded(ctx context.Context, digest string) ([]byte, error) {
	wasm, err := blob.ReadAll(ctx, j.cfg.Blobs, blob.Digest(digest), build.MaxModule)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, blame.Packagef("the plugin %s was never uploaded here", digest)
	}
	return wasm, err
}

// active returns the digest that the name of an uploaded plugin means now.
func (j *Jury) active(ctx context.Context, kind abi.Kind, name string) (string, error) {
	if j.cfg.Uploaded == nil {
		return "", blame.Packagef("no plugin named %s can be looked up here", name)
	}
	all, err := j.cfg.Uploaded(ctx, string(kind))
	if err != nil {
		return "", fmt.Errorf("look up plugin %s: %w", name, err)
	}
	for _, p := range all {
		if p.Name == name {
			return p.Digest, nil
		}
	}
	return "", blame.Packagef("no version of the plugin %s is active: upload one, and activate it", name)
}

// Ask asks a checker about an output. Where only a verdict is wanted, settled says that the output is accepted without
// further words. A checker that fails is a [*blame.PackageError].
func (j *Jury) Ask(ctx context.Context, c Checker, q plugin.Check) (o plugin.Opinion, settled bool, err error) {
	if c.Native != nil {
		o, err = c.Native.check(ctx, q)
		return o, false, err
	}
	if !c.Points && q.Feedback == nil {
		if settled, err := c.Module.Settled(q); err != nil || settled {
			return o, settled, err
		}
	}
	if o, err = j.cfg.Plugins.Check(ctx, c.Module, q); err != nil {
		return o, false, GuestFault(err)
	}
	return o, false, nil
}

// GuestFault makes a [*blame.PackageError] of what a guest did wrong.
func GuestFault(err error) error {
	fault, ok := errors.AsType[*plugin.Error](err)
	if !ok {
		return err
	}
	if fault.Message != "" {
		return blame.Packagef("%w: it said: %s", fault, runner.Cut(fault.Message, runner.KeptWords))
	}
	return blame.Package(fault)
}

// Speaker says for whom the checker writes: in icpc/1 there is a file for the team,
// and in testlib/1 one message for everybody.
func (c Checker) Speaker() judge.Speaker {
	protocol := abi.ICPC1
	if c.Native != nil {
		protocol = c.Native.Protocol
	} else if c.Module != nil {
		protocol = c.Module.Manifest.Protocol
	}
	if protocol == abi.ICPC1 {
		return judge.ByTeam
	}
	return judge.ByChecker
}
