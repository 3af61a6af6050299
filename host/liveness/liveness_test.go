package liveness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"deepoj/host/embedded/servicetest"
	"deepoj/host/judge"
	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Main(m)) }

// directories are the two, each as a function that makes it: what tells of workers
// and what asks about them, by an age after which the silent are dead.
var directories = map[string]func(t *testing.T, age time.Duration) (tells, asks Directory){
	"PostgreSQL": func(t *testing.T, age time.Duration) (Directory, Directory) {
		t.Helper()
		p := NewPostgres(sqltest.DB(t).Queue, age)
		return p, p
	},
	"etcd": func(t *testing.T, age time.Duration) (Directory, Directory) {
		t.Helper()
		server, rows := servicetest.StartEtcd(t, nil), NewPostgres(sqltest.DB(t).Queue, 0)
		cfg := EtcdConfig{Endpoints: []string{server.URL}, Age: age}
		return openEtcd(t, cfg, rows), follow(t, cfg, rows)
	},
}

func openEtcd(t *testing.T, cfg EtcdConfig, rows *Postgres) *Etcd {
	t.Helper()
	e, err := NewEtcd(cfg, rows)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// follow returns a directory of another process, which follows etcd.
func follow(t *testing.T, cfg EtcdConfig, rows *Postgres) *Etcd {
	t.Helper()
	e := openEtcd(t, cfg, rows)
	servicetest.Await(t, "etcd", func() bool { return e.Ping(t.Context()) == nil })
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	servicetest.Await(t, "the watch", func() bool { return e.follows() })
	return e
}

// follows reports whether etcd says who lives.
func (e *Etcd) follows() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known != nil
}

func worker(name string, slots int) judge.WorkerInfo {
	return judge.WorkerInfo{
		Name: name, Pool: "default", Slots: slots, Started: time.Now(),
		Languages: []judge.Language{{ID: "cpp", Available: true}},
	}
}

// awaitLive waits until exactly those workers live.
func awaitLive(t *testing.T, d Directory, want ...string) []judge.WorkerInfo {
	t.Helper()
	var live []judge.WorkerInfo
	servicetest.Await(t, fmt.Sprintf("%v to live", want), func() bool {
		var err error
		if live, err = d.Workers(t.Context()); err != nil {
			t.Fatal(err)
		}
		names := make([]string, len(live))
		for i, w := range live {
			names[i] = w.Name
		}
		return slices.Equal(names, want)
	})
	return live
}

func TestAWorkerLivesFromItsFirstBeatUntilItGoes(t *testing.T) {
	t.Parallel()
	for name, open := range directories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tells, asks := open(t, time.Hour)
			beat := func(name string, slots int) {
				t.Helper()
				if err := tells.Beat(t.Context(), worker(name, slots)); err != nil {
					t.Fatal(err)
				}
			}
			awaitLive(t, asks)
			beat("b", 1)
			beat("a", 1)
			beat("a", 4)
			servicetest.Await(t, "the newest beat", func() bool {
				w := awaitLive(t, asks, "a", "b")[0]
				return w.Slots == 4 && len(w.Languages) == 1 && w.Languages[0].Available && !w.Seen.IsZero()
			})
			for range 2 { // going twice is as good as once
				if err := tells.Gone(t.Context(), "a"); err != nil {
					t.Fatal(err)
				}
			}
			awaitLive(t, asks, "b")
		})
	}
}

func TestASilentWorkerIsNotCountedOn(t *testing.T) {
	t.Parallel()
	for name, open := range directories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tells, asks := open(t, time.Second)
			live := func() bool {
				_ = tells.Beat(t.Context(), worker("a", 1)) // the lease is short: it may end meanwhile
				ws, err := asks.Workers(t.Context())
				return err == nil && len(ws) == 1
			}
			servicetest.Await(t, "it to be seen", live)
			awaitLive(t, asks)
			servicetest.Await(t, "it to come back", live)
		})
	}
}

