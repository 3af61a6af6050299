package plugin

import (
	"bytes"
	"encoding/json"

	"deepoj/host/plugin/internal/admission"
	"deepoj/plugins/abi"
)

// ParseManifest reads a manifest. The error is a [*Refusal] if this host does not
// understand it.
func ParseManifest(data []byte) (*abi.Manifest, error) {
	m, refusal := parseManifest(data)
	if refusal != nil {
		return nil, refusal
	}
	return m, nil
}

// Embed returns the module with the manifest, a JSON object, in its section, in
// the place of any that it had. The error is a [*Refusal] if the manifest would
// be refused or the module cannot be taken apart.
func Embed(wasm, manifest []byte) ([]byte, error) {
	if _, refusal := parseManifest(manifest); refusal != nil {
		return nil, refusal
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, manifest); err != nil {
		return nil, badManifest("write it as plugins/README.md says", "it is not the JSON it should be: %v", err)
	}
	if compact.Len() > abi.ManifestMax {
		return nil, badManifest("shorten the options or the tests", "it has %d bytes, at most %d are allowed", compact.Len(), abi.ManifestMax)
	}
	return admission.WithSection(wasm, abi.Section, compact.Bytes())
}
