package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deepoj/sandbox"
	"deepoj/sandbox/internal/wire"
	"deepoj/sandbox/oneshot"
)

// attackerID is the user id of attackers, who have no privilege.
const attackerID = 65534

// fortress is a keeper with an agent, for an attacker to try.
type fortress struct {
	keeper *oneshot.Keeper
	door   *sandbox.KeeperClient
}

func newFortress(t *testing.T, cfg sandbox.Config) fortress {
	t.Helper()
	needRoot(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	judge, err := judgeProgram()
	if err != nil {
		t.Fatal(err)
	}
	k, err := oneshot.Keep(oneshot.KeeperConfig{Sandbox: cfg, OneShot: judge, Agent: []string{exe, agentCommand}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	d, err := sandbox.DialKeeper(t.Context(), k.Conn(), sandbox.KeeperClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return fortress{k, d}
}

// attack runs an attacker and returns what it found.
func (f fortress) attack(t *testing.T, args ...string) []finding {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), readableTestBinary(t), append([]string{attackerCommand}, args...)...)
	cmd.ExtraFiles = []*os.File{f.keeper.Conn()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: attackerID, Gid: attackerID}}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("the attacker: %v: %.2000s", err, errs.String())
	}
	var found []finding
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	f.serves(t)
	return found
}

// serves fails the test unless agent and keeper serve an honest client.
func (f fortress) serves(t *testing.T) {
	t.Helper()
	a, err := f.door.Agent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, b := range []*sandbox.Box{open(t, a, sandbox.BoxOptions{}), oneShotBox(t, f.door)} {
		if o := run(t, b, sandbox.Cmd{Tool: "true"}); o.Verdict != sandbox.OK {
			t.Errorf("afterwards a run ended %v", o)
		}
	}
}

func oneShotBox(t *testing.T, d *sandbox.KeeperClient) *sandbox.Box {
	t.Helper()
	b, err := d.Box(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// refused reports whether an attacker was told that a descriptor is wrong.
func refused(answer string) bool {
	for _, words := range []string{"descriptor ", "a message with more descriptors than it names"} {
		if strings.Contains(answer, words) {
			return true
		}
	}
	return false
}

func TestEachDescriptorIsOnlyTakenForWhatTheProtocolMeans(t *testing.T) {
	f := newFortress(t, sandbox.Config{FirstUID: driverUID, Slots: 2})
	dir, secret := attackersFolder(t), secretFolder(t)
	good, bad := 0, 0
	for _, found := range f.attack(t, "descriptors", dir, secret) {
		if !found.Bad {
			good++
			if found.Answer != "accepted" {
				t.Errorf("%s: %s, want it accepted", found.Try, found.Answer)
			}
			continue
		}
		bad++
		if !refused(found.Answer) {
			t.Errorf("%s: %s, want it refused", found.Try, found.Answer)
		}
	}
	t.Logf("%d were refused and %d accepted", bad, good)
	if bad < 1000 || good < 40 {
		t.Errorf("only %d wrong and %d right ones were tried", bad, good)
	}
	if _, err := os.Stat(filepath.Join(secret, "planted")); err == nil {
		t.Error("the secret folder was written to")
	}
}

// attackersFolder returns a folder that attackers may write to.
func attackersFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandbox-attacker-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, attackerID, attackerID); err != nil {
		t.Fatal(err)
	}
	return dir
}

// rootsSecret is what nobody but root may read.
const rootsSecret = "ROOT-ONLY-FLAG"

