package judging

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"deepoj/host/blob"
	"deepoj/plugins/abi"
)

// uploadedAdapter is an adapter that came after this program was built.
type uploadedAdapter struct {
	digest string
	wasm   []byte
}

// adapter returns the module of a language's adapter, or nil.
func (j *Judge) adapter(id string) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	if a, ok := j.extra[id]; ok {
		return a.wasm
	}
	return j.cfg.Adapters[id]
}

// lookAtAdapters takes up the uploaded adapters that are active now, and returns
// the ids of all languages, sorted. What cannot be looked at stays as it was.
func (j *Judge) lookAtAdapters(ctx context.Context) []string {
	now, err := j.uploadedAdapters(ctx)
	if err != nil {
		j.cfg.Log.WarnContext(ctx, "uploaded adapters cannot be looked at", slog.Any("err", err))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		j.extra = now
	}
	ids := slices.Collect(maps.Keys(j.cfg.Adapters))
	for id := range j.extra {
		if _, known := j.cfg.Adapters[id]; !known {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (j *Judge) uploadedAdapters(ctx context.Context) (map[string]uploadedAdapter, error) {
	found := map[string]uploadedAdapter{}
	if j.cfg.Uploaded == nil {
		return found, nil
	}
	active, err := j.cfg.Uploaded(ctx, string(abi.Toolchain))
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	before := j.extra
	j.mu.Unlock()
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
		wasm, err := blob.ReadAll(ctx, j.cfg.Blobs, blob.Digest(p.Digest), maxModule)
		if err != nil {
			return nil, fmt.Errorf("adapter %s: %w", p.Name, err)
		}
		found[id] = uploadedAdapter{p.Digest, wasm}
	}
	return found, nil
}
