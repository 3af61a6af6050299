package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"deepoj/host/command"
	"deepoj/host/feed/verbs"
	"deepoj/host/feed/wal"
)

// verified is what was found in the log of a feed.
type verified struct {
	Dir      string   `json:"dir"`
	Segments int      `json:"segments"`
	Records  int      `json:"records"`
	Bytes    int64    `json:"bytes"`
	First    uint64   `json:"first_seq"`
	Last     uint64   `json:"last_seq"`
	Position string   `json:"position"`       // of the end
	Torn     string   `json:"torn,omitempty"` // what a write that was cut short left, which the source sends again
	Faults   []string `json:"faults"`
}

// verifyWAL reads every byte of the logs.
func verifyWAL(ctx context.Context, c *command.Call, o verbs.Options) error {
	dirs := c.Args
	if len(dirs) == 0 {
		cfg, err := load(c, o)
		if err != nil {
			return err
		}
		for _, s := range streamsOf(cfg) {
			dirs = append(dirs, s.WALDir)
		}
	}
	all, damaged := []verified{}, false
	for _, dir := range dirs {
		v, err := verifyOne(ctx, dir)
		if err != nil {
			return err
		}
		all, damaged = append(all, v), damaged || len(v.Faults) > 0
	}
	if err := c.Write(all, func(w io.Writer) error { return writeVerified(w, all) }); err != nil {
		return err
	}
	if damaged {
		return command.Exit(statusBad)
	}
	return nil
}

func verifyOne(ctx context.Context, dir string) (verified, error) {
	r, err := wal.Verify(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return verified{}, fmt.Errorf("wal_dir=%s: there is no such folder: name the folder of the log, or in wal_dir where the feed keeps it", dir)
	} else if err != nil {
		return verified{}, err
	}
	v := verified{Dir: dir, Segments: r.Segments, Records: r.Records, Bytes: r.Bytes, First: r.First, Last: r.Last.Seq, Position: r.Last.Position.String(), Faults: []string{}}
	if r.Torn != nil {
		v.Torn = fmt.Sprintf("%s at byte %d: %s", r.Torn.File, r.Torn.Offset, r.Torn.Reason)
	}
	for _, f := range r.Faults {
		v.Faults = append(v.Faults, f.Error())
	}
	return v, nil
}

func writeVerified(w io.Writer, all []verified) error {
	for _, v := range all {
		fmt.Fprintf(w, "%s: %d files, %d records, %d bytes", v.Dir, v.Segments, v.Records, v.Bytes)
		if v.Records > 0 {
			fmt.Fprintf(w, ", from record %d to %d", v.First, v.Last)
		}
		fmt.Fprintln(w)
		if v.Torn != "" {
			fmt.Fprintf(w, "  the end is not whole, which a write that was cut short or is under way leaves; the source sends it again: %s\n", v.Torn)
		}
		for _, f := range v.Faults {
			fmt.Fprintf(w, "  damaged: %s\n", f)
		}
		if len(v.Faults) == 0 {
			fmt.Fprintln(w, "  nothing is damaged")
		}
	}
	return nil
}
