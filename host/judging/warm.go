package judging

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

// A language whose compiler is slow without a cache has the options "cache" (the
// absolute path, in the box, of a folder with the cache) and "prepare" (plan to
// fill it). The cache is filled once for each version of the tools, from nothing
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
func (j *Judge) Prepare(ctx context.Context) error {
	var errs []error
	for _, l := range j.Languages(ctx) {
		if !l.Available {
			continue
		}
		tc, err := j.toolchain(ctx, l.ID)
		if err == nil {
			_, err = j.warmth(ctx, tc)
		}
		if err != nil && ctx.Err() == nil {
			errs = append(errs, fmt.Errorf("prepare %s: %w", l.ID, err))
		}
	}
	return errors.Join(errs...)
}

// withDialect returns options with the dialect of a language, if the adapter knows it.
func (tc *toolchain) withDialect(options map[string]string, dialect string) map[string]string {
	var schema struct {
		Properties struct {
			Std struct{ Enum []string }
		}
	}
	if dialect == "" || json.Unmarshal(tc.module.Manifest.Options, &schema) != nil || !slices.Contains(schema.Properties.Std.Enum, dialect) {
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
func (tc *toolchain) wantsCache() bool {
	var schema struct{ Properties map[string]json.RawMessage }
	if len(tc.module.Manifest.Options) == 0 || json.Unmarshal(tc.module.Manifest.Options, &schema) != nil {
		return false
	}
	return schema.Properties["cache"] != nil && schema.Properties["prepare"] != nil
}

// warmth returns the cache of a language, filling it if that was not done yet. A
// language without one has none.
func (j *Judge) warmth(ctx context.Context, tc *toolchain) (warmth, error) {
	if !tc.wantsCache() {
		return warmth{}, nil
	}
	w := warmth{options: map[string]string{"cache": path.Join("/box", warmFolder)}}
	k, err := key(struct {
		Warm, Adapter string
		Tools         map[string]abi.ToolVersion
	}{"warm", tc.module.Digest, tc.versions})
	if err != nil {
		return w, err
	}
	unlock, err := j.locks.lock(ctx, k)
	if err != nil {
		return w, err
	}
	defer unlock()
	var known struct{}
	files, ok := j.cache.get(k, &known)
	if ok {
		w.files = files
		return w, nil
	}
	j.cfg.Log.InfoContext(ctx, "filling a compile cache", slog.String("language", tc.id), slog.String("tool", tc.shown()))
	if w.files, err = j.fill(ctx, tc, w.options); err != nil {
		return w, fmt.Errorf("fill the compile cache: %w", err)
	}
	if err := j.cache.put(k, known, w.files); err != nil {
		j.cfg.Log.WarnContext(ctx, "compile cache is not kept", slog.Any("err", err))
	}
	return w, nil
}

// fill runs the adapter's plan for filling the cache. A plan that fails leaves
// an empty cache, which is slow and right.
func (j *Judge) fill(ctx context.Context, tc *toolchain, options map[string]string) (files []sandbox.File, err error) {
	prepare := map[string]string{"prepare": "true"}
	maps.Copy(prepare, options)
	plan, err := j.cfg.Plugins.Plan(ctx, tc.module, abi.PlanRequest{
		Sources: tc.language.Hello, Options: prepare, Host: abi.Host{Tools: tc.versions},
	})
	if err != nil {
		return nil, err
	}
	p := &program{tc: tc, plan: plan}
	sources, err := p.sourceFiles(tc.language.Hello)
	if err != nil {
		return nil, err
	}
	box, err := j.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{Writable: true, Locks: true})
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
		c.Limits.Cores = j.cfg.Sandbox.Cores()
		ran, err := box.Run(ctx, c)
		if err != nil {
			return nil, tc.explain(err)
		}
		if ran.Verdict != sandbox.OK {
			j.cfg.Log.WarnContext(ctx, "compile cache cannot be filled", slog.String("language", tc.id),
				slog.String("verdict", string(ran.Verdict)), slog.String("err", ran.Error))
			return nil, nil
		}
	}
	files, err = box.Collect(ctx, []string{warmFolder + "/**"}, maxWarm)
	return slices.DeleteFunc(files, func(f sandbox.File) bool { return strings.HasSuffix(f.Path, ".lock") }), err
}
