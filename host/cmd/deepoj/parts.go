package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"deepoj/host/blob"
	"deepoj/host/intake"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/liveness"
	"deepoj/host/plugin"
	"deepoj/host/plugin/trial"
	"deepoj/host/problem/samples"
	"deepoj/host/scheduler"
	"deepoj/host/telemetry"
	"deepoj/host/worker"
	"deepoj/plugins"
	"deepoj/queue"
	"deepoj/sandbox"
	"deepoj/sql"
)

// addScheduler adds the dispatcher, the sweepers and the observer.
func (n *node) addScheduler() error {
	c := n.cfg
	var redriver *scheduler.Redriver
	redrive := scheduler.RedriverConfig{Interval: c.duration("POLL_INTERVAL"), Wake: n.wake, Log: n.log, Registerer: n.reg}
	var cleaner scheduler.Cleaner
	var figures scheduler.StreamFigures
	if n.streams != nil {
		redrive.Changed, cleaner, figures = n.streams.Changed(), n.streams, n.streams
	}
	redriver, err := scheduler.NewRedriver(redrive, n.store)
	if err != nil {
		return err
	}
	if n.streams != nil {
		dispatch := scheduler.DispatcherConfig{
			Name: n.name(), Pool: c.get("WORKER_POOL"), PollInterval: c.duration("POLL_INTERVAL"), Log: n.log, Registerer: n.reg,
		}
		var delivery queue.Delivery = n.streams
		if c.get("DELIVERY") == "auto" {
			sw, err := n.newSwitch("scheduler", nil, func(bool) { redriver.Resend(); n.wake() })
			if err != nil {
				return err
			}
			n.add("delivery switch", sw.Run)
			delivery, dispatch.Hold = sw, sw.Hold
		}
		if n.dispatcher, err = scheduler.NewDispatcher(dispatch, n.store, delivery); err != nil {
			return err
		}
		n.add("dispatcher", func(ctx context.Context) error {
			n.log.InfoContext(ctx, "dispatching", slog.String("stream", c.get("JOB_STREAM_KEY")))
			return n.dispatcher.Run(ctx)
		})
	} else {
		n.log.Info("dispatching through PostgreSQL alone")
	}
	reclaimer, err := scheduler.NewReclaimer(scheduler.ReclaimerConfig{
		Interval: c.seconds("JOB_RECLAIM_INTERVAL_SEC"), Count: int(c.number("JOB_RECLAIM_COUNT")), Grace: c.seconds("JOB_RECLAIM_GRACE_SEC"),
		Wake: n.wake, Log: n.log, Registerer: n.reg,
	}, n.store, cleaner)
	if err != nil {
		return err
	}
	observer, err := scheduler.NewObserver(scheduler.ObserverConfig{Log: n.log, Registerer: n.reg}, n.store, figures)
	if err != nil {
		return err
	}
	n.add("redriver", redriver.Run)
	n.add("reclaimer", reclaimer.Run)
	n.add("observer", observer.Run)
	return nil
}

// wake says to a dispatcher of this process that there may be something to do.
func (n *node) wake() {
	if n.dispatcher != nil {
		n.dispatcher.Wake()
	}
}

// newSwitch returns the delivery of DELIVERY=auto for a role of this process.
func (n *node) newSwitch(role string, languages func() []string, changed func(bool)) (*scheduler.Switch, error) {
	direct := n.store.Delivery(sql.DefaultQueue, n.cfg.get("WORKER_POOL"), n.name(), languages)
	cfg := scheduler.SwitchConfig{Changed: changed, Log: n.log.With(slog.String("role", role))}
	if role == "scheduler" || !n.roles.scheduler {
		cfg.Registerer = n.reg // one process has one figure
	}
	return scheduler.NewSwitch(cfg, n.streams, direct)
}

