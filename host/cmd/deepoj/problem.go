package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"deepoj/host/blob"
	"deepoj/host/problem"
	"deepoj/host/problem/samples"
	"deepoj/sql"
)

// problems is `deepoj problem`: it takes packages in, and proves them.
func problems(ctx context.Context, e *env) int {
	commands := map[string]func(context.Context, *env) int{"import": importProblems, "verify": verifyProblem, "run": runProblem}
	if len(e.args) == 0 || commands[e.args[0]] == nil {
		fmt.Fprintln(e.stderr, "usage: deepoj problem import [flags] DIR|ZIP...\n       deepoj problem verify [flags] DIR|ZIP\n"+
			"       deepoj problem run [flags] DIR|ZIP FILE...")
		return 2
	}
	command := commands[e.args[0]]
	e.args = e.args[1:]
	return command(ctx, e)
}

// importProblems is `deepoj problem import`: it reads packages and makes them the
// active versions of their problems, in the database and blob folder that are
// configured or of the Deep-OJ that runs on the data folder.
func importProblems(ctx context.Context, e *env) int {
	f, path := newFlags(e, "problem import", "DIR|ZIP...")
	data := f.String("data", defaultData, "data folder of the running Deep-OJ")
	own := f.Bool("samples", false, "import the sample problems too")
	slug := f.String("slug", "", "short name of the problem; the name of the folder or file when empty")
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	if f.NArg() == 0 && !*own || *slug != "" && f.NArg() != 1 {
		f.Usage()
		return 2
	}
	c, err := settingsFor(e, f, *path)
	if err != nil {
		return e.fail(err)
	}
	ps, err := openPackages(f.Args(), *slug, *own)
	defer func() {
		for _, p := range ps {
			_ = p.closer.Close() // it was only read
		}
	}()
	if err != nil {
		return e.fail(err)
	}
	store, blobs, err := openStores(ctx, c, *data)
	if err != nil {
		return e.fail(err)
	}
	defer store.Close()
	for _, p := range ps {
		report, err := importPackage(ctx, store, blobs, p.files, p.slug, "command line")
		if err != nil {
			return e.fail(fmt.Errorf("import %s: %w", p.slug, err))
		}
		for _, w := range report.Warnings {
			fmt.Fprintf(e.stderr, "%s: warning: %s\n", p.slug, w)
		}
		fmt.Fprintf(e.stdout, "imported %s\n", p.slug)
	}
	return 0
}

// opened is a package that was opened with the rights of the caller.
type opened struct {
	slug   string
	files  fs.FS
	closer io.Closer
}

func openPackages(paths []string, slug string, own bool) ([]opened, error) {
	var ps []opened
	if own {
		for _, s := range samples.Slugs() {
			fsys, err := samples.FS(s)
			if err != nil {
				return ps, err
			}
			ps = append(ps, opened{s, fsys, io.NopCloser(nil)})
		}
	}
	for _, path := range paths {
		fsys, name, closer, err := problem.Open(path)
		if err != nil {
			return ps, err
		}
		ps = append(ps, opened{firstOf(slug, name), fsys, closer})
	}
	return ps, nil
}

// openStores opens the database and the blobs. A process of root becomes the
// owner of the blobs first: packages are read without its rights.
func openStores(ctx context.Context, c *config, data string) (*sql.Store, *blob.Dir, error) {
	folder := c.get("BLOB_DIR")
	dsn := c.get("DATABASE_URL")
	if dsn == "" || folder == "" {
		i, err := findInstance(data)
		if err != nil {
			return nil, nil, err
		}
		dsn, folder = firstOf(dsn, i.DSN), firstOf(folder, filepath.Join(i.Data, "blobs"))
	}
	if err := becomeOwner(folder); err != nil {
		return nil, nil, err
	}
	blobs, err := blob.OpenDir(folder)
	if err != nil {
		return nil, nil, err
	}
	store, err := sql.Open(ctx, sql.Config{DSN: dsn, MaxConns: 2})
	return store, blobs, err
}

// becomeOwner gives up root for the account that owns a folder.
func becomeOwner(folder string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(folder)
	if err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 {
		return fmt.Errorf("blob folder %s belongs to root: give it to the account of the workers with chown", folder)
	}
	uid, gid := int(st.Uid), int(st.Gid)
	return errors.Join(syscall.Setgroups(nil), syscall.Setresgid(gid, gid, gid), syscall.Setresuid(uid, uid, uid))
}

// importPackage reads a package, stores its files and makes it the active
// version of the problem slug.
func importPackage(ctx context.Context, store *sql.Store, blobs blob.Store, files fs.FS, slug, by string) (problem.Report, error) {
	p, report, err := problem.Read(files)
	if err != nil {
		return report, err
	}
	p.Slug = slug
	if _, err := p.Save(ctx, blobs); err != nil {
		return report, err
	}
	return report, store.SaveProblem(ctx, p.Judge(), by)
}
