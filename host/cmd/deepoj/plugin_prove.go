package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"deepoj/host/plugin"
	"deepoj/host/plugin/conformance"
	"deepoj/host/plugin/trial"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
)

// proofTime is the processor time that a plugin has for the suite: with what a command
// needs before and after, a hostile one is done within a minute where nothing else runs.
const proofTime = 45 * time.Second

// provePlugin is `deepoj plugin test`. Its status is 0 when the plugin conforms,
// 3 when it does not, and 1 when that cannot be told.
func provePlugin(ctx context.Context, e *env) int {
	f := bareFlags(e, "plugin test", "FILE.wasm")
	pkg := f.String("problem", "", "folder or ZIP file of a problem package whose answers and submissions a checker must judge rightly")
	asJSON := f.Bool("json", false, "print the report as JSON")
	asJUnit := f.Bool("junit", false, "print the report as JUnit's XML")
	longest := f.Duration("time", proofTime, "how much processor time the plugin may take, without the submissions of a package; 0 is any")
	var m manifestFlags
	m.define(f)
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if len(args) != 1 || *asJSON && *asJUnit {
		f.Usage()
		return 2
	}
	report, err := prove(ctx, e, args[0], *pkg, m, *longest, !*asJSON && !*asJUnit)
	switch {
	case err != nil:
	case *asJSON:
		err = report.WriteJSON(e.stdout)
	case *asJUnit:
		err = report.WriteJUnit(e.stdout)
	default:
		_, err = fmt.Fprint(e.stdout, report.Summary())
	}
	if err != nil {
		return e.fail(err)
	}
	if !report.Conforms {
		return 3
	}
	return 0
}

// prove runs the suite. When it is live, what it finds is printed as it is
// found.
func prove(ctx context.Context, e *env, file, pkg string, m manifestFlags, longest time.Duration, live bool) (r conformance.Report, err error) {
	wasm, err := readModule(file)
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
		fsys, name, closer, err := problem.Open(pkg)
		if err != nil {
			return r, err
		}
		defer func() { _ = closer.Close() }() // it was only read
		files, slug = fsys, name
	}
	b, noAgent, err := openBench(ctx, e, files != nil || !isChecker(wasm))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if files != nil {
		if o.Problem, _, err = problem.Read(files); err != nil {
			return r, fmt.Errorf("package %s: %w", pkg, err)
		}
		if !o.Problem.Complete() {
			return r, fmt.Errorf("package %s does not hold its tests: take the full package", pkg)
		}
		o.Problem.Slug = slug
	}
	if noAgent != nil {
		fmt.Fprintf(e.stderr, "deepoj: no program is run, since there is no sandbox: %v\n", noAgent)
	}
	if b.agent != nil {
		cfg, err := b.judging()
		if err != nil {
			return r, err
		}
		if o.Runner, err = trial.New(filepath.Join(b.dir, "trial"), cfg); err != nil {
			return r, err
		}
	}
	if live {
		o.Event = func(event conformance.Event) { fmt.Fprint(e.stdout, event.Line()) }
	}
	r, err = conformance.Run(ctx, b.plugins, wasm, o)
	if err == nil && r.Plugin.Name != "" {
		m.tellOrigin(e, r.Plugin.Origin, r.Plugin.Kind, r.Plugin.Protocol)
	}
	return r, err
}

// isChecker reports whether a module says that it is a checker, which is proved
// without running programs unless there is a package.
func isChecker(wasm []byte) bool {
	i := plugin.Inspect(wasm)
	return i.Manifest != nil && i.Manifest.Kind == abi.Checker
}
