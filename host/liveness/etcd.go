package liveness

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"deepoj/host/judge"
)

const (
	// etcdTime is how long one request may take.
	etcdTime = 1500 * time.Millisecond

	// rowEvery is how often the database is told too, for the statements that ask it who serves a language: they
	// count on whom it heard of in the last 30 seconds.
	rowEvery = 10 * time.Second

	// rowAge is how old what the database knows may be when etcd gives no answer.
	rowAge = 30 * time.Second

	// probeEvery is how often is looked whether etcd still answers: a watch that hears nothing does not say why.
	probeEvery = 2 * time.Second
)

// EtcdConfig says where etcd is. Only Endpoints is required.
type EtcdConfig struct {
	// Endpoints are URLs such as https://h1:2379 (ETCD_ENDPOINTS). Required.
	Endpoints []string

	// Prefix is what the keys begin with (ETCD_PREFIX). Defaults to "deepoj/".
	Prefix string

	// Username and Password are whom etcd knows, if it asks (ETCD_USERNAME,
	// ETCD_PASSWORD). The user needs to read and write the prefix.
	Username, Password string

	// TLS has the certificates to trust and to show (ETCD_TLS_CA, ETCD_TLS_CERT,
	// ETCD_TLS_KEY). Defaults to those of the system, and to none.
	TLS *tls.Config

	// Age is how long a silent worker lives: the time of its lease, in whole seconds. Defaults to [DefaultAge].
	Age time.Duration

	// Remedy returns what to do about an error, for the log. Defaults to nothing.
	Remedy func(error) string

	// Log gets when etcd goes and comes. Defaults to none.
	Log *slog.Logger
}

// Validate reports every field that is missing or out of range.
func (c EtcdConfig) Validate() error {
	var errs []error
	if len(c.Endpoints) == 0 {
		errs = append(errs, errors.New("Endpoints is empty"))
	}
	for _, e := range c.Endpoints {
		u, err := url.Parse(e)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			errs = append(errs, errors.New("Endpoints has one that is no URL such as https://h1:2379"))
		case c.TLS != nil && u.Scheme == "http":
			errs = append(errs, fmt.Errorf("Endpoints has %s, and certificates are named: write https", u.Host))
		}
	}
	if (c.Username == "") != (c.Password == "") {
		errs = append(errs, errors.New("Username and Password: set both or none"))
	}
	if c.Age < 0 || c.Age > 0 && c.Age < time.Second {
		errs = append(errs, fmt.Errorf("Age %s is shorter than a second", c.Age))
	}
	return errors.Join(errs...)
}

// Etcd is a [Directory] in etcd: each worker has a key that goes with its lease, and whoever asks watches the keys.
// Beside it the database is told rarely; it is asked, and told at every beat, while etcd gives no answer. So etcd may
// go at any time, and nobody waits for it.
type Etcd struct {
	cfg  EtcdConfig
	rows *Postgres

	dialing sync.Mutex // while a client is made
	mu      sync.Mutex
	client  *clientv3.Client            // nil before the first success
	told    map[string]told             // by name of worker
	known   map[string]judge.WorkerInfo // by key; nil while etcd is not followed
}

// told is what was said of a worker of this process.
type told struct {
	lease clientv3.LeaseID // 0 = none
	value string           // of its key
	row   time.Time        // when the database was told
}

