package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deepoj/host/plugin/internal/admission"
	"deepoj/host/plugin/internal/wire"
	"deepoj/plugins/abi"
)

// Module is an admitted module. It stays callable as long as its runtime, and a
// later one on the same cache folder loads it at once.
type Module struct {
	Digest   string       // sha256: and 64 hex digits, of the bytes that were uploaded
	Size     int64        // of the bytes that were uploaded
	Manifest abi.Manifest // what the module is; its Limits are clipped and without zeros
	Asked    abi.Limits   // the limits that the manifest asks for
	Origin   Origin       // where the manifest comes from

	dir string // in the cache
}

// Origin says where a manifest comes from.
type Origin string

// The origins of a manifest, the one that counts first.
const (
	FromSection  Origin = "section"  // the module's custom section
	FromDescribe Origin = "describe" // what the module prints when it is asked to describe itself
	FromUpload   Origin = "upload"   // given with the module
)

// label names the module in messages, such as "tokens@9f86d081".
func (m *Module) label() string {
	const digits = 8
	return m.Manifest.Name + "@" + m.Digest[len(digestPrefix):len(digestPrefix)+digits]
}

const digestPrefix = "sha256:"

// aboutFile is the file of a module's folder that says what the cache knows of it.
const aboutFile = "about.json"

// about is what the cache knows of a module beside its code.
type about struct {
	Size     int64         `json:"size"`
	Pages    uint32        `json:"pages"`              // of 64 KiB, that it starts with
	Sum      string        `json:"sum,omitempty"`      // SHA-256 of the rewritten module; "" = a version before this one admitted it
	Manifest *abi.Manifest `json:"manifest,omitempty"` // its own, by section or description
	Origin   Origin        `json:"origin,omitempty"`   // of Manifest
}

// Load admits a module: it scans, rewrites and compiles the bytes and reads the manifest, unless the cache knows them.
// The manifest is the module's own section, else what it prints when it is asked to describe itself, else given, which
// may be nil.
//
// It returns a [*Refusal] if the module may not run here.
func (r *Runtime) Load(ctx context.Context, wasm []byte, given *abi.Manifest) (*Module, error) {
	return r.LoadDigest(ctx, Digest(wasm), func() ([]byte, error) { return wasm, nil }, given)
}

