package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"deepoj/host/judging"
	"deepoj/host/plugin"
	"deepoj/host/telemetry"
	"deepoj/plugins"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// pluginVerbs are the commands of those who write plugins.
var pluginVerbs = []command{
	{name: "test", doc: "FILE.wasm: prove that it keeps to its contract, also on a problem package", run: provePlugin},
	{name: "run", doc: "FILE.wasm INPUT OUTPUT ANSWER [-- ARGS]: ask a checker and print one JSON line", run: runPlugin},
	{name: "build", doc: "FILE...: compile C, C++ or Go to WebAssembly, in the sandbox", run: buildPlugin},
	{name: "inspect", doc: "FILE.wasm: print its manifest, digest, size, imports, exports, memory and limits", run: inspectPlugin},
}

// pluginCommand is `deepoj plugin VERB`.
func pluginCommand(ctx context.Context, e *env) int {
	if len(e.args) > 0 {
		verb := e.args[0]
		for _, c := range pluginVerbs {
			if c.name == verb {
				e.args = e.args[1:]
				return c.run(ctx, e)
			}
		}
		if verb == "help" || verb == "-h" || verb == "--help" {
			fmt.Fprint(e.stdout, pluginUsage())
			return 0
		}
		fmt.Fprintf(e.stderr, "deepoj: unknown command \"plugin %s\"\n", verb)
	}
	fmt.Fprint(e.stderr, pluginUsage())
	return 2
}

func pluginUsage() string {
	var b strings.Builder
	b.WriteString("usage: deepoj plugin VERB [flags] ...\n\n")
	for _, c := range pluginVerbs {
		fmt.Fprintf(&b, "  deepoj plugin %-7s %s\n", c.name, c.doc)
	}
	b.WriteString("\n`deepoj plugin VERB --help` lists a verb's flags.\n")
	return b.String()
}

// parseMixed parses flags that may also follow the arguments, and returns the
// arguments. Without ok the status is what the command returns.
func parseMixed(f *flag.FlagSet, args []string) (rest []string, status int, ok bool) {
	for {
		if status, ok := parse(f, args); !ok {
			return nil, status, false
		}
		if f.NArg() == 0 {
			return rest, 0, true
		}
		rest, args = append(rest, f.Arg(0)), f.Args()[1:]
	}
}

// readModule reads a file of at most as many bytes as a module may have. More is
// for the admission to refuse.
func readModule(name string) ([]byte, error) {
	const most = 64 << 20
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", name)
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes: no module has so many", name, info.Size())
	}
	return os.ReadFile(filepath.Clean(name))
}

// bench is where plugins are tried: a folder, a runtime and perhaps a sandbox.
type bench struct {
	dir     string
	cache   string // what is compiled, which the next command finds again; "" = nobody keeps it
	kept    bool   // dir stays
	plugins *plugin.Runtime
	agent   *sandbox.Agent // nil without one
	stop    func()         // ends the agent
	factors map[string]float64
}

// openBench makes a bench, in CACHE_DIR if that is set. A process of root keeps root in the sandbox agent
// alone, if one is wanted, and goes on as an unprivileged account: what it is to
// read of root's must be open before. Without an agent, noAgent says why. Compiled
// plugins are kept for the next command in any case.
func openBench(ctx context.Context, e *env, wantAgent bool) (b *bench, noAgent error, err error) {
	return openBenchAs(ctx, e, wantAgent, func() error { return dropRoot(ctx, e) })
}

// openBenchAs is openBench for a process that gives up root in its own way.
func openBenchAs(ctx context.Context, e *env, wantAgent bool, giveUp func() error) (b *bench, noAgent error, err error) {
	b = &bench{stop: func() {}}
	if b.factors, err = timeFactors(e.variable("TIME_FACTORS")); err != nil {
		return b, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if wantAgent {
		b.agent, b.stop, noAgent = startAgent(ctx)
	}
	own := commandCache(ctx, e)
	if err := giveUp(); err != nil {
		return b, noAgent, err
	}
	if cache := e.variable("CACHE_DIR"); cache != "" {
		b.dir, b.kept = filepath.Join(cache, "bench"), true
		err = os.MkdirAll(b.dir, 0o700)
		own = b.dir
	} else {
		b.dir, err = os.MkdirTemp("", "deepoj-plugin-")
	}
	if err != nil {
		return b, noAgent, err
	}
	if b.cache, err = trusted(own); err != nil {
		fmt.Fprintf(e.stderr, "deepoj: warning: nothing that is compiled is kept for the next command: %v\n", err)
		b.cache, err = b.dir, nil
	}
	b.plugins, err = plugin.New(plugin.Config{CacheDir: filepath.Join(b.cache, "plugins")})
	return b, noAgent, err
}

// commandCache returns the folder in which commands of this account find what they
// compiled: plugins, checkers and programs. For root it is that of the account that
// root becomes. It returns "" if there is none: then every command takes seconds more.
func commandCache(ctx context.Context, e *env) string {
	who, err := findAccount(ctx, "", telemetry.Logger(e.stderr, slog.LevelInfo, false))
	if err != nil {
		return ""
	}
	if who == nil {
		cache, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(cache, "deepoj")
	}
	dir := filepath.Join("/var/cache/deepoj", who.Name)
	err = errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o700), os.Chown(dir, int(who.UID), int(who.GID)))
	if err != nil {
		return ""
	}
	return dir
}

