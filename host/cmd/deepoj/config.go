package main

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"deepoj/host/judging"
)

// setting is one thing an operator may set. The environment decides;
// config.yaml fills what the environment leaves unset.
type setting struct {
	env    string
	yaml   string // dotted path in config.yaml
	def    string
	secret bool // may come from a file named by env + "_FILE", and is never printed
	doc    string
}

var settings = []setting{
	{env: "DATABASE_URL", yaml: "database.url", secret: true, doc: "PostgreSQL to use instead of the embedded one"},
	{env: "REDIS_URL", yaml: "redis.url", secret: true, doc: "Redis to use instead of the embedded one: redis, rediss, unix, redis+sentinel, redis+cluster"},
	{env: "REDIS_TLS_CA", yaml: "redis.tls.ca", doc: "file of the certificates, in PEM, that Redis's may be signed by; those of the system when empty"},
	{env: "REDIS_TLS_CERT", yaml: "redis.tls.cert", doc: "file of the certificate, in PEM, that this program shows to Redis"},
	{env: "REDIS_TLS_KEY", yaml: "redis.tls.key", doc: "file of the key, in PEM, of the certificate that this program shows to Redis"},
	{env: "ETCD_ENDPOINTS", yaml: "etcd.endpoints", doc: "etcd that says which workers live, such as https://h1:2379 https://h2:2379, separated by spaces; PostgreSQL does when empty"},
	{env: "ETCD_PREFIX", yaml: "etcd.prefix", def: "deepoj/", doc: "what the keys in etcd begin with"},
	{env: "ETCD_USERNAME", yaml: "etcd.username", doc: "name by which this program logs in to etcd"},
	{env: "ETCD_PASSWORD", yaml: "etcd.password", secret: true, doc: "password by which this program logs in to etcd"},
	{env: "ETCD_TLS_CA", yaml: "etcd.tls.ca", doc: "file of the certificates, in PEM, that etcd's may be signed by; those of the system when empty"},
	{env: "ETCD_TLS_CERT", yaml: "etcd.tls.cert", doc: "file of the certificate, in PEM, that this program shows to etcd"},
	{env: "ETCD_TLS_KEY", yaml: "etcd.tls.key", doc: "file of the key, in PEM, of the certificate that this program shows to etcd"},
	{env: "LISTEN_ADDR", yaml: "api.listen", def: "127.0.0.1:8080", doc: "where the web side listens"},
	{env: "PUBLIC_HOSTS", yaml: "api.hosts", doc: "further host names that the web side answers to, separated by spaces"},
	{env: "CALLBACK_ALLOW", yaml: "api.callback_allow", doc: "private addresses that callbacks and webhooks may go to, such as 10.1.0.0/16, separated by spaces; public ones are always allowed"},
	{env: "TRUSTED_PROXIES", yaml: "api.trusted_proxies", doc: "addresses of reverse proxies, such as 127.0.0.1 or 10.1.0.0/16, whose X-Forwarded-For says who asks, separated by spaces"},
	{env: "METRICS_LISTEN", yaml: "metrics.listen", doc: "address of its own, HOST:PORT, where a process serves /metrics, and the web side the details of /readyz; who reaches it may read them unless METRICS_TOKEN is set; with neither only clients on this machine may, on the web side's address"},
	{env: "METRICS_TOKEN", yaml: "metrics.token", secret: true, doc: "what they ask for as Authorization: Bearer, at least 16 bytes"},
	{env: "OIDC_ISSUER", yaml: "oidc.issuer", doc: "address of a provider of OpenID Connect where people may log in; nowhere but here when empty"},
	{env: "OIDC_CLIENT_ID", yaml: "oidc.client_id", doc: "what the provider knows this site by"},
	{env: "OIDC_CLIENT_SECRET", yaml: "oidc.client_secret", secret: true, doc: "secret of this program at the OpenID Connect provider, where it gave one"},
	{env: "OIDC_REDIRECT_URL", yaml: "oidc.redirect_url", doc: "this site's address for the provider, ending in /login/oidc/callback; that which the browser uses when empty"},
	{env: "RATE_PER_ADDRESS", yaml: "api.rate.address", def: "6000", doc: "requests a minute from one address; 0 = no limit; clients on this machine have none"},
	{env: "RATE_PER_USER", yaml: "api.rate.user", def: "600", doc: "requests a minute of one user who has logged in; 0 = no limit"},
	{env: "RATE_PER_KEY", yaml: "api.rate.key", def: "1200", doc: "requests a minute with one key; 0 = no limit"},
	{env: "SETTER_QUOTA_MIB", yaml: "packages.setter_quota_mib", def: "2048", doc: "room that the packages of one setter may take with files that nobody else's have, and archives that they may send on a day; 0 = any; the same for web side and workers"},
	{env: "BLOB_DIR", yaml: "blob.dir", doc: "folder of packages and plugins; the data folder's blobs when empty; unused with S3_ENDPOINT"},
	{env: "BLOB_TIMEOUT", yaml: "blob.timeout", def: "15s", doc: "how long the folder or the bucket may be silent while something is read, until it counts as away"},
	{env: "BLOB_CACHE_BYTES", yaml: "blob.cache_bytes", def: "10737418240", doc: "with S3_ENDPOINT: bytes that this machine keeps near, in CACHE_DIR"},
	{env: "S3_ENDPOINT", yaml: "s3.endpoint", doc: "host:port of an S3 service that keeps packages and plugins instead of BLOB_DIR"},
	{env: "S3_BUCKET", yaml: "s3.bucket", def: "deepoj", doc: "its bucket, which must exist"},
	{env: "S3_REGION", yaml: "s3.region", doc: "its region, where it has any"},
	{env: "S3_ACCESS_KEY", yaml: "s3.access_key", secret: true, doc: "name by which this program logs in to etcd"},
	{env: "S3_SECRET_KEY", yaml: "s3.secret_key", secret: true, doc: "secret of the key that opens the S3 bucket"},
	{env: "S3_USE_TLS", yaml: "s3.use_tls", def: "true", doc: "true, or false for a service of a trusted network"},
	{env: "CACHE_DIR", yaml: "cache.dir", doc: "folder of compiled plugins and programs, for workers of one account; the data folder's cache when empty"},
	{env: "JOURNAL_DIR", yaml: "worker.journal_dir", doc: "folder of results that the database has not answered yet; the data folder's journal when empty"},
	{env: "WORKER_ID", yaml: "worker.id", doc: "name of this worker; host name and pid when empty"},
	{env: "WORKER_POOL", yaml: "worker.pool", def: "default", doc: "pool this worker serves"},
	{env: "WORKER_SLOTS", yaml: "worker.slots", def: "0", doc: "submissions judged at once; 0 means the number of cores"},
	{env: "DELIVERY", yaml: "queue.delivery", def: "auto", doc: "streams, postgres or auto"},
	{env: "JUDGE_AGENT", yaml: "sandbox.agent", def: "auto", doc: "auto: the sandbox agent runs programs, and the one-shot command while there is none; off: the one-shot command only; require: the agent, or no jobs are taken"},
	{env: "JOB_STREAM_KEY", yaml: "api.stream.stream_key", def: "deepoj:jobs", doc: "Redis stream of jobs"},
	{env: "JOB_STREAM_GROUP", yaml: "worker.stream.group", def: "deepoj:workers", doc: "consumer group of the stream"},
	{env: "JOB_STREAM_CONSUMER", yaml: "worker.stream.consumer", doc: "consumer name; WORKER_ID when empty; a boot id is appended"},
	{env: "JOB_STREAM_MAXLEN", yaml: "api.stream.stream_maxlen", def: "200000", doc: "safety net on the stream's length"},
	{env: "JOB_LEASE_SEC", yaml: "worker.lease_sec", def: "60", doc: "how long a silent worker keeps a job; at least three heartbeats"},
	{env: "JOB_HEARTBEAT_SEC", yaml: "worker.heartbeat_sec", def: "10", doc: "seconds between heartbeats"},
	{env: "JOB_RECLAIM_INTERVAL_SEC", yaml: "scheduler.reclaim_interval_sec", def: "5", doc: "seconds between sweeps for lost leases"},
	{env: "JOB_RECLAIM_COUNT", yaml: "scheduler.reclaim_count", def: "16", doc: "entries cleaned in one sweep"},
	{env: "JOB_RECLAIM_GRACE_SEC", yaml: "scheduler.reclaim_grace_sec", def: "15", doc: "seconds after its end in which a lease may still be renewed"},
	{env: "JOB_MAX_LOST_WORKERS", yaml: "scheduler.max_lost_workers", def: "2", doc: "lost workers after which a job is set aside among the dead letters: it may be what ends them"},
	{env: "TIME_FACTORS", yaml: "judge.time_factors", doc: "what multiplies the time limits of languages, such as python=2 java=1.5, separated by spaces; the same for every worker; 1 for others"},
	{env: "JUDGE_STDOUT_LIMIT_BYTES", yaml: "judge.stdout_limit_bytes", def: "262144", doc: "bytes of stdout that `deepoj judge` keeps of a program, and a worker of `deepoj judge`"},
	{env: "JUDGE_STDERR_LIMIT_BYTES", yaml: "judge.stderr_limit_bytes", def: "1048576", doc: "bytes of stderr, likewise"},
	{env: "OUTBOX_SHARDS", yaml: "queue.outbox_shards", def: "1", doc: "parts that the dispatchers of a queue divide its groups into; the same for all of them; 1 = every dispatcher picks from everything"},
	{env: "POLL_INTERVAL", yaml: "queue.poll_interval", def: "1s", doc: "longest sleep of the dispatcher when no notification comes"},
	{env: "RETAIN_EVENTS", yaml: "retention.events", def: "720h", doc: "how long the events of a job are kept after its end, but for the last, and what webhooks were told; 0 = for ever"},
	{env: "RETAIN_JOBS", yaml: "retention.jobs", def: "720h", doc: "how long jobs are kept after their end that are no submissions, such as runs and proofs of plugins; 0 = for ever"},
	{env: "RETAIN_SUBMISSIONS", yaml: "retention.submissions", def: "0", doc: "how long submissions are kept after their end, with sources and results; 0 = for ever"},
	{env: "DRAIN_GRACE", yaml: "worker.drain_grace", def: "10s", doc: "how long a stopping worker may finish what runs"},
	{env: "OTEL_EXPORTER_OTLP_ENDPOINT", yaml: "telemetry.otlp.endpoint", doc: "collector of traces that takes OTLP as protobuf over HTTP, such as http://127.0.0.1:4318; no traces when empty"},
	{env: "OTEL_EXPORTER_OTLP_HEADERS", yaml: "telemetry.otlp.headers", secret: true, doc: "what goes with every request to it: name=value, separated by commas"},
	{env: "OTEL_EXPORTER_OTLP_CERTIFICATE", yaml: "telemetry.otlp.certificate", doc: "file of the certificates, in PEM, that etcd's may be signed by; those of the system when empty"},
	{env: "OTEL_SERVICE_NAME", yaml: "telemetry.service_name", def: "deepoj", doc: "what traces are said to come from"},
	{env: "OTEL_TRACES_SAMPLER_ARG", yaml: "telemetry.sampler_arg", def: "1", doc: "share of the traces that is recorded, above 0 and up to 1; the same for every process"},
	{env: "LOG_LEVEL", yaml: "log.level", def: "info", doc: "debug, info, warn or error"},
	{env: "LOG_FORMAT", yaml: "log.format", def: "text", doc: "text or json"},
}

