package e2e

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// lightProgram is what is judged in [BenchmarkVerdicts].
type lightProgram struct {
	name, language, file, text string

	tests int
	jobs  int     // in one turn
	turns int     // how often ours and the floor are measured, one after the other
	fresh bool    // each job has a source of its own
	want  float64 // of the floor
}

// spin uses 50 ms of CPU time, by the clock of the process.
const spin = `#include <ctime>
#include <iostream>
int main() {
	long long a, b;
	std::cin >> a >> b;
	while (std::clock() < CLOCKS_PER_SEC / 20) {}
	std::cout << a + b << "\n";
}
`

var lightPrograms = []lightProgram{
	{name: "C++, 12 tests", language: "cpp", file: "a.cpp", text: verdictPrograms[0].text, tests: 12, jobs: 120, turns: 3, want: 0.50},
	{name: "C++, 100 tests", language: "cpp", file: "a.cpp", text: verdictPrograms[0].text, tests: 100, jobs: 24, turns: 3, want: 0.60},
	{name: "C++, 12 tests of 50 ms", language: "cpp", file: "a.cpp", text: spin, tests: 12, jobs: 12, turns: 3, want: 0.92},
	{name: "Python, 12 tests", language: "python", file: "a.py", text: languagePrograms[3].text, tests: 12, jobs: 32, turns: 3, want: 0.50},
	{name: "C++, compiled each time", language: "cpp", file: "a.cpp", text: verdictPrograms[0].text, tests: 12, jobs: 24, turns: 15, fresh: true, want: 0.90},
}

// BenchmarkVerdicts compares a Deep-OJ on its embedded default with the floor: a process that does nothing but start the
// program for each test by vfork and exec and compare its output, two of them at a time on two cores, of what a plain
// `g++ -O2` makes. All jobs are committed before the clock starts. For each row it reports
//
//   - jobs/s and floor-jobs/s, and of-floor: their ratio,
//   - static-floor-jobs/s: the floor of what `g++ -O2 -static` makes,
//   - own-µs/test: CPU time of all processes, PostgreSQL and Redis included, less that of the floor of what is judged,
//     which is static; and of that the sandbox, plugins, PostgreSQL, Redis, and the others.
//
// Figures are medians of turns.
func BenchmarkVerdicts(b *testing.B) {
	needRoot(b)
	sayWhere()
	dir := folder(b)
	floor := filepath.Join(dir, "floor")
	plainly(b, "gcc", "-O2", "-o", floor, "testdata/floor.c")
	proc, url, _ := up(b, filepath.Join(dir, "data"), []string{"RATE_PER_USER=0"})
	c, token, _ := firstAdmin(b, proc, url)
	ctx, cancel := context.WithTimeout(b.Context(), 30*time.Minute)
	defer cancel()
	submitAndWait(ctx, b, c, "aplusb", languagePrograms[7]) // Go: its cache is filled in the background until then
	for _, p := range lightPrograms {
		b.Run(p.name, func(b *testing.B) {
			slug := fmt.Sprintf("light%d", p.tests)
			tests := makeLight(b, dir, slug, p.tests)
			if _, err := c.Problem(ctx, slug, ""); err != nil {
				out, errs, status := deepoj(b, []string{"DEEPOJ_URL=" + url, "DEEPOJ_KEY=" + token}, "problem", "upload", tests+".zip", "--wait")
				if status != 0 {
					b.Fatalf("upload: %d\n%s%s", status, out, errs)
				}
			}
			light(ctx, b, c, proc, floor, tests, p)
		})
	}
}