// trusted returns a folder of what was compiled, which is made if it is missing. The
// error says why what is in it cannot be believed: somebody else may have put it
// there, and it is run.
func trusted(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("this account has no folder for it")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir() || !ok:
		return "", fmt.Errorf("%s is no folder", dir)
	case int(st.Uid) != os.Geteuid():
		return "", fmt.Errorf("%s belongs to another account: give it away with chown, or remove it", dir)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("others may open %s: remove it, or forbid that with chmod 700 if nobody did", dir)
	}
	return dir, nil
}

// startAgent starts a sandbox agent for as long as one command takes.
func startAgent(ctx context.Context) (*sandbox.Agent, func(), error) {
	p, err := sandbox.Spawn(ctx, "/proc/self/exe", []string{"sandbox", "agent", "--quiet"}, sandbox.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, func() {}, err
	}
	stop := func() { _ = p.Close() } // the command is over
	a, err := sandbox.Dial(p.Conn())
	return a, stop, err
}

func (b *bench) close() error {
	var errs []error
	if b.plugins != nil {
		errs = append(errs, b.plugins.Close())
	}
	b.stop()
	if b.dir != "" && !b.kept {
		errs = append(errs, os.RemoveAll(b.dir))
	}
	return errors.Join(errs...)
}

// dropRoot gives up root for an unprivileged account.
func dropRoot(ctx context.Context, e *env) error {
	who, err := findAccount(ctx, "", telemetry.Logger(e.stderr, slog.LevelInfo, false))
	if err != nil || who == nil {
		return err
	}
	uid, gid := int(who.UID), int(who.GID)
	if err := become(uid, gid); err != nil {
		return fmt.Errorf("become %s: %w", who.Name, err)
	}
	return nil
}

// benchCacheBytes bounds what commands keep of compiled programs and checkers.
const benchCacheBytes = 1 << 30

// judging is the configuration with which programs are judged on the bench.
func (b *bench) judging() (judging.Config, error) {
	adapters, err := plugins.Languages()
	return judging.Config{
		Sandbox: b.agent, Plugins: b.plugins, Adapters: adapters, Checker: plugins.Checker, SDK: plugins.SDK(),
		Factors: b.factors, Log: slog.New(slog.DiscardHandler), CacheDir: filepath.Join(b.cache, "judging"), CacheBytes: benchCacheBytes, KeepPlans: true,
	}, err
}

// manifestFlags say what a module is that brings no manifest.
type manifestFlags struct{ file, protocol string }

func (m *manifestFlags) define(f *flag.FlagSet) {
	f.StringVar(&m.file, "manifest", "", "JSON file with the manifest of a module that brings none")
	f.StringVar(&m.protocol, "protocol", "", "protocol of a checker that brings no manifest: testlib/1 (the default) or icpc/1")
}

// given returns the manifest for a module that brings none.
func (m *manifestFlags) given(wasm string) (*abi.Manifest, error) {
	if m.file != "" && m.protocol != "" {
		return nil, errors.New("--manifest and --protocol: give one of them")
	}
	if m.file != "" {
		data, err := os.ReadFile(filepath.Clean(m.file))
		if err != nil {
			return nil, err
		}
		return plugin.ParseManifest(data)
	}
	p := abi.Testlib1
	if m.protocol != "" {
		p = abi.Protocol(m.protocol)
	}
	name := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, strings.TrimSuffix(filepath.Base(wasm), ".wasm"))
	return &abi.Manifest{Judge: abi.Version, Kind: abi.Checker, Name: "local." + name, Version: "0", Protocol: p}, nil
}

// tellOrigin says on stderr that a manifest was assumed.
func (m *manifestFlags) tellOrigin(e *env, from plugin.Origin, kind abi.Kind, protocol abi.Protocol) {
	if from == plugin.FromUpload && m.file == "" {
		fmt.Fprintf(e.stderr, "deepoj: the module brings no manifest: taken for a %s of %s (see --protocol and --manifest)\n", kind, protocol)
	}
}

// openRegular opens a file that can be read at any place. What cannot, such as a
// pipe, is copied.
func openRegular(name string) (*os.File, error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder", name)
	case info.Mode().IsRegular():
		return f, nil
	case info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice|fs.ModeSocket) != 0:
		var copied *os.File
		if copied, err = copyOf(f); err == nil {
			return copied, f.Close()
		}
	}
	return nil, errors.Join(err, f.Close())
}

// copyOf returns a file without a name that holds what is read.
func copyOf(f *os.File) (*os.File, error) {
	t, err := os.CreateTemp("", "deepoj-plugin-")
	if err != nil {
		return nil, err
	}
	_, err = t.ReadFrom(f)
	if err = errors.Join(err, os.Remove(t.Name())); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}
