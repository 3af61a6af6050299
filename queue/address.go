package queue

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// How patient the connections are. A blocking read waits at most longestBlock,
// because the client does not interrupt one when its context ends.
const (
	dialTimeout  = 2 * time.Second
	replyTimeout = 5 * time.Second
	longestBlock = time.Second
)

// connect returns a client for the address, without waiting for the server.
func connect(address string) (redis.UniversalClient, error) {
	redis.SetLogger(&logging.VoidLogger{}) // what fails is returned to the caller
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		return nil, errors.New("redis address: want redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://")
	}
	switch scheme {
	case "redis", "rediss", "unix":
		o, err := redis.ParseURL(address)
		if err != nil {
			return nil, fmt.Errorf("redis address: %w", withoutURL(err))
		}
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout = dialTimeout, replyTimeout, replyTimeout
		o.MaxRetries, o.DialerRetries, o.ContextTimeoutEnabled = 1, 1, true
		o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		return redis.NewClient(o), nil
	case "redis+sentinel", "redis+cluster":
		o, err := parseMany(rest)
		if err != nil {
			return nil, fmt.Errorf("redis address: %w", err)
		}
		if scheme == "redis+cluster" {
			return redis.NewClusterClient(o.Cluster()), nil
		}
		if o.MasterName == "" {
			return nil, errors.New("redis address: redis+sentinel://hosts/NAME needs the name of the master")
		}
		return redis.NewFailoverClient(o.Failover()), nil
	default:
		return nil, fmt.Errorf("redis address: unknown scheme %q: want redis, rediss, unix, redis+sentinel or redis+cluster", scheme)
	}
}

// parseMany reads [user:password@]host[,host…][/master[/database]][?tls=true].
// It is not a URL that net/url accepts.
func parseMany(rest string) (*redis.UniversalOptions, error) {
	o := &redis.UniversalOptions{
		DialTimeout: dialTimeout, ReadTimeout: replyTimeout, WriteTimeout: replyTimeout,
		MaxRetries: 3, DialerRetries: 1, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	rest, query, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("its query cannot be read")
	}
	for k := range values {
		if k != "tls" {
			return nil, fmt.Errorf("unknown parameter %q", k)
		}
	}
	if v := values.Get("tls"); v != "" {
		on, err := strconv.ParseBool(v)
		if err != nil {
			return nil, fmt.Errorf("tls=%s is neither true nor false", v)
		}
		if on {
			o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
	}
	rest, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		name, password, _ := strings.Cut(rest[:at], ":")
		if o.Username, err = url.PathUnescape(name); err != nil {
			return nil, errors.New("its user name cannot be read")
		}
		if o.Password, err = url.PathUnescape(password); err != nil {
			return nil, errors.New("its password cannot be read")
		}
		rest = rest[at+1:]
	}
	for host := range strings.SplitSeq(rest, ",") {
		if host == "" {
			return nil, errors.New("a host is empty")
		}
		o.Addrs = append(o.Addrs, host)
	}
	name, database, _ := strings.Cut(path, "/")
	o.MasterName = name
	if database != "" {
		if o.DB, err = strconv.Atoi(database); err != nil {
			return nil, fmt.Errorf("database %q is no number", database)
		}
	}
	return o, nil
}

// withoutURL keeps an address, which may hold a password, out of the message.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