// Digest names a module by its content.
func Digest(wasm []byte) string {
	sum := sha256.Sum256(wasm)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// LoadDigest is [Runtime.Load] for whoever has the digest of a module: its bytes are read only when the cache does not
// know them.
func (r *Runtime) LoadDigest(ctx context.Context, named string, read func() ([]byte, error), given *abi.Manifest) (*Module, error) {
	digest := strings.TrimPrefix(named, digestPrefix)
	if sum, err := hex.DecodeString(digest); err != nil || len(sum) != sha256.Size || hex.EncodeToString(sum) != digest {
		return nil, fmt.Errorf("load module: %.80q is no digest", named) // it names a folder of the cache
	}
	unlock, err := r.lock(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("load module: %w", err)
	}
	defer unlock()
	dir := filepath.Join(r.dir, digest)
	what, err := r.known(dir)
	if _, damaged := errors.AsType[*damagedError](err); damaged {
		r.cfg.Log.WarnContext(ctx, "module is admitted again", slog.String("digest", digestPrefix+digest), slog.Any("err", err))
		if err = os.RemoveAll(dir); err == nil {
			err = fs.ErrNotExist
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		what, err = r.readAndAdmit(ctx, digest, read, dir)
	}
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		r.metrics.refusals.WithLabelValues(refusal.Rule).Inc()
		r.cfg.Log.InfoContext(ctx, "module refused", slog.String("digest", digestPrefix+digest),
			slog.String("rule", refusal.Rule), slog.String("offender", refusal.Offender))
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("load module: %w", err)
	}
	m := &Module{Digest: digestPrefix + digest, Size: what.Size, dir: dir}
	switch {
	case what.Manifest != nil:
		m.Manifest, m.Origin = *what.Manifest, what.Origin
	case given == nil:
		return nil, badManifest("embed a section "+abi.Section+", answer --describe, or give the manifest with the upload", "the module has none")
	default:
		if err := checkManifest(*given); err != nil {
			return nil, err
		}
		m.Manifest, m.Origin = *given, FromUpload
	}
	m.Asked = m.Manifest.Limits
	m.Manifest.Limits = r.cfg.clip(m.Manifest.Limits)
	if have, want := int64(m.Manifest.Limits.MemoryMiB)<<20, int64(what.Pages)<<16; want > have {
		return nil, &Refusal{
			Rule: "memory-size", Offender: fmt.Sprintf("a memory of %d MiB to begin with, its limit is %d", want>>20, have>>20),
			Remedy: "ask for more in the manifest, or reserve less stack and static data",
		}
	}
	return m, nil
}

// lock waits until nobody else loads the module.
func (r *Runtime) lock(ctx context.Context, digest string) (unlock func(), err error) {
	r.mu.Lock()
	l := r.locks[digest]
	if l == nil {
		l = make(chan struct{}, 1)
		r.locks[digest] = l
	}
	r.mu.Unlock()
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// damagedError says what is wrong with a module in the cache.
type damagedError struct{ why string }

func (e *damagedError) Error() string { return e.why }

// known returns what the cache knows of a module, after a look at whether the module is
// still what was admitted. The error is a [*damagedError] if it is not.
func (r *Runtime) known(dir string) (*about, error) {
	r.mu.Lock()
	what := r.sound[dir]
	r.mu.Unlock()
	if what != nil {
		_, err := os.Stat(filepath.Join(dir, aboutFile)) // somebody may have emptied the cache
		return what, err
	}
	what, err := readAbout(dir)
	if err != nil || what.Sum == "" {
		return what, err
	}
	counting, err := os.ReadFile(filepath.Join(dir, wire.ModuleFile))
	if sum := sha256.Sum256(counting); err != nil || hex.EncodeToString(sum[:]) != what.Sum {
		return nil, &damagedError{fmt.Sprintf("%s is not what was admitted: %v", filepath.Join(dir, wire.ModuleFile), err)}
	}
	r.mu.Lock()
	r.sound[dir] = what
	r.mu.Unlock()
	return what, nil
}

// readAbout reads what the cache knows of a module. The file is written last, so
// that a module without it is not admitted yet.
func readAbout(dir string) (*about, error) {
	data, err := os.ReadFile(filepath.Join(dir, aboutFile))
	if err != nil {
		return nil, err
	}
	var a about
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, &damagedError{fmt.Sprintf("read %s: %v", filepath.Join(dir, aboutFile), err)}
	}
	return &a, nil
}

// readAndAdmit takes the module with a digest into the cache.
func (r *Runtime) readAndAdmit(ctx context.Context, digest string, read func() ([]byte, error), dir string) (*about, error) {
	wasm, err := read()
	if err != nil {
		return nil, err
	}
	if found := Digest(wasm); found != digestPrefix+digest {
		return nil, fmt.Errorf("the module %s%s is not what was read, which is %s", digestPrefix, digest, found)
	}
	return r.admit(ctx, wasm, dir)
}

// admit takes a module into the cache.
func (r *Runtime) admit(ctx context.Context, wasm []byte, dir string) (*about, error) {
	parts, refusal := admission.Scan(wasm, admission.Limits{ModuleBytes: r.cfg.MaxModuleBytes, MemoryPages: uint32(r.cfg.MaxMemoryMiB) * admission.PagesPerMiB})
	if refusal != nil {
		return nil, refusal
	}
	what := &about{Size: int64(len(wasm)), Pages: parts.Pages}
	if parts.Manifest != nil {
		if what.Manifest, refusal = parseManifest(parts.Manifest); refusal != nil {
			return nil, refusal
		}
		what.Origin = FromSection
	}
	counting, refusal := admission.Rewrite(parts)
	if refusal != nil {
		return nil, refusal
	}
	sum := sha256.Sum256(counting)
	what.Sum = hex.EncodeToString(sum[:])
	if err := r.publish(ctx, counting, dir); err != nil {
		return nil, err
	}
	if what.Manifest == nil {
		var err error
		if what.Manifest, err = r.describe(ctx, dir, "plugin", r.cfg.clip(describeLimits)); err != nil {
			return nil, err
		}
		what.Origin = FromDescribe
	}
	data, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	return what, writeFile(filepath.Join(dir, aboutFile), data)
}

// publish compiles a rewritten module and moves it into its place in the cache, where it is complete or not at all.
func (r *Runtime) publish(ctx context.Context, counting []byte, dir string) (err error) {
	if _, err := os.Stat(dir); err == nil {
		return nil // admitted before, but not described
	}
	tmp, err := os.MkdirTemp(r.dir, tempPrefix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	if err := writeFile(filepath.Join(tmp, wire.ModuleFile), counting); err != nil {
		return err
	}
	if err := r.compile(ctx, tmp, false); err != nil {
		return err
	}
	if err := os.Rename(tmp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	} else if err != nil {
		return os.RemoveAll(tmp) // another process was faster
	}
	return nil
}

// tempPrefix begins the names of folders that are not complete.
const tempPrefix = "tmp-"

// staleAfter is when such a folder is nobody's.
const staleAfter = time.Hour

// sweep removes what processes left that died while they admitted a module.
func sweep(dir string) error {
	stale, err := filepath.Glob(filepath.Join(dir, tempPrefix+"*"))
	if err != nil {
		return err
	}
	code, err := filepath.Glob(filepath.Join(dir, wire.CodeDir, "*", "*.tmp")) // the compiler's
	if err != nil {
		return err
	}
	for _, path := range append(stale, code...) {
		info, err := os.Stat(path)
		if err == nil && time.Since(info.ModTime()) > staleAfter {
			err = os.RemoveAll(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// writeFile writes a file that is there with its whole content or not at all.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