// NewEtcd returns the directory in etcd, with rows beside it. It waits for nobody: [Etcd.Run] follows what others say.
func NewEtcd(cfg EtcdConfig, rows *Postgres) (*Etcd, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	cfg.Prefix = cmp.Or(cfg.Prefix, "deepoj/")
	cfg.Prefix += "workers/"
	cfg.Age = cmp.Or(cfg.Age, DefaultAge)
	if cfg.Remedy == nil {
		cfg.Remedy = func(error) string { return "" }
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Etcd{cfg: cfg, rows: &Postgres{rows.queue, max(rows.age, rowAge)}, told: map[string]told{}}, nil
}

// Refused reports whether err says that etcd does not accept the user, the password, or what the user asks for.
func Refused(err error) bool {
	for _, e := range []error{rpctypes.ErrAuthFailed, rpctypes.ErrUserEmpty, rpctypes.ErrPermissionDenied, rpctypes.ErrInvalidAuthToken, rpctypes.ErrUserNotFound} {
		if strings.Contains(err.Error(), rpctypes.ErrorDesc(e)) { // on its way it may have become another type
			return true
		}
	}
	return false
}

// dial returns the client. The first one may have to log in, which fails while etcd is away.
func (e *Etcd) dial(ctx context.Context) (*clientv3.Client, error) {
	e.dialing.Lock()
	defer e.dialing.Unlock()
	e.mu.Lock()
	c := e.client
	e.mu.Unlock()
	if c != nil {
		return c, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := clientv3.New(clientv3.Config{
		Endpoints: e.cfg.Endpoints, Username: e.cfg.Username, Password: e.cfg.Password, TLS: e.cfg.TLS, Logger: zap.NewNop(),
		DialTimeout: etcdTime, DialKeepAliveTime: 5 * time.Second, DialKeepAliveTimeout: etcdTime, MaxUnaryRetries: 1,
		// Without this, it may take two minutes until an etcd that is back is noticed.
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: probeEvery / 4, Multiplier: 1.5, Jitter: 0.2, MaxDelay: probeEvery}, MinConnectTimeout: etcdTime,
		})},
	})
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.client = c
	e.mu.Unlock()
	return c, nil
}

// Ping reports whether etcd answers.
func (e *Etcd) Ping(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, etcdTime)
	defer cancel()
	c, err := e.dial(asking)
	if err == nil {
		_, err = c.Get(asking, e.cfg.Prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	}
	if err != nil {
		return fmt.Errorf("ask etcd: %w", cmp.Or(e.unreachable(ctx), err))
	}
	return nil
}

// unreachable returns why no connection can be made, which the client does not say: it only waits for one.
func (e *Etcd) unreachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, etcdTime)
	defer cancel()
	u, err := url.Parse(e.cfg.Endpoints[0])
	if err != nil {
		return err
	}
	var conn net.Conn
	if u.Scheme == "https" {
		conn, err = (&tls.Dialer{Config: e.cfg.TLS}).DialContext(ctx, "tcp", u.Host)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	}
	if err != nil {
		return err
	}
	return conn.Close()
}

// Close gives up the connections. Leases end by themselves.
func (e *Etcd) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client == nil {
		return nil
	}
	return e.client.Close()
}

// Beat implements [Directory].
func (e *Etcd) Beat(ctx context.Context, w judge.WorkerInfo) error {
	e.mu.Lock()
	was := e.told[w.Name]
	e.mu.Unlock()
	now, err := e.keep(ctx, w, was)
	if err != nil {
		err = fmt.Errorf("tell etcd: %w", err)
	}
	if err != nil || time.Since(was.row) >= rowEvery {
		rowErr := e.rows.Beat(ctx, w)
		if rowErr == nil {
			now.row = time.Now()
		}
		err = errors.Join(err, rowErr)
	}
	e.mu.Lock()
	e.told[w.Name] = now
	e.mu.Unlock()
	return err
}

// keep renews the lease of a worker, or gets one, and writes what is new.
func (e *Etcd) keep(ctx context.Context, w judge.WorkerInfo, was told) (told, error) {
	ctx, cancel := context.WithTimeout(ctx, etcdTime)
	defer cancel()
	w.Seen = time.Time{} // the lease says that
	value, err := json.Marshal(w)
	if err != nil {
		return was, err
	}
	c, err := e.dial(ctx)
	if err != nil {
		return was, err
	}
	if was.lease != 0 {
		_, err := c.KeepAliveOnce(ctx, was.lease)
		if errors.Is(err, rpctypes.ErrLeaseNotFound) {
			was.lease = 0 // it was silent for too long
		} else if err != nil {
			return was, err
		}
	}
	if was.lease == 0 {
		l, err := c.Grant(ctx, int64(e.cfg.Age/time.Second))
		if err != nil {
			return was, err
		}
		was.lease, was.value = l.ID, ""
	}
	if string(value) != was.value {
		if _, err := c.Put(ctx, e.cfg.Prefix+w.Name, string(value), clientv3.WithLease(was.lease)); err != nil {
			return was, err
		}
		was.value = string(value)
	}
	return was, nil
}