// obsolete settings are refused, or accepted and warned about, with a reason.
var obsolete = map[string]string{
	"JOB_PAYLOAD_TTL_SEC": "payloads never expire; the setting is ignored",
}

// config holds every setting's value and where it came from.
type config struct {
	values   map[string]string
	origins  map[string]string // env, secret file, file (config.yaml) or default
	warnings []string
}

// loadConfig reads the environment, then the YAML file at path; a missing file
// is fine unless must is set. It reports every bad value at once.
func loadConfig(path string, must bool, getenv func(string) (string, bool)) (*config, error) {
	c := &config{values: map[string]string{}, origins: map[string]string{}}
	file, err := readYAML(path, must)
	errs := []error{err}
	known := map[string]bool{}
	for _, s := range settings {
		known[s.yaml] = true
		value, origin := s.def, "default"
		if v, ok := file[s.yaml]; ok {
			value, origin = v, "file"
		}
		if v, err := readSecret(s, getenv); err != nil {
			errs = append(errs, err)
		} else if v != "" {
			value, origin = v, "secret file"
		}
		if v, ok := getenv(s.env); ok && v != "" {
			value, origin = v, "env"
		}
		c.values[s.env], c.origins[s.env] = value, origin
	}
	for _, key := range slices.Sorted(maps.Keys(file)) {
		if !known[key] {
			errs = append(errs, fmt.Errorf("%s: unknown key %s; `deepoj config` lists what exists", path, key))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(obsolete)) {
		if _, ok := getenv(name); ok {
			c.warnings = append(c.warnings, name+": "+obsolete[name])
		}
	}
	if v, _ := getenv("OUTBOX_ENABLED"); v == "false" || v == "0" {
		errs = append(errs, errors.New("OUTBOX_ENABLED=false is refused: a message sent before the commit can be lost; use DELIVERY=postgres to do without Redis"))
	}
	return c, errors.Join(append(errs, c.validate()...)...)
}

// readSecret returns the secret in the file that NAME_FILE names, or "" when
// nothing is named.
func readSecret(s setting, getenv func(string) (string, bool)) (string, error) {
	name, _ := getenv(s.env + "_FILE")
	if name == "" || !s.secret {
		return "", nil
	}
	if v, _ := getenv(s.env); v != "" {
		return "", fmt.Errorf("%s and %s_FILE are both set: unset one of them", s.env, s.env)
	}
	data, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return "", fmt.Errorf("%s_FILE: %w", s.env, err)
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return "", fmt.Errorf("%s_FILE: %s is empty: write the secret into it, or unset %s_FILE", s.env, name, s.env)
	}
	return text, nil
}

