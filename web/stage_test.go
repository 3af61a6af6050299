package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/reading"
	"deepoj/host/restore/reader"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
	"deepoj/web/client"
	"deepoj/web/site"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == reading.Command {
		os.Exit(reading.Child(os.Args[1:]))
	}
	if len(os.Args) > 1 && os.Args[1] == reader.Command {
		os.Exit(reader.Child(os.Args[1:]))
	}
	if len(os.Args) > 3 && os.Args[1] == viewersCommand {
		if err := beViewers(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(sqltest.Main(m))
}

// stage is a running server on a real database, with a hand-driven worker.
type stage struct {
	*testing.T
	store  *sqltest.Store
	server *Server
	url    string
	client *client.Client
}

// newStage starts a server with two problems and a live worker. The options
// change its configuration.
func newStage(t *testing.T, options ...func(*site.Config)) *stage {
	t.Helper()
	s := &stage{T: t, store: sqltest.DB(t)}
	s.addProblems()
	s.beat(languages...)
	s.start(options...)
	return s
}

// asset returns the address of a static file, as pages have it.
func (s *stage) asset(name string) string {
	s.Helper()
	return regexp.MustCompile(`/static/[0-9a-f]+/`).FindString(s.do(http.MethodGet, "/login", "").body) + name
}

// start starts the server; it stops when the test ends.
func (s *stage) start(options ...func(*site.Config)) {
	s.Helper()
	cfg := site.Config{Listen: "127.0.0.1:0", Store: s.store.Site, Rounds: s.store.Rounds, Version: "test", WorkerAge: time.Hour} // a slow machine does not lose its worker
	for _, change := range options {
		change(&cfg)
	}
	server, err := New(cfg)
	s.must(err)
	s.server, s.url = server, "http://"+server.Addr()
	s.client, err = client.New(s.url, client.WithHTTP(&http.Client{Transport: watched{s.T}}))
	s.must(err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	s.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			s.Errorf("the server ended with %v", err)
		}
	})
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

var languages = []judge.Language{
	{ID: "cpp", Name: "C++", Version: "g++ 12.2.0", Command: "g++ -x c++ -std=gnu++20 -O2 -pipe -static -o main main.cpp", Extensions: []string{"cpp", "cc"}, Available: true, Editor: "cpp", CompileCommand: "g++ -std=gnu++20 -O2 -o main main.cpp", RunCommand: "./main"},
	{ID: "python", Name: "Python 3", Version: "CPython 3.11.2", Command: "python3 main.py", Extensions: []string{"py"}, Available: true, Editor: "python", RunCommand: "python3 main.py"},
	{ID: "java", Name: "Java", Version: "OpenJDK 17.0.13", Command: "javac -encoding UTF-8 Main.java", Extensions: []string{"java"}, Available: true, Editor: "java", CompileCommand: "javac -encoding UTF-8 -d out Main.java", RunCommand: "java -cp out Main"},
	{ID: "rust", Name: "Rust", Unavailable: "rustc was not found; install the Debian package rustc", Extensions: []string{"rs"}, Editor: "rust"},
}

// beat makes a worker with these languages live.
func (s *stage) beat(languages ...judge.Language) {
	s.Helper()
	s.must(s.store.WorkerBeat(s.Context(), judge.WorkerInfo{
		Name: "judge1-5f3a", Pool: "default", Slots: 2, Languages: languages, Version: "test",
		Sandbox: "cgroup v2", Started: time.Now(), Seen: time.Now(),
	}))
}

func (s *stage) addProblems() {
	s.Helper()
	s.must(s.store.SaveProblem(s.Context(), judge.Problem{
		Slug: "aplusb", Title: "A plus B", Version: "sha256:" + strings.Repeat("a1", 32),
		Statement: `<p>Two whole numbers <var>a</var> and <var>b</var> are given. Write their sum.</p>
<h2>Input</h2><p>One line with <var>a</var> and <var>b</var>, where −10<sup>9</sup> ≤ <var>a</var>, <var>b</var> ≤ 10<sup>9</sup>.</p>
<h2>Output</h2><p>One line with <code>a + b</code>.</p>`,
		Samples:   []judge.Sample{{Name: "sample/1", Input: "1 2\n", Output: "3\n"}, {Name: "sample/2", Input: "-5 5\n", Output: "0\n"}},
		CPUMillis: 1000, MemoryMiB: 256, OutputMiB: 8, CodeKiB: 64, Source: "Deep-OJ samples", License: "CC0",
	}, "test"))
	s.must(s.store.SaveProblem(s.Context(), judge.Problem{
		Slug: "stairs", Title: "Stairs in the Rain", Version: "sha256:" + strings.Repeat("b2", 32),
		Statement: "<p>Count the ways to climb <var>n</var> steps.</p>",
		Samples:   []judge.Sample{{Name: "sample/1", Input: "3\n", Output: "4\n"}},
		Scoring:   true, MaxScore: 100, CPUMillis: 2000, MemoryMiB: 512, CodeKiB: 1, Languages: []string{"cpp", "python"},
	}, "test"))
}

// submit stores a submission of the guest, straight into the database.
func (s *stage) submit(problem, language, source string) int64 {
	s.Helper()
	return s.submitAs("guest", problem, language, source)
}

func (s *stage) submitAs(author, problem, language, source string) int64 {
	s.Helper()
	r, err := s.store.Submit(s.Context(), sql.NewJob{
		Problem: problem, Language: language, Author: author, Sources: []judge.Source{{Name: "main." + language, Text: source}},
	})
	s.must(err)
	return r.JobID
}

// claim plays the dispatcher and a worker until the job runs.
func (s *stage) claim(jobID int64) judge.Attempt {
	s.Helper()
	return s.claimJob(jobID).Attempt
}