// TestWorkersGoOnWithoutEtcd cuts one worker off, then ends etcd and starts it again.
func TestWorkersGoOnWithoutEtcd(t *testing.T) {
	t.Parallel()
	server, rows := servicetest.StartEtcd(t, nil), NewPostgres(sqltest.DB(t).Queue, time.Hour)
	proxy := servicetest.StartProxy(t, strings.TrimPrefix(server.URL, "http://"))
	const age = 2 * time.Second
	asks := follow(t, EtcdConfig{Endpoints: []string{server.URL}, Age: age}, rows)
	cut := openEtcd(t, EtcdConfig{Endpoints: []string{"http://" + proxy.Address}, Age: age}, rows)
	other := openEtcd(t, EtcdConfig{Endpoints: []string{server.URL}, Age: age}, rows)
	// Both beat as workers do; what came of it last is remembered.
	var failed atomic.Pointer[error]
	beating, stop := context.WithCancel(t.Context())
	var beats sync.WaitGroup
	for name, d := range map[string]*Etcd{"cut": cut, "other": other} {
		beats.Go(func() {
			for beating.Err() == nil {
				err := d.Beat(beating, worker(name, 1))
				if name == "cut" && beating.Err() == nil {
					failed.Store(&err)
				}
				select {
				case <-beating.Done():
				case <-time.After(200 * time.Millisecond):
				}
			}
		})
	}
	defer beats.Wait()
	defer stop()
	awaitLive(t, asks, "cut", "other")

	proxy.Cut()
	awaitLive(t, asks, "other")
	servicetest.Await(t, "the beat to say so", func() bool {
		err := failed.Load()
		return err != nil && *err != nil && strings.Contains((*err).Error(), "tell etcd")
	})
	if known, err := rows.Workers(t.Context()); err != nil || len(known) != 2 {
		t.Errorf("the database knows %+v, %v: want both", known, err)
	}
	proxy.Mend()
	awaitLive(t, asks, "cut", "other")

	server.Kill()
	servicetest.Await(t, "the loss to be noticed", func() bool { return !asks.follows() })
	awaitLive(t, asks, "cut", "other") // by the database
	server.Start(t)
	servicetest.Await(t, "etcd to be followed again", asks.follows)
	awaitLive(t, asks, "cut", "other")
	servicetest.Await(t, "beats to succeed", func() bool { return *failed.Load() == nil })
}

func TestEtcdIsReachedOverTLSByAUserWithAPassword(t *testing.T) {
	t.Parallel()
	ours, theirs := servicetest.NewAuthority(t), servicetest.NewAuthority(t)
	server, rows := servicetest.StartEtcd(t, ours), NewPostgres(sqltest.DB(t).Queue, 0)
	trust := func(ca string) *tls.Config {
		t.Helper()
		pem, err := os.ReadFile(ca)
		if err != nil {
			t.Fatal(err)
		}
		own, err := tls.LoadX509KeyPair(ours.Issue(t, "judge"))
		if err != nil {
			t.Fatal(err)
		}
		c := &tls.Config{RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}
		c.RootCAs.AppendCertsFromPEM(pem)
		return c
	}
	admin := openEtcd(t, EtcdConfig{Endpoints: []string{server.URL}, TLS: trust(ours.CA)}, rows)
	servicetest.Await(t, "etcd", func() bool { return admin.Ping(t.Context()) == nil })
	c, err := admin.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const password = "eq-zq-word"
	_, err1 := c.UserAdd(t.Context(), "root", password)
	_, err2 := c.UserGrantRole(t.Context(), "root", "root")
	_, err3 := c.RoleAdd(t.Context(), "judges")
	_, err4 := c.RoleGrantPermission(t.Context(), "judges", "deepoj/", "deepoj0", clientv3.PermissionType(clientv3.PermReadWrite))
	_, err5 := c.UserAdd(t.Context(), "judge", password)
	_, err6 := c.UserGrantRole(t.Context(), "judge", "judges")
	_, err7 := c.AuthEnable(t.Context())
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
		t.Fatal(err)
	}
	good := EtcdConfig{Endpoints: []string{server.URL}, Username: "judge", Password: password, TLS: trust(ours.CA)}
	tells, asks := openEtcd(t, good, rows), follow(t, good, rows)
	if err := tells.Beat(t.Context(), worker("a", 1)); err != nil {
		t.Fatal(err)
	}
	awaitLive(t, asks, "a")
	tests := map[string]struct {
		change  func(*EtcdConfig)
		refused bool
		want    string
	}{
		"another password":  {func(c *EtcdConfig) { c.Password = "wrong-zq" }, true, "authentication failed"},
		"another's keys":    {func(c *EtcdConfig) { c.Prefix = "others/" }, true, "permission denied"},
		"another authority": {func(c *EtcdConfig) { c.TLS = trust(theirs.CA) }, false, "signed by unknown authority"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := good
			tt.change(&cfg)
			err := openEtcd(t, cfg, rows).Ping(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) || Refused(err) != tt.refused || strings.Contains(err.Error(), "zq") {
				t.Errorf("%v, refused %t; want %q, %t", err, err != nil && Refused(err), tt.want, tt.refused)
			}
		})
	}
}

func TestABadEtcdIsRefusedWithTheField(t *testing.T) {
	t.Parallel()
	_, err := NewEtcd(EtcdConfig{Endpoints: []string{"h1:2379", "http://h2:2379"}, Username: "u", TLS: &tls.Config{MinVersion: tls.VersionTLS12}, Age: -1}, NewPostgres(nil, 0))
	for _, want := range []string{"https://h1:2379", "h2:2379, and certificates are named", "Username and Password", "Age"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
