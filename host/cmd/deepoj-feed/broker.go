package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/twmb/franz-go/pkg/kfake"

	"deepoj/host/command"
	"deepoj/host/feed/kafka"
	"deepoj/host/feed/verbs"
)

// demonstrateInner is the process of a demonstration that has the feed: it brings a Kafka of one node within itself,
// which is no Apache Kafka and is for looking only, and prints every event that it has taken.
func demonstrateInner(ctx context.Context, c *command.Call, o verbs.Options) error {
	port, err := portOf(ctx, o.KafkaPort)
	if err != nil {
		return err
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	if !o.ConfigGiven {
		o.Config = "" // settings of another Kafka would not go with this one
	}
	with := *c
	with.Process = new(*c.Process)
	with.Getenv = over(map[string]string{
		"FEED_SINK": "kafka", "FEED_KAFKA_BROKERS": address, "FEED_KAFKA_STREAM_MODE": "single", "FEED_KAFKA_CREATE_TOPICS": "true",
		"FEED_METRICS_LISTEN": o.Inner,
	}, c.Getenv)
	cfg, err := loadFor(&with, o, true)
	if err != nil {
		return err
	}
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.DefaultNumPartitions(1),
		kfake.DataDir(filepath.Join(filepath.Dir(cfg.CheckpointPath), "kafka")), kfake.SyncWrites())
	if err != nil {
		return fmt.Errorf("Kafka within this process, at %s: %w: name a free port with --kafka-port", address, err)
	}
	defer broker.Close()
	fmt.Fprintf(c.Out, "Kafka, of one node and within this process: %s. It is no Apache Kafka, and only for looking.\n"+
		"Read it elsewhere: kcat -b %s -t %s -C\n", address, address, topicOf(cfg.Kafka))
	return runFeeds(ctx, &with, cfg, func(s kafka.Sink) kafka.Sink { return echo{s, c.Out} })
}

// over returns what looks a name up in own first.
func over(own map[string]string, getenv func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if v, set := own[name]; set {
			return v, true
		}
		return getenv(name)
	}
}

// portOf is the port that was asked for, or one where nobody listens.
func portOf(ctx context.Context, asked int) (int, error) {
	if asked != 0 {
		return asked, nil
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(address[len("127.0.0.1:"):])
}

// echo prints the events that a sink has taken.
type echo struct {
	kafka.Sink
	out io.Writer
}

// Send implements [kafka.Sink].
func (e echo) Send(ctx context.Context, batch []kafka.Record, position []byte) error {
	if err := e.Sink.Send(ctx, batch, position); err != nil {
		return err
	}
	return kafka.Stream{Out: e.out}.Send(ctx, batch, nil)
}
