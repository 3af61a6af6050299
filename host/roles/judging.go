package roles

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"deepoj/host/capacity"
	"deepoj/host/intake"
	"deepoj/host/intake/trial"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/plugin"
	"deepoj/host/telemetry"
	"deepoj/host/worker"
	"deepoj/plugins"
	"deepoj/queue"
	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
	"deepoj/sql"
)

// calibrationTime is how long a worker calibrates before it begins.
const calibrationTime = 100 * time.Millisecond

const (
	agentOff     = judging.AgentOff
	agentRequire = judging.AgentRequire
)

// judges are the worker of a process, and what runs its programs.
type judges struct {
	worker *worker.Worker
	boxes  *judging.Fallback
}

// newJudges makes the worker, with everything that judging needs. What wakes the
// dispatcher of this process is called for each job that is claimed.
func newJudges(ctx context.Context, b *base, p *process, wake func()) (*judges, error) {
	changed := make(chan struct{}, 1) // programs are run in another way
	boxes, err := newSandbox(ctx, b, p, changed)
	if err != nil {
		return nil, err
	}
	cache := cmp.Or(b.CacheDir, filepath.Join(b.Options.Data, "cache"))
	runtimes, err := plugin.New(plugin.Config{CacheDir: filepath.Join(cache, "plugins"), Log: b.log, Registerer: b.reg})
	if err != nil {
		return nil, err
	}
	p.closing(func() { _ = runtimes.Close() })
	adapters, err := plugins.Languages()
	if err != nil {
		return nil, err
	}
	slots := b.WorkerSlots
	if slots == 0 {
		slots = min(boxes.Slots(), boxes.Cores())
	}
	cfg := judging.Config{
		Sandbox: boxes, Plugins: runtimes, Blobs: b.blobs, Adapters: adapters, Checker: plugins.Checker, SDK: plugins.SDK(), Uploaded: b.db.Site.ActivePlugins,
		CacheDir: filepath.Join(cache, "judging"), Factors: b.TimeFactors,
		Cores: min(runtime.NumCPU(), boxes.Slots()), Log: b.log, Registerer: b.reg,
	}
	j, err := judging.New(cfg)
	if err != nil {
		return nil, err
	}
	takes, err := newIntake(b, j, cfg, filepath.Join(cache, "trial"))
	if err != nil {
		return nil, err
	}
	languages := remembered{ask: j.Serves}
	delivery, err := newDelivery(b, p, languages.available)
	if err != nil {
		return nil, err
	}
	compilers := remembered{ask: j.Compilers}
	journal := cmp.Or(b.JournalDir, filepath.Join(b.Options.Data, "journal"))
	w, err := worker.New(worker.Config{
		Name: b.name, Pool: b.WorkerPool, Version: b.Version, Slots: slots, Calibration: capacity.Calibrate(calibrationTime),
		Lease: b.Lease, Heartbeat: b.Heartbeat, Grace: b.DrainGrace,
		Journal: journal, Claimed: wake, Languages: languages.look, Compilers: compilers.known, Sandbox: boxes.Status,
		Needs: needs(b, cache, journal), Passing: passing,
		Others: map[judge.Kind]worker.Execute{
			judge.KindPluginBuild: takes.Execute, judge.KindPluginTest: takes.Execute, judge.KindImport: takes.Package, judge.KindVerify: takes.Package,
			judge.KindRender: takes.Render, judge.KindRun: j.Run, judge.KindDraft: j.Draft,
		},
		Context: func(ctx context.Context, job judge.Claim) context.Context {
			ctx = sandbox.WithJob(ctx, job.JobID, job.AttemptID)
			return telemetry.WithTrace(telemetry.WithJob(ctx, job.JobID, job.AttemptID), job.TraceID)
		},
		Tracer: b.tracer, Log: b.log, Registerer: b.reg,
	}, b.db.Queue, delivery, j, b.directory)
	if err != nil {
		return nil, err
	}
	p.add("compilers of plugins", compilers.untilComplete)
	p.add("rendering", func(ctx context.Context) error { return renderOnce(ctx, b, wake, renderEvery) })
	p.add("sandbox", boxes.Run)
	p.add("sandbox's changes", func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
				w.LookAgain()
			}
		}
	})
	p.add("worker", w.Run)
	p.add("plugins", func(ctx context.Context) error {
		return b.db.Listen(ctx, sql.ChannelPlugins, func(string) { w.LookAgain() })
	})
	p.add("cancellations", func(ctx context.Context) error {
		return b.db.Listen(ctx, sql.ChannelStops, func(string) { w.Renew() })
	})
	p.add("prepare", func(ctx context.Context) error {
		if err := j.Prepare(ctx); err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "some compilers begin cold", slog.Any("err", err))
		}
		return nil
	})
	return &judges{w, boxes}, nil
}

// newDelivery is where the worker gets its jobs from.
func newDelivery(b *base, p *process, languages func() []string) (queue.Delivery, error) {
	switch {
	case b.streams == nil:
		return b.db.Queue.Delivery(judge.DefaultQueue, b.WorkerPool, b.name, languages), nil
	case b.Delivery == "auto":
		sw, err := newSwitch(b, "worker", languages, nil)
		if err != nil {
			return nil, err
		}
		p.add("delivery switch", sw.Run)
		return sw, nil
	}
	return b.streams, nil
}

// newIntake returns what executes jobs about plugins. Programs that prove them
// are judged like submissions, apart from what people see.
func newIntake(b *base, j *judging.Judge, cfg judging.Config, folder string) (*intake.Intake, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("folder for proving plugins: %w", err)
	}
	cfg.Registerer, cfg.Uploaded = nil, nil
	runner, err := trial.New(folder, cfg)
	if err != nil {
		return nil, err
	}
	return intake.New(intake.Config{
		Store: b.db.Site, Blobs: b.blobs, Plugins: cfg.Plugins, Judge: j, Runner: runner, Quota: b.SetterQuotaMiB << 20, TempDir: folder, Log: b.log,
	})
}

// newSandbox reaches the sandbox through the launcher, or, in a process that nobody
// launched, starts its parts with the privilege that there is.
func newSandbox(ctx context.Context, b *base, p *process, changed chan<- struct{}) (*judging.Fallback, error) {
	conn := os.NewFile(uintptr(b.Options.SandboxFD), "sandbox keeper")
	if b.Options.SandboxFD == 0 {
		keeper, err := oneshot.Keep(b.keeper(b.log))
		if err != nil {
			return nil, err
		}
		p.closing(keeper.Close)
		conn = keeper.Conn()
	}
	boxes, err := judging.NewFallback(ctx, conn, judging.FallbackConfig{
		Mode:   b.Agent,
		Keeper: sandbox.KeeperClientConfig{StdoutLimit: b.StdoutLimit, StderrLimit: b.StderrLimit},
		Changed: func() {
			select {
			case changed <- struct{}{}:
			default: // it is known
			}
		},
		Log: b.log, Registerer: b.reg,
	})
	if err != nil || b.Agent == agentRequire {
		return boxes, err // the agent may come later
	}
	// A worker that can run nothing from the beginning lacks something, and ends.
	_, err = boxes.Status(ctx)
	return boxes, err
}
