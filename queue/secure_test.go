package queue_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"deepoj/host/embedded/servicetest"
	"deepoj/queue"
)

// login is what stands before the hosts of an address.
var login = url.UserPassword(servicetest.RedisUser, servicetest.RedisPassword).String() + "@"

// trust returns the certificates of a client that trusts a, and is trusted by it.
func trust(t *testing.T, a *servicetest.Authority) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(a.CA)
	must(t, err)
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	c.RootCAs.AppendCertsFromPEM(pem)
	own, err := tls.LoadX509KeyPair(a.Issue(t, "judge"))
	must(t, err)
	c.Certificates = []tls.Certificate{own}
	return c
}

// keeper is a client that may do everything.
func keeper(t *testing.T, port int, c *tls.Config) *redis.Client {
	t.Helper()
	raw := redis.NewClient(&redis.Options{Addr: host(port), TLSConfig: c, Username: servicetest.RedisKeeper, Password: servicetest.RedisPassword})
	t.Cleanup(func() { raw.Close() })
	servicetest.Await(t, "redis", func() bool { return raw.Ping(t.Context()).Err() == nil })
	return raw
}

func TestTicketsPassOverTLSForAUserWithFewRights(t *testing.T) {
	t.Parallel()
	ours, theirs := servicetest.NewAuthority(t), servicetest.NewAuthority(t)
	port := servicetest.FreePort(t)
	servicetest.StartRedis(t, port, append(servicetest.RedisTLS(t, ours, port), servicetest.RedisACL(t)...)...)
	keeper(t, port, trust(t, ours))
	good := "rediss://" + login + host(port)
	carries(t, good, func(c *queue.Config) { c.TLS = trust(t, ours) })

	stranger := trust(t, ours)
	stranger.Certificates = nil
	tests := map[string]struct {
		url     string
		tls     *tls.Config
		refused bool
		want    string
	}{
		"the system's authorities":     {good, nil, false, "certificate signed by unknown authority"},
		"another authority":            {good, trust(t, theirs), false, "certificate signed by unknown authority"},
		"no certificate of one's own":  {good, stranger, false, "certificate required"},
		"another password":             {strings.Replace(good, "rq-zq", "other-zq", 1), trust(t, ours), true, "WRONGPASS"},
		"no password":                  {"rediss://" + host(port), trust(t, ours), true, "NOAUTH"},
		"a stream beyond one's rights": {good, trust(t, ours), true, "NOPERM"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := queue.Config{URL: tt.url, TLS: tt.tls, WatchEvery: time.Hour}
			if tt.want == "NOPERM" {
				cfg.Stream = "another"
			}
			q, err := queue.Open(t.Context(), cfg)
			must(t, err)
			defer q.Close()
			err = q.Ping(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) || queue.Refused(err) != tt.refused || strings.Contains(err.Error(), "zq") {
				t.Errorf("ping: %v, refused %t; want %q, %t", err, queue.Refused(err), tt.want, tt.refused)
			}
		})
	}
	if _, err := queue.Open(t.Context(), queue.Config{URL: "redis://" + host(port), TLS: trust(t, ours)}); err == nil || !strings.Contains(err.Error(), "rediss://") {
		t.Errorf("certificates for an address without TLS: %v", err)
	}
}

func TestAClusterCarriesTicketsOverTLS(t *testing.T) {
	t.Parallel()
	a := servicetest.NewAuthority(t)
	port, bus := servicetest.FreePort(t), servicetest.FreePort(t)
	args := append(servicetest.RedisTLS(t, a, port), servicetest.RedisACL(t)...)
	servicetest.StartRedis(t, port, append(args, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus), "--cluster-config-file", "nodes.conf", "--cluster-announce-ip", "127.0.0.1")...)
	raw := keeper(t, port, trust(t, a))
	must(t, raw.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err())
	servicetest.Await(t, "cluster", func() bool { return strings.Contains(raw.ClusterInfo(t.Context()).Val(), "cluster_state:ok") })
	carries(t, "redis+cluster://"+login+host(port)+"?tls=true", func(c *queue.Config) { c.TLS = trust(t, a) })
}