func (s *stage) claimJob(jobID int64) judge.Claim {
	s.Helper()
	for {
		tickets, err := s.store.Pick(s.Context(), jobs.PickRequest{Dispatcher: "test", Limit: 100})
		s.must(err)
		if len(tickets) == 0 {
			break
		}
	}
	jobs, rejected, err := s.store.Claim(s.Context(), []int64{jobID}, "judge1-5f3a", uuid.NewString(), time.Hour)
	s.must(err)
	if len(jobs) != 1 {
		s.Fatalf("claim of %d: %v", jobID, rejected)
	}
	return jobs[0]
}

// test reports one judged test of an attempt.
func (s *stage) test(a judge.Attempt, total int, t judge.TestResult) {
	s.Helper()
	s.must(s.store.Progress(s.Context(), a, []judge.Progress{{Kind: judge.EventTest, Test: &t, Total: total}}))
}

func (s *stage) compiled(a judge.Attempt, total int) {
	s.Helper()
	s.must(s.store.Progress(s.Context(), a, []judge.Progress{
		{Kind: judge.EventCompiled, Compile: &judge.Compile{OK: true, Usage: judge.Usage{CPUMillis: 612}}, Total: total},
	}))
}

// finish claims a job and records its result.
func (s *stage) finish(jobID int64, r judge.Result) {
	s.Helper()
	a := s.claim(jobID)
	s.compiled(a, len(r.Tests))
	for _, t := range r.Tests {
		s.test(a, len(r.Tests), t)
	}
	s.must(s.store.Finalize(s.Context(), a, r))
}

// user adds an account and returns the token of a session.
func (s *stage) user(name, password string, role judge.Role) string {
	s.Helper()
	hash, err := people.HashPassword(password)
	s.must(err)
	s.must(s.store.CreateUser(s.Context(), sql.NewUser{Name: name, PasswordHash: hash, Role: role}))
	token, err := s.client.Login(s.Context(), name, password)
	s.must(err)
	return token
}

// as returns a client of the API that acts as the owner of token.
func (s *stage) as(token string) *client.Client {
	s.Helper()
	c, err := client.New(s.url, client.WithToken(token), client.WithHTTP(&http.Client{Transport: watched{s.T}}))
	s.must(err)
	return c
}

// reply is what a request got.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request with headers given as "Name: value" and does not follow
// redirects.
func (s *stage) do(method, path, body string, headers ...string) reply {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	s.must(err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	c := http.Client{Transport: watched{s.T}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(req)
	s.must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	s.must(err)
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// mixed is a result with everything that a page can show.
func mixed() judge.Result {
	r := judge.Result{
		Verdict: judge.TLE, Score: new(50.0), MaxScore: new(100.0),
		Usage:   judge.Usage{CPUMillis: 2004, WallMillis: 2110, MemoryKiB: 48_212},
		Compile: &judge.Compile{OK: true, Usage: judge.Usage{CPUMillis: 612, WallMillis: 700, MemoryKiB: 90_000}},
		Message: "", Worker: "judge1-5f3a", JudgeNote: "judges only",
		ProblemVersion: "sha256:" + strings.Repeat("b2", 32), Adapter: "sha256:" + strings.Repeat("c3", 32),
		Checker: "sha256:" + strings.Repeat("d4", 32), Tool: "g++ 12.2.0",
		Groups: []judge.GroupResult{
			{Name: "", Verdict: judge.TLE, Score: new(50.0), MaxScore: new(100.0), Formula: "sum(0, 20, 30, 0)"},
			{Name: "sample", Verdict: judge.WA, Score: new(0.0), MaxScore: new(0.0), Formula: "min(0)"},
			{Name: "secret/group1", Verdict: judge.AC, Score: new(20.0), MaxScore: new(20.0), Formula: "min(20, 20, 20)"},
			{Name: "secret/group2", Verdict: judge.AC, Score: new(30.0), MaxScore: new(30.0), Formula: "min(30, 30)"},
			{Name: "secret/group3", Verdict: judge.TLE, Score: new(0.0), MaxScore: new(50.0), Formula: "min(50, 0, …)"},
		},
	}
	add := func(group string, v judge.Verdict, cpu, kib int64, change func(*judge.TestResult)) {
		t := judge.TestResult{
			Index: len(r.Tests) + 1, Name: fmt.Sprintf("%s/%02d-trap", group, len(r.Tests)+1), Group: group, Verdict: v,
			Usage: judge.Usage{CPUMillis: cpu, WallMillis: cpu + 12, MemoryKiB: kib}, JudgeNote: "judges only",
		}
		if change != nil {
			change(&t)
		}
		r.Tests = append(r.Tests, t)
	}
	add("sample", judge.WA, 3, 3_400, func(t *judge.TestResult) {
		t.Name, t.Sample, t.Output, t.Message = "sample/1", true, "5\n", "read 5, expected 4"
	})
	add("secret/group1", judge.AC, 4, 3_512, nil)
	add("secret/group1", judge.AC, 15, 3_600, nil)
	add("secret/group1", judge.AC, 16, 3_600, func(t *judge.TestResult) { t.Reused = true })
	add("secret/group2", judge.AC, 812, 22_004, func(t *judge.TestResult) { t.Output = "secret output" })
	add("secret/group2", judge.AC, 1290, 30_111, func(t *judge.TestResult) { t.Rerun = &judge.Usage{CPUMillis: 2041, WallMillis: 9100} })
	add("secret/group3", judge.TLE, 2004, 48_212, nil)
	for range 4 {
		add("secret/group3", "", 0, 0, nil)
	}
	return r
}