// Gone implements [Directory].
func (e *Etcd) Gone(ctx context.Context, name string) error {
	e.mu.Lock()
	was := e.told[name]
	delete(e.told, name)
	e.mu.Unlock()
	err := e.rows.Gone(ctx, name)
	if was.lease == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, etcdTime)
	defer cancel()
	c, dialErr := e.dial(ctx)
	if dialErr == nil {
		_, dialErr = c.Revoke(ctx, was.lease)
	}
	if dialErr != nil && !errors.Is(dialErr, rpctypes.ErrLeaseNotFound) {
		err = errors.Join(err, fmt.Errorf("tell etcd: %w", dialErr))
	}
	return err
}

// Workers implements [Directory]. Those of etcd were seen just now.
func (e *Etcd) Workers(ctx context.Context) ([]judge.WorkerInfo, error) {
	e.mu.Lock()
	followed := e.known != nil
	out := make([]judge.WorkerInfo, 0, len(e.known))
	for _, w := range e.known {
		w.Seen = time.Now()
		out = append(out, w)
	}
	e.mu.Unlock()
	if !followed {
		return e.rows.Workers(ctx)
	}
	slices.SortFunc(out, func(a, b judge.WorkerInfo) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Run follows what workers say until ctx is done, then returns nil.
func (e *Etcd) Run(ctx context.Context) error {
	first := true
	for {
		err := e.follow(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // a stop is no failure
		}
		e.mu.Lock()
		lost := e.known != nil
		e.known = nil
		e.mu.Unlock()
		if first || lost {
			e.cfg.Log.WarnContext(ctx, "etcd gives no answer; the database says who lives", slog.Any("err", err), slog.String("remedy", e.cfg.Remedy(err)))
		}
		first = false
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(probeEvery / 2):
		}
	}
}

// follow keeps known as it is in etcd, until something goes wrong.
func (e *Etcd) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asking, answered := context.WithTimeout(ctx, etcdTime)
	defer answered()
	c, err := e.dial(asking)
	if err != nil {
		return err
	}
	all, err := c.Get(asking, e.cfg.Prefix, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	known := map[string]judge.WorkerInfo{}
	for _, kv := range all.Kvs {
		known[string(kv.Key)] = e.read(ctx, kv)
	}
	e.mu.Lock()
	e.known = known
	e.mu.Unlock()
	e.cfg.Log.InfoContext(ctx, "etcd says who lives", slog.Int("workers", len(known)))
	changes := c.Watch(clientv3.WithRequireLeader(ctx), e.cfg.Prefix, clientv3.WithPrefix(), clientv3.WithRev(all.Header.Revision+1))
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		select {
		case change, ok := <-changes:
			if !ok {
				return errors.New("the watch has ended")
			}
			if err := change.Err(); err != nil {
				return err
			}
			e.apply(ctx, change.Events)
		case <-tick.C:
			if err := e.Ping(ctx); err != nil {
				return err
			}
		}
	}
}

func (e *Etcd) apply(ctx context.Context, events []*clientv3.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ev := range events {
		if ev.Type == clientv3.EventTypeDelete {
			delete(e.known, string(ev.Kv.Key))
		} else {
			e.known[string(ev.Kv.Key)] = e.read(ctx, ev.Kv)
		}
	}
}

// read returns what a key says. One that cannot be read is a worker of which only the name is known.
func (e *Etcd) read(ctx context.Context, kv *mvccpb.KeyValue) judge.WorkerInfo {
	var w judge.WorkerInfo
	name := strings.TrimPrefix(string(kv.Key), e.cfg.Prefix)
	if err := json.Unmarshal(kv.Value, &w); err != nil || w.Name != name {
		e.cfg.Log.WarnContext(ctx, "a key in etcd is no worker", slog.String("key", string(kv.Key)), slog.Any("err", err))
		return judge.WorkerInfo{Name: name}
	}
	return w
}
