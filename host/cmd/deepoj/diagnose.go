package main

import (
	"context"
	"os"

	"deepoj/host/command"
	"deepoj/host/doctor"
	"deepoj/host/judge"
	"deepoj/host/liveness"
	"deepoj/host/plugin/walls"
	"deepoj/host/roles"
	"deepoj/host/settings"
	"deepoj/host/workbench"
	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// toolChains are what the shipped languages and checkers need, by logical name.
var toolChains = []doctor.Tool{
	{Name: "gcc", Remedy: "apt-get install gcc"},
	{Name: "g++", Remedy: "apt-get install g++"},
	{Name: "python3", Remedy: "apt-get install python3"},
	{Name: "go", Remedy: "apt-get install golang-go"},
	{Name: "javac", Remedy: "apt-get install default-jdk-headless"},
	{Name: "node", Remedy: "apt-get install nodejs"},
	{Name: "rustc", Remedy: "apt-get install rustc"},
	{Name: "clang", Remedy: "apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32"},
}

// drawingExtras are what pictures and documents of statements need, by logical name.
var drawingExtras = []doctor.Extra{
	{Name: "pdftocairo", Without: "pictures in PDF are not shown in statements", Remedy: "apt-get install poppler-utils"},
	{Name: "pdftotext", Without: "statements that are PDF are not searched", Remedy: "apt-get install poppler-utils"},
	{Name: "gs", Without: "pictures in EPS are not shown in statements", Remedy: "apt-get install ghostscript"},
}

// printingExtras are what printing needs.
var printingExtras = []doctor.Extra{
	{Name: "chromium", Without: "`deepoj problem print` makes no PDF; browsers print the same pages", Remedy: browserRemedy},
}

// leastDisk is the free space below which the machine is about to stop.
const leastDisk = 1 << 30

// diagnose examines the machine.
func diagnose(f *command.Flags) command.Run {
	load, data := settingsFlag(f), dataFlag(f)
	security := f.Bool("security", false, "say what protects this machine and the Deep-OJ that runs on it")
	return func(ctx context.Context, c *command.Call) error {
		l, err := load(c)
		if err != nil {
			return err
		}
		examine, write := examineMachine, doctor.Report.WriteText
		if *security {
			examine, write = examineProtection, doctor.Report.WriteProtection
		}
		if c.JSON {
			write = doctor.Report.WriteJSON
		}
		report := examine(ctx, l, *data)
		if err := write(report, c.Out); err != nil {
			return err
		}
		if !report.Healthy() {
			return command.Exit(1)
		}
		return nil
	}
}

// examineMachine looks at this machine and at what is configured.
func examineMachine(ctx context.Context, l *settings.Loaded, data string) doctor.Report {
	var layers []doctor.Layer
	for _, w := range walls.All() {
		layers = append(layers, doctor.Layer{Name: w.Name, Missing: w.Missing})
	}
	exams := []doctor.Exam{doctor.Kernel(os.DirFS("/"), os.Geteuid()), doctor.Plugins(layers...)}
	boxes, stop := examineSandbox(ctx, true)
	defer stop()
	exams = append(exams, boxes...)
	exams = append(exams, doctor.Extras(func(context.Context, string) (string, error) { return findBrowser() }, printingExtras...))
	exams = append(exams, doctor.Services(roles.Services(&l.Settings)...), doctor.Disk(roles.Existing(data), leastDisk))
	asking, cancel := context.WithTimeout(ctx, roles.AskTime)
	defer cancel()
	if store, err := roles.OpenDatabase(asking, &l.Settings, data); err == nil { // otherwise nothing runs, or it was named above
		defer store.Close()
		exams = append(exams, doctor.Workers(func(ctx context.Context) ([]judge.WorkerInfo, error) {
			return store.Workers(ctx, liveness.DefaultAge)
		}, roles.NeedRemedies))
	}
	return doctor.Examine(ctx, exams...)
}

// examineSandbox looks at a sandbox agent that runs until stop is called, and if wanted at the tools that it finds.
func examineSandbox(ctx context.Context, tools bool) (exams []doctor.Exam, stop func()) {
	stop = func() {}
	var rootless error
	if os.Geteuid() != 0 {
		rootless = oneshot.Rootless()
	}
	if rootless != nil {
		return []doctor.Exam{doctor.Rootless(rootless)}, stop
	}
	agent, stop, err := workbench.StartAgent(ctx, sandbox.Config{Slots: 1})
	exams = append(exams, doctor.Sandbox(func(ctx context.Context) (sandbox.Status, error) {
		if err != nil {
			return sandbox.Status{}, err
		}
		return agent.Status(ctx)
	}))
	if err == nil && tools {
		exams = append(exams, doctor.Tools(agent.Tool, toolChains...), doctor.Compilers(func(ctx context.Context) ([]judge.Language, error) {
			return workbench.Compilers(ctx, agent)
		}), doctor.Extras(func(ctx context.Context, name string) (string, error) {
			found, err := agent.Tool(ctx, name)
			return found.Path, err
		}, drawingExtras...))
	}
	return exams, stop
}
