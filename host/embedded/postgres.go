package embedded

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What the private cluster is called inside.
const (
	postgresRole      = "deepoj" // whom the program logs in as
	postgresSuperuser = Superuser
	postgresDatabase  = "deepoj"
	postgresPort      = "5432" // part of the socket's name; nothing listens on a port
)

// Superuser is the role of the private cluster that nobody can log in as.
const Superuser = "deepoj_superuser"

// PostgresConfig says where and how a private PostgreSQL runs. Only DataDir is required.
type PostgresConfig struct {
	// DataDir is the folder of this server: cluster, socket, log and lock.
	// It is made, given to User and closed for everybody else.
	DataDir string

	// SocketDir is the folder of the socket. Defaults to DataDir/run, or to a
	// folder below the temporary one if that path is too long for a socket.
	SocketDir string

	// BinDir is the folder of the programs initdb and postgres. Defaults to what [FindPostgres] finds.
	BinDir string

	// User is whom the server runs as when this process is root. Defaults to what [Unprivileged] finds.
	User *Account

	// TemplateDir keeps a fresh cluster of each version, which is copied instead of running initdb (0.1 s instead
	// of 1 s). Several processes may share it. Empty means that initdb runs for each new cluster.
	TemplateDir string

	// Superuser lets whoever can open the socket log in as any role, and as the
	// superuser, too. It is for tests that make databases of their own.
	Superuser bool

	// Feed lets a change feed read the server, as a role of its own: see [Postgres.FeedDSN].
	Feed bool

	// Settings are added to the server's own, and win. Tests say fsync=off.
	Settings map[string]string

	// StartTimeout is how long the server may take until it is ready, with
	// recovery after a crash. Defaults to 60 seconds.
	StartTimeout time.Duration

	// StopTimeout is how long each step of stopping may take: to end in
	// order, then to end at once. Defaults to 10 seconds.
	StopTimeout time.Duration

	// Log gets restarts and leftovers. Defaults to none.
	Log *slog.Logger
}

// Validate reports every field that is missing or out of range.
func (c PostgresConfig) Validate() error {
	var errs []error
	if c.DataDir == "" {
		errs = append(errs, errors.New("DataDir is empty"))
	}
	if c.StartTimeout < 0 {
		errs = append(errs, fmt.Errorf("StartTimeout %s is negative", c.StartTimeout))
	}
	if c.StopTimeout < 0 {
		errs = append(errs, fmt.Errorf("StopTimeout %s is negative", c.StopTimeout))
	}
	if strings.ContainsAny(c.SocketDir, `",`) {
		errs = append(errs, fmt.Errorf("SocketDir %q holds a quote or a comma", c.SocketDir))
	}
	return errors.Join(errs...)
}

// settings of the private cluster. It shares a machine with the programs that
// are judged, so it is modest; replication slots are for the change feed.
var settings = map[string]string{
	"listen_addresses":        "",
	"unix_socket_permissions": "0700",
	"port":                    postgresPort,
	"max_connections":         "100",
	"shared_buffers":          "64MB",
	"wal_level":               "replica", // logical with a feed
	"max_replication_slots":   "4",
	"max_wal_senders":         "4",
	"max_slot_wal_keep_size":  "4GB",
	"max_wal_size":            "512MB",
	"logging_collector":       "off",
	"log_destination":         "stderr",
	"log_min_messages":        "warning",
	"log_checkpoints":         "off",
	"jit":                     "off",
	"cluster_name":            "deepoj",
}

// Postgres is a private PostgreSQL server. Its address stays the same when it is started again.
type Postgres struct {
	service
	Binaries Binaries
	SockDir  string // the folder of its socket
	cfg      PostgresConfig
	cluster  string
	feed     feed
}

