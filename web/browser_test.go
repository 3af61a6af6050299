package web

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/web/client"
	"deepoj/web/site"
)

// complaints collects what a browser's console says.
type complaints struct {
	mu   sync.Mutex
	said []string
}

func (c *complaints) hear(event any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		for _, arg := range e.Args {
			c.said = append(c.said, fmt.Sprintf("%s: %s%s", e.Type, arg.Value, arg.Description))
		}
	case *runtime.EventExceptionThrown:
		c.said = append(c.said, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		c.said = append(c.said, e.Entry.Text)
	}
}

// take returns what was said since the last call.
func (c *complaints) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := c.said
	c.said = nil
	return said
}

// browser returns a context that drives a headless Chromium, and what its
// console complains about. Its end is the only bound on a test's steps: where
// everything is slow, a step is, and only a hang takes so long.
func browser(t *testing.T) (context.Context, *complaints) {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal(err)
		}
		t.Skip("chromium was not found; install the Debian package chromium")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Minute)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	console := new(complaints)
	if err := chromedp.Listen(ctx, console.hear); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	return ctx, console
}

// looks are the ways in which people look at pages.
var looks = map[string]look{
	"wide-light":  {1280, 900, "light"},
	"wide-dark":   {1280, 900, "dark"},
	"phone-light": {390, 844, "light"},
	"phone-dark":  {390, 844, "dark"},
}

type look struct {
	width, height int64
	scheme        string
}

// set makes the browser's screen this one.
func (l look) set(ctx context.Context) error {
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}},
	})
	if err != nil {
		return err
	}
	return chromedp.Do(ctx, chromedp.EmulateViewport(l.width, l.height))
}

// picture takes a screenshot of the whole page into the folder that
// DEEPOJ_ARTIFACTS names, if any.
func picture(ctx context.Context, name string) error {
	dir := os.Getenv("DEEPOJ_ARTIFACTS")
	if dir == "" {
		return nil
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
}

func TestPagesFitTheScreen(t *testing.T) {
	s := newStage(t)
	paths := s.scene()
	ctx, console := browser(t)
	for look, l := range looks {
		s.must(l.set(ctx))
		for name, path := range paths {
			t.Run(look+" "+name, func(t *testing.T) {
				steps := []chromedp.Action[chromedp.Void]{
					chromedp.Navigate(s.url + path), chromedp.WaitVisible(chromedp.CSS("#theme")),
				}
				if strings.HasPrefix(path, "/problems/") && s.server.HasEditor() {
					steps = append(steps, chromedp.WaitVisible(chromedp.CSS(".cm-content")))
				}
				if err := chromedp.Do(ctx, steps...); err != nil {
					t.Fatal(err)
				}
				examine(ctx, t, look, console, name == "missing")
				if err := picture(ctx, name+"-"+look); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// scene fills the database with submissions in every state, and returns the
// pages that show them.
func (s *stage) scene() map[string]string {
	s.Helper()
	source := "#include <iostream>\n\nint main() {\n    long long a, b;\n    std::cin >> a >> b;\n    std::cout << a + b << '\\n';\n}\n"
	accepted := s.submit("aplusb", "cpp", source)
	ac := judge.Result{Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 4, WallMillis: 6, MemoryKiB: 3_512}, Compile: &judge.Compile{OK: true}, Tool: "g++ 12.2.0"}
	for i := range 42 {
		group := "secret"
		if i < 2 {
			group = "sample"
		}
		ac.Tests = append(ac.Tests, judge.TestResult{
			Index: i + 1, Group: group, Sample: i < 2, Verdict: judge.AC,
			Usage: judge.Usage{CPUMillis: int64(2 + i%7), WallMillis: int64(4 + i%9), MemoryKiB: 3_400 + int64(i*13)},
		})
	}
	s.finish(accepted, ac)
	broken := s.submit("aplusb", "cpp", strings.Replace(source, "<< '\\n'", "<< endl", 1))
	s.must(s.store.Finalize(s.Context(), s.claim(broken), judge.Result{Verdict: judge.CE, Compile: &judge.Compile{
		Command: languages[0].Command,
		Output:  "main.cpp: In function 'int main()':\nmain.cpp:6:31: error: 'endl' was not declared in this scope; did you mean 'std::endl'?\n",
		Diagnostics: []judge.Diagnostic{
			{File: "main.cpp", Line: 6, Column: 31, Severity: "error", Message: "'endl' was not declared in this scope; did you mean 'std::endl'?"},
			{File: "main.cpp", Line: 1, Severity: "note", Message: "'std::endl' is defined in header '<ostream>'"},
		},
	}}))
	points := s.submit("stairs", "cpp", source)
	s.finish(points, mixed())
	failed := s.submit("stairs", "python", "print(4)\n")
	s.finish(failed, judge.Result{Verdict: judge.JE, Message: "The checker stopped on test 2.", Tests: []judge.TestResult{
		{Index: 1, Group: "sample", Sample: true, Verdict: judge.AC}, {Index: 2, Group: "secret/group1", Verdict: judge.JE},
	}})
	for _, v := range []judge.Verdict{judge.WA, judge.MLE, judge.OLE, judge.RE} {
		id := s.submit("aplusb", "python", fmt.Sprintf("# %s\n", v))
		s.finish(id, judge.Result{
			Verdict: v, Usage: judge.Usage{CPUMillis: 120, MemoryKiB: 262_144},
			Tests: []judge.TestResult{{Index: 1, Group: "secret", Verdict: v, Usage: judge.Usage{CPUMillis: 120, MemoryKiB: 262_144}, ExitSignal: 11}},
		})
	}
	running := s.submit("stairs", "cpp", source)
	a := s.claim(running)
	s.compiled(a, 11)
	for _, t := range mixed().Tests[1:6] {
		t.Index--
		s.test(a, 11, t)
	}
	r, err := s.client.StartRun(s.Context(), client.NewRun{
		Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "main.cpp", Text: source}}, Tests: []client.RunTest{{}, {}},
	})
	s.must(err)
	s.finish(r.JobID, ran(judge.RE, judge.RunOutput{Stdout: []byte(strings.Repeat("3 ", 200)), Stderr: []byte("oops")}, judge.RunOutput{}))
	waiting := s.submit("stairs", "cpp", source)
	return map[string]string{
		"problems": "/", "problem": "/problems/aplusb", "submissions": "/submissions", "queue": "/queue", "languages": "/languages",
		"login": "/login", "errors": "/api/errors", "missing": "/nowhere",
		"accepted": site.SubmissionURL(accepted), "broken": site.SubmissionURL(broken), "points": site.SubmissionURL(points),
		"failed": site.SubmissionURL(failed), "running": site.SubmissionURL(running), "waiting": site.SubmissionURL(waiting),
		"run":   site.RunURL(r.JobID),
		"again": "/problems/aplusb?from=" + fmt.Sprint(broken),
	}
}
