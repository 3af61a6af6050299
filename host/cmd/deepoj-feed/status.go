package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"deepoj/host/command"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/config"
	"deepoj/host/feed/verbs"
	"deepoj/host/feed/wal"
	"deepoj/host/judge"
)

const (
	statusBad  = 3               // of a command that found that something is wrong
	statusWait = 3 * time.Second // how long a feed may take to answer
	statusMost = 1 << 20         // bytes of what it answers
)

// status says how far the feeds are.
func status(ctx context.Context, c *command.Call, o verbs.Options) error {
	cfg, err := load(c, o)
	if err != nil {
		return err
	}
	all, err := askRunning(ctx, cfg)
	if err != nil {
		return err
	}
	if all == nil {
		if all, err = fromFiles(cfg); err != nil {
			return err
		}
	}
	if err := c.Write(answer{all}, func(w io.Writer) error { return writeStatus(w, all) }); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(s judge.FeedStatus) bool { return !s.Well() }) {
		return command.Exit(statusBad)
	}
	return nil
}

// askRunning asks the process that runs the feeds; nil means that none does.
func askRunning(ctx context.Context, cfg *config.Config) ([]judge.FeedStatus, error) {
	network, address := "unix", socketOf(streamsOf(cfg)[0].Checkpoint)
	if address == "" {
		if network, address = "tcp", cfg.MetricsListen; address == "" {
			return nil, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+statusPath, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(request)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("the feed at %s does not answer within %s", address, statusWait)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("the feed at %s: %w: run this as root or as the account of the feed", address, errors.Unwrap(err))
	case err != nil:
		return nil, nil // nobody listens there
	}
	defer res.Body.Close()
	var a answer
	if err := json.NewDecoder(io.LimitReader(res.Body, statusMost)).Decode(&a); err != nil || res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("what answers at %s (%s) is no feed: %w", address, res.Status, err)
	}
	return a.Feeds, nil
}

// fromFiles says what the files of feeds tell that do not run.
func fromFiles(cfg *config.Config) (all []judge.FeedStatus, err error) {
	for _, s := range streamsOf(cfg) {
		cp, _, err := checkpoint.Load(s.Checkpoint, s.Source)
		if err != nil {
			return nil, err
		}
		size, _, err := sizeOf(s.WALDir)
		if err != nil {
			return nil, err
		}
		all = append(all, judge.FeedStatus{
			Source: s.Source, Database: s.Database, State: judge.FeedStopped, Epoch: cp.Epoch,
			Durable:  judge.FeedPoint{Seq: cp.Durable.Seq, Position: positionText(cfg.Source, cp.Durable.Position)},
			Sent:     judge.FeedPoint{Seq: cp.Ack.Seq, Position: positionText(cfg.Source, cp.Ack.Position)},
			Snapshot: cp.Snapshot.SnapshotSeq, Behind: behind(cp.Durable.Seq, cp.Ack.Seq), LogBytes: size, LogMost: cfg.WALMaxBytes,
		})
	}
	return all, nil
}

func behind(durable, sent uint64) uint64 { return max(durable, sent) - sent }

// positionText writes a position as its source does.
func positionText(source string, p wal.Position) string {
	if source == config.Postgres {
		return fmt.Sprintf("%X/%X", p.Offset>>32, uint32(p.Offset))
	}
	return p.String()
}

// sizeOf counts the files of a log and their bytes.
func sizeOf(dir string) (bytes int64, files int, err error) {
	all, err := wal.Files(dir)
	if err != nil {
		return 0, 0, err
	}
	for _, path := range all {
		if info, err := os.Stat(path); err == nil { // else it was cleaned away
			bytes += info.Size()
		}
	}
	return bytes, len(all), nil
}

func writeStatus(w io.Writer, all []judge.FeedStatus) error {
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		of := s.Source
		if s.Database != "" {
			of += " " + s.Database
		}
		t := command.Table{}
		t.Add("feed", of)
		t.Add("state", s.State)
		t.Add("epoch", s.Epoch)
		t.Add("durable", fmt.Sprintf("%s (record %d)", s.Durable.Position, s.Durable.Seq))
		t.Add("sent", fmt.Sprintf("%s (record %d)", s.Sent.Position, s.Sent.Seq))
		t.Add("not sent", fmt.Sprintf("%d records, the oldest for %.3f s", s.Behind, s.Lag))
		t.Add("of the snapshot", fmt.Sprintf("%d records", s.Snapshot))
		t.Add("log", fmt.Sprintf("%d of %d bytes", s.LogBytes, s.LogMost))
		t.Add("dead letters", s.DeadLetters)
		for _, m := range []struct {
			say  bool
			name string
			text string
		}{
			{s.Full, "full", "the log has reached wal_max_bytes: nothing is received until Kafka has taken some of it"},
			{s.SourceError != "", "source", s.SourceError},
			{s.SinkError != "", "sink", s.SinkError},
			{s.Why != "", "new snapshot", s.Why},
		} {
			if m.say {
				t.Add(m.name, m.text)
			}
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	return nil
}
