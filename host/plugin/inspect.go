package plugin

import (
	"crypto/sha256"
	"encoding/hex"

	"deepoj/host/plugin/internal/admission"
	"deepoj/plugins/abi"
)

// Inspection is what can be told of a module without compiling or calling it.
type Inspection struct {
	Digest string `json:"digest"` // sha256: and 64 hex digits
	Size   int64  `json:"size"`   // bytes
	admission.Contents

	// Manifest is that of the module's section; nil without one.
	Manifest *abi.Manifest `json:"manifest,omitempty"`

	// Refusal says why a runtime with the default limits would not admit the
	// module, as far as that shows without compiling it; nil when it would.
	Refusal *Refusal `json:"refusal,omitempty"`
}

// Inspect takes a module apart as far as it can be read. A module that would be
// refused is described too, with its refusal.
func Inspect(wasm []byte) Inspection {
	sum := sha256.Sum256(wasm)
	i := Inspection{Digest: digestPrefix + hex.EncodeToString(sum[:]), Size: int64(len(wasm)), Contents: admission.ReadContents(wasm)}
	parts, refusal := admission.Scan(wasm, admission.Limits{ModuleBytes: defaultModuleBytes, MemoryPages: defaultMaxMemoryMiB * admission.PagesPerMiB})
	if refusal == nil {
		_, refusal = admission.Rewrite(parts)
	}
	if refusal == nil && parts.Manifest != nil {
		i.Manifest, refusal = parseManifest(parts.Manifest)
	}
	i.Refusal = refusal
	return i
}
