package checkers_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deepoj/plugins/abi"
)

// opinion is what a checker answered. Team and staff are its messages.
type opinion struct{ verdict, team, staff string }

// check asks both builds of a checker and compares them.
func check(t *testing.T, name, output, answer string, flags ...string) opinion {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{"input": "", "output": output, "answer": answer} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	protocol := manifest(t, name).Protocol
	here := native(t, name, dir, filepath.Join(dir, "output"), protocol, flags)
	there := guest(t, name, dir, protocol, flags)
	if here != there {
		t.Errorf("%s: natively %+v, as a guest %+v", name, here, there)
	}
	return there
}

// arguments are those of a protocol, with every file in folder dir.
func arguments(protocol abi.Protocol, dir string, flags []string) []string {
	in := func(file string) string { return dir + "/" + file }
	if protocol == abi.ICPC1 {
		return append([]string{in("input"), in("answer"), in("feedback") + "/"}, flags...)
	}
	return append([]string{in("input"), in("output"), in("answer")}, flags...)
}

// native runs a checker as a program of this machine. The file stdin may be "".
func native(t *testing.T, name, dir, stdin string, protocol abi.Protocol, flags []string) opinion {
	t.Helper()
	cmd := exec.Command(program(t, name), arguments(protocol, dir, flags)...)
	if stdin != "" {
		f, err := os.Open(stdin)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.Stdin = f
	}
	return finish(t, cmd, dir, protocol)
}

// piped is native with the output in a pipe.
func piped(t *testing.T, name, dir, output string) opinion {
	t.Helper()
	protocol := manifest(t, name).Protocol
	cmd := exec.Command(program(t, name), arguments(protocol, dir, nil)...)
	cmd.Stdin = strings.NewReader(output)
	return finish(t, cmd, dir, protocol)
}

func finish(t *testing.T, cmd *exec.Cmd, dir string, protocol abi.Protocol) opinion {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	feedback(t, dir)
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return judge(t, protocol, dir, cmd.ProcessState.ExitCode(), stderr.String())
}

// guest runs the committed module of a checker.
func guest(t *testing.T, name, dir string, protocol abi.Protocol, flags []string) opinion {
	t.Helper()
	module, err := filepath.Abs(filepath.Join("..", "plugins", "dist", "checker-"+name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	feedback(t, dir)
	r := node(t).run(t, request{
		Module: module, Dir: dir, Stdin: filepath.Join(dir, "output"),
		Args: append([]string{name}, arguments(protocol, "", flags)...),
	})
	if r.Trap != "" {
		t.Fatalf("%s traps: %s", name, r.Trap)
	}
	return judge(t, protocol, dir, r.Exit, r.Stderr)
}

// feedback makes an empty feedback folder.
func feedback(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "feedback")
	if err := errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
}

// judge reads an exit code and the messages as the host does.
func judge(t *testing.T, protocol abi.Protocol, dir string, exit int, stderr string) opinion {
	t.Helper()
	verdicts := map[int]string{0: "accepted", 1: "wrong", 2: "presentation", 3: "failed", 7: "partial"}
	o := opinion{team: strings.TrimSuffix(stderr, "\n")}
	if protocol == abi.ICPC1 {
		verdicts = map[int]string{42: "accepted", 43: "wrong", 1: "failed"}
		if exit != 1 {
			o.team, o.staff = message(t, dir, "teammessage.txt"), message(t, dir, "judgemessage.txt")
		}
	}
	o.verdict = verdicts[exit]
	if o.verdict == "" {
		t.Fatalf("exit code %d is not in protocol %s; stderr %q", exit, protocol, stderr)
	}
	return o
}

func message(t *testing.T, dir, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "feedback", file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\n")
}

// vectors reads a file of conformance vectors.
func vectors[V any](t *testing.T, file string) []V {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "plugins", "vectors", file))
	if err != nil {
		t.Fatal(err)
	}
	var list []V
	if err := json.Unmarshal(text, &list); err != nil || len(list) == 0 {
		t.Fatalf("%s holds %d vectors: %v", file, len(list), err)
	}
	return list
}

func manifest(t testing.TB, name string) abi.Manifest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(name, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m abi.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("manifest of %s: %v", name, err)
	}
	return m
}

// shared is what all tests use: native programs, and one Node.js.
var shared struct {
	sync.Mutex

	dir    string
	built  map[string]string
	runner *runner
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "deepoj-checkers-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shared.dir, shared.built = dir, map[string]string{}
	code := m.Run()
	if shared.runner != nil {
		shared.runner.in.Close()
		if err := shared.runner.cmd.Wait(); err != nil {
			fmt.Fprintln(os.Stderr, "node:", err)
			code = 1
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// program builds a checker for this machine, under the sanitizers.
func program(t testing.TB, name string) string {
	t.Helper()
	return build(t, name, "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover")
}

// build compiles a checker for this machine, once for each set of flags.
func build(t testing.TB, name string, flags ...string) string {
	t.Helper()
	need(t, "gcc")
	shared.Lock()
	defer shared.Unlock()
	key := fmt.Sprint(name, flags)
	if exe, ok := shared.built[key]; ok {
		return exe
	}
	exe := filepath.Join(shared.dir, fmt.Sprintf("%s-%d", name, len(shared.built)))
	args := append(flags, "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-Iinclude", "-o", exe, filepath.Join(name, name+".c"))
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	shared.built[key] = exe
	return exe
}

// need skips a test whose tool is missing, or fails it where all tools must be
// there.
func need(t testing.TB, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err == nil {
		return
	}
	if os.Getenv("DEEPOJ_TEST") == "require" {
		t.Fatalf("%s is not installed", tool)
	}
	t.Skipf("%s is not installed", tool)
}

// runner is a Node.js process that runs modules, one at a time.
type runner struct {
	sync.Mutex

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

type request struct {
	Module string   `json:"module"`
	Dir    string   `json:"dir"`
	Args   []string `json:"args"`
	Stdin  string   `json:"stdin"`
}

type reply struct {
	Exit   int    `json:"exit"`
	Stderr string `json:"stderr"`
	Trap   string `json:"trap"`
}

func node(t testing.TB) *runner {
	t.Helper()
	need(t, "node")
	shared.Lock()
	defer shared.Unlock()
	if shared.runner != nil {
		return shared.runner
	}
	cmd := exec.Command("node", "--no-warnings", filepath.Join("testdata", "wasi.mjs"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	shared.runner = &runner{cmd: cmd, in: in, out: bufio.NewReader(out)}
	return shared.runner
}

func (r *runner) run(t testing.TB, q request) reply {
	t.Helper()
	r.Lock()
	defer r.Unlock()
	line, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	answer, err := r.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var a reply
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Fatalf("node answers %q: %v", answer, err)
	}
	return a
}
