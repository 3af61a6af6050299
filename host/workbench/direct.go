package workbench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"deepoj/host/judging/build"
	"deepoj/plugins"
	"deepoj/sandbox"
)

// compileDirectly compiles in a folder of this machine, unless the module is in the cache. Cache may be "".
func compileDirectly(ctx context.Context, told io.Writer, dir, cache string, files []sandbox.File) ([]byte, string, error) {
	p, err := build.PlanPlugin(plugins.SDK(), files)
	if err != nil {
		return nil, "", err
	}
	kept := keptModule(ctx, cache, p)
	if wasm, err := os.ReadFile(kept); err == nil {
		return wasm, "compiled before with " + p.Tool, nil
	}
	for _, f := range p.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, f.Data, 0o600)); err != nil {
			return nil, "", err
		}
	}
	cmd := exec.CommandContext(ctx, p.Tool, p.Args...)
	cmd.Dir, cmd.Env = dir, os.Environ()
	for _, kv := range p.Env {
		if !strings.Contains(kv, "=/tmp/") { // caches of a box; a user has his own
			cmd.Env = append(cmd.Env, kv)
		}
	}
	said, err := cmd.CombinedOutput()
	said = bytes.TrimSpace(said)
	var exit *exec.ExitError
	switch missing := build.MissingTools(string(said)); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, "", fmt.Errorf("%s is not installed: on Debian, apt-get install %s", p.Tool, p.Packages)
	case errors.As(err, &exit) && missing != "":
		return nil, "", fmt.Errorf("%s needs what is not installed: on Debian, apt-get install %s\n%s", p.Tool, missing, said)
	case errors.As(err, &exit):
		return nil, "", fmt.Errorf("it does not compile:\n%s", said)
	case err != nil:
		return nil, "", err
	}
	if len(said) > 0 {
		fmt.Fprintf(told, "%s\n", said) // warnings
	}
	wasm, err := os.ReadFile(filepath.Join(dir, p.Module))
	if err == nil && kept != "" {
		err = keepModule(kept, wasm)
	}
	return wasm, "with " + p.Tool, err
}

// keptModule returns where the module of a command is kept: a name for all that it
// depends on. It returns "" if it cannot be known what that is.
func keptModule(ctx context.Context, cache string, p build.PluginCommand) string {
	if cache == "" {
		return ""
	}
	asked := "--version"
	if p.Tool == "go" {
		asked = "version"
	}
	version, err := exec.CommandContext(ctx, p.Tool, asked).Output()
	if err != nil {
		return ""
	}
	all, err := json.Marshal([]any{string(version), p})
	if err != nil {
		return ""
	}
	return filepath.Join(cache, fmt.Sprintf("direct-%x.wasm", sha256.Sum256(all)))
}

// keepModule writes a module whole or not at all.
func keepModule(name string, wasm []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(wasm)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
