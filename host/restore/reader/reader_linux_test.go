package reader_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deepoj/host/contest/clics"
	"deepoj/host/plugin/walls"
	"deepoj/host/reading/apart"
	"deepoj/host/restore"
	"deepoj/host/restore/reader"
)

// intruder is a process that confines itself as a reader does, and then tries to get out.
const intruder = "contest-intrude"

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == reader.Command:
		os.Exit(reader.Child(os.Args[1:]))
	case len(os.Args) > 1 && os.Args[1] == intruder:
		intrude()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// archive is a package as an open file.
func archive(t *testing.T, p clics.Package) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "contest.zip"))
	if err == nil {
		err = p.Write(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// small is a contest of one team.
func small() clics.Package {
	return clics.Package{
		"contest.json":  []byte(`{"id":"xx","name":"X","start_time":"2023-02-14T09:00:00+01","duration":"5:00:00","scoreboard_type":"pass-fail","penalty_time":20}`),
		"state.json":    []byte(`{"started":"2023-02-14T09:00:00+01","ended":"2023-02-14T14:00:00+01"}`),
		"problems.json": []byte(`[{"id":"A","label":"A","name":"Adding"}]`),
		"teams.json":    []byte(`[{"id":"red","name":"Red"}]`),
	}
}

// long is one with so many submissions.
func long(n int) clics.Package {
	p := small()
	var submissions, judgements bytes.Buffer
	for i := range n {
		comma := ","
		if i == 0 {
			comma = "["
		}
		at := time.Date(2023, 2, 14, 8, 0, 0, 0, time.UTC).Add(time.Duration(i) * 5 * time.Millisecond).Format("2006-01-02T15:04:05.000Z07:00")
		fmt.Fprintf(&submissions, `%s{"id":"%d","team_id":"red","problem_id":"A","language_id":"cpp","time":%q,"contest_time":"0:00:00"}`, comma, i+1, at)
		fmt.Fprintf(&judgements, `%s{"id":"j%d","submission_id":"%d","judgement_type_id":"WA","start_time":%q,"end_time":%q}`, comma, i+1, i+1, at, at)
	}
	submissions.WriteByte(']')
	judgements.WriteByte(']')
	p["submissions.json"], p["judgements.json"] = submissions.Bytes(), judgements.Bytes()
	p["judgement-types.json"] = []byte(`[{"id":"WA","solved":false,"penalty":true}]`)
	p["languages.json"] = []byte(`[{"id":"cpp"}]`)
	return p
}

var options = restore.Options{Space: "s", Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}

// readers are the processes of this one that read contests.
func readers(t *testing.T) (pids []int) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if fields[1] == strconv.Itoa(os.Getpid()) && fields[0] != "Z" && bytes.Contains(line, []byte(reader.Command)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestAContestIsReadInAProcessOfItsOwn(t *testing.T) {
	o, err := reader.Config{}.Read(t.Context(), archive(t, long(2000)), options)
	if err != nil || o.Contest == nil {
		t.Fatalf("read: %+v, %v", o, err)
	}
	if n := len(o.Contest.Past.Submissions); n != 2000 || o.Contest.Past.Round.Title != "X" {
		t.Errorf("%d submissions of %s", n, o.Contest.Past.Round.Title)
	}
	if _, err := o.Contest.Past.Log(map[string]int64{"red": 1}, nil); err != nil {
		t.Error(err)
	}
	broken := small()
	broken["teams.json"] = []byte(`[{"id":"red"}]`)
	if o, err = (reader.Config{}).Read(t.Context(), archive(t, broken), options); err != nil || len(o.Flaws) == 0 {
		t.Errorf("a package with a mistake: %+v, %v", o, err)
	}
	none := archive(t, small())
	if err := none.Truncate(10); err != nil {
		t.Fatal(err)
	}
	if o, err = (reader.Config{}).Read(t.Context(), none, options); err != nil || !strings.Contains(o.Unreadable, "no ZIP") {
		t.Errorf("no archive: %+v, %v", o, err)
	}
}

func TestAContestThatCostsTooMuchIsRefusedAndTheServerGoesOn(t *testing.T) {
	file := archive(t, long(150_000))
	for name, tt := range map[string]struct {
		cfg  reader.Config
		want string
	}{
		"memory":  {reader.Config{Bytes: 16 << 20}, "reading the package took more than 16 MiB of memory"},
		"CPU":     {reader.Config{CPU: time.Second}, "reading the package took more than 1 s of CPU"},
		"silence": {reader.Config{Patience: 50 * time.Millisecond}, "reading the package took longer than 50ms"},
	} {
		o, err := tt.cfg.Read(t.Context(), file, options)
		if err != nil || o.Unreadable != tt.want {
			t.Errorf("too much %s: %+.300v, %v", name, o, err)
		}
	}
	if left := readers(t); len(left) > 0 {
		t.Errorf("the processes %v go on", left)
	}
}

func TestTheReaderEndsWithWhoeverAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := reader.Config{}.Read(ctx, archive(t, long(50_000)), options)
		done <- err
	}()
	for deadline := time.Now().Add(time.Minute); len(readers(t)) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no process reads")
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("it was cancelled, and says %v", err)
	}
	if left := readers(t); len(left) > 0 {
		t.Errorf("the processes %v go on", left)
	}
}

// intrude says what of this machine is still in reach.
func intrude() {
	var l apart.Limits
	if err := json.Unmarshal([]byte(os.Args[2]), &l); err == nil {
		err = l.Confine()
		if err != nil {
			fmt.Println("not confined:", err)
			return
		}
	}
	if _, err := os.ReadFile("/etc/passwd"); err == nil {
		fmt.Println("it reads a file")
	}
	if _, err := os.Create("/tmp/contest-intruder"); err == nil {
		fmt.Println("it makes a file")
	}
	if _, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0); err == nil {
		fmt.Println("it has a socket")
	}
	if err := syscall.Kill(os.Getppid(), 0); err == nil {
		fmt.Println("it may signal its parent")
	}
	if _, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{}); err == nil {
		fmt.Println("it starts a program")
	}
	if len(os.Environ()) > 0 {
		fmt.Println("it has an environment", os.Environ())
	}
	fmt.Println("done")
}

func TestAReaderReachesNothing(t *testing.T) {
	arg, err := json.Marshal(apart.Limits{CPU: 10 * time.Second, Data: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", intruder, string(arg))
	cmd.Env = []string{}
	cmd.ExtraFiles = []*os.File{archive(t, small())}
	out, err := cmd.CombinedOutput()
	landlock := walls.All()[0] // which a program with C in it cannot have, as tests under the race detector are
	if landlock.Missing != "" && strings.Contains(landlock.Missing, "cgo") {
		out = bytes.Replace(out, []byte("it reads a file\n"), nil, 1)
	}
	if err != nil || string(out) != "done\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