// TestAFailOverOfSentinelsKeepsDelivering kills the master of a master, a replica
// and a sentinel that all speak TLS and ask for passwords.
func TestAFailOverOfSentinelsKeepsDelivering(t *testing.T) {
	t.Parallel()
	a := servicetest.NewAuthority(t)
	first, second, sentinel := servicetest.FreePort(t), servicetest.FreePort(t), servicetest.FreePort(t)
	master := servicetest.StartRedis(t, first, append(servicetest.RedisTLS(t, a, first), servicetest.RedisACL(t)...)...)
	keeper(t, first, trust(t, a))
	servicetest.StartRedis(t, second, append(append(servicetest.RedisTLS(t, a, second), servicetest.RedisACL(t)...),
		"--replicaof", "127.0.0.1 "+strconv.Itoa(first))...)
	replica := keeper(t, second, trust(t, a))
	servicetest.Await(t, "replication", func() bool {
		return strings.Contains(replica.Info(t.Context(), "replication").Val(), "master_link_status:up")
	})
	watchdog(t, a, sentinel, first)
	servicetest.Await(t, "the sentinel to know the replica", func() bool {
		raw := redis.NewSentinelClient(&redis.Options{Addr: host(sentinel), TLSConfig: trust(t, a), Password: "sq-zq!word"})
		defer raw.Close()
		known, err := raw.Replicas(t.Context(), "oj").Result()
		return err == nil && len(known) == 1
	})

	q := open(t, "redis+sentinel://"+login+host(sentinel)+"/oj?tls=true&sentinel_password=sq-zq!word", func(c *queue.Config) { c.TLS = trust(t, a) })
	publish(t, q, tickets(1, 2))
	must(t, q.Ack(t.Context(), receive(t, q, 2)...))
	quiet(t, q)
	master.Kill()
	changes(t, q) // so that everything is sent again
	servicetest.Await(t, "publishing through the new master", func() bool {
		_, err := q.Publish(t.Context(), tickets(3, 3))
		return err == nil
	})
	var got []int64
	servicetest.Await(t, "receiving from the new master", func() bool {
		es, err := q.Receive(t.Context(), 100, 0)
		got = append(got, idsOf(es)...)
		return err == nil && len(got) > 0 && q.Ack(t.Context(), es...) == nil
	})
	if got[len(got)-1] != 3 {
		t.Errorf("received %v, want 3", got)
	}
	if role := replica.Info(t.Context(), "replication").Val(); !strings.Contains(role, "role:master") {
		t.Error("the replica did not become the master:", role)
	}
	if _, err := queue.Open(t.Context(), queue.Config{URL: "redis+sentinel://" + host(sentinel) + "/oj?sentinel_passwort=zq"}); err == nil || strings.Contains(err.Error(), "zq") {
		t.Error("a parameter that does not exist:", err)
	}
}

// watchdog runs a sentinel on port for the master on another.
func watchdog(t *testing.T, a *servicetest.Authority, port, master int) {
	t.Helper()
	dir := servicetest.Folder(t)
	args := servicetest.RedisTLS(t, a, port)
	var text strings.Builder
	for i := 0; i < len(args); i += 2 {
		fmt.Fprintf(&text, "%s %s\n", strings.TrimPrefix(args[i], "--"), args[i+1])
	}
	fmt.Fprintf(&text, "bind 127.0.0.1\nrequirepass sq-zq!word\nsentinel monitor oj 127.0.0.1 %d 1\n", master)
	fmt.Fprintf(&text, "sentinel auth-user oj %s\nsentinel auth-pass oj %s\n", servicetest.RedisKeeper, servicetest.RedisPassword)
	text.WriteString("sentinel down-after-milliseconds oj 500\nsentinel failover-timeout oj 2000\n")
	config := dir + "/sentinel.conf"
	must(t, errors.Join(os.WriteFile(config, []byte(text.String()), 0o666), os.Chmod(config, 0o666))) // it rewrites its configuration
	servicetest.Start(t, dir, "redis-server", config, "--sentinel")
}
