package queue

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"slices"
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

// Refused reports whether err says that Redis does not accept the user, the password, or what the user asks for.
func Refused(err error) bool { return redis.IsAuthError(err) || redis.IsPermissionError(err) }

// errNoTLS says that certificates are named for nothing.
var errNoTLS = errors.New("redis address: certificates are named, and the address does not ask for TLS: write rediss://, or ?tls=true after several hosts")

// connect returns a client for the address, without waiting for the server. It
// trusts and shows the certificates of trust, which may be nil.
func connect(address string, trust *tls.Config) (redis.UniversalClient, error) {
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
		if o.TLSConfig, err = certificates(o.TLSConfig, trust); err != nil {
			return nil, err
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
		if o.TLSConfig, err = certificates(o.TLSConfig, trust); err != nil {
			return nil, err
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

// certificates returns asked, which is nil when the address does not ask for TLS, with the certificates of trust.
func certificates(asked, trust *tls.Config) (*tls.Config, error) {
	switch {
	case trust == nil:
		return asked, nil
	case asked == nil:
		return nil, errNoTLS
	}
	asked = asked.Clone()
	asked.RootCAs, asked.Certificates = trust.RootCAs, trust.Certificates
	return asked, nil
}

// parseMany reads [user:password@]host[,host…][/master[/database]][?query]. It is not a URL that net/url accepts. The
// query may have tls, and sentinel_user and sentinel_password, which the sentinels themselves ask for.
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
		if !slices.Contains([]string{"tls", "sentinel_user", "sentinel_password"}, k) {
			return nil, fmt.Errorf("unknown parameter %q", k)
		}
	}
	o.SentinelUsername, o.SentinelPassword = values.Get("sentinel_user"), values.Get("sentinel_password")
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