// makeLight makes a folder of tests and, beside it, a package with them.
func makeLight(b *testing.B, dir, slug string, tests int) string {
	b.Helper()
	files := map[string]string{"problem.yaml": "name: Sum\nlimits:\n  time_limit: 2\n", "problem_statement/problem.en.tex": "Write the sum.\n", "submissions/accepted/a.py": languagePrograms[3].text}
	to := filepath.Join(dir, slug)
	if err := os.MkdirAll(to, 0o755); err != nil {
		b.Fatal(err)
	}
	for i := range tests {
		for ending, text := range map[string]string{"in": fmt.Sprintf("%d %d\n", i, 2*i), "ans": fmt.Sprintf("%d\n", 3*i)} {
			name := fmt.Sprintf("%03d.%s", i+1, ending)
			files["data/secret/"+name] = text
			if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	var z bytes.Buffer
	w := zip.NewWriter(&z)
	for name, text := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(to+".zip", z.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	return to
}

// plainly runs a command of the machine.
func plainly(b *testing.B, name string, args ...string) []byte {
	b.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		b.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return out
}

// light measures one row.
func light(ctx context.Context, b *testing.B, c *client.Client, proc *process, floor, tests string, p lightProgram) {
	program, static := lightCommands(b, tests, p)
	submitAndWait(ctx, b, c, filepath.Base(tests), program0(p)) // compiles
	var ours, floors, statics, own []float64
	parts := map[string][]float64{}
	for turn := range p.turns {
		wall, cpu := lightJobs(ctx, b, c, proc, filepath.Base(tests), p, turn)
		least, leastCPU := lightFloor(b, floor, tests, p, program)
		if p.fresh {
			least += compilePlainly(ctx, b, c, tests, p)
		}
		ours, floors = append(ours, float64(p.jobs)/wall.Seconds()), append(floors, float64(p.jobs)/least.Seconds())
		if static != nil { // as ours is
			least, leastCPU = lightFloor(b, floor, tests, p, static)
			statics = append(statics, float64(p.jobs)/least.Seconds())
		}
		cpu["sandbox"] -= leastCPU
		sum := time.Duration(0)
		for part, spent := range cpu {
			sum += spent
			parts[part] = append(parts[part], float64(spent.Microseconds())/float64(p.jobs*p.tests))
		}
		own = append(own, float64(sum.Microseconds())/float64(p.jobs*p.tests))
	}
	b.ReportMetric(median(ours), "jobs/s")
	b.ReportMetric(median(floors), "floor-jobs/s")
	b.ReportMetric(median(ours)/median(floors), "of-floor")
	b.ReportMetric(p.want, "of-floor-wanted")
	if !p.fresh {
		b.ReportMetric(median(own), "own-µs/test")
		for part, spent := range parts {
			b.ReportMetric(median(spent), part+"-µs/test")
		}
	}
	if static != nil {
		b.ReportMetric(median(statics), "static-floor-jobs/s")
	}
}

func program0(p lightProgram) program { return program{p.name, p.language, p.file, p.text, judge.AC} }

// lightCommands compiles a program plainly, in both ways if it is compiled.
func lightCommands(b *testing.B, tests string, p lightProgram) (program, static []string) {
	b.Helper()
	source := filepath.Join(tests, p.file)
	if err := os.WriteFile(source, []byte(p.text), 0o644); err != nil {
		b.Fatal(err)
	}
	if p.language == "python" {
		return []string{"/usr/bin/python3", source}, nil
	}
	plainly(b, "g++", "-O2", "-o", source+".out", source)
	plainly(b, "g++", "-O2", "-static", "-o", source+".static", source)
	return []string{source + ".out"}, []string{source + ".static"}
}

// lightFloor returns how long the floor took for the jobs of a turn, and its CPU time.
func lightFloor(b *testing.B, floor, tests string, p lightProgram, command []string) (wall, cpu time.Duration) {
	b.Helper()
	var ns, us, passed int64
	out := plainly(b, floor, append([]string{tests, fmt.Sprint(p.jobs), fmt.Sprint(runtime.NumCPU())}, command...)...)
	if _, err := fmt.Sscan(string(out), &ns, &us, &passed); err != nil || passed != int64(p.jobs*p.tests) {
		b.Fatalf("the floor says %q: %v", out, err)
	}
	return time.Duration(ns), time.Duration(us) * time.Microsecond
}

// compilePlainly returns how long compiling the sources of a turn takes, on all cores, by the command that Deep-OJ uses.
func compilePlainly(ctx context.Context, b *testing.B, c *client.Client, tests string, p lightProgram) time.Duration {
	b.Helper()
	all, err := c.Languages(ctx)
	if err != nil {
		b.Fatal(err)
	}
	at := slices.IndexFunc(all, func(l client.OfferedLanguage) bool { return l.ID == p.language })
	command := strings.Fields(all[at].Command)
	command = slices.DeleteFunc(command, func(arg string) bool { return strings.HasSuffix(arg, ".cpp") })
	sources := make(chan string, p.jobs)
	for i := range p.jobs {
		sources <- fmt.Sprintf("%s/plain%d.cpp", tests, i)
		if err := os.WriteFile(fmt.Sprintf("%s/plain%d.cpp", tests, i), []byte(p.text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	close(sources)
	began, ended := time.Now(), make(chan error)
	for range runtime.NumCPU() {
		go func() {
			var err error
			for s := range sources {
				if err == nil {
					args := slices.Clone(command)
					args[slices.Index(args, "-o")+1] = s + ".out"
					err = exec.Command(args[0], append(args[1:], s)...).Run()
				}
			}
			ended <- err
		}()
	}
	for range runtime.NumCPU() {
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began)
}

// lightJobs hands in the jobs of a turn while nothing is judged, and returns how long
// Deep-OJ takes for all of them, and the CPU time of its processes.
func lightJobs(ctx context.Context, b *testing.B, c *client.Client, proc *process, problem string, p lightProgram, turn int) (wall time.Duration, cpu map[string]time.Duration) {
	b.Helper()
	if _, err := c.PostQueuePause(ctx, judge.DefaultQueue); err != nil {
		b.Fatal(err)
	}
	var ids []int64
	for i := range p.jobs {
		text := p.text
		if p.fresh {
			text += fmt.Sprintf("// %d of turn %d\n", i, turn)
		}
		r, err := c.Submit(ctx, client.NewSubmission{Problem: problem, Language: p.language, Sources: []judge.Source{{Name: p.file, Text: text}}})
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, r.JobID)
	}
	used, began := cpuTimes(b, proc), time.Now()
	if _, err := c.PostQueueResume(ctx, judge.DefaultQueue); err != nil {
		b.Fatal(err)
	}
	if _, err := c.Wait(ctx, ids[len(ids)-1]); err != nil { // the others are before it, but for the last few
		b.Fatal(err)
	}
	cpu = cpuTimes(b, proc)
	for part, before := range used {
		cpu[part] -= before
	}
	var last time.Time
	for _, id := range ids {
		s, err := c.Wait(ctx, id)
		if err != nil {
			b.Fatal(err)
		}
		if s.Result == nil || s.Result.Verdict != judge.AC {
			b.Fatalf("submission %d: %s", id, describe(s))
		}
		if s.Finished != nil && s.Finished.After(last) {
			last = *s.Finished
		}
	}
	return last.Sub(began), cpu
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// sayWhere prints what is measured, and on what.
func sayWhere() {
	commit, _ := exec.Command("git", "describe", "--always", "--dirty").Output()
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	fmt.Printf("commit %s, %d cores, %s, Linux %s, %s\n", strings.TrimSpace(string(commit)), runtime.NumCPU(), cpuModel(), strings.TrimSpace(string(kernel)), runtime.Version())
}

func cpuModel() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown CPU"
}
