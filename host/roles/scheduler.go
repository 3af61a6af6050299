package roles

import (
	"context"
	"log/slog"

	"deepoj/host/commentary"
	"deepoj/host/judge"
	"deepoj/host/recorder"
	"deepoj/host/scheduler"
	"deepoj/queue"
	"deepoj/sql"
)

// newScheduler makes the dispatcher, the sweepers and the observer. It returns what says
// that there may be something to dispatch.
func newScheduler(b *base, p *process) (wake func(), err error) {
	wakeups := make(chan struct{}, 1)
	wake = func() {
		select {
		case wakeups <- struct{}{}:
		default:
		}
	}
	redrive := scheduler.RedriverConfig{Interval: b.PollInterval, Wake: wake, Log: b.log, Registerer: b.reg}
	var cleaner scheduler.Cleaner
	var figures scheduler.StreamFigures
	if b.streams != nil {
		redrive.Changed, cleaner, figures = b.streams.Changed(), b.streams, b.streams
	}
	redriver, err := scheduler.NewRedriver(redrive, b.db.Queue)
	if err != nil {
		return nil, err
	}
	if b.streams == nil {
		b.log.Info("dispatching through PostgreSQL alone")
	} else if err := newDispatcher(b, p, wakeups, func(bool) { redriver.Resend(); wake() }); err != nil {
		return nil, err
	}
	reclaimer, err := scheduler.NewReclaimer(scheduler.ReclaimerConfig{
		Interval: b.ReclaimInterval, Count: b.ReclaimCount, Grace: b.ReclaimGrace, Losses: b.MaxLostWorkers, Wake: wake, Log: b.log, Registerer: b.reg,
	}, b.db.Queue, cleaner)
	if err != nil {
		return nil, err
	}
	observer, err := scheduler.NewObserver(scheduler.ObserverConfig{Log: b.log, Registerer: b.reg}, b.db.Queue, figures)
	if err != nil {
		return nil, err
	}
	retirer, err := scheduler.NewRetirer(scheduler.RetirerConfig{
		Events: b.RetainEvents, Jobs: b.RetainJobs, Submissions: b.RetainSubmissions, Log: b.log, Registerer: b.reg,
	}, b.db.Queue)
	if err != nil {
		return nil, err
	}
	p.add("retirer", retirer.Run)
	p.add("redriver", redriver.Run)
	p.add("reclaimer", reclaimer.Run)
	p.add("observer", observer.Run)
	return wake, newRecorder(b, p)
}

// newRecorder makes what writes the logs of rounds. What this process does it is told of; of what others do it asks.
func newRecorder(b *base, p *process) error {
	wakeups := make(chan struct{}, 1)
	wake := func(string) {
		select {
		case wakeups <- struct{}{}:
		default:
		}
	}
	r, err := recorder.New(recorder.Config{Wake: wakeups, Log: b.log, Registerer: b.reg}, b.db.Rounds)
	if err != nil {
		return err
	}
	p.add("recorder", r.Run)
	p.add("commentator", commentary.New(b.db.Rounds, b.log).Run)
	p.add("recorder's wakeups", func(ctx context.Context) error { return b.db.Listen(ctx, sql.ChannelEvents, wake) })
	return nil
}

// newDispatcher makes what sends jobs to the streams of Redis, or, with DELIVERY=auto while Redis is away, does not.
func newDispatcher(b *base, p *process, wakeups <-chan struct{}, changed func(bool)) error {
	cfg := scheduler.DispatcherConfig{
		Name: b.name, Pool: b.WorkerPool, Shards: b.OutboxShards,
		PollInterval: b.PollInterval, Live: b.live(), Tracer: b.tracer, Log: b.log, Registerer: b.reg,
	}
	var delivery queue.Delivery = b.streams
	if b.Delivery == "auto" {
		sw, err := newSwitch(b, "scheduler", nil, changed)
		if err != nil {
			return err
		}
		p.add("delivery switch", sw.Run)
		delivery, cfg.Hold = sw, sw.Hold
	}
	dispatcher, err := scheduler.NewDispatcher(cfg, b.db.Queue, delivery)
	if err != nil {
		return err
	}
	p.add("dispatcher", func(ctx context.Context) error {
		b.log.InfoContext(ctx, "dispatching", slog.String("stream", b.JobStream))
		return dispatcher.Run(ctx)
	})
	p.add("dispatcher's wakeups", func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-wakeups:
				dispatcher.Wake()
			}
		}
	})
	return nil
}

// newSwitch returns the delivery of DELIVERY=auto for a role of this process.
func newSwitch(b *base, role string, languages func() []string, changed func(bool)) (*scheduler.Switch, error) {
	direct := b.db.Queue.Delivery(judge.DefaultQueue, b.WorkerPool, b.name, languages)
	cfg := scheduler.SwitchConfig{Changed: changed, Log: b.log.With(slog.String("role", role))}
	if role == "scheduler" || !b.Roles.Scheduler {
		cfg.Registerer = b.reg // one process has one figure
	}
	return scheduler.NewSwitch(cfg, b.streams, direct)
}
