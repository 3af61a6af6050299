package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"deepoj/host/blob"
	"deepoj/host/judging"
	"deepoj/host/problem"
	"deepoj/host/problem/samples"
	"deepoj/host/verify"
	"deepoj/sql"
)

// problems is `deepoj problem`: it takes packages in, and proves them.
func problems(ctx context.Context, e *env) int {
	commands := map[string]func(context.Context, *env) int{
		"import": importProblems, "upload": uploadProblem, "export": exportProblem, "verify": verifyProblem, "run": runProblem,
	}
	if len(e.args) == 0 || commands[e.args[0]] == nil {
		fmt.Fprintln(e.stderr, "usage: deepoj problem import [flags] DIR|ZIP...\n       deepoj problem upload [flags] ZIP\n       deepoj problem export [flags] NAME\n       deepoj problem verify [flags] DIR|ZIP\n"+
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
	im, err := openImporter(ctx, e, ps, func() (*sql.Store, blob.Store, error) { return openStores(ctx, c, *data) })
	if err != nil {
		return e.fail(err)
	}
	defer func() { _ = im.close() }() // what was imported is stored
	for _, p := range ps {
		for _, w := range p.report.Warnings {
			fmt.Fprintf(e.stderr, "%s: warning: %s\n", p.slug, w)
		}
		if err := im.put(ctx, p); err != nil {
			return e.fail(fmt.Errorf("import %s: %w", p.slug, err))
		}
		fmt.Fprintf(e.stdout, "imported %s\n", p.slug)
	}
	return 0
}

// opened is a package that was read with the rights of the caller.
type opened struct {
	slug   string
	pkg    *problem.Package
	report problem.Report
	closer io.Closer
}

// openPackage reads a package, which stays open until it is imported.
func openPackage(files fs.FS, slug string, closer io.Closer) (opened, error) {
	pkg, report, err := problem.Read(files)
	if err != nil {
		return opened{closer: closer}, fmt.Errorf("import %s: %w", slug, err)
	}
	pkg.Slug = slug
	return opened{slug, pkg, report, closer}, nil
}

func openPackages(paths []string, slug string, own bool) ([]opened, error) {
	var ps []opened
	if own {
		for _, s := range samples.Slugs() {
			fsys, err := samples.FS(s)
			if err != nil {
				return ps, err
			}
			p, err := openPackage(fsys, s, io.NopCloser(nil))
			if ps = append(ps, p); err != nil {
				return ps, err
			}
		}
	}
	for _, path := range paths {
		fsys, name, closer, err := problem.Open(path)
		if err != nil {
			return ps, err
		}
		p, err := openPackage(fsys, firstOf(slug, name), closer)
		if ps = append(ps, p); err != nil {
			return ps, err
		}
	}
	return ps, nil
}

// openStores opens the database and the blobs. A process of root becomes the
// owner of the blobs first: packages are read without its rights.
func openStores(ctx context.Context, c *config, data string) (*sql.Store, blob.Store, error) {
	dsn := c.get("DATABASE_URL")
	if dsn == "" || c.get("BLOB_DIR") == "" && c.get("S3_ENDPOINT") == "" {
		i, err := findInstance(data)
		if err != nil {
			return nil, nil, err
		}
		dsn, data = firstOf(dsn, i.DSN), i.Data
	}
	folder := blobFolder(c, data)
	if err := becomeOwner(existing(folder)); err != nil {
		return nil, nil, err
	}
	blobs, err := openBlobs(c, folder)
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

// importer stores packages. It judges those that lack something: tests that are
// made, or a time limit that is inferred.
type importer struct {
	bench *bench // nil if every package is finished
	judge *judging.Judge
	store *sql.Store
	blobs blob.Store
}

// openImporter opens the stores with a function that gives up root, and what
// packages need that are not finished.
func openImporter(ctx context.Context, e *env, ps []opened, stores func() (*sql.Store, blob.Store, error)) (im *importer, err error) {
	im = &importer{}
	defer func() {
		if err != nil {
			err = errors.Join(err, im.close())
		}
	}()
	open := func() (err error) { im.store, im.blobs, err = stores(); return err }
	i := slices.IndexFunc(ps, func(p opened) bool { return !verify.Finished(p.pkg) })
	if i < 0 {
		return im, open()
	}
	var noAgent error
	if im.bench, noAgent, err = openBenchAs(ctx, e, true, open); err != nil {
		return im, err
	}
	if noAgent != nil {
		return im, fmt.Errorf("import %s: its own programs must run to finish it: programs cannot be run: %w (see deepoj doctor)", ps[i].slug, noAgent)
	}
	cfg, err := im.bench.judging()
	if err != nil {
		return im, err
	}
	cfg.Blobs, cfg.CacheDir = im.blobs, filepath.Join(im.bench.dir, "judging")
	im.judge, err = judging.New(cfg)
	return im, err
}

// put stores a package and makes it the active version of its problem.
func (im *importer) put(ctx context.Context, p opened) error {
	if _, err := p.pkg.Save(ctx, im.blobs); err != nil {
		return err
	}
	finished, err := verify.Finish(ctx, verify.Config{Judge: im.judge}, p.pkg)
	if err != nil {
		return err
	}
	return im.store.SaveProblem(ctx, finished.Judge(), "command line")
}

func (im *importer) close() error {
	if im.store != nil {
		im.store.Close()
	}
	if im.bench == nil {
		return nil
	}
	return im.bench.close()
}
