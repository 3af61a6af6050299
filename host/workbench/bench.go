// Package workbench is where commands try plugins and packages without a server: a folder,
// a plugin runtime and, where there is one, a sandbox.
package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"deepoj/host/blob"
	"deepoj/host/intake/trial"
	"deepoj/host/judging"
	"deepoj/host/launch"
	"deepoj/host/plugin"
	"deepoj/host/settings"
	"deepoj/host/telemetry"
	"deepoj/plugins"
	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// Bench is where plugins and packages are tried: a folder, a runtime and perhaps a sandbox.
type Bench struct {
	Plugins *plugin.Runtime
	Agent   *sandbox.Client // nil without one

	dir     string
	cache   string // what is compiled, which the next command finds again; "" = nobody keeps it
	kept    bool   // dir stays
	stop    func() // ends the agent
	factors map[string]float64
}

// Config says what a bench is made of.
type Config struct {
	Sandbox     bool         // a sandbox is wanted
	CacheDir    string       // folder that is kept; "" = one of this account for what is compiled
	TimeFactors string       // as the setting has them
	GiveUp      func() error // gives up root; nil = for Deep-OJ's own account
	Told        io.Writer    // gets what people should know
}

// Open makes a bench. A process of root keeps root in the sandbox agent alone, if one is wanted, and goes on as an
// unprivileged account: what it is to read of root's must be open before. Without an agent, noAgent says why. Compiled
// plugins are kept for the next command in any case.
func Open(ctx context.Context, cfg Config) (b *Bench, noAgent error, err error) {
	b = &Bench{stop: func() {}}
	if b.factors, err = settings.ParseTimeFactors(cfg.TimeFactors); err != nil {
		return b, nil, fmt.Errorf("TIME_FACTORS=%s: %w", cfg.TimeFactors, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if cfg.Sandbox {
		b.Agent, b.stop, noAgent = StartAgent(ctx, sandbox.Config{}, "--quiet")
	}
	own := commandCache(ctx, cfg.Told)
	giveUp := cfg.GiveUp
	if giveUp == nil {
		giveUp = func() error { return dropRoot(ctx, cfg.Told) }
	}
	if err := giveUp(); err != nil {
		return b, noAgent, err
	}
	if cfg.CacheDir != "" {
		b.dir, b.kept = filepath.Join(cfg.CacheDir, "bench"), true
		err = os.MkdirAll(b.dir, 0o700)
		own = b.dir
	} else {
		b.dir, err = os.MkdirTemp("", "deepoj-plugin-")
	}
	if err != nil {
		return b, noAgent, err
	}
	if b.cache, err = trusted(own); err != nil {
		fmt.Fprintf(cfg.Told, "deepoj: warning: nothing that is compiled is kept for the next command: %v\n", err)
		b.cache, err = b.dir, nil
	}
	b.Plugins, err = plugin.New(plugin.Config{CacheDir: filepath.Join(b.cache, "plugins")})
	return b, noAgent, err
}

// commandCache returns the folder in which commands of this account find what they
// compiled: plugins, checkers and programs. For root it is that of the account that
// root becomes. It returns "" if there is none: then every command takes seconds more.
func commandCache(ctx context.Context, told io.Writer) string {
	who, err := launch.FindAccount(ctx, "", telemetry.Logger(told, slog.LevelInfo, false))
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

// trusted returns a folder of what was compiled, which is made if it is missing. The error says why what is in it
// cannot be believed: somebody else may have put it there, and it is run.
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

// StartAgent starts a sandbox agent for as long as one command takes, with further words of its command line.
func StartAgent(ctx context.Context, cfg sandbox.Config, words ...string) (agent *sandbox.Client, stop func(), err error) {
	cfg.Log = slog.New(slog.DiscardHandler)
	p, err := oneshot.Spawn(ctx, "/proc/self/exe", append([]string{"sandbox", "agent"}, words...), cfg)
	if err != nil {
		return nil, func() {}, err
	}
	stop = func() { _ = p.Close() } // the command is over
	agent, err = sandbox.Dial(p.Conn())
	return agent, stop, err
}

// Close ends the sandbox and removes what is not kept.
func (b *Bench) Close() error {
	var errs []error
	if b.Plugins != nil {
		errs = append(errs, b.Plugins.Close())
	}
	b.stop()
	if b.dir != "" && !b.kept {
		errs = append(errs, os.RemoveAll(b.dir))
	}
	return errors.Join(errs...)
}

// dropRoot gives up root for an unprivileged account.
func dropRoot(ctx context.Context, told io.Writer) error {
	who, err := launch.FindAccount(ctx, "", telemetry.Logger(told, slog.LevelInfo, false))
	if err != nil || who == nil {
		return err
	}
	uid, gid := int(who.UID), int(who.GID)
	if err := launch.Become(uid, gid); err != nil {
		return fmt.Errorf("become %s: %w", who.Name, err)
	}
	return nil
}

// benchCacheBytes bounds what commands keep of compiled programs and checkers.
const benchCacheBytes = 1 << 30

// Judging is the configuration with which programs are judged on the bench. Blobs are left to the caller.
func (b *Bench) Judging() (judging.Config, error) {
	adapters, err := plugins.Languages()
	return judging.Config{
		Sandbox: b.Agent, Plugins: b.Plugins, Adapters: adapters, Checker: plugins.Checker, SDK: plugins.SDK(),
		Factors: b.factors, Log: slog.New(slog.DiscardHandler), CacheDir: filepath.Join(b.cache, "judging"), CacheBytes: benchCacheBytes, KeepPlans: true,
	}, err
}

// NewColdJudge returns a Judge that finds nothing of what was compiled before.
func (b *Bench) NewColdJudge() (*judging.Judge, error) {
	j, _, err := b.newJudge(filepath.Join(b.dir, "judging"))
	return j, err
}

// NewJudge returns a Judge that works on the bench, with blobs of its own.
func (b *Bench) NewJudge() (*judging.Judge, *blob.Dir, error) { return b.newJudge("") }

// newJudge returns a Judge with a cache of its own, unless that is "".
func (b *Bench) newJudge(cache string) (*judging.Judge, *blob.Dir, error) {
	cfg, err := b.Judging()
	if err != nil {
		return nil, nil, err
	}
	blobs, err := blob.OpenDir(filepath.Join(b.dir, "blobs"))
	if err != nil {
		return nil, nil, err
	}
	cfg.Blobs, cfg.CacheDir = blobs, cmp.Or(cache, cfg.CacheDir)
	j, err := judging.New(cfg)
	return j, blobs, err
}

// NewRunner returns what runs programs to prove plugins.
func (b *Bench) NewRunner() (*trial.Runner, error) {
	cfg, err := b.Judging()
	if err != nil {
		return nil, err
	}
	return trial.New(filepath.Join(b.dir, "trial"), cfg)
}