func (c *config) validate() []error {
	var errs []error
	oneOf := func(name string, allowed ...string) {
		if !slices.Contains(allowed, c.values[name]) {
			errs = append(errs, fmt.Errorf("%s=%s: must be one of %s", name, c.values[name], strings.Join(allowed, ", ")))
		}
	}
	atLeast := func(name string, low int64) {
		n, err := strconv.ParseInt(c.values[name], 10, 64)
		if err != nil || n < low {
			errs = append(errs, fmt.Errorf("%s=%s: must be a whole number of at least %d", name, c.values[name], low))
		}
	}
	oneOf("DELIVERY", "streams", "postgres", "auto")
	oneOf("JUDGE_AGENT", judging.AgentAuto, judging.AgentOff, judging.AgentRequire)
	oneOf("LOG_LEVEL", "debug", "info", "warn", "error")
	oneOf("LOG_FORMAT", "text", "json")
	oneOf("S3_USE_TLS", "true", "false")
	for _, name := range []string{"JOB_STREAM_MAXLEN", "JOB_LEASE_SEC", "JOB_HEARTBEAT_SEC", "JOB_RECLAIM_INTERVAL_SEC", "JOB_RECLAIM_COUNT", "JUDGE_STDOUT_LIMIT_BYTES", "JUDGE_STDERR_LIMIT_BYTES", "OUTBOX_SHARDS", "BLOB_CACHE_BYTES"} {
		atLeast(name, 1)
	}
	atLeast("JOB_RECLAIM_GRACE_SEC", 0)
	atLeast("JOB_MAX_LOST_WORKERS", 1)
	for _, name := range []string{"WORKER_SLOTS", "SETTER_QUOTA_MIB", "RATE_PER_ADDRESS", "RATE_PER_USER", "RATE_PER_KEY"} {
		atLeast(name, 0)
	}
	for _, name := range []string{"POLL_INTERVAL", "DRAIN_GRACE", "BLOB_TIMEOUT"} {
		if d, err := time.ParseDuration(c.values[name]); err != nil || d <= 0 {
			errs = append(errs, fmt.Errorf("%s=%s: must be a positive duration such as 1s", name, c.values[name]))
		}
	}
	for _, name := range []string{"RETAIN_EVENTS", "RETAIN_JOBS", "RETAIN_SUBMISSIONS"} {
		if d, err := time.ParseDuration(c.values[name]); err != nil || d < 0 {
			errs = append(errs, fmt.Errorf("%s=%s: must be 0 or a duration such as 720h", name, c.values[name]))
		}
	}
	if x, err := strconv.ParseFloat(c.values["OTEL_TRACES_SAMPLER_ARG"], 64); err != nil || !(x > 0 && x <= 1) {
		errs = append(errs, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG=%s: must be a number above 0 and up to 1", c.values["OTEL_TRACES_SAMPLER_ARG"]))
	}
	for _, name := range []string{"CALLBACK_ALLOW", "TRUSTED_PROXIES"} {
		if _, err := c.prefixes(name); err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: must be addresses or ranges such as 10.1.0.0/16, separated by spaces: %w", name, c.values[name], err))
		}
	}
	if at := c.values["METRICS_LISTEN"]; at != "" {
		if _, port, err := net.SplitHostPort(at); err != nil || port == "" {
			errs = append(errs, fmt.Errorf("METRICS_LISTEN=%s: must be HOST:PORT, such as 127.0.0.1:9180", at))
		} else if at == c.values["LISTEN_ADDR"] {
			errs = append(errs, fmt.Errorf("METRICS_LISTEN=%s: the web side listens there; give the metrics another port", at))
		}
	}
	if token := c.values["METRICS_TOKEN"]; token != "" && (len(token) < 16 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })) {
		errs = append(errs, errors.New("METRICS_TOKEN: must be at least 16 printable characters without spaces, such as of `openssl rand -hex 24`"))
	}
	if _, err := timeFactors(c.values["TIME_FACTORS"]); err != nil {
		errs = append(errs, err)
	}
	if len(errs) == 0 && c.seconds("JOB_LEASE_SEC") < 3*c.seconds("JOB_HEARTBEAT_SEC") {
		errs = append(errs, fmt.Errorf("JOB_LEASE_SEC=%s: must be at least three heartbeats (JOB_HEARTBEAT_SEC=%s)", c.values["JOB_LEASE_SEC"], c.values["JOB_HEARTBEAT_SEC"]))
	}
	return errs
}

