package main

import (
	"context"
	"fmt"
	"strconv"

	"deepoj/host/command"
	"deepoj/host/roles"
	"deepoj/host/settings"
	"deepoj/sql"
)

// defaultData is where `deepoj up` keeps everything.
const defaultData = ".deepoj"

// dataFlag names the data folder of a Deep-OJ that runs.
func dataFlag(f *command.Flags) *string {
	return f.String("data", defaultData, "data `folder` of the running Deep-OJ")
}

// settingsFlag adds the flag that names a configuration, and returns what loads it.
func settingsFlag(f *command.Flags) func(c *command.Call) (*settings.Loaded, error) {
	path := f.String("config", "config.yaml", "YAML `file` that fills what the environment leaves unset")
	return func(c *command.Call) (*settings.Loaded, error) {
		l, err := settings.Load(*path, f.Given("config"), c.Getenv)
		if err != nil {
			return nil, err
		}
		for _, w := range l.Warnings {
			c.Warn("warning: %s", w)
		}
		return l, nil
	}
}

// databaseRun is what a verb does with the database.
type databaseRun func(ctx context.Context, c *command.Call, db *sql.DB) error

// withDatabase runs a verb on the database that is configured, or on that of the Deep-OJ that runs on the data folder.
func withDatabase(f *command.Flags, run databaseRun) command.Run {
	load, data := settingsFlag(f), dataFlag(f)
	return func(ctx context.Context, c *command.Call) error {
		l, err := load(c)
		if err != nil {
			return err
		}
		db, err := roles.OpenDatabase(ctx, &l.Settings, *data)
		if err != nil {
			return err
		}
		defer db.Close()
		return run(ctx, c, db)
	}
}

// onDatabase is withDatabase for a verb without flags of its own.
func onDatabase(run databaseRun) func(*command.Flags) command.Run {
	return func(f *command.Flags) command.Run { return withDatabase(f, run) }
}

// storeRun is what a verb does as people do it.
type storeRun func(ctx context.Context, c *command.Call, s *sql.Site) error

// withStore is withDatabase for such a verb.
func withStore(f *command.Flags, run storeRun) command.Run {
	return withDatabase(f, func(ctx context.Context, c *command.Call, db *sql.DB) error { return run(ctx, c, db.Site) })
}

// onStore is withStore for a verb without flags of its own.
func onStore(run storeRun) func(*command.Flags) command.Run {
	return func(f *command.Flags) command.Run { return withStore(f, run) }
}

// ids reads the ids of jobs or sets.
func ids(args []string) ([]int64, error) {
	out := make([]int64, len(args))
	for i, a := range args {
		var err error
		if out[i], err = strconv.ParseInt(a, 10, 64); err != nil || out[i] < 1 {
			return nil, fmt.Errorf("%s is no id: want a positive whole number", a)
		}
	}
	return out, nil
}

// storeAct does something to the webhook that an id names.
type storeAct func(ctx context.Context, s *sql.Site, id int64) error

// each acts on every id that is given, and says what was done.
func each[S any](done string, act func(ctx context.Context, s S, id int64) error) func(context.Context, *command.Call, S) error {
	return func(ctx context.Context, c *command.Call, s S) error {
		list, err := ids(c.Args)
		if err != nil {
			return err
		}
		told := []map[string]any{}
		for _, id := range list {
			if err := act(ctx, s, id); err != nil {
				return err
			}
			told = append(told, map[string]any{"id": id, "done": done})
			if !c.JSON {
				fmt.Fprintf(c.Out, "%d %s\n", id, done)
			}
		}
		return c.Print(told, command.Table{})
	}
}

// eachJob is each for a verb without flags of its own.
func eachJob(done string, act storeAct) func(*command.Flags) command.Run {
	return onStore(each(done, act))
}