// addWorker adds the worker, with everything that judging needs.
func (n *node) addWorker(ctx context.Context) error {
	agent, err := n.dialAgent(ctx)
	if err != nil {
		return err
	}
	cache := firstOf(n.cfg.get("CACHE_DIR"), filepath.Join(n.opts.data, "cache"))
	runtimes, err := plugin.New(plugin.Config{CacheDir: filepath.Join(cache, "plugins"), Log: n.log, Registerer: n.reg})
	if err != nil {
		return err
	}
	n.closers = append(n.closers, func() { _ = runtimes.Close() })
	adapters, err := plugins.Languages()
	if err != nil {
		return err
	}
	slots := int(n.cfg.number("WORKER_SLOTS"))
	if slots == 0 {
		slots = agent.Slots()
	}
	judges := judging.Config{
		Agent: agent, Plugins: runtimes, Blobs: n.blobs, Adapters: adapters, Checker: plugins.Checker, SDK: plugins.SDK(), Uploaded: n.store.ActivePlugins,
		CacheDir: filepath.Join(cache, "judging"),
		Cores:    min(runtime.NumCPU(), agent.Slots()), Log: n.log, Registerer: n.reg,
	}
	j, err := judging.New(judges)
	if err != nil {
		return err
	}
	takes, err := n.newIntake(j, judges, filepath.Join(cache, "trial"))
	if err != nil {
		return err
	}
	var w *worker.Worker
	languages := func() []string { return w.Serving() }
	var delivery queue.Delivery
	switch {
	case n.streams == nil:
		delivery = n.store.Delivery(sql.DefaultQueue, n.cfg.get("WORKER_POOL"), n.name(), languages)
	case n.cfg.get("DELIVERY") == "auto":
		sw, err := n.newSwitch("worker", languages, nil)
		if err != nil {
			return err
		}
		n.add("delivery switch", sw.Run)
		delivery = sw
	default:
		delivery = n.streams
	}
	w, err = worker.New(worker.Config{
		Name: n.name(), Pool: n.cfg.get("WORKER_POOL"), Version: version, Slots: slots,
		Lease: n.cfg.seconds("JOB_LEASE_SEC"), Heartbeat: n.cfg.seconds("JOB_HEARTBEAT_SEC"), Grace: n.cfg.duration("DRAIN_GRACE"),
		Claimed: n.wake, Languages: j.Languages, Sandbox: sandboxLine(agent),
		Others: map[judge.Kind]worker.Execute{judge.KindPluginBuild: takes.Execute, judge.KindPluginTest: takes.Execute},
		Context: func(ctx context.Context, job judge.Job) context.Context {
			return telemetry.WithTrace(telemetry.WithJob(ctx, job.JobID, job.AttemptID), job.TraceID)
		},
		Log: n.log, Registerer: n.reg,
	}, n.store, delivery, j, liveness.NewPostgres(n.store, 0))
	if err != nil {
		return err
	}
	n.add("worker", w.Run)
	n.add("plugins", func(ctx context.Context) error {
		return n.store.Listen(ctx, sql.ChannelPlugins, func(string) { w.LookAgain() })
	})
	n.add("prepare", func(ctx context.Context) error {
		if err := j.Prepare(ctx); err != nil && ctx.Err() == nil {
			n.log.WarnContext(ctx, "some compilers begin cold", slog.Any("err", err))
		}
		return nil
	})
	return nil
}

// newIntake returns what executes jobs about plugins. Programs that prove them
// are judged like submissions, apart from what people see.
func (n *node) newIntake(j *judging.Judge, judges judging.Config, folder string) (*intake.Intake, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("folder for proving plugins: %w", err)
	}
	judges.Registerer, judges.Uploaded = nil, nil
	runner, err := trial.New(folder, judges)
	if err != nil {
		return nil, err
	}
	return intake.New(intake.Config{
		Store: n.store, Blobs: n.blobs, Plugins: judges.Plugins, Judge: j, Runner: runner, TempDir: folder, Log: n.log,
	})
}

// dialAgent reaches the sandbox agent: the one that the launcher started, or,
// without root, one of this process that cannot use control groups.
func (n *node) dialAgent(ctx context.Context) (*sandbox.Agent, error) {
	conn := os.NewFile(uintptr(n.opts.agentFD), "sandbox agent")
	if n.opts.agentFD == 0 {
		p, err := sandbox.Spawn(ctx, "/proc/self/exe", []string{"sandbox", "agent"}, agentConfig(n.opts, n.log))
		if err != nil {
			return nil, err
		}
		n.closers = append(n.closers, func() { _ = p.Close() })
		conn = p.Conn()
	}
	return sandbox.Dial(conn)
}

// sandboxLine describes the sandbox for people, or says why nothing can be run.
func sandboxLine(a *sandbox.Agent) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		s, err := a.Status(ctx)
		if err != nil {
			return "", err
		}
		line := "cgroup driver " + s.Driver
		if len(s.Degraded) > 0 {
			line += ", degraded: " + strings.Join(s.Degraded, "; ")
		}
		return line, nil
	}
}

// importSamples stores the sample problems that the database does not know.
func (n *node) importSamples(ctx context.Context) error {
	known := map[string]bool{}
	ps, err := n.store.Problems(ctx)
	if err != nil {
		return err
	}
	for _, p := range ps {
		known[p.Slug] = true
	}
	for _, slug := range samples.Slugs() {
		if known[slug] {
			continue
		}
		if err := importSample(ctx, n.store, n.blobs, slug); err != nil {
			return err
		}
		n.log.InfoContext(ctx, "sample problem imported", slog.String("problem", slug))
	}
	return nil
}

func importSample(ctx context.Context, store *sql.Store, blobs blob.Store, slug string) error {
	fsys, err := samples.FS(slug)
	if err != nil {
		return err
	}
	_, err = importPackage(ctx, store, blobs, fsys, slug, "deepoj")
	return err
}
