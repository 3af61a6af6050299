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
	"deepoj/host/judge"
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

// drawingExtras are what pictures and documents of statements need, by logical name.
var drawingExtras = []doctor.Extra{
	{Name: "pdftocairo", Without: "pictures in PDF are not shown in statements", Remedy: "apt-get install poppler-utils"},
	{Name: "pdftotext", Without: "statements that are PDF are not searched", Remedy: "apt-get install poppler-utils"},
	{Name: "gs", Without: "pictures in EPS are not shown in statements", Remedy: "apt-get install ghostscript"},
}

// printingExtras are what printing needs.
var printingExtras = []doctor.Extra{
	{Name: "chromium", Without: "`deepoj problem print` makes no PDF; browsers print the same pages", Remedy: browserRemedy},
}

// leastDisk is the free space below which the machine is about to stop.
const leastDisk = 1 << 30

// diagnose examines the machine. Its status is 0 when jobs can be judged, or with
// --security when nothing that protects it is missing.
func diagnose(ctx context.Context, e *env) int {
	f, path := newFlags(e, "doctor", "")
	asJSON := f.Bool("json", false, "print JSON")
	data := f.String("data", defaultData, "data folder")
	security := f.Bool("security", false, "say what protects this machine and the Deep-OJ that runs on it")
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	c, err := settingsFor(e, f, *path)
	if err != nil {
		return e.fail(err)
	}
	examine, write := examineMachine, doctor.Report.WriteText
	if *security {
		examine, write = examineProtection, doctor.Report.WriteProtection
	}
	report := examine(ctx, c, *data)
	if *asJSON {
		write = doctor.Report.WriteJSON
	}
	err = write(report, e.stdout)
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
	boxes, stop := examineSandbox(ctx, true)
	defer stop()
	exams = append(exams, boxes...)
	exams = append(exams, doctor.Extras(func(context.Context, string) (string, error) { return findBrowser() }, printingExtras...))
	exams = append(exams, doctor.Services(services(c)...), doctor.Disk(existing(data), leastDisk))
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if store, err := openDatabase(asking, c, data); err == nil { // otherwise nothing runs, or it was named above
		defer store.Close()
		exams = append(exams, doctor.Workers(func(ctx context.Context) ([]judge.WorkerInfo, error) {
			return store.Workers(ctx, liveness.DefaultAge)
		}, needRemedies))
	}
	return doctor.Examine(ctx, exams...)
}

// examineSandbox looks at a sandbox agent that runs until stop is called, and if
// wanted at the tools that it finds.
func examineSandbox(ctx context.Context, tools bool) (exams []doctor.Exam, stop func()) {
	stop = func() {}
	var rootless error
	if os.Geteuid() != 0 {
		rootless = sandbox.Rootless()
	}
	if rootless != nil {
		return []doctor.Exam{doctor.Rootless(rootless)}, stop
	}
	agent, stop, err := probeAgent(ctx)
	exams = append(exams, doctor.Sandbox(func(ctx context.Context) (sandbox.Status, error) {
		if err != nil {
			return sandbox.Status{}, err
		}
		return agent.Status(ctx)
	}))
	if err == nil && tools {
		exams = append(exams, doctor.Tools(agent.Tool, toolChains...), doctor.Compilers(func(ctx context.Context) ([]judge.Language, error) {
			return compilersHere(ctx, agent)
		}), doctor.Extras(func(ctx context.Context, name string) (string, error) {
			found, err := agent.Tool(ctx, name)
			return found.Path, err
		}, drawingExtras...))
	}
	return exams, stop
}

// compilersHere says which sources of plugins can be compiled here.
func compilersHere(ctx context.Context, agent *sandbox.Agent) (found []judge.Language, err error) {
	dir, err := os.MkdirTemp("", "deepoj-doctor-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	j, done, err := openCompiler(dir, "", agent)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return j.Compilers(ctx), nil
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
	if dir := c.get("BLOB_DIR"); dir != "" && c.get("S3_ENDPOINT") == "" {
		all = append(all, doctor.Service{Name: "blob folder", Remedy: needRemedies["blob_store"], Ask: func(context.Context) (string, error) {
			_, err := os.ReadDir(dir) // a worker makes it where it is missing; reading it harms nobody
			return dir, err
		}})
	}
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
