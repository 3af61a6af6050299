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

// adapter is the module of a language's adapter.
type adapter struct {
	digest string
	wasm   []byte
}

// adapter returns the adapter of a language, one that was uploaded before one of the configuration.
func (b *Builder) adapter(id string) (adapter, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a, ok := b.extra[id]
	if !ok {
		a, ok = b.own[id]
	}
	if wasm := b.cfg.Adapters[id]; !ok && wasm != nil {
		a, ok = adapter{plugin.Digest(wasm), wasm}, true
		b.own[id] = a
	}
	return a, ok
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
	ids := slices.Collect(maps.Keys(b.cfg.Adapters))
	for id := range b.extra {
		if _, known := b.cfg.Adapters[id]; !known {
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
		found[id] = adapter{p.Digest, wasm}
	}
	return found, nil
}
