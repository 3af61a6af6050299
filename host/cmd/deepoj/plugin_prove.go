package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"deepoj/host/command"
	"deepoj/host/plugin"
	"deepoj/host/plugin/conformance"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/source"
	"deepoj/host/workbench"
	"deepoj/plugins/abi"
)

// proofTime is the processor time that a plugin has for the suite: with what a command
// needs before and after, a hostile one is done within a minute where nothing else runs.
const proofTime = 45 * time.Second

// provePlugin runs the conformance suite.
func provePlugin(f *command.Flags) command.Run {
	pkg := f.String("problem", "", "`folder` or ZIP file of a problem package whose answers and submissions a checker must judge rightly")
	asJUnit := f.Bool("junit", false, "print the report as JUnit's XML")
	longest := f.Duration("time", proofTime, "how much processor time the plugin may take, without the submissions of a package; 0 is any")
	var m manifestFlags
	m.define(f)
	return func(ctx context.Context, c *command.Call) error {
		if c.JSON && *asJUnit {
			return command.ErrUsage
		}
		report, err := prove(ctx, c, *pkg, m, *longest, !c.JSON && !*asJUnit)
		switch {
		case err != nil:
		case c.JSON:
			err = report.WriteJSON(c.Out)
		case *asJUnit:
			err = report.WriteJUnit(c.Out)
		default:
			_, err = fmt.Fprint(c.Out, report.Summary())
		}
		if err == nil && !report.Conforms {
			return command.Exit(3)
		}
		return err
	}
}

// prove runs the suite. When it is live, what it finds is printed as it is found.
func prove(ctx context.Context, c *command.Call, pkg string, m manifestFlags, longest time.Duration, live bool) (r conformance.Report, err error) {
	file := c.Args[0]
	wasm, err := workbench.ReadModule(file)
	if err != nil {
		return r, err
	}
	o := conformance.Options{Time: longest}
	if o.Manifest, err = m.given(file); err != nil {
		return r, err
	}
	var files fs.FS
	slug := ""
	if pkg != "" {
		fsys, name, closer, err := source.Open(pkg)
		if err != nil {
			return r, err
		}
		defer func() { _ = closer.Close() }() // it was only read
		files, slug = fsys, name
	}
	cfg := benchConfig(c)
	cfg.Sandbox = files != nil || !isChecker(wasm)
	b, noAgent, err := workbench.Open(ctx, cfg)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if files != nil {
		if o.Problem, _, err = importing.Read(files); err != nil {
			return r, fmt.Errorf("package %s: %w", pkg, err)
		}
		if !o.Problem.Complete() {
			return r, fmt.Errorf("package %s does not hold its tests: take the full package", pkg)
		}
		o.Problem.Slug = slug
	}
	if noAgent != nil {
		c.Warn("no program is run, since there is no sandbox: %v", noAgent)
	}
	if b.Agent != nil {
		if o.Runner, err = b.NewRunner(); err != nil {
			return r, err
		}
	}
	if live {
		o.Event = func(event conformance.Event) { fmt.Fprint(c.Out, event.Line()) }
	}
	r, err = conformance.Run(ctx, b.Plugins, wasm, o)
	if err == nil && r.Plugin.Name != "" {
		m.tellOrigin(c, plugin.Origin(r.Plugin.Origin), abi.Kind(r.Plugin.Kind), abi.Protocol(r.Plugin.Protocol))
	}
	return r, err
}

// isChecker reports whether a module says that it is a checker, which is proved
// without running programs unless there is a package.
func isChecker(wasm []byte) bool {
	i := plugin.Inspect(wasm)
	return i.Manifest != nil && i.Manifest.Kind == abi.Checker
}
