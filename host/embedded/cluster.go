package embedded

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"deepoj/host/platform"
)

// initdbArgs make every cluster alike. Who may log in is said when its roles are made.
var initdbArgs = []string{
	"--username=" + postgresSuperuser, "--encoding=UTF8", "--locale=C", "--auth-local=reject", "--auth-host=reject", "--no-instructions", "--no-sync",
}

// makeCluster makes the cluster, from the template if there is one, else with
// initdb. A crash leaves either no cluster or a whole one.
func (p *Postgres) makeCluster(ctx context.Context) error {
	fresh, err := os.MkdirTemp(p.cfg.DataDir, "new-cluster-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh) // nothing is left of it after the rename
	template := p.template()
	switch {
	case template != "" && p.trusted(template):
		err = copyCluster(fresh, template, p.cfg.User)
	default:
		if err = p.initdb(ctx, fresh); err == nil && template != "" {
			if err := keepTemplate(template, fresh); err != nil {
				p.log.WarnContext(ctx, "the template of the cluster is not kept", slog.Any("err", err))
			}
		}
	}
	if err != nil {
		return err
	}
	if p.durable() {
		if err := syncFileSystem(fresh); err != nil {
			return err
		}
	}
	if err := os.Remove(p.cluster); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there but is no cluster: %w", p.cluster, err)
	}
	return os.Rename(fresh, p.cluster)
}

// template returns the folder that holds or will hold the template, or "".
func (p *Postgres) template() string {
	if p.cfg.TemplateDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(p.Binaries.Version + "\x00" + strings.Join(initdbArgs, "\x00") + "\x00" + createDatabase + rolesScript + rules))
	return filepath.Join(p.cfg.TemplateDir, "postgresql-"+p.Binaries.Version+"-"+hex.EncodeToString(sum[:4]))
}

// trusted reports whether the template at dir is there and was made by us: whoever can write it could plant a cluster.
func (p *Postgres) trusted(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// createDatabase is what the single-user server is told.
const createDatabase = "CREATE DATABASE " + postgresDatabase + ";\n\n"

// initdb makes a cluster with our database in dir, which is empty.
func (p *Postgres) initdb(ctx context.Context, dir string) error {
	if err := p.cfg.User.own(dir); err != nil {
		return err
	}
	if err := p.tool(ctx, dir, "", initdbName, append(initdbArgs, "--pgdata="+dir)...); err != nil {
		return err
	}
	args := []string{"-D", dir, "-c", "fsync=off", "-c", "shared_buffers=16MB"} // it is synced as a whole
	if err := p.single(ctx, dir, "postgres", createDatabase, args...); err != nil {
		return err
	}
	return p.makeRoles(ctx, dir, args...)
}

// tool runs one of the programs to its end.
func (p *Postgres) tool(ctx context.Context, dir, input, name string, args ...string) error {
	path := filepath.Join(p.cfg.DataDir, name+".log")
	output, from, err := openLog(path, p.cfg.User)
	if err != nil {
		return err
	}
	defer output.Close()
	stdin, err := inputFile(p.cfg.DataDir, input)
	if err != nil {
		return err
	}
	defer stdin.Close()
	c, err := spawn(program{
		path: filepath.Join(p.Binaries.Dir, name), args: args, dir: dir,
		account: p.cfg.User, input: stdin, output: output, death: syscall.SIGKILL,
	})
	if err != nil {
		return err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), c.end(nil))
	}
	if c.err != nil {
		return fmt.Errorf("%s: %w: %s", name, c.err, words(path, from))
	}
	return nil
}

// inputFile returns an open file without a name that holds text.
func inputFile(dir, text string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "input-")
	if err != nil {
		return nil, err
	}
	if _, err = io.Copy(f, bytes.NewReader([]byte(text))); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// keepTemplate copies a fresh cluster to the template folder. Of several
// processes that do so at the same time, the first one's is kept.
func keepTemplate(template, fresh string) error {
	dir := filepath.Dir(template)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) // nothing is left of it after the rename
	if err := copyCluster(tmp, fresh, nil); err != nil {
		return err
	}
	err = os.Rename(tmp, template)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil
	}
	return err
}

// copyCluster copies the folder src into the empty folder dst, which is ours, and gives the copy to a at the end.
func copyCluster(dst, src string, a *Account) error {
	var made []string
	err := filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dst, rel)
		made = append(made, to)
		switch {
		case rel == ".":
			return nil
		case d.IsDir():
			return os.Mkdir(to, 0o700)
		case d.Type().IsRegular():
			return copyFile(to, path)
		default:
			return &fs.PathError{Op: "copy", Path: path, Err: errors.New("neither a file nor a folder")}
		}
	})
	if err != nil {
		return fmt.Errorf("copy the cluster: %w", err)
	}
	for _, path := range slices.Backward(made) { // the outermost folder last: until then it is ours alone
		if err := a.own(path); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(dst, src string) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// syncFileSystem brings everything on the file system of dir to the disk, with one call instead of one per file.
func syncFileSystem(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return platform.SyncFileSystem(f)
}
