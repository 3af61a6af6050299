package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"deepoj/host/command"
	"deepoj/host/feed/config"
	"deepoj/host/feed/verbs"
	"deepoj/host/launch"
	"deepoj/sql/published"
)

// load reads the settings of a call. With --data the source is the PostgreSQL of the Deep-OJ on that folder, and the
// feed's own files are in it; only the environment goes before that.
// Commands that look after a feed reach no Kafka, and so need not be told of one.
func load(c *command.Call, o verbs.Options) (*config.Config, error) {
	with := *c
	with.Process = new(*c.Process)
	with.Getenv = func(name string) (string, bool) {
		if v, set := c.Getenv(name); name != "FEED_KAFKA_BROKERS" || set && v != "" {
			return v, set
		}
		return "127.0.0.1:9092", true
	}
	return loadFor(&with, o, false)
}

// loadFor is load; with running, a Deep-OJ has to run on the data folder.
func loadFor(c *command.Call, o verbs.Options, running bool) (*config.Config, error) {
	getenv := c.Getenv
	if o.Data != "" {
		own, err := ofData(o.Data, running)
		if err != nil {
			return nil, err
		}
		getenv = func(name string) (string, bool) {
			if v, set := c.Getenv(name); set && v != "" {
				return v, true
			}
			v, set := own[name]
			return v, set
		}
	}
	cfg, err := config.Load(o.Config, o.ConfigGiven, getenv)
	if err != nil {
		return nil, err
	}
	for _, w := range cfg.Warnings {
		c.Warn("warning: %s", w)
	}
	if cfg.Source == config.Postgres && cfg.PostgresURL == "" {
		return nil, fmt.Errorf("postgres_url is empty: name the PostgreSQL in %s or as FEED_POSTGRES_URL, or the data folder of a `deepoj up` with --data", o.Config)
	}
	return cfg, nil
}

// ofData returns what the settings are for the Deep-OJ on a data folder. A process of root becomes the account of it.
func ofData(dir string, running bool) (map[string]string, error) {
	path, err := openData(dir)
	if err != nil {
		return nil, err
	}
	url, err := embeddedURL(path, dir)
	if err != nil && (running || !errors.Is(err, errNotRunning)) {
		return nil, err
	}
	feed := filepath.Join(path, verbs.Group)
	return map[string]string{
		"FEED_SOURCE": config.Postgres, "FEED_POSTGRES_URL": url, "FEED_WAL_DIR": filepath.Join(feed, "wal"),
		"FEED_CHECKPOINT_PATH": filepath.Join(feed, "checkpoint.json"), "FEED_DUMP_DIR": filepath.Join(feed, "rsync_dump"),
	}, nil
}

// openData returns a path by which this process reaches a data folder, whose account it has become if it was root's.
func openData(dir string) (string, error) {
	f, err := os.Open(filepath.Clean(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("--data %s: there is no such folder: name that of a `deepoj up`, or start one with CHANGE_FEED=true deepoj up --data %s", dir, dir)
	} else if err != nil {
		return "", fmt.Errorf("--data %s: %w: run this as root or as the account of the folder", dir, err)
	}
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("--data %s: %w", dir, err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		if st.Uid == 0 {
			return "", fmt.Errorf("--data %s: the folder belongs to root, so that no Deep-OJ has run on it: start one with CHANGE_FEED=true deepoj up --data %s", dir, dir)
		}
		if err := launch.Become(int(st.Uid), int(st.Gid)); err != nil {
			return "", fmt.Errorf("become the account of %s: %w", dir, err)
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(abs); err == nil && len(abs)+len(embeddedSocket)+len("/.s.PGSQL.5432") < longestSocket {
		return abs, f.Close()
	}
	// It may not go through the folders above, or the path is too long for a socket.
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("/proc/self/fd/%d", fd), f.Close()
}

// stream is one feed: a database of PikiwiDB is one of several.
type stream struct {
	Database                  string // of PikiwiDB; "" = the source has one
	WALDir, Checkpoint, Dumps string
	Source                    string
	Config                    *config.Config
}

// streamsOf are the feeds that a configuration means.
func streamsOf(cfg *config.Config) (all []stream) {
	if cfg.Source != config.PikiwiDB {
		return []stream{{WALDir: cfg.WALDir, Checkpoint: cfg.CheckpointPath, Source: cfg.SourceID(), Config: cfg}}
	}
	for _, db := range cfg.DBs {
		all = append(all, stream{
			Database: db, WALDir: cfg.WALDirOf(db), Checkpoint: cfg.CheckpointOf(db), Dumps: cfg.DumpDirOf(db), Source: cfg.SourceID(), Config: cfg,
		})
	}
	return all
}

// name says which of the feeds it is.
func (s stream) name() string { return cmp.Or(s.Database, s.Config.Source) }

// errNotRunning is that no Deep-OJ runs on a data folder.
var errNotRunning = errors.New("no Deep-OJ runs on it")

// instance is what matters here of what a running Deep-OJ says of itself.
type instance struct {
	PID  int    `json:"pid"`
	DSN  string `json:"dsn"`
	Feed string `json:"feed"` // address of its PostgreSQL for a feed; "" = it lets none in
	Data string `json:"data"` // the data folder as it sees it
}

// embeddedSocket is the folder of the socket of the embedded PostgreSQL, unless that has to be elsewhere.
const embeddedSocket = "postgres/run"

// embeddedURL is the address of the PostgreSQL of the data folder dir, which this process reaches at path, for the role
// of the feed. With errNotRunning it is one where nobody answers.
func embeddedURL(path, dir string) (string, error) {
	nowhere := "postgres://" + published.Role + "@/deepoj?host=" + url.QueryEscape(filepath.Join(path, embeddedSocket))
	remedy := "start one with CHANGE_FEED=true deepoj up --data " + dir
	var i instance
	data, err := os.ReadFile(filepath.Join(path, launch.InstanceFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nowhere, fmt.Errorf("--data %s: %w: %s", dir, errNotRunning, remedy)
	case err != nil:
		return "", fmt.Errorf("--data %s: %w: run this as root or as the account of the folder", dir, err)
	}
	if err := json.Unmarshal(data, &i); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(dir, launch.InstanceFile), err)
	}
	if err := syscall.Kill(i.PID, 0); errors.Is(err, syscall.ESRCH) {
		return nowhere, fmt.Errorf("--data %s: %w any more: %s", dir, errNotRunning, remedy)
	}
	if dsn, err := url.Parse(i.DSN); err != nil || dsn.Query().Get("host") == "" {
		return "", fmt.Errorf("--data %s: this Deep-OJ uses a PostgreSQL that is not its own: name that in postgres_url; `deepoj feed --sql` prints what lets a feed in there", dir)
	}
	if i.Feed == "" {
		return "", fmt.Errorf("--data %s: this Deep-OJ lets no feed in: restart it with CHANGE_FEED=true", dir)
	}
	return strings.ReplaceAll(i.Feed, url.QueryEscape(i.Data), url.QueryEscape(path)), nil
}
