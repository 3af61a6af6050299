package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"deepoj/host/plugin/internal/admission"
	"deepoj/plugins/abi"
)

// dialects are the protocols that this host speaks, by kind.
var dialects = map[abi.Kind][]abi.Protocol{
	abi.Checker:    {abi.Testlib1, abi.ICPC1},
	abi.Interactor: {abi.Testlib1, abi.ICPC1},
	abi.Toolchain:  {abi.Plan1},
}

// needs are the abilities that a guest may ask of this host.
var needs = []string{"interactive", "points", "feedback", "diagnostics"}

// Expectations of an [abi.Test].
var expectations = []string{"accepted", "wrong", "presentation", "partial", "failed"}

var (
	namePattern     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`) })
	versionPattern  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,49}$`) })
	languagePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_+-]{0,29}$`) })
)

// parseManifest reads and checks a manifest. Unknown fields are ignored.
func parseManifest(data []byte) (*abi.Manifest, *Refusal) {
	var m abi.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, badManifest("write it as plugins/README.md says", "it is not the JSON it should be: %v", err)
	}
	if err := checkManifest(m); err != nil {
		return nil, err
	}
	return &m, nil
}

// badManifest refuses a module for its manifest.
func badManifest(remedy, format string, args ...any) *Refusal {
	return &Refusal{Rule: "manifest", Offender: fmt.Sprintf(format, args...), Remedy: remedy}
}

// checkManifest refuses manifests that this host does not understand or cannot serve, and says what it offers.
func checkManifest(m abi.Manifest) *Refusal {
	protocols, known := dialects[m.Kind]
	switch {
	case m.Judge != abi.Version:
		return badManifest(fmt.Sprintf("this host offers judge %d", abi.Version), "judge is %d", m.Judge)
	case !known:
		return badManifest("this host offers checker, interactor and toolchain", "kind is %.60q", m.Kind)
	case !slices.Contains(protocols, m.Protocol):
		return badManifest(fmt.Sprintf("for a %s this host offers %q", m.Kind, protocols), "protocol is %.60q", m.Protocol)
	case !namePattern().MatchString(m.Name):
		return badManifest("use letters, digits, dots and hyphens, such as org.example.tokens", "name is %.120q", m.Name)
	case !versionPattern().MatchString(m.Version):
		return badManifest("use digits and dots, such as 1.2.0", "version is %.60q", m.Version)
	case m.Limits.MemoryMiB < 0 || m.Limits.FuelM < 0 || m.Limits.OutputKiB < 0:
		return badManifest("leave a limit out to get the default", "a limit is negative")
	}
	for _, n := range m.Needs {
		if !slices.Contains(needs, n) {
			return badManifest("this host offers "+strings.Join(needs, " "), "needs %.60q", n)
		}
	}
	for i, t := range m.Tests {
		if !slices.Contains(expectations, t.Expect) {
			return badManifest("expect one of "+strings.Join(expectations, " "), "test %d expects %.60q", i+1, t.Expect)
		}
	}
	return checkLanguage(m)
}

// checkLanguage checks what only adapters have.
func checkLanguage(m abi.Manifest) *Refusal {
	switch l := m.Language; {
	case m.Kind != abi.Toolchain:
		return nil
	case l == nil:
		return badManifest("say which language the adapter is for", "a toolchain without a language")
	case !languagePattern().MatchString(l.ID):
		return badManifest("use lower-case letters and digits, such as cpp", "language id is %.60q", l.ID)
	case l.Name == "" || len(l.Tools) == 0 || len(l.Extensions) == 0:
		return badManifest("give the language a name, its tools and its file extensions", "language %s lacks one of them", l.ID)
	default:
		return checkPatterns(l)
	}
}

// checkPatterns compiles the regular expressions of a language, since whoever uses them later has nobody to tell.
func checkPatterns(l *abi.Language) *Refusal {
	patterns := slices.Clone(l.Hints)
	for _, t := range l.Tools {
		patterns = append(patterns, t.Pattern)
	}
	for _, p := range patterns {
		if _, err := regexp.Compile(p); err != nil {
			return badManifest("use the regular expressions of Go", "language %s: %v", l.ID, err)
		}
	}
	return nil
}

// clip gives a guest what it asks for, as far as the operator allows.
func (c Config) clip(l abi.Limits) abi.Limits {
	fill(&l.MemoryMiB, c.MemoryMiB)
	fill(&l.FuelM, c.FuelM)
	fill(&l.OutputKiB, c.OutputKiB)
	return abi.Limits{
		MemoryMiB: min(l.MemoryMiB, c.MaxMemoryMiB),
		FuelM:     min(l.FuelM, c.MaxFuelM),
		OutputKiB: min(l.OutputKiB, c.MaxOutputKiB),
	}
}

// ParseManifest reads a manifest. The error is a [*Refusal] if this host does not understand it.
func ParseManifest(data []byte) (*abi.Manifest, error) {
	m, refusal := parseManifest(data)
	if refusal != nil {
		return nil, refusal
	}
	return m, nil
}

// Embed returns the module with the manifest, a JSON object, in its section, in the place of any that it had. The error
// is a [*Refusal] if the manifest would be refused or the module cannot be taken apart.
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
