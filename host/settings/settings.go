// Package settings reads what an operator may set: the environment decides, config.yaml fills what it leaves unset, and
// one table says what each setting means and which field it fills.
package settings

import (
	"net"
	"net/netip"
	"time"
)

// Settings are the values of all settings, checked.
type Settings struct {
	DatabaseURL string // "" = the embedded PostgreSQL
	RedisURL    string // "" = the embedded Redis
	RedisTLS    TLS

	EtcdEndpoints                          []string
	EtcdPrefix, EtcdUsername, EtcdPassword string
	EtcdTLS                                TLS

	Listen                        string
	PublicHosts, CORSOrigins      []string
	Judge0Tokens                  string // own or open
	CallbackAllow, TrustedProxies []netip.Prefix
	MetricsListen, MetricsToken   string
	FeedStatusURL                 string // without a slash at the end; "" = nobody says
	OIDC                          OIDC

	PublicURL           string // without a slash at the end; "" = not known
	Registration        string // off, invitation, domain or open
	RegistrationDomains []string
	Mail                Mail

	RatePerAddress, RatePerUser, RatePerKey int // requests a minute; 0 = no limit

	SetterQuotaMiB int64

	BlobDir        string
	BlobTimeout    time.Duration
	BlobCacheBytes int64
	S3             S3

	CacheDir, JournalDir string

	ChangeFeed bool // the embedded PostgreSQL can be read by a change feed

	WorkerID, WorkerPool string
	WorkerSlots          int // 0 = as many as there are cores

	Delivery       string // streams, postgres or auto
	Agent          string // auto, off or require
	JobStream      string
	StreamGroup    string
	StreamConsumer string
	StreamMaxLen   int64
	OutboxShards   int
	PollInterval   time.Duration

	Lease, Heartbeat, ReclaimInterval, ReclaimGrace time.Duration
	ReclaimCount, MaxLostWorkers                    int

	TimeFactors              TimeFactors
	StdoutLimit, StderrLimit int64 // bytes

	RetainEvents, RetainJobs, RetainSubmissions time.Duration // 0 = for ever
	DrainGrace                                  time.Duration

	Traces Traces

	LogLevel, LogFormat string
}

// TLS names the files, in PEM, of certificates for one service.
type TLS struct{ CA, Cert, Key string }

// OIDC is a provider of OpenID Connect.
type OIDC struct{ Issuer, ClientID, ClientSecret, RedirectURL string }

// Mail is a server that sends letters; without an address there is none.
type Mail struct {
	Address, Security, Username, Password, From string
	CA                                          string
}

// Who may make an account for themselves. Each lets in whom those before it let in, too.
const (
	RegistrationOff        = "off"
	RegistrationInvitation = "invitation"
	RegistrationDomain     = "domain"
	RegistrationOpen       = "open"
)

// S3 is a bucket of a service that speaks S3; without an endpoint there is none.
type S3 struct {
	Endpoint, Bucket, Region, AccessKey, SecretKey string
	UseTLS                                         bool
}

// Traces says where traces go; without an endpoint nowhere.
type Traces struct {
	Endpoint, Headers, Certificate, Service string

	Share float64 // of the traces that is recorded
}

// row is one setting.
type row struct {
	env    string
	yaml   string // dotted path in config.yaml
	def    string
	value  value
	secret bool   // may come from a file named by env + "_FILE", and is never printed
	doc    string // what it means, without the rows around it
}

// hidden is a row whose value is secret.
func hidden(r row) row {
	r.secret = true
	return r
}

const (
	authorities = "file of the certificates, in PEM, of which one has signed that of %s; those of the system when empty"
	certificate = "file of the certificate, in PEM, that this program shows to %s"
	private     = "file of the private key, in PEM, of the certificate that this program shows to %s"
)

