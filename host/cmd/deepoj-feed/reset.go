package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"deepoj/host/command"
	"deepoj/host/feed/config"
	"deepoj/host/feed/verbs"
	"deepoj/host/feed/wal"
)

// doomed is something that a reset removes.
type doomed struct {
	Kind string `json:"kind"` // slot, wal, dump or checkpoint
	Name string `json:"name"` // where it is
	Size string `json:"size"` // what is known of it, in words

	remove func(ctx context.Context) error
}

// reset makes feeds forget how far they are, after a question.
func reset(ctx context.Context, c *command.Call, o verbs.Options) error {
	cfg, err := load(c, o)
	if err != nil {
		return err
	}
	if running, err := askRunning(ctx, cfg); err != nil {
		return err
	} else if running != nil {
		return fmt.Errorf("the feed of %s runs: stop it before its files are removed", running[0].Source)
	}
	all, err := doomedOf(ctx, cfg)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return c.Say(all, "There is nothing to remove: the feed of %s begins with a new snapshot anyway.", cfg.SourceID())
	}
	if !c.JSON {
		fmt.Fprintf(c.Out, "The feed of %s will begin with a new snapshot. This is removed:\n", cfg.SourceID())
		for _, d := range all {
			fmt.Fprintf(c.Out, "  %s\n", strings.TrimSpace(d.Kind+" "+d.Name+" "+d.Size))
		}
	}
	if cfg.Delivery == config.ExactlyOnce {
		c.Warn("warning: delivery is exactly-once: Kafka keeps how far the feed is, too, in the topic %s-position; the numbers of records go on from there", topicOf(cfg.Kafka))
	}
	if !o.Yes && !confirmed(c) {
		return errors.New("nothing was removed: answer yes, or give --yes")
	}
	for _, d := range all {
		if err := d.remove(ctx); err != nil {
			return fmt.Errorf("remove %s %s: %w; what stands before it in the list is removed: run this again", d.Kind, d.Name, err)
		}
	}
	return c.Say(all, "It is removed.")
}

// confirmed asks whether to go on, and reads a line.
func confirmed(c *command.Call) bool {
	if c.In == nil {
		return false
	}
	fmt.Fprint(c.Err, "Remove it? [yes/no] ")
	line, _ := bufio.NewReader(io.LimitReader(c.In, 100)).ReadString('\n') // nothing is no
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line)))
}

// doomedOf is what feeds have, in the order in which it is removed: after a death in between, what is left leads to a
// new snapshot, too.
func doomedOf(ctx context.Context, cfg *config.Config) (all []doomed, err error) {
	slot, err := slotOf(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if slot != nil {
		all = append(all, *slot)
	}
	for _, s := range streamsOf(cfg) {
		size, files, err := sizeOf(s.WALDir)
		if err != nil {
			return nil, err
		}
		if files > 0 {
			all = append(all, doomed{"wal", s.WALDir, fmt.Sprintf("(%d files, %d bytes)", files, size), func(context.Context) error {
				_, err := wal.Remove(s.WALDir)
				return err
			}})
		}
		for kind, path := range map[string]string{"dump": s.Dumps, "checkpoint": s.Checkpoint} {
			if path == "" {
				continue
			}
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return nil, err
			}
			all = append(all, doomed{kind, path, "", func(context.Context) error { return os.RemoveAll(path) }})
		}
	}
	return all, nil
}
