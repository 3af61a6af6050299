package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"deepoj/host/command"
	"deepoj/host/feed"
	"deepoj/host/feed/config"
	"deepoj/host/feed/kafka"
	"deepoj/host/feed/verbs"
	"deepoj/host/judge"
	"deepoj/host/telemetry"
)

// run runs the feeds that the settings mean until it is told to end.
func run(ctx context.Context, c *command.Call, o verbs.Options) error {
	switch {
	case o.SQL:
		return printSQL(c, o)
	case o.Inner != "":
		return demonstrateInner(ctx, c, o)
	case o.Demo:
		return demonstrate(ctx, c, o)
	}
	cfg, err := loadFor(c, o, true)
	if err != nil {
		return err
	}
	return runFeeds(ctx, c, cfg, func(s kafka.Sink) kafka.Sink { return s })
}

// runFeeds runs feeds, and what says how far they are. Each sink is what around makes of it.
func runFeeds(ctx context.Context, c *command.Call, cfg *config.Config, around func(kafka.Sink) kafka.Sink) error {
	log, err := newLogger(c)
	if err != nil {
		return err
	}
	streams := streamsOf(cfg)
	reg := telemetry.Registry()
	all, out := make([]*feed.Feed, len(streams)), &shared{out: c.Out}
	for i, s := range streams {
		if all[i], err = newFeed(s, out, log, around); err != nil {
			return err
		}
		var to prometheus.Registerer = reg
		if s.Database != "" {
			to = prometheus.WrapRegistererWith(prometheus.Labels{"db": s.Database}, reg)
		}
		if err := to.Register(all[i]); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	said := func() []judge.FeedStatus { return statuses(cfg, all) }
	socket, err := listenAtSocket(ctx, streams[0].Checkpoint)
	if err != nil {
		return err
	}
	if socket != nil {
		g.Go(func() error { return serve(ctx, socket, reg, said) })
	}
	if cfg.MetricsListen != "" {
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.MetricsListen)
		if err != nil {
			return fmt.Errorf("metrics_listen=%s: %w: name an address of this machine where nothing listens", cfg.MetricsListen, err)
		}
		log.InfoContext(ctx, "metrics and status", slog.String("address", ln.Addr().String()))
		g.Go(func() error { return serve(ctx, ln, reg, said) })
	}
	for _, f := range all {
		g.Go(func() error {
			if err := f.Run(ctx); err != nil {
				return err
			}
			return context.Canceled // what serves ends with the feeds
		})
	}
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// newLogger makes the log, as the other programs do.
func newLogger(c *command.Call) (*slog.Logger, error) {
	var level slog.Level
	if text := cmp.Or(c.Variable("LOG_LEVEL"), "info"); level.UnmarshalText([]byte(text)) != nil {
		return nil, fmt.Errorf("LOG_LEVEL=%s: must be one of debug, info, warn, error", text)
	}
	format := cmp.Or(c.Variable("LOG_FORMAT"), "text")
	if format != "text" && format != "json" {
		return nil, fmt.Errorf("LOG_FORMAT=%s: must be text or json", format)
	}
	return telemetry.Logger(c.Err, level, format == "json"), nil
}

// newFeed joins a source with its sink.
func newFeed(s stream, out io.Writer, log *slog.Logger, around func(kafka.Sink) kafka.Sink) (*feed.Feed, error) {
	log = log.With(slog.String("feed", s.name()))
	o, err := feed.Setup(s.Config, s.Database, out, log)
	if err != nil {
		return nil, err
	}
	if o.Source, err = newSource(s, log); err != nil {
		return nil, err
	}
	if s.Database == "" { // the markers around a snapshot name the database of PostgreSQL
		_, o.DB, _ = strings.Cut(s.Source, "/")
	}
	o.Sink = around(o.Sink)
	return feed.New(o)
}

// statuses say how far feeds are.
func statuses(cfg *config.Config, all []*feed.Feed) []judge.FeedStatus {
	out := make([]judge.FeedStatus, len(all))
	for i, f := range all {
		s := f.Status()
		out[i] = judge.FeedStatus{
			Source: s.SourceID, State: string(s.State), Epoch: s.Epoch,
			Durable:  judge.FeedPoint{Seq: s.Durable.Seq, Position: positionText(cfg.Source, s.Durable.Position)},
			Sent:     judge.FeedPoint{Seq: s.Ack.Seq, Position: positionText(cfg.Source, s.Ack.Position)},
			Snapshot: s.Snapshot.SnapshotSeq, Behind: s.LagRecords, Lag: s.LagSeconds,
			LogBytes: s.WAL.Bytes, LogMost: s.WAL.MaxBytes, Full: s.WAL.FullSince != nil,
			DeadLetters: uint64(max(0, s.Counts.DeadLetters)), Why: s.Why,
		}
		if cfg.Source == config.PikiwiDB {
			out[i].Database = s.DB
		}
		if !s.Source.Up {
			out[i].SourceError = s.Source.Error
		}
		if !s.Sink.Up {
			out[i].SinkError = s.Sink.Error
		}
	}
	return out
}
