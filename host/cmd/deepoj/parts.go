package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"deepoj/host/blob"
	"deepoj/host/capacity"
	"deepoj/host/intake"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/plugin"
	"deepoj/host/plugin/trial"
	"deepoj/host/problem/samples"
	"deepoj/host/reading"
	"deepoj/host/scheduler"
	"deepoj/host/telemetry"
	"deepoj/host/worker"
	"deepoj/plugins"
	"deepoj/queue"
	"deepoj/sandbox"
	"deepoj/sql"
	"deepoj/web"
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
			Name: n.name(), Pool: c.get("WORKER_POOL"), Shards: int(c.number("OUTBOX_SHARDS")),
			PollInterval: c.duration("POLL_INTERVAL"), Live: n.live(), Tracer: n.tracer, Log: n.log, Registerer: n.reg,
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
		Losses: int(c.number("JOB_MAX_LOST_WORKERS")), Wake: n.wake, Log: n.log, Registerer: n.reg,
	}, n.store, cleaner)
	if err != nil {
		return err
	}
	observer, err := scheduler.NewObserver(scheduler.ObserverConfig{Log: n.log, Registerer: n.reg}, n.store, figures)
	if err != nil {
		return err
	}
	retirer, err := scheduler.NewRetirer(scheduler.RetirerConfig{
		Events: c.duration("RETAIN_EVENTS"), Jobs: c.duration("RETAIN_JOBS"), Submissions: c.duration("RETAIN_SUBMISSIONS"), Log: n.log, Registerer: n.reg,
	}, n.store)
	if err != nil {
		return err
	}
	n.add("retirer", retirer.Run)
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
	boxes, err := n.sandbox(ctx)
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
		slots = min(boxes.Slots(), boxes.Cores())
	}
	factors, err := timeFactors(n.cfg.get("TIME_FACTORS"))
	if err != nil {
		return err
	}
	judges := judging.Config{
		Sandbox: boxes, Plugins: runtimes, Blobs: n.blobs, Adapters: adapters, Checker: plugins.Checker, SDK: plugins.SDK(), Uploaded: n.store.ActivePlugins,
		CacheDir: filepath.Join(cache, "judging"), Factors: factors,
		Cores: min(runtime.NumCPU(), boxes.Slots()), Log: n.log, Registerer: n.reg,
	}
	j, err := judging.New(judges)
	if err != nil {
		return err
	}
	takes, err := n.newIntake(j, judges, filepath.Join(cache, "trial"))
	if err != nil {
		return err
	}
	languages := func() []string { return n.worker.Serving() }
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
	compilers := compilerWatch{ask: j.Compilers}
	n.add("compilers of plugins", compilers.run)
	journal := firstOf(n.cfg.get("JOURNAL_DIR"), filepath.Join(n.opts.data, "journal"))
	n.worker, err = worker.New(worker.Config{
		Name: n.name(), Pool: n.cfg.get("WORKER_POOL"), Version: version, Slots: slots, Calibration: capacity.Calibrate(calibrationTime),
		Lease: n.cfg.seconds("JOB_LEASE_SEC"), Heartbeat: n.cfg.seconds("JOB_HEARTBEAT_SEC"), Grace: n.cfg.duration("DRAIN_GRACE"),
		Journal: journal, Claimed: n.wake, Languages: j.Serves, Compilers: compilers.known, Sandbox: boxes.Status,
		Needs: n.needs(n.writes(cache, journal)...), Passing: passing,
		Others: map[judge.Kind]worker.Execute{
			judge.KindPluginBuild: takes.Execute, judge.KindPluginTest: takes.Execute, judge.KindImport: takes.Package, judge.KindVerify: takes.Package,
			judge.KindRender: takes.Render, judge.KindRun: j.Run, judge.KindDraft: j.Draft,
		},
		Context: func(ctx context.Context, job judge.Job) context.Context {
			ctx = sandbox.WithJob(ctx, job.JobID, job.AttemptID)
			return telemetry.WithTrace(telemetry.WithJob(ctx, job.JobID, job.AttemptID), job.TraceID)
		},
		Tracer: n.tracer, Log: n.log, Registerer: n.reg,
	}, n.store, delivery, j, n.directory)
	if err != nil {
		return err
	}
	n.boxes = boxes
	n.add("rendering", func(ctx context.Context) error { return n.renderOnce(ctx, renderEvery) })
	n.add("sandbox", boxes.Run)
	n.add("worker", n.worker.Run)
	n.add("plugins", func(ctx context.Context) error {
		return n.store.Listen(ctx, sql.ChannelPlugins, func(string) { n.worker.LookAgain() })
	})
	n.add("cancellations", func(ctx context.Context) error {
		return n.store.Listen(ctx, sql.ChannelStops, func(string) { n.worker.Renew() })
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
		Store: n.store, Blobs: n.blobs, Plugins: judges.Plugins, Judge: j, Runner: runner, Quota: n.cfg.number("SETTER_QUOTA_MIB") << 20, TempDir: folder, Log: n.log,
	})
}

// sandbox reaches the sandbox through the launcher, or, in a process that nobody
// launched, starts its parts with the privilege that there is.
func (n *node) sandbox(ctx context.Context) (*judging.Fallback, error) {
	conn := os.NewFile(uintptr(n.opts.sandboxFD), "sandbox door")
	if n.opts.sandboxFD == 0 {
		keeper, err := sandbox.Keep(keeperConfig(n.opts, n.cfg, n.log))
		if err != nil {
			return nil, err
		}
		n.closers = append(n.closers, keeper.Close)
		conn = keeper.Conn()
	}
	boxes, err := judging.NewFallback(ctx, conn, judging.FallbackConfig{
		Mode: n.cfg.get("JUDGE_AGENT"),
		Door: sandbox.DoorConfig{StdoutLimit: n.cfg.number("JUDGE_STDOUT_LIMIT_BYTES"), StderrLimit: n.cfg.number("JUDGE_STDERR_LIMIT_BYTES")},
		Changed: func() {
			if n.worker != nil {
				n.worker.LookAgain()
			}
		},
		Log: n.log, Registerer: n.reg,
	})
	if err != nil || n.cfg.get("JUDGE_AGENT") == judging.AgentRequire {
		return boxes, err // the agent may come later
	}
	// A worker that can run nothing from the beginning lacks something, and ends.
	_, err = boxes.Status(ctx)
	return boxes, err
}

// checkSandbox says for /readyz how programs are run. Pages are served anyway.
func (n *node) checkSandbox() web.Check {
	c := web.Check{Name: "sandbox", Optional: true}
	why := n.boxes.Agent()
	lack, unfit := errors.AsType[*worker.UnfitError](n.worker.Unable())
	switch {
	case unfit && lack.Need == worker.NeedSandbox:
		c.Detail, c.Remedy = "No jobs are taken: "+lack.Err.Error(), needRemedies[worker.NeedSandbox]
	case why == nil:
		c.OK, c.Detail = true, "the agent runs programs"
	case n.cfg.get("JUDGE_AGENT") == judging.AgentOff:
		c.OK, c.Detail = true, "the one-shot command runs programs: "+why.Error()
	default:
		c.Detail = "The one-shot command runs programs, which takes longer, because the agent does not: " + why.Error()
		c.Remedy = "See the log; the agent is started again by itself."
	}
	return c
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
	p, err := reading.Config{}.Sample(ctx, slug)
	if err != nil {
		return err
	}
	defer p.Close()
	p.Slug = slug
	if _, err := p.Save(ctx, blobs); err != nil {
		return err
	}
	return intake.Save(ctx, store, p.Package, "deepoj")
}
