// Package toolbox finds tools by their logical names.
package toolbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"deepoj/sandbox/internal/wire"
)

// Toolbox finds tools by their logical names, on the host, with root's eyes: a tool chain may lie in a home folder that
// nobody else can enter. Only what the agent's own configuration names is looked at.
type Toolbox struct {
	cfg     wire.Config
	folders func() []string // searched in this order

	mu    sync.Mutex
	found map[string]wire.Tool
}

// wellKnown are searched before the starter's PATH, which may lead to wrappers that need the starter's home.
var wellKnown = []string{"/usr/local/go/bin", "/usr/local/bin", "/usr/bin", "/bin"}

// New returns a toolbox for a configuration.
func New(cfg wire.Config) *Toolbox {
	cfg.SearchPath = cmp.Or(cfg.SearchPath, os.Getenv("PATH"))
	cfg.Home = cmp.Or(cfg.Home, os.Getenv("HOME"))
	return &Toolbox{cfg: cfg, folders: sync.OnceValue(func() []string { return searchFolders(cfg) }), found: map[string]wire.Tool{}}
}

// searchFolders returns the folders in which tools are looked for.
func searchFolders(cfg wire.Config) []string {
	folders := slices.Clone(wellKnown)
	for _, dir := range filepath.SplitList(cfg.SearchPath) {
		if filepath.IsAbs(dir) && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	if filepath.IsAbs(cfg.Home) {
		folders = append(folders, filepath.Join(cfg.Home, ".cargo/bin"))
		// Interpreters that a version manager keeps; the newest name wins.
		for _, pattern := range []string{".pyenv/versions/*/bin", ".nvm/versions/node/*/bin"} {
			dirs, err := filepath.Glob(filepath.Join(cfg.Home, pattern))
			if err != nil {
				continue // a constant pattern is well-formed
			}
			slices.Sort(dirs)
			slices.Reverse(dirs)
			folders = append(folders, dirs...)
		}
	}
	return folders
}

// isToolName reports whether name may be that of a tool: up to 64 letters, digits,
// dots, underscores, pluses and minuses, and a letter or digit first.
func isToolName(name string) bool {
	for i, c := range []byte(name) {
		alphanumeric := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alphanumeric && (i == 0 || !strings.ContainsRune("._+-", rune(c))) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// Find returns the tool called name. What was found once is not looked for again unless it has vanished.
func (b *Toolbox) Find(name string) (wire.Tool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t, ok := b.found[name]; ok && executable(t.Path) {
		return t, nil
	}
	t, err := b.search(name)
	if err != nil {
		return wire.Tool{}, err
	}
	b.found[name] = t
	return t, nil
}

func (b *Toolbox) search(name string) (wire.Tool, error) {
	if t, ok := b.cfg.Tools[name]; ok {
		t.Name = name
		if !executable(t.Path) {
			return wire.Tool{}, fmt.Errorf("%s is configured as %s, which cannot be executed: %w", name, t.Path, wire.ErrNoTool)
		}
		if len(t.Roots) == 0 {
			t.Roots = b.roots(t.Path)
		}
		return t, nil
	}
	if !isToolName(name) {
		return wire.Tool{}, fmt.Errorf("%q: %w", name, wire.ErrNoTool)
	}
	for _, dir := range b.folders() {
		path := filepath.Join(dir, name)
		if strings.Contains(path, "/shims/") || !executable(path) {
			continue // a shim only finds a program with the starter's environment
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // vanished, or a loop
		}
		if filepath.Base(real) == "rustup" {
			if path = b.toolchain(dir, name); path == "" {
				continue
			}
			real = path
		}
		if !Shown(real, b.cfg.ReadOnly) {
			path = real
		}
		return wire.Tool{Name: name, Path: path, Roots: b.roots(real)}, nil
	}
	return wire.Tool{}, fmt.Errorf("%s: %w", name, wire.ErrNoTool)
}

// toolchain returns the program that a rustup proxy in the folder dir stands for, or "".
func (b *Toolbox) toolchain(dir, name string) string {
	homes := []string{os.Getenv("RUSTUP_HOME"), filepath.Join(filepath.Dir(filepath.Dir(dir)), ".rustup"), filepath.Join(b.cfg.Home, ".rustup")}
	for _, home := range homes {
		if !filepath.IsAbs(home) {
			continue
		}
		var names []string
		if text, err := os.ReadFile(filepath.Join(home, "settings.toml")); err == nil {
			if m := defaultToolchain().FindSubmatch(text); m != nil {
				names = append(names, string(m[1]))
			}
		}
		chains, err := filepath.Glob(filepath.Join(home, "toolchains", "stable-*"))
		if err == nil {
			for _, c := range chains {
				names = append(names, filepath.Base(c))
			}
		}
		for _, n := range names {
			path, err := filepath.EvalSymlinks(filepath.Join(home, "toolchains", filepath.Base(n), "bin", name))
			if err == nil && executable(path) {
				return path
			}
		}
	}
	return ""
}

// defaultToolchain matches a line of rustup's settings. Only machines with rustup pay for it.
var defaultToolchain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^default_toolchain\s*=\s*"([^"]+)"`)
})

// roots returns the folders beyond those that every box shows which the program at the resolved path real needs.
func (b *Toolbox) roots(real string) []string {
	var roots []string
	if !Shown(real, b.cfg.ReadOnly) {
		dir := filepath.Dir(real)
		if up := filepath.Dir(dir); filepath.Base(dir) == "bin" && !b.tooBroad(up) {
			dir = up
		}
		roots = append(roots, dir)
	}
	if filepath.Base(filepath.Dir(real)) == "bin" {
		roots = append(roots, settings(filepath.Dir(filepath.Dir(real)))...)
	}
	return roots
}

// tooBroad reports whether a folder holds more than one tool chain.
func (b *Toolbox) tooBroad(dir string) bool {
	broad := []string{"/", "/opt", "/home", "/root", "/etc", "/var", "/srv", "/mnt", "/tmp", "/run", filepath.Clean(b.cfg.Home)}
	return slices.Contains(broad, dir) || filepath.Dir(dir) == "/home"
}

// settings returns the folders of /etc that a JDK keeps its settings in: its folders lib and conf hold links to them.
func settings(home string) []string {
	var found []string
	for _, dir := range []string{"lib", "conf"} {
		entries, err := os.ReadDir(filepath.Join(home, dir))
		if err != nil {
			continue // not a JDK
		}
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink == 0 {
				continue
			}
			to, err := os.Readlink(filepath.Join(home, dir, e.Name()))
			parts := strings.Split(to, "/")
			if err != nil || len(parts) < 4 || parts[1] != "etc" || !strings.HasPrefix(parts[2], "java") {
				continue
			}
			if root := "/etc/" + parts[2]; !slices.Contains(found, root) {
				found = append(found, root)
			}
		}
	}
	return found
}

// executable reports whether path is a program.
func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o111 != 0 || errors.Is(err, fs.ErrPermission)
}

// Shown reports whether path is below one of the folders that every box shows.
func Shown(path string, more []string) bool {
	for _, v := range append([]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives"}, more...) {
		if path == v || strings.HasPrefix(path, v+"/") {
			return true
		}
	}
	return false
}
