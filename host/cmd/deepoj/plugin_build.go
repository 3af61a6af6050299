package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"deepoj/host/command"
	"deepoj/host/plugin"
	"deepoj/host/workbench"
)

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
