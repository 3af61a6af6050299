package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deepoj/host/command"
	"deepoj/host/plugin"
	"deepoj/host/workbench"
	"deepoj/plugins/abi"
)

// inspected is what `deepoj plugin inspect` prints.
type inspected struct {
	plugin.Inspection

	From   plugin.Origin `json:"manifest_from,omitempty"` // section or describe; "" without a manifest
	Limits *abi.Limits   `json:"limits,omitempty"`        // as a host with the default limits grants them
}

// inspectPlugin takes a module apart.
func inspectPlugin(*command.Flags) command.Run {
	return func(ctx context.Context, c *command.Call) error {
		wasm, err := workbench.ReadModule(c.Args[0])
		if err != nil {
			return err
		}
		i, err := inspect(ctx, c, wasm)
		if err != nil {
			return err
		}
		if err := c.Print(i, i.table()); err != nil {
			return err
		}
		if i.Refusal != nil {
			return command.Exit(3)
		}
		return nil
	}
}

// inspect takes a module apart, and admits it to learn its manifest and limits.
func inspect(ctx context.Context, c *command.Call, wasm []byte) (i inspected, err error) {
	i.Inspection = plugin.Inspect(wasm)
	if i.Refusal != nil {
		return i, nil
	}
	b, _, err := workbench.Open(ctx, benchConfig(c))
	if err != nil {
		return i, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	bare := &abi.Manifest{Judge: abi.Version, Kind: abi.Checker, Name: "bare", Version: "0", Protocol: abi.Testlib1}
	m, err := b.Plugins.Load(ctx, wasm, bare)
	if refusal, ok := errors.AsType[*plugin.Refusal](err); ok {
		i.Refusal = refusal
		return i, nil
	}
	if err != nil {
		return i, err
	}
	i.Limits = &m.Manifest.Limits
	if m.Origin != plugin.FromUpload {
		own := m.Manifest
		own.Limits = m.Asked
		i.From, i.Manifest = m.Origin, &own
	}
	return i, nil
}

func (i inspected) table() (t command.Table) {
	row := func(name, format string, args ...any) { t.Add(name, fmt.Sprintf(format, args...)) }
	row("digest", "%s", i.Digest)
	row("size", "%d bytes", i.Size)
	if m := i.Manifest; m != nil {
		row("plugin", "%s %s", m.Name, m.Version)
		row("kind", "%s, %s", m.Kind, m.Protocol)
		row("manifest", "%s, %d tests", map[plugin.Origin]string{
			plugin.FromSection: "in its section", plugin.FromDescribe: "printed when it is asked to describe itself", "": "in its section",
		}[i.From], len(m.Tests))
		if len(m.Needs) > 0 {
			row("needs", "%s", strings.Join(m.Needs, " "))
		}
		if m.Language != nil {
			row("language", "%s (%s)", m.Language.Name, m.Language.ID)
		}
	} else {
		row("manifest", "none: give it with the upload, or embed one (deepoj plugin build --manifest)")
	}
	if l := i.Limits; l != nil {
		row("limits", "%d MiB, %d million units of fuel, %d KiB of output", l.MemoryMiB, l.FuelM, l.OutputKiB)
	}
	row("memory", "%d KiB to begin with", i.MemoryKiB)
	row("functions", "%d", i.Functions)
	for _, module := range i.modules() {
		row("imports", "%s: %s", module[0], strings.Join(module[1:], " "))
	}
	row("exports", "%s", strings.Join(i.Exports, " "))
	row("sections", "%s", strings.Join(i.Custom, " "))
	if r := i.Refusal; r != nil {
		row("refused", "by rule %s: %s", r.Rule, r.Offender)
		row("remedy", "%s", r.Remedy)
	}
	return t
}

// modules groups the imports: each list begins with the module that they come from.
func (i inspected) modules() [][]string {
	var all [][]string
	for _, name := range i.Imports {
		module, function, _ := strings.Cut(name, ".")
		at := slices.IndexFunc(all, func(m []string) bool { return m[0] == module })
		if at < 0 {
			at, all = len(all), append(all, []string{module})
		}
		all[at] = append(all[at], function)
	}
	return all
}

// buildPlugin compiles files to a module, embeds the manifest and writes the module.
func buildPlugin(f *command.Flags) command.Run {
	out := f.String("o", "", "`file` to write (required)")
	include := f.String("include", "", "`folder` of headers, such as the one of testlib.h")
	manifest := f.String("manifest", "", "JSON `file` with the manifest to embed")
	return func(ctx context.Context, c *command.Call) error {
		if *out == "" {
			return command.ErrUsage
		}
		files, err := workbench.Sources(c.Args, *include)
		if err != nil {
			return err
		}
		var embed []byte
		if *manifest != "" {
			if embed, err = os.ReadFile(filepath.Clean(*manifest)); err != nil {
				return err
			}
		}
		wasm, how, err := workbench.Compile(ctx, benchConfig(c), files)
		if err != nil {
			return err
		}
		if embed != nil {
			if wasm, err = plugin.Embed(wasm, embed); err != nil {
				return fmt.Errorf("embed %s: %w", *manifest, err)
			}
		}
		if err := os.WriteFile(filepath.Clean(*out), wasm, 0o644); err != nil {
			return err
		}
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(wasm))
		return c.Say(map[string]any{"file": *out, "digest": digest, "bytes": len(wasm), "how": how}, "built %s: %s, %d bytes, %s", *out, digest, len(wasm), how)
	}
}