// StartPostgres starts the server of cfg.DataDir, after making its cluster if there is none, and returns when it takes
// connections. ctx bounds the start only; the server runs until Close, and no longer than this process.
//
// The error is [ErrNoPostgres] when the programs are missing, an [*InUseError] when another process runs this folder,
// and an [*UnreachableError] when the account cannot get there.
func StartPostgres(ctx context.Context, cfg PostgresConfig) (*Postgres, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("embedded PostgreSQL: %w", err)
	}
	p, err := newPostgres(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("embedded PostgreSQL: %w", err)
	}
	return p, nil
}

func newPostgres(ctx context.Context, cfg PostgresConfig) (_ *Postgres, err error) {
	cfg.StartTimeout = cmp.Or(cfg.StartTimeout, time.Minute)
	cfg.StopTimeout = cmp.Or(cfg.StopTimeout, 10*time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.DataDir, err = filepath.Abs(cfg.DataDir); err != nil {
		return nil, err
	}
	if cfg.User == nil {
		if cfg.User, err = Unprivileged(""); err != nil {
			return nil, err
		}
	}
	if err := Reach(cfg.DataDir, cfg.User); err != nil {
		return nil, err
	}
	p := &Postgres{cfg: cfg, cluster: filepath.Join(cfg.DataDir, "cluster")}
	major, err := clusterMajor(p.cluster)
	if err != nil {
		return nil, err
	}
	if p.Binaries, err = FindPostgres(ctx, cfg.BinDir, major); err != nil {
		return nil, err
	}
	lock, err := lockFolder(cfg.DataDir, cfg.User)
	if err != nil {
		return nil, err
	}
	p.service = service{
		name: "postgresql", log: cfg.Log, lock: lock, launch: p.launch,
		steps: []step{{syscall.SIGINT, cfg.StopTimeout}, {syscall.SIGQUIT, cfg.StopTimeout}},
	}
	if err := p.prepare(ctx, major == 0); err != nil {
		return nil, errors.Join(err, lock.release())
	}
	if p.cur, err = p.launch(ctx); err != nil {
		return nil, errors.Join(err, lock.release())
	}
	return p, nil
}

// prepare makes what the server needs to start.
func (p *Postgres) prepare(ctx context.Context, fresh bool) (err error) {
	want := p.cfg.SocketDir
	if want == "" {
		want = filepath.Join(p.cfg.DataDir, "run")
	}
	if strings.ContainsAny(want, `",`) {
		want = strings.Repeat("x", longestSocket) // PostgreSQL reads a list here: take a short name
	}
	p.SockDir, err = socketFolder(p.cfg.DataDir, want, ".s.PGSQL."+postgresPort, p.cfg.User)
	if err != nil {
		return fmt.Errorf("socket folder: %w", err)
	}
	if err := p.readyFeed(); err != nil {
		return err
	}
	if fresh {
		err = p.makeCluster(ctx)
	}
	if err == nil {
		err = p.mend(ctx)
	}
	if err == nil && p.cfg.Superuser {
		err = replaceFile(p.superuserRules(), superuserRules, p.cfg.User, false)
	}
	return err
}

// durable reports whether what is written outlives a crash of the machine.
func (p *Postgres) durable() bool { return p.cfg.Settings["fsync"] != "off" }

// superuserRules is the file of the rules with Superuser.
func (p *Postgres) superuserRules() string { return filepath.Join(p.cfg.DataDir, "superuser_hba.conf") }

// DSN returns the address of the database, which is made with the cluster.
func (p *Postgres) DSN() string { return p.DSNFor(postgresDatabase) }

// DSNFor returns the address of another database of the same cluster. Only with
// Superuser in the configuration does it lead anywhere.
func (p *Postgres) DSNFor(database string) string { return p.address(postgresRole, database) }

// SuperuserDSN returns the address of a database for the superuser. Only with
// Superuser in the configuration does it lead anywhere.
func (p *Postgres) SuperuserDSN(database string) string {
	return p.address(postgresSuperuser, database)
}

func (p *Postgres) address(role, database string) string {
	q := url.Values{"host": {p.SockDir}, "port": {postgresPort}, "sslmode": {"disable"}}
	u := url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database, RawQuery: q.Encode()}
	return u.String()
}