// table has every setting, with the field of s that it fills.
func table(s *Settings) []row {
	return []row{
		hidden(row{env: "DATABASE_URL", yaml: "database.url", value: text(&s.DatabaseURL), doc: "PostgreSQL to use instead of the embedded one"}),
		hidden(row{env: "REDIS_URL", yaml: "redis.url", value: text(&s.RedisURL), doc: "Redis to use instead of the embedded one: redis, rediss, unix, redis+sentinel, redis+cluster"}),
		{env: "REDIS_TLS_CA", yaml: "redis.tls.ca", value: file(&s.RedisTLS.CA), doc: about(authorities, "Redis")},
		{env: "REDIS_TLS_CERT", yaml: "redis.tls.cert", value: file(&s.RedisTLS.Cert), doc: about(certificate, "Redis")},
		{env: "REDIS_TLS_KEY", yaml: "redis.tls.key", value: file(&s.RedisTLS.Key), doc: about(private, "Redis")},
		{env: "ETCD_ENDPOINTS", yaml: "etcd.endpoints", value: words(&s.EtcdEndpoints), doc: "addresses of the etcd that says which workers live, such as https://h1:2379 https://h2:2379, separated by spaces; PostgreSQL says it when empty"},
		{env: "ETCD_PREFIX", yaml: "etcd.prefix", def: "deepoj/", value: text(&s.EtcdPrefix), doc: "what the keys in etcd begin with"},
		{env: "ETCD_USERNAME", yaml: "etcd.username", value: text(&s.EtcdUsername), doc: "name by which this program logs in to etcd"},
		hidden(row{env: "ETCD_PASSWORD", yaml: "etcd.password", value: text(&s.EtcdPassword), doc: "password by which this program logs in to etcd"}),
		{env: "ETCD_TLS_CA", yaml: "etcd.tls.ca", value: file(&s.EtcdTLS.CA), doc: about(authorities, "etcd")},
		{env: "ETCD_TLS_CERT", yaml: "etcd.tls.cert", value: file(&s.EtcdTLS.Cert), doc: about(certificate, "etcd")},
		{env: "ETCD_TLS_KEY", yaml: "etcd.tls.key", value: file(&s.EtcdTLS.Key), doc: about(private, "etcd")},
		{env: "LISTEN_ADDR", yaml: "api.listen", def: "127.0.0.1:8080", value: text(&s.Listen), doc: "address where the web side listens, HOST:PORT"},
		{env: "PUBLIC_HOSTS", yaml: "api.hosts", value: words(&s.PublicHosts), doc: "further host names that the web side answers to, separated by spaces"},
		{env: "CORS_ORIGINS", yaml: "api.cors_origins", value: origins(&s.CORSOrigins), doc: "origins whose pages may use /api/v1 and /judge0 with a key, such as https://ide.example.org or https://*.example.org, separated by spaces, or * for all; never by a cookie; none when empty"},
		{env: "JUDGE0_TOKENS", yaml: "api.judge0_tokens", def: "own", value: oneOf(&s.Judge0Tokens, "own", "open"), doc: "who reads a submission at /judge0: own, who sent it; open, everybody who knows its token, too"},
		{env: "CALLBACK_ALLOW", yaml: "api.callback_allow", value: prefixes(&s.CallbackAllow), doc: "private addresses that callbacks and webhooks may go to, such as 10.1.0.0/16, separated by spaces; public ones are always allowed"},
		{env: "TRUSTED_PROXIES", yaml: "api.trusted_proxies", value: prefixes(&s.TrustedProxies), doc: "addresses of reverse proxies, such as 127.0.0.1 or 10.1.0.0/16, whose X-Forwarded-For says who asks, separated by spaces"},
		{env: "METRICS_LISTEN", yaml: "metrics.listen", value: address(&s.MetricsListen), doc: "address of its own, HOST:PORT, where a process serves /metrics, and the web side the details of /readyz; who reaches it may read them unless METRICS_TOKEN is set; with neither only clients on this machine may, on the web side's address"},
		hidden(row{env: "METRICS_TOKEN", yaml: "metrics.token", value: token(&s.MetricsToken), doc: "token of at least 16 bytes that /metrics and the details of /readyz ask for, as Authorization: Bearer"}),
		{env: "FEED_STATUS_URL", yaml: "feed.status_url", value: base(&s.FeedStatusURL, "http://127.0.0.1:9182"), doc: "address that metrics_listen of the change feed names, such as http://127.0.0.1:9182, where the web side asks for staff how far the feed is; it does not when empty"},
		{env: "OIDC_ISSUER", yaml: "oidc.issuer", value: text(&s.OIDC.Issuer), doc: "address of a provider of OpenID Connect where people may log in; nowhere but here when empty"},
		{env: "OIDC_CLIENT_ID", yaml: "oidc.client_id", value: text(&s.OIDC.ClientID), doc: "name by which the OpenID Connect provider knows this site"},
		hidden(row{env: "OIDC_CLIENT_SECRET", yaml: "oidc.client_secret", value: text(&s.OIDC.ClientSecret), doc: "secret of this site at the OpenID Connect provider, where it gave one"}),
		{env: "OIDC_REDIRECT_URL", yaml: "oidc.redirect_url", value: text(&s.OIDC.RedirectURL), doc: "this site's address for the OpenID Connect provider, ending in /login/oidc/callback; that which the browser uses when empty"},
		{env: "PUBLIC_URL", yaml: "api.url", value: base(&s.PublicURL, "https://judge.example.org"), doc: "address by which people reach the web side, such as https://judge.example.org, for links in letters and invitations"},
		{env: "REGISTRATION", yaml: "accounts.registration", def: RegistrationOff, value: oneOf(&s.Registration, RegistrationOff, RegistrationInvitation, RegistrationDomain, RegistrationOpen), doc: "who may make an account for themselves: off, nobody; invitation, who has a link that invites into a space; domain, those and who has an e-mail address of REGISTRATION_DOMAINS; open, everybody with an e-mail address"},
		{env: "REGISTRATION_DOMAINS", yaml: "accounts.domains", value: words(&s.RegistrationDomains), doc: "what follows the @ of e-mail addresses whose owners may make an account with REGISTRATION=domain, such as example.org, separated by spaces"},
		{env: "SMTP_ADDR", yaml: "mail.address", value: address(&s.Mail.Address), doc: "mail server that sends letters, HOST:PORT; none are sent when empty; it needs SMTP_FROM and PUBLIC_URL"},
		{env: "SMTP_TLS", yaml: "mail.tls", def: "starttls", value: oneOf(&s.Mail.Security, "starttls", "tls", "none"), doc: "how the mail server is spoken to: starttls, which must succeed; tls from the first byte; none, for one on this machine"},
		{env: "SMTP_TLS_CA", yaml: "mail.tls_ca", value: file(&s.Mail.CA), doc: about(authorities, "the mail server")},
		{env: "SMTP_USERNAME", yaml: "mail.username", value: text(&s.Mail.Username), doc: "name by which this program logs in to the mail server; it does not when empty"},
		hidden(row{env: "SMTP_PASSWORD", yaml: "mail.password", value: text(&s.Mail.Password), doc: "password by which this program logs in to the mail server"}),
		{env: "SMTP_FROM", yaml: "mail.from", value: mailbox(&s.Mail.From), doc: "whom letters are from, such as Deep-OJ <judge@example.org>"},
		{env: "RATE_PER_ADDRESS", yaml: "api.rate.address", def: "6000", value: whole(&s.RatePerAddress, 0), doc: "requests a minute from one address; 0 = no limit; clients on this machine have none"},
		{env: "RATE_PER_USER", yaml: "api.rate.user", def: "600", value: whole(&s.RatePerUser, 0), doc: "requests a minute of one user who has logged in; 0 = no limit"},
		{env: "RATE_PER_KEY", yaml: "api.rate.key", def: "1200", value: whole(&s.RatePerKey, 0), doc: "requests a minute with one key; 0 = no limit"},
		{env: "SETTER_QUOTA_MIB", yaml: "packages.setter_quota_mib", def: "2048", value: whole(&s.SetterQuotaMiB, 0), doc: "room that the packages of one setter may take with files that nobody else's have, and archives that they may send on a day; 0 = any; the same for web side and workers"},
		{env: "BLOB_DIR", yaml: "blob.dir", value: file(&s.BlobDir), doc: "folder of packages and plugins; the data folder's blobs when empty; unused with S3_ENDPOINT"},
		{env: "BLOB_TIMEOUT", yaml: "blob.timeout", def: "15s", value: span(&s.BlobTimeout), doc: "how long the folder or the bucket may be silent while something is read, until it counts as away"},
		{env: "BLOB_CACHE_BYTES", yaml: "blob.cache_bytes", def: "10737418240", value: whole(&s.BlobCacheBytes, 1), doc: "bytes of what is in the bucket of S3_ENDPOINT that this machine keeps near, in CACHE_DIR"},
		{env: "S3_ENDPOINT", yaml: "s3.endpoint", value: text(&s.S3.Endpoint), doc: "host:port of an S3 service that keeps packages and plugins instead of BLOB_DIR"},
		{env: "S3_BUCKET", yaml: "s3.bucket", def: "deepoj", value: text(&s.S3.Bucket), doc: "bucket of the S3 service, which must exist"},
		{env: "S3_REGION", yaml: "s3.region", value: text(&s.S3.Region), doc: "region of the S3 service, where it has any"},
		hidden(row{env: "S3_ACCESS_KEY", yaml: "s3.access_key", value: text(&s.S3.AccessKey), doc: "name of the key that opens the S3 bucket"}),
		hidden(row{env: "S3_SECRET_KEY", yaml: "s3.secret_key", value: text(&s.S3.SecretKey), doc: "secret of the key that opens the S3 bucket"}),
		{env: "S3_USE_TLS", yaml: "s3.use_tls", def: "true", value: truth(&s.S3.UseTLS), doc: "whether the S3 service is asked over TLS: true, or false for one of a trusted network"},
		{env: "CACHE_DIR", yaml: "cache.dir", value: file(&s.CacheDir), doc: "folder of compiled plugins and programs, for workers of one account; the data folder's cache when empty"},
		{env: "JOURNAL_DIR", yaml: "worker.journal_dir", value: file(&s.JournalDir), doc: "folder of results that the database has not answered yet; the data folder's journal when empty"},
		{env: "CHANGE_FEED", yaml: "feed.enabled", def: "false", value: truth(&s.ChangeFeed), doc: "whether the embedded PostgreSQL can be read by a change feed (`deepoj feed`), which takes wal_level=logical: true, or false, which drops the slots of feeds at the next start"},
		{env: "WORKER_ID", yaml: "worker.id", value: text(&s.WorkerID), doc: "name of this worker; host name and pid when empty"},
		{env: "WORKER_POOL", yaml: "worker.pool", def: "default", value: text(&s.WorkerPool), doc: "pool this worker serves"},
		{env: "WORKER_SLOTS", yaml: "worker.slots", def: "0", value: whole(&s.WorkerSlots, 0), doc: "submissions that a worker judges at once; 0 means the number of cores"},
		{env: "DELIVERY", yaml: "queue.delivery", def: "auto", value: oneOf(&s.Delivery, "streams", "postgres", "auto"), doc: "how jobs reach workers: streams (of Redis), postgres, or auto, which is Redis where there is one"},
		{env: "JUDGE_AGENT", yaml: "sandbox.agent", def: "auto", value: oneOf(&s.Agent, "auto", "off", "require"), doc: "what runs programs: auto, the sandbox agent, and the one-shot command while there is none; off, the one-shot command only; require, the agent, or no jobs are taken"},
		{env: "JOB_STREAM_KEY", yaml: "api.stream.stream_key", def: "deepoj:jobs", value: text(&s.JobStream), doc: "Redis stream of jobs"},
		{env: "JOB_STREAM_GROUP", yaml: "worker.stream.group", def: "deepoj:workers", value: text(&s.StreamGroup), doc: "consumer group of the Redis stream of jobs"},
		{env: "JOB_STREAM_CONSUMER", yaml: "worker.stream.consumer", value: text(&s.StreamConsumer), doc: "name of this consumer of the Redis stream of jobs; WORKER_ID when empty; a boot id is appended"},
		{env: "JOB_STREAM_MAXLEN", yaml: "api.stream.stream_maxlen", def: "200000", value: whole(&s.StreamMaxLen, 1), doc: "safety net on the length of the Redis stream of jobs"},
		{env: "JOB_LEASE_SEC", yaml: "worker.lease_sec", def: "60", value: seconds(&s.Lease, 1), doc: "seconds for which a silent worker keeps a job; at least three heartbeats"},
		{env: "JOB_HEARTBEAT_SEC", yaml: "worker.heartbeat_sec", def: "10", value: seconds(&s.Heartbeat, 1), doc: "seconds between two heartbeats, which renew the leases of a worker"},
		{env: "JOB_RECLAIM_INTERVAL_SEC", yaml: "scheduler.reclaim_interval_sec", def: "5", value: seconds(&s.ReclaimInterval, 1), doc: "seconds between sweeps for lost leases"},
		{env: "JOB_RECLAIM_COUNT", yaml: "scheduler.reclaim_count", def: "16", value: whole(&s.ReclaimCount, 1), doc: "entries cleaned in one sweep for lost leases"},
		{env: "JOB_RECLAIM_GRACE_SEC", yaml: "scheduler.reclaim_grace_sec", def: "15", value: seconds(&s.ReclaimGrace, 0), doc: "seconds after the end of a lease in which it may still be renewed"},
		{env: "JOB_MAX_LOST_WORKERS", yaml: "scheduler.max_lost_workers", def: "2", value: whole(&s.MaxLostWorkers, 1), doc: "lost workers after which a job is set aside among the dead letters: it may be what ends them"},
		{env: "TIME_FACTORS", yaml: "judge.time_factors", value: factors(&s.TimeFactors), doc: "what multiplies the time limits of languages, such as python=2 java=1.5, separated by spaces; the same for every worker; 1 for others"},
		{env: "JUDGE_STDOUT_LIMIT_BYTES", yaml: "judge.stdout_limit_bytes", def: "262144", value: whole(&s.StdoutLimit, 1), doc: "bytes of stdout that `deepoj judge` keeps of a program, and a worker of `deepoj judge`"},
		{env: "JUDGE_STDERR_LIMIT_BYTES", yaml: "judge.stderr_limit_bytes", def: "1048576", value: whole(&s.StderrLimit, 1), doc: "bytes of stderr that `deepoj judge` keeps of a program, and a worker of `deepoj judge`"},
		{env: "OUTBOX_SHARDS", yaml: "queue.outbox_shards", def: "1", value: whole(&s.OutboxShards, 1), doc: "parts that the dispatchers of a queue divide its groups into; the same for all of them; 1 = every dispatcher picks from everything"},
		{env: "POLL_INTERVAL", yaml: "queue.poll_interval", def: "1s", value: span(&s.PollInterval), doc: "longest sleep of the dispatcher when no notification comes"},
		{env: "RETAIN_EVENTS", yaml: "retention.events", def: "720h", value: kept(&s.RetainEvents), doc: "how long the events of a job are kept after its end, but for the last, and what webhooks were told; 0 = for ever"},
		{env: "RETAIN_JOBS", yaml: "retention.jobs", def: "720h", value: kept(&s.RetainJobs), doc: "how long jobs are kept after their end that are no submissions, such as runs and proofs of plugins; 0 = for ever"},
		{env: "RETAIN_SUBMISSIONS", yaml: "retention.submissions", def: "0", value: kept(&s.RetainSubmissions), doc: "how long submissions are kept after their end, with sources and results; 0 = for ever"},
		{env: "DRAIN_GRACE", yaml: "worker.drain_grace", def: "10s", value: span(&s.DrainGrace), doc: "how long a stopping worker may finish what runs"},
		{env: "OTEL_EXPORTER_OTLP_ENDPOINT", yaml: "telemetry.otlp.endpoint", value: text(&s.Traces.Endpoint), doc: "collector of traces that takes OTLP as protobuf over HTTP, such as http://127.0.0.1:4318; no traces when empty"},
		hidden(row{env: "OTEL_EXPORTER_OTLP_HEADERS", yaml: "telemetry.otlp.headers", value: text(&s.Traces.Headers), doc: "headers of every request to the collector of traces: name=value, separated by commas"}),
		{env: "OTEL_EXPORTER_OTLP_CERTIFICATE", yaml: "telemetry.otlp.certificate", value: file(&s.Traces.Certificate), doc: about(authorities, "the collector of traces")},
		{env: "OTEL_SERVICE_NAME", yaml: "telemetry.service_name", def: "deepoj", value: text(&s.Traces.Service), doc: "name of the service that traces are said to come from"},
		{env: "OTEL_TRACES_SAMPLER_ARG", yaml: "telemetry.sampler_arg", def: "1", value: share(&s.Traces.Share), doc: "share of the traces that is recorded, above 0 and up to 1; the same for every process"},
		{env: "LOG_LEVEL", yaml: "log.level", def: "info", value: oneOf(&s.LogLevel, "debug", "info", "warn", "error"), doc: "least level of what is logged: debug, info, warn or error"},
		{env: "LOG_FORMAT", yaml: "log.format", def: "text", value: oneOf(&s.LogFormat, "text", "json"), doc: "form of the log: text or json"},
	}
}

