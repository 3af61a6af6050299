package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"deepoj/host/doctor"
	"deepoj/host/embedded"
	"deepoj/host/liveness"
	"deepoj/host/plugin"
	"deepoj/queue"
	"deepoj/sandbox"
	"deepoj/sql"
)

// toolChains are what the shipped languages and checkers need, by logical name.
var toolChains = []doctor.Tool{
	{Name: "gcc", Remedy: "apt-get install gcc"},
	{Name: "g++", Remedy: "apt-get install g++"},
	{Name: "python3", Remedy: "apt-get install python3"},
	{Name: "go", Remedy: "apt-get install golang-go"},
	{Name: "javac", Remedy: "apt-get install default-jdk-headless"},
	{Name: "node", Remedy: "apt-get install nodejs"},
	{Name: "rustc", Remedy: "apt-get install rustc"},
	{Name: "clang", Remedy: "apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32"},
}

// leastDisk is the free space below which the machine is about to stop.
const leastDisk = 1 << 30

// diagnose examines the machine. Its status is 0 when jobs can be judged.
func diagnose(ctx context.Context, e *env) int {
	f, path := newFlags(e, "doctor", "")
	asJSON := f.Bool("json", false, "print JSON")
	data := f.String("data", defaultData, "data folder")
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	c, err := settingsFor(e, f, *path)
	if err != nil {
		return e.fail(err)
	}
	report := examineMachine(ctx, c, *data)
	if *asJSON {
		err = report.WriteJSON(e.stdout)
	} else {
		err = report.WriteText(e.stdout)
	}
	if err != nil {
		return e.fail(err)
	}
	if !report.Healthy() {
		return 1
	}
	return 0
}

// examineMachine looks at this machine and at what is configured.
func examineMachine(ctx context.Context, c *config, data string) doctor.Report {
	var layers []doctor.Layer
	for _, w := range plugin.Walls() {
		layers = append(layers, doctor.Layer{Name: w.Name, Missing: w.Missing})
	}
	exams := []doctor.Exam{doctor.Kernel(os.DirFS("/"), os.Geteuid()), doctor.Plugins(layers...)}
	var rootless error
	if os.Geteuid() != 0 {
		rootless = sandbox.Rootless()
	}
	if rootless != nil {
		exams = append(exams, doctor.Rootless(rootless))
	} else {
		agent, stop, err := probeAgent(ctx)
		defer stop()
		exams = append(exams, doctor.Sandbox(func(ctx context.Context) (sandbox.Status, error) {
			if err != nil {
				return sandbox.Status{}, err
			}
			return agent.Status(ctx)
		}))
		if err == nil {
			exams = append(exams, doctor.Tools(agent.Tool, toolChains...))
		}
	}
	exams = append(exams, doctor.Services(services(c)...), doctor.Disk(existing(data), leastDisk))
	return doctor.Examine(ctx, exams...)
}

// probeAgent starts a sandbox agent for as long as the examination takes.
func probeAgent(ctx context.Context) (*sandbox.Agent, func(), error) {
	p, err := sandbox.Spawn(ctx, "/proc/self/exe", []string{"sandbox", "agent"}, sandbox.Config{Slots: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, func() {}, err
	}
	stop := func() { _ = p.Close() } // the examination is over
	a, err := sandbox.Dial(p.Conn())
	return a, stop, err
}

// services are the ones that are configured, or what the embedded default
// would start.
func services(c *config) []doctor.Service {
	pg := doctor.Service{Name: "postgresql", Remedy: "apt-get install postgresql, or set DATABASE_URL", Ask: func(ctx context.Context) (string, error) {
		b, err := embedded.FindPostgres(ctx, "", 0)
		return "embedded, version " + b.Version, err
	}}
	if c.get("DATABASE_URL") != "" {
		pg.Mend = postgresService.remedy
		pg.Ask = func(ctx context.Context) (string, error) {
			store, err := sql.Open(ctx, sql.Config{DSN: c.get("DATABASE_URL"), MaxConns: 2})
			if err != nil {
				return "", err
			}
			defer store.Close()
			return "reached", store.Ping(ctx)
		}
	}
	redis := doctor.Service{Name: "redis", Optional: c.get("DELIVERY") != "streams", Remedy: "apt-get install redis-server, or set REDIS_URL, or DELIVERY=postgres", Ask: func(context.Context) (string, error) {
		path, err := embedded.FindRedis("")
		return "embedded, " + path, err
	}}
	if url := c.get("REDIS_URL"); url != "" {
		redis.Mend = redisService.remedy
		redis.Ask = func(ctx context.Context) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			certificates, err := c.clientTLS("REDIS")
			if err != nil {
				return "", err
			}
			s, err := queue.Open(ctx, queue.Config{URL: url, TLS: certificates, Consumer: "doctor", Stream: c.get("JOB_STREAM_KEY"), Group: c.get("JOB_STREAM_GROUP")})
			if err != nil {
				return "", err
			}
			return "reached", errors.Join(s.Ping(ctx), s.Close())
		}
	}
	all := []doctor.Service{pg, redis}
	if c.get("ETCD_ENDPOINTS") != "" {
		all = append(all, doctor.Service{Name: "etcd", Optional: true, Mend: etcdService.remedy, Ask: func(ctx context.Context) (string, error) {
			e, err := openEtcd(c, liveness.NewPostgres(nil, 0), slog.New(slog.DiscardHandler)) // nobody asks for rows
			if err != nil {
				return "", err
			}
			return "reached", errors.Join(e.Ping(ctx), e.Close())
		}})
	}
	if c.get("S3_ENDPOINT") != "" {
		all = append(all, doctor.Service{Name: "object store", Remedy: s3Remedy, Ask: func(ctx context.Context) (string, error) {
			dir, err := os.MkdirTemp("", "deepoj-doctor-")
			if err != nil {
				return "", err
			}
			defer os.RemoveAll(dir)
			s, err := openBlobs(c, dir)
			if err != nil {
				return "", err
			}
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return "reached", s.(pinger).Ping(ctx)
		}})
	}
	return all
}

// existing returns path, or the nearest folder above it that exists.
func existing(path string) string {
	path, err := filepath.Abs(path)
	for err == nil && path != "/" {
		if _, err := os.Stat(path); err == nil {
			return path
		}
		path = filepath.Dir(path)
	}
	return "/"
}
