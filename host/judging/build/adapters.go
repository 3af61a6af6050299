package build

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"deepoj/host/blob"
	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

// Adapters holds the modules of language adapters. Their digests are known without their bytes, which are read only when
// the cache of plugins does not know a module. It may be used by several goroutines.
type Adapters interface {
	// Names returns the ids of the languages.
	Names() []string

	// Digest returns the digest of a language's module, as [plugin.Digest] does, or "" if there is none.
	Digest(id string) string

	// Read returns the module.
	Read(id string) ([]byte, error)
}

// Modules returns adapters whose bytes are at hand, by language id.
func Modules(wasm map[string][]byte) Adapters {
	m := modules{}
	for id, b := range wasm {
		m[id] = module{plugin.Digest(b), b}
	}
	return m
}

type modules map[string]module

type module struct {
	digest string
	wasm   []byte
}

// Names implements [Adapters].
func (m modules) Names() []string { return slices.Collect(maps.Keys(m)) }

// Digest implements [Adapters].
func (m modules) Digest(id string) string { return m[id].digest }

// Read implements [Adapters].
func (m modules) Read(id string) ([]byte, error) { return m[id].wasm, nil }

// adapter is the module of a language's adapter.
type adapter struct {
	digest string
	read   func() ([]byte, error)
}

// adapter returns the adapter of a language, one that was uploaded before one of the configuration.
func (b *Builder) adapter(id string) (adapter, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a, ok := b.extra[id]
	if ok {
		return a, true
	}
	digest := b.cfg.Adapters.Digest(id)
	return adapter{digest, func() ([]byte, error) { return b.cfg.Adapters.Read(id) }}, digest != ""
}

// lookAtAdapters takes up the uploaded adapters that are active now, and returns
// the ids of all languages, sorted. What cannot be looked at stays as it was.
func (b *Builder) lookAtAdapters(ctx context.Context) []string {
	now, err := b.uploadedAdapters(ctx)
	if err != nil {
		b.cfg.Log.WarnContext(ctx, "uploaded adapters cannot be looked at", slog.Any("err", err))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.extra = now
	}
	ids := slices.Clone(b.cfg.Adapters.Names())
	for id := range b.extra {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (b *Builder) uploadedAdapters(ctx context.Context) (map[string]adapter, error) {
	found := map[string]adapter{}
	if b.cfg.Uploaded == nil {
		return found, nil
	}
	active, err := b.cfg.Uploaded(ctx, string(abi.Toolchain))
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	before := b.extra
	b.mu.Unlock()
	for _, p := range active {
		var m abi.Manifest
		if err := json.Unmarshal(p.Manifest, &m); err != nil || m.Language == nil || m.Language.ID == "" {
			return nil, fmt.Errorf("the manifest of adapter %s describes no language", p.Name)
		}
		id := m.Language.ID
		if before[id].digest == p.Digest {
			found[id] = before[id]
			continue
		}
		wasm, err := blob.ReadAll(ctx, b.cfg.Blobs, blob.Digest(p.Digest), MaxModule)
		if err != nil {
			return nil, fmt.Errorf("adapter %s: %w", p.Name, err)
		}
		found[id] = adapter{p.Digest, func() ([]byte, error) { return wasm, nil }}
	}
	return found, nil
}