// together reports settings that do not go together, once each is well formed.
func (s *Settings) together() (errs []error) {
	if s.MetricsListen != "" && s.MetricsListen == s.Listen {
		errs = append(errs, bad("METRICS_LISTEN", s.MetricsListen, "the web side listens there; give the metrics another port"))
	}
	if host, _, _ := net.SplitHostPort(s.Mail.Address); s.Mail.Security == "none" && s.Mail.Username != "" && !loopback(host) {
		errs = append(errs, bad("SMTP_TLS", s.Mail.Security, "the password would go over the network in the clear; use starttls or tls, or a mail server on this machine"))
	}
	if (s.Registration == RegistrationDomain || s.Registration == RegistrationOpen) && s.Mail.Address == "" {
		errs = append(errs, bad("REGISTRATION", s.Registration, "addresses are confirmed by letters, so set SMTP_ADDR"))
	}
	if s.Registration == RegistrationDomain && len(s.RegistrationDomains) == 0 {
		errs = append(errs, bad("REGISTRATION", s.Registration, "say which ones in REGISTRATION_DOMAINS"))
	}
	if s.Lease < 3*s.Heartbeat {
		errs = append(errs, bad("JOB_LEASE_SEC", inSeconds(s.Lease), "must be at least three heartbeats (JOB_HEARTBEAT_SEC="+inSeconds(s.Heartbeat)+")"))
	}
	return errs
}

// obsolete settings are accepted and warned about, with a reason.
var obsolete = map[string]string{
	"JOB_PAYLOAD_TTL_SEC": "payloads never expire; the setting is ignored",
}
