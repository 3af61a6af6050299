package worker

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/host/platform"
	"deepoj/host/plugin/internal/admission"
	"deepoj/host/plugin/internal/fuel"
	"deepoj/host/plugin/internal/wire"
	"deepoj/plugins"
	"deepoj/plugins/abi"
)

// BenchmarkFuel compares modules that count fuel with the same modules as they
// were uploaded. The two take turns, and the median of the ratios counts. `make
// bench-checker` runs it.
//
// What counts also tells its state, so that an instance of it is used again: that is
// far more than counting where a call is short and an instance large.
func BenchmarkFuel(b *testing.B) {
	mem, err := newMemory(1 << 30)
	if err != nil {
		b.Fatal(err)
	}
	s, err := newServer(b.Context(), b.TempDir(), mem)
	if err != nil {
		b.Fatal(err)
	}
	const most = 1.20
	numbers := func(n int, between string) string {
		var t strings.Builder
		for i := range n {
			fmt.Fprintf(&t, "%d.5%s", 1_000_000+i, between)
		}
		return t.String()
	}
	const large = 500_000
	output, answer := numbers(large, " "), numbers(large, "\n")
	var rows []*fuelRow
	for _, name := range []string{"tokens", "floats", "lines", "default"} {
		wasm, err := plugins.Checker(name)
		if err != nil {
			b.Fatal(err)
		}
		q := wire.Request{Args: []string{"checker", "input", "output", "answer"}, Files: []string{"input", "output", "answer"}}
		files, want := []string{"", output, answer}, uint32(0)
		switch name {
		case "lines":
			files[1] = answer
		case "default":
			q.Args, q.Files, q.Stdin, q.Feedback = []string{"validator", "input", "answer", "feedback/"}, []string{"input", "answer"}, wire.StdinFile, true
			files, want = []string{"", answer, output}, 42
		}
		rows = append(rows, newFuelRow(b, s, name+", 5 MB", wasm, q, files, want))
	}
	languages, err := plugins.Languages()
	if err != nil {
		b.Fatal(err)
	}
	cpp, err := languages.Read("cpp")
	if err != nil {
		b.Fatal(err)
	}
	question, err := json.Marshal(abi.PlanRequest{Judge: abi.Version, Op: abi.OpPlan, Sources: []abi.Source{{Name: "main.cpp", Text: strings.Repeat("int x;\n", 50)}}})
	if err != nil {
		b.Fatal(err)
	}
	plan := newFuelRow(b, s, "adapter in Go, plan", cpp, wire.Request{Args: []string{"deepoj.cpp", abi.OpPlan}, Stdin: wire.StdinBlob}, nil, 0)
	plan.blob = question
	rows = append(rows, plan)
	for b.Loop() {
		for _, r := range rows {
			r.round(b)
		}
	}
	fmt.Printf("\n%-26s %12s %12s %8s %8s\n", "ms of CPU time", "not counting", "counting", "ratio", "at most")
	for _, r := range rows {
		ratios := make([]float64, len(r.took[0]))
		for i := range ratios {
			ratios[i] = float64(r.took[1][i]) / float64(r.took[0][i])
		}
		for _, xs := range [][]float64{ratios, r.took[0], r.took[1]} {
			slices.Sort(xs)
		}
		half := len(ratios) / 2
		fmt.Printf("%-26s %12.3f %12.3f %7.2f× %7.2f×\n", r.name, r.took[0][half]/1e6, r.took[1][half]/1e6, ratios[half], most)
		b.ReportMetric(ratios[half], strings.NewReplacer(" ", "_", ",", "").Replace(r.name)+"_x")
	}
	b.ReportMetric(0, "ns/op")
}

// fuelRow is a module in both forms.
type fuelRow struct {
	name  string
	s     *server
	dirs  [2]string // as it was uploaded; counting
	q     wire.Request
	blob  []byte // what it reads
	files []int
	want  uint32
	took  [2][]float64 // nanoseconds, by round
}

func newFuelRow(b *testing.B, s *server, name string, wasm []byte, q wire.Request, files []string, want uint32) *fuelRow {
	b.Helper()
	q.MemoryBytes, q.Fuel, q.OutputBytes = 256<<20, math.MaxInt64/2, 1<<20
	r := &fuelRow{name: name, s: s, q: q, want: want}
	parts, refusal := admission.Scan(wasm, admission.Limits{ModuleBytes: 16 << 20, MemoryPages: 1024 * admission.PagesPerMiB})
	if refusal != nil {
		b.Fatal(refusal)
	}
	counting, refusal := admission.Rewrite(parts)
	if refusal != nil {
		b.Fatal(refusal)
	}
	for i, module := range [][]byte{wasm, counting} {
		r.dirs[i] = filepath.Join(s.dir, fmt.Sprintf("%s-%d", name, i))
		if err := os.Mkdir(r.dirs[i], 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.dirs[i], wire.ModuleFile), module, 0o600); err != nil {
			b.Fatal(err)
		}
		if _, err := compileChild(r.dirs[i], false); err != nil {
			b.Fatal(err)
		}
	}
	for _, text := range files {
		f, err := platform.MemoryFile("bench")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
		if _, err := f.WriteString(text); err != nil {
			b.Fatal(err)
		}
		r.files = append(r.files, int(f.Fd()))
	}
	return r
}

// round calls the module in both forms, several times if that is short.
func (r *fuelRow) round(b *testing.B) {
	b.Helper()
	for i, dir := range r.dirs {
		r.q.Dir = dir
		var took time.Duration
		calls := 0
		for ; calls == 0 || took < 20*time.Millisecond; calls++ {
			var fds []int
			for _, f := range r.files {
				fd, err := unix.Dup(f)
				if err != nil {
					b.Fatal(err)
				}
				fds = append(fds, fd)
			}
			r.s.cpu = fuel.ProcessTime()
			a, said, err := r.s.call(r.q, r.blob, fds)
			if err != nil || a.Fault != wire.FaultNone || a.Exit != r.want {
				b.Fatalf("%s: %+v, %v\n%.200s", r.name, a, err, said)
			}
			if len(r.took[i]) > 0 || calls > 0 { // the first of all loads the module
				took += time.Duration(a.CPUNanos)
			}
		}
		r.took[i] = append(r.took[i], float64(took)/float64(calls))
	}
}
