package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"deepoj/host/blob"
	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/restore"
	"deepoj/host/roles"
	"deepoj/sql"
	"deepoj/sql/jobs"
)

// checkup is what fsck found.
type checkup struct {
	Blobs   int64            `json:"blobs"`
	Bytes   int64            `json:"bytes"`
	Damaged []string         `json:"damaged"` // digests whose content is another
	Missing []reference      `json:"missing"`
	sizes   map[string]int64 // of what is stored
}

// reference is a use of a blob.
type reference struct {
	Digest string `json:"digest"`
	Of     string `json:"of"` // such as "problem aplusb: data/secret/1.in"
}

// checkStored reads every blob where it is stored and looks for every one that the database needs.
func checkStored(f *command.Flags) command.Run {
	load, data := settingsFlag(f), dataFlag(f)
	return func(ctx context.Context, c *command.Call) error {
		l, err := load(c)
		if err != nil {
			return err
		}
		db, blobs, err := roles.OpenStores(ctx, &l.Settings, *data)
		if err != nil {
			return err
		}
		defer db.Close()
		found, err := examine(ctx, db.Site, blobs)
		if err != nil {
			return err
		}
		if err := c.Write(found, found.write); err != nil {
			return err
		}
		if len(found.Damaged)+len(found.Missing) > 0 {
			c.Warn("import the packages again, or upload the plugins again: that mends what it stores")
			return command.Exit(1)
		}
		return nil
	}
}

func (c *checkup) write(w io.Writer) error {
	for _, d := range c.Damaged {
		fmt.Fprintf(w, "damaged  %s\n", d)
	}
	for _, m := range c.Missing {
		fmt.Fprintf(w, "missing  %s  %s\n", m.Digest, m.Of)
	}
	_, err := fmt.Fprintf(w, "%d blobs, %d bytes: %d damaged, %d missing\n", c.Blobs, c.Bytes, len(c.Damaged), len(c.Missing))
	return err
}

func examine(ctx context.Context, store *sql.Site, blobs blob.Store) (*checkup, error) {
	found := &checkup{Damaged: []string{}, Missing: []reference{}, sizes: map[string]int64{}}
	err := blobs.List(ctx, func(d blob.Digest, size int64) error { found.sizes[string(d)] = size; return nil })
	if err != nil {
		return nil, err
	}
	for _, d := range slices.Sorted(maps.Keys(found.sizes)) {
		found.Blobs++
		found.Bytes += found.sizes[d]
		err := blobs.Verify(ctx, blob.Digest(d))
		if _, damaged := errors.AsType[*blob.CorruptError](err); damaged {
			found.Damaged = append(found.Damaged, d)
		} else if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return nil, err
		}
	}
	versions, err := store.ProblemVersions(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, p := range versions {
		of := "problem " + p.Problem
		if !found.holds(p.Version, of) || slices.Contains(found.Damaged, p.Version) {
			continue
		}
		pkg, err := problem.Load(ctx, blobs, blob.Digest(p.Version))
		if err != nil {
			return nil, err
		}
		for _, file := range pkg.Files {
			found.holds(string(file.Digest), of+": "+file.Path)
		}
	}
	plugins, err := store.Plugins(ctx, "", "")
	if err != nil {
		return nil, err
	}
	for _, p := range plugins {
		found.holds(p.Digest, p.Kind+" "+p.Name+" "+p.Version)
	}
	return found, nil
}

// holds notes a reference to what is not there.
func (c *checkup) holds(digest, of string) bool {
	_, ok := c.sizes[digest]
	if !ok {
		c.Missing = append(c.Missing, reference{digest, of})
	}
	return ok
}

// copyBlobs puts what is in a folder of blobs into the store that is configured,
// such as a bucket that takes the folder's place.
func copyBlobs(f *command.Flags) command.Run {
	load, data := settingsFlag(f), dataFlag(f)
	return func(ctx context.Context, c *command.Call) error {
		l, err := load(c)
		if err != nil {
			return err
		}
		folder := roles.BlobFolder(&l.Settings, *data)
		if err := roles.BecomeOwner(folder); err != nil {
			return err
		}
		from, err := blob.OpenDir(c.Args[0])
		if err != nil {
			return err
		}
		to, err := roles.OpenBlobs(&l.Settings, folder)
		if err != nil {
			return err
		}
		var n, bytes int64
		err = from.List(ctx, func(d blob.Digest, size int64) error {
			r, err := from.Open(ctx, d)
			if err != nil {
				return err
			}
			_, _, err = to.Put(ctx, r)
			n, bytes = n+1, bytes+size
			return errors.Join(err, r.Close())
		})
		if err != nil {
			return fmt.Errorf("after %d blobs: %w; the command may be given again", n, err)
		}
		return c.Say(map[string]int64{"blobs": n, "bytes": bytes}, "copied %d blobs, %d bytes", n, bytes)
	}
}

// audit prints how often each invariant is broken: all zeros, or status 1.
func audit(ctx context.Context, c *command.Call, o office) error {
	rows, err := o.Invariants(ctx)
	if err != nil {
		return err
	}
	otherwise, before := int64(0), int64(0)
	err = o.EachLog(ctx, func(round string, lines []restore.Line, shown []judge.BoardSnapshot) error {
		found, err := recounted(lines, nil)
		if len(found) > 0 {
			otherwise++
			c.Warn("round %s, counted anew: %s %s", round, found[0].Object, found[0].Problem)
		}
		if err != nil {
			return err
		}
		found, err = shownOtherwise(lines, shown)
		if len(found) > 0 {
			before++
			c.Warn("round %s, for %s: %s", round, found[0].File, found[0].Problem)
		}
		return err
	})
	if err != nil {
		return err
	}
	rows = append(rows, jobs.AuditRow{Name: "contest_counted_otherwise", Count: otherwise}, jobs.AuditRow{Name: "contest_shown_otherwise", Count: before})
	counts := map[string]int64{}
	broken := int64(0)
	var t command.Table
	for _, r := range rows {
		counts[r.Name] = r.Count
		broken += r.Count
		t.Add(r.Name, r.Count)
	}
	if err := c.Print(counts, t); err != nil {
		return err
	}
	if broken != 0 {
		return command.Exit(1)
	}
	return nil
}

// migrate brings the schema of DATABASE_URL, or of the running Deep-OJ, up to date.
func migrate(ctx context.Context, c *command.Call, db *sql.DB) error {
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	schema, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	return c.Say(map[string]any{"schema": schema.Name, "min_binary": schema.MinBinary},
		"the schema is up to date: %s, for programs that know version %d or later", schema.Name, schema.MinBinary)
}

// printConfig prints every setting, without secrets.
func printConfig(f *command.Flags) command.Run {
	load := settingsFlag(f)
	return func(_ context.Context, c *command.Call) error {
		l, err := load(c)
		if err != nil {
			return err
		}
		t := command.Table{Head: "NAME\tVALUE\tORIGIN\tYAML\tMEANING"}
		for _, r := range l.Rows {
			t.Add(r.Name, r.Value, r.Origin, r.YAML, r.Doc)
		}
		return c.Print(l.Rows, t)
	}
}
