package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"

	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// A language whose compiler is slow without a cache has the options "cache" (the absolute path, in the box, of a folder
// with the cache) and "prepare" (plan to fill it). The cache is filled once for each version of the tools, from nothing
// but the adapter's own files, and every program gets a copy of its own.

const (
	warmFolder = "warm-cache"
	maxWarm    = 256 << 20 // bytes
)

// warmth is what makes compiling fast.
type warmth struct {
	options map[string]string
	files   []sandbox.File
}

// Prepare fills the compile caches of every available language, so that the
// first submission need not wait for it. Judging does it by itself otherwise.
func (b *Builder) Prepare(ctx context.Context) error {
	var errs []error
	for _, l := range b.Languages(ctx) {
		if !l.Available {
			continue
		}
		tc, err := b.Toolchain(ctx, l.ID)
		if err == nil {
			_, err = b.warmth(ctx, tc)
		}
		if err != nil && ctx.Err() == nil {
			errs = append(errs, fmt.Errorf("prepare %s: %w", l.ID, err))
		}
	}
	return errors.Join(errs...)
}

// withDialect returns options with the dialect of a language, if the adapter knows it.
func (tc *Toolchain) withDialect(options map[string]string, dialect string) map[string]string {
	var schema struct {
		Properties struct {
			Std struct{ Enum []string }
		}
	}
	if dialect == "" || json.Unmarshal(tc.Module.Manifest.Options, &schema) != nil || !slices.Contains(schema.Properties.Std.Enum, dialect) {
		return options
	}
	options = maps.Clone(options)
	if options == nil {
		options = map[string]string{}
	}
	options["std"] = dialect
	return options
}

// wantsCache reports whether the adapter has the options.
func (tc *Toolchain) wantsCache() bool {
	var schema struct{ Properties map[string]json.RawMessage }
	if len(tc.Module.Manifest.Options) == 0 || json.Unmarshal(tc.Module.Manifest.Options, &schema) != nil {
		return false
	}
	return schema.Properties["cache"] != nil && schema.Properties["prepare"] != nil
}

// warmth returns the cache of a language, filling it if that was not done yet. A language without one has none.
func (b *Builder) warmth(ctx context.Context, tc *Toolchain) (warmth, error) {
	if !tc.wantsCache() {
		return warmth{}, nil
	}
	w := warmth{options: map[string]string{"cache": path.Join("/box", warmFolder)}}
	type warm struct {
		Warm, Adapter string
		Tools         map[string]abi.ToolVersion
	}
	var err error
	w.files, err = b.Once(ctx, warm{"warm", tc.Module.Digest, tc.versions}, func() ([]sandbox.File, error) {
		b.cfg.Log.InfoContext(ctx, "filling a compile cache", slog.String("language", tc.ID), slog.String("tool", tc.Shown()))
		files, err := b.fill(ctx, tc, w.options)
		if err != nil {
			return nil, fmt.Errorf("fill the compile cache: %w", err)
		}
		return files, nil
	})
	return w, err
}

// fill runs the adapter's plan for filling the cache. A plan that fails leaves an empty cache, which is slow and right.
func (b *Builder) fill(ctx context.Context, tc *Toolchain, options map[string]string) (files []sandbox.File, err error) {
	prepare := map[string]string{"prepare": "true"}
	maps.Copy(prepare, options)
	plan, err := b.cfg.Plugins.Plan(ctx, tc.Module, abi.PlanRequest{
		Sources: tc.language.Hello, Options: prepare, Host: abi.Host{Tools: tc.versions},
	})
	if err != nil {
		return nil, err
	}
	p := &Program{Toolchain: tc, Plan: plan}
	sources, err := p.sourceFiles(tc.language.Hello)
	if err != nil {
		return nil, err
	}
	box, err := b.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{Writable: true, Locks: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	if err := box.Put(ctx, sources...); err != nil {
		return nil, err
	}
	for _, step := range plan.Compile {
		c := command(step)
		c.ExtraTools = tc.tools()
		c.Limits = compileLimits(step.Limits)
		c.Limits.CPU *= 5 // everything at once
		c.Limits.Cores = b.cfg.Sandbox.Cores()
		ran, err := box.Run(ctx, c)
		if err != nil {
			return nil, tc.Explain(err)
		}
		if ran.Verdict != sandbox.OK {
			b.cfg.Log.WarnContext(ctx, "compile cache cannot be filled", slog.String("language", tc.ID),
				slog.String("verdict", string(ran.Verdict)), slog.String("err", ran.Error))
			return nil, nil
		}
	}
	files, err = box.Collect(ctx, []string{warmFolder + "/**"}, maxWarm)
	return slices.DeleteFunc(files, func(f sandbox.File) bool { return strings.HasSuffix(f.Path, ".lock") }), err
}