// launch starts the postmaster and waits until it takes connections.
func (p *Postgres) launch(ctx context.Context) (*child, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.cfg.StartTimeout,
		fmt.Errorf("it was not ready after %s", p.cfg.StartTimeout))
	defer cancel()
	if err := p.clear(ctx); err != nil {
		return nil, err
	}
	logPath := filepath.Join(p.cfg.DataDir, "postgres.log")
	for {
		output, from, err := openLog(logPath, p.cfg.User)
		if err != nil {
			return nil, err
		}
		c, err := spawn(program{
			path: filepath.Join(p.Binaries.Dir, postgresName), args: p.args(p.cluster), dir: p.cluster,
			account: p.cfg.User, output: output, death: syscall.SIGINT,
		})
		output.Close()
		if err != nil {
			return nil, err
		}
		err = c.until(ctx, func() bool { return p.ready(c.pid) })
		if err == nil {
			return c, nil
		}
		said := words(logPath, from)
		// After a SIGKILL of the postmaster its children take a moment to
		// notice; until then the cluster's memory is still in use.
		if errors.Is(err, errEnded) && strings.Contains(said, sharedMemory) && sleep(ctx, 50*time.Millisecond) {
			continue
		}
		return nil, errors.Join(fmt.Errorf("start: %w: %s", err, said), c.end(p.steps))
	}
}

// sharedMemory is in the server's words when another one still runs the cluster.
const sharedMemory = "shared memory block"

// args are the server's arguments, in a fixed order.
func (p *Postgres) args(cluster string) []string {
	all := map[string]string{"unix_socket_directories": `"` + p.SockDir + `"`}
	if p.cfg.Superuser {
		all["hba_file"] = p.superuserRules()
	}
	maps.Copy(all, settings)
	maps.Copy(all, p.cfg.Settings)
	all["wal_level"] = p.level()
	args := []string{"-D", cluster}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		args = append(args, "-c", name+"="+all[name])
	}
	return args
}

// clear ends the server that a dead parent left behind, and takes away its lock files if no server is behind them: the
// pid in them may belong to somebody else now, or to a process that has ended and that nobody waits for, which would
// keep PostgreSQL from starting.
func (p *Postgres) clear(ctx context.Context) error {
	program := filepath.Join(p.Binaries.Dir, postgresName)
	socket := filepath.Join(p.SockDir, ".s.PGSQL."+postgresPort)
	// One that is stopping removes the socket's before the cluster's, unless it has
	// lost sight of the socket's folder: either may be the last that names it.
	locks := []string{filepath.Join(p.cluster, "postmaster.pid"), socket + ".lock"}
	for _, file := range locks {
		pid := pidIn(file)
		if !runs(pid, program, p.cluster) {
			continue
		}
		p.log.WarnContext(ctx, "stopping the server that an earlier run left over",
			slog.String("server", p.name), slog.Int("pid", pid))
		if err := endLeftover(ctx, pid, program, p.cluster, p.steps); err != nil {
			return err
		}
	}
	// Nobody of this cluster's listens any more.
	if conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket); err == nil {
		conn.Close()
		return fmt.Errorf("at %s is the server of another folder: choose another SocketDir", socket)
	}
	for _, file := range append(locks, socket) {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// ready reports whether the postmaster pid says that it takes connections: it
// writes so into the eighth line of its lock file.
func (p *Postgres) ready(pid int) bool {
	lines, err := readLines(filepath.Join(p.cluster, "postmaster.pid"))
	return err == nil && len(lines) >= 8 && lines[0] == strconv.Itoa(pid) && strings.TrimSpace(lines[7]) == "ready"
}

// clusterMajor returns the major version that made the cluster at dir, or 0 when there is no cluster.
func clusterMajor(dir string) (int, error) {
	b, err := os.ReadFile(filepath.Join(dir, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Join(dir, "PG_VERSION"), err)
	}
	return n, nil
}

func readLines(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []string
	s := bufio.NewScanner(f)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	return lines, s.Err()
}

// sleep waits for d and reports whether ctx is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