// secretFolder returns a folder that only root may enter, in one that all may enter.
func secretFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandbox-secret-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := errors.Join(
		os.Chmod(dir, 0o700), os.WriteFile(filepath.Join(dir, "secret.txt"), []byte(rootsSecret), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAFolderIsNeverTakenAsAFile(t *testing.T) {
	f := newFortress(t, sandbox.Config{FirstUID: driverUID, Slots: 2})
	secret := secretFolder(t)
	for _, found := range f.attack(t, "folders", secret) {
		if !refused(found.Answer) || strings.Contains(found.Read, rootsSecret) {
			t.Errorf("%s: %s, and the program read %q", found.Try, found.Answer, found.Read)
		}
	}
	files, err := os.ReadDir(secret)
	if err != nil || len(files) != 1 {
		t.Errorf("in the secret folder there are %v, %v", files, err)
	}
}

func TestTheOneShotCommandTakesAFolderOnlyByItsName(t *testing.T) {
	needRoot(t)
	judge, err := judgeProgram()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "word"), []byte("taken"), 0o644); err != nil {
		t.Fatal(err)
	}
	folder := opened(t, dir)
	for _, tt := range []struct {
		name  string
		flags []string
		taken bool
	}{
		{"the folder's name", []string{"--dir=" + dir, "--collect=**", "--collect-to=" + dir}, true},
		{"its descriptor to read from", []string{"--dir=/dev/fd/3"}, false},
		{"its descriptor to write to", []string{"--collect=**", "--collect-to=/dev/fd/3"}, false},
		{"its descriptor as the input", []string{"--stdin=/dev/fd/3"}, false},
		{"its descriptor as the output", []string{"--stdout=/dev/fd/3"}, false},
		{"its descriptor as what ends the run", []string{"--until=/dev/fd/3"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append(append([]string{}, judge[1:]...), "--job-id=1", "--attempt-id=1", "--writable")
			args = append(append(args, tt.flags...), "--", "/bin/sh", "-c", "test -f word && echo left >left")
			cmd := exec.CommandContext(t.Context(), judge[0], args...)
			cmd.ExtraFiles = []*os.File{folder}
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			p, err := wire.ParseReport(out, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			_, left := os.Stat(filepath.Join(dir, "left"))
			if tt.taken != (p.Verdict == sandbox.OK) || tt.taken != (left == nil) || !tt.taken && !strings.Contains(p.SandboxError, "/dev/fd/3") {
				t.Errorf("it ended %s with %q, and wrote: %v", p.Verdict, p.SandboxError, left)
			}
			_ = os.Remove(filepath.Join(dir, "left")) // for the next one
		})
	}
}

func TestAMessageThatMakesNoSenseEndsNobody(t *testing.T) {
	f := newFortress(t, sandbox.Config{FirstUID: driverUID, Slots: 2})
	honest, err := f.door.Agent(t.Context()) // is there before and afterwards
	if err != nil {
		t.Fatal(err)
	}
	defer honest.Close()
	b := open(t, honest, sandbox.BoxOptions{})
	found := f.attack(t, "messages")
	for _, x := range found {
		if x.Bad == (x.Answer == "accepted") || x.Answer == "silence" || strings.HasPrefix(x.Answer, "broken") {
			t.Errorf("%s: %s", x.Try, x.Answer)
		}
	}
	if len(found) < 500 {
		t.Errorf("there were only %d tries", len(found))
	}
	if !honest.Alive() {
		t.Error("the agent has ended")
	}
	if o := run(t, b, sandbox.Cmd{Tool: "true"}); o.Verdict != sandbox.OK {
		t.Errorf("in a box that was open all the time a run ended %v", o)
	}
}

func TestABoxKeepsNoMoreInMemoryThanItsShare(t *testing.T) {
	f := newFortress(t, sandbox.Config{FirstUID: driverUID, Slots: 40})
	before := sharedMemory(t)
	for _, x := range f.attack(t, "memory") {
		if x.Bad == (x.Answer == "accepted") || strings.HasPrefix(x.Answer, "broken") || x.Answer == "silence" {
			t.Errorf("%s: %s", x.Try, x.Answer)
		}
	}
	t.Logf("%d MiB of shared memory before, %d afterwards", before>>20, sharedMemory(t)>>20)
}

// sharedMemory returns how many bytes memory files and tmpfs take on this machine.
func sharedMemory(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "Shmem:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

func TestAClientThatReadsNoAnswersHoldsNobodyUp(t *testing.T) {
	f := newFortress(t, sandbox.Config{FirstUID: driverUID, Slots: 1}) // one box, which the attacker has
	for _, x := range f.attack(t, "deaf") {
		if x.Bad == (x.Answer == "accepted") || x.Answer == "it waits" {
			t.Errorf("%s: %s", x.Try, x.Answer)
		}
	}
}

// inheritCommand makes the test binary a process that opens a door or dials an agent on
// descriptor 3, and prints what a child of it has.
const inheritCommand = "sandbox-inherit"

func inherit(what string) error {
	conn := os.NewFile(3, "conn")
	var err error
	switch what {
	case "door":
		_, err = sandbox.DialKeeper(context.Background(), conn, sandbox.KeeperClientConfig{})
	case "agent":
		_, err = sandbox.Dial(conn)
	}
	if err != nil {
		return err
	}
	out, err := exec.Command("/bin/ls", "-l", "/proc/self/fd").Output()
	_, werr := os.Stdout.Write(out)
	return errors.Join(err, werr)
}

func TestAChildOfAClientInheritsNoWayToTheSandbox(t *testing.T) {
	f := newFortress(t, sandbox.Config{FirstUID: driverUID, Slots: 1})
	p, _, err := start(sandbox.Config{FirstUID: driverUID + 100, Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for what, conn := range map[string]*os.File{"nothing": f.keeper.Conn(), "door": f.keeper.Conn(), "agent": p.Conn()} {
		t.Run(what, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), readableTestBinary(t), inheritCommand, what)
			cmd.ExtraFiles = []*os.File{conn}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: attackerID, Gid: attackerID}}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			// Who does nothing hands it down, which shows that the test can see it.
			if got := strings.Contains(string(out), "socket:"); got != (what == "nothing") {
				t.Errorf("a child has\n%s", out)
			}
		})
	}
}

func TestAFileThatTheKernelMakesUpIsCopiedForTheProgramByTheClient(t *testing.T) {
	f, err := os.Open("/proc/version")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	out := memory(nil)
	defer out.Close()
	r, err := open(t, shared.get(t), sandbox.BoxOptions{}).Run(t.Context(), sandbox.Cmd{Tool: "cat", Stdin: f, Stdout: out})
	if err != nil || r.Verdict != sandbox.OK || text(out) != string(want) {
		t.Errorf("ended %+v, %v, with %q", r, err, text(out))
	}
}