func (c *config) get(name string) string { return c.values[name] }

func (c *config) number(name string) int64 {
	n, _ := strconv.ParseInt(c.values[name], 10, 64) // validate has seen it
	return n
}

func (c *config) seconds(name string) time.Duration {
	return time.Duration(c.number(name)) * time.Second
}

func (c *config) duration(name string) time.Duration {
	d, _ := time.ParseDuration(c.values[name]) // validate has seen it
	return d
}

// prefixes reads addresses and ranges of them.
func (c *config) prefixes(name string) (out []netip.Prefix, err error) {
	for word := range strings.FieldsSeq(c.values[name]) {
		p, err := netip.ParsePrefix(word)
		if a, aerr := netip.ParseAddr(word); aerr == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// maxTimeFactor is the most that a time limit is multiplied with.
const maxTimeFactor = 100

// timeFactors reads what multiplies the time limits of languages by their ids.
func timeFactors(text string) (map[string]float64, error) {
	all := map[string]float64{}
	for word := range strings.FieldsSeq(text) {
		language, number, ok := strings.Cut(word, "=")
		x, err := strconv.ParseFloat(number, 64)
		if !ok || language == "" || err != nil || !(x > 0 && x <= maxTimeFactor) {
			return nil, fmt.Errorf("TIME_FACTORS=%s: %q must be a language and a number above 0 and up to %d, such as python=2", text, word, maxTimeFactor)
		}
		all[language] = x
	}
	return all, nil
}

// readYAML flattens a YAML file to dotted keys.
func readYAML(path string, must bool) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		if !must && errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return nil, fmt.Errorf("config: %w", err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, fmt.Errorf("config %s: %w", path, err)
	}
	flat := map[string]string{}
	var walk func(prefix string, node any)
	walk = func(prefix string, node any) {
		if m, ok := node.(map[string]any); ok {
			for k, v := range m {
				walk(strings.TrimPrefix(prefix+"."+k, "."), v)
			}
			return
		}
		flat[prefix] = fmt.Sprint(node)
	}
	walk("", tree)
	return flat, nil
}
