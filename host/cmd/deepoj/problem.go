package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"deepoj/host/blob"
	"deepoj/host/intake"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/problem"
	"deepoj/host/problem/samples"
	"deepoj/host/reading"
	"deepoj/host/verify"
	"deepoj/sql"
)

// problemVerbs are the commands of `deepoj problem`, with what they are called with.
var problemVerbs = []struct {
	name, with string
	run        func(context.Context, *env) int
}{
	{"new", "NAME", newProblem},
	{"import", "DIR|ZIP...", importProblems},
	{"upload", "ZIP", uploadProblem},
	{"export", "NAME", exportProblem},
	{"verify", "DIR|ZIP", verifyProblem},
	{"run", "DIR|ZIP FILE...", runProblem},
	{"survey", "DIR|ZIP...", surveyProblems},
	{"render", "NAME...|--all", renderProblems},
	{"print", "NAME", printProblems},
	{"hide", "NAME...", hideProblem(true)},
	{"show", "NAME...", hideProblem(false)},
	{"people", "NAME", peopleOfProblem},
	{"quota", "", showQuota},
	{"tag", "NAME [TAG...]", tagProblem},
	{"diff", "NAME FROM TO", diffProblem},
	{"clone", "NAME NEW", cloneProblem},
}

// problems is `deepoj problem`: it takes packages in, and proves them.
func problems(ctx context.Context, e *env) int {
	var usage strings.Builder
	usage.WriteString("usage:")
	for _, v := range problemVerbs {
		if len(e.args) > 0 && e.args[0] == v.name {
			e.args = e.args[1:]
			return v.run(ctx, e)
		}
		usage.WriteString(strings.TrimRight(" deepoj problem "+v.name+" [flags] "+v.with, " ") + "\n      ")
	}
	fmt.Fprintln(e.stderr, strings.TrimRight(usage.String(), "\n "))
	return 2
}

// importProblems is `deepoj problem import`: it reads packages, proves them, and makes
// them the active versions of their problems, in the database and blob folder that
// are configured or of the Deep-OJ that runs on the data folder. Its status is 3 if a
// version is kept and not live, for its proof failed.
func importProblems(ctx context.Context, e *env) int {
	f, path := newFlags(e, "problem import", "DIR|ZIP...")
	data := f.String("data", defaultData, "data folder of the running Deep-OJ")
	own := f.Bool("samples", false, "import the sample problems too, which need no proof")
	slug := f.String("slug", "", "short name of the problem; the name of the folder or file when empty")
	given := givenFlags(f)
	override := f.Bool("override", false, "make versions live also if their proof fails or cannot be had here; the audit log notes it")
	if status, ok := parse(f, e.args); !ok {
		return status
	}
	if f.NArg() == 0 && !*own || (*slug != "" || given.Title != "") && f.NArg() != 1 {
		f.Usage()
		return 2
	}
	if err := checkGiven(*given); err != nil {
		return e.fail(err)
	}
	c, err := settingsFor(e, f, *path)
	if err != nil {
		return e.fail(err)
	}
	ps, err := openPackages(ctx, f.Args(), *slug, *given, *own)
	defer func() {
		for _, p := range ps {
			_ = p.closer.Close() // it was only read
		}
	}()
	if err != nil {
		return e.fail(err)
	}
	im, err := openImporter(ctx, e, c, ps, *override, func() (*sql.Store, blob.Store, error) { return openStores(ctx, c, *data) })
	if err != nil {
		return e.fail(err)
	}
	defer func() { _ = im.close() }() // what was imported is stored
	status := 0
	for _, p := range ps {
		for _, w := range p.report.Warnings {
			fmt.Fprintf(e.stderr, "%s: warning: %s\n", p.slug, w)
		}
		live, err := im.put(ctx, e, p)
		if err != nil {
			return e.fail(fmt.Errorf("import %s: %w", p.slug, err))
		}
		if !live {
			fmt.Fprintf(e.stderr, "%s: kept and not live: mend what its proof found, or import it with --override\n", p.slug)
			status = 3
			continue
		}
		fmt.Fprintf(e.stdout, "imported %s\n", p.slug)
	}
	return status
}

// opened is a package that was read with the rights of the caller.
type opened struct {
	slug   string
	pkg    *problem.Package
	report problem.Report
	closer io.Closer
	own    bool // it is one of the sample problems
}

// openPackages reads packages, which stay open until they are imported.
func openPackages(ctx context.Context, paths []string, slug string, given judge.Given, own bool) (ps []opened, err error) {
	add := func(r *reading.Reading, slug string, own bool, err error) error {
		if err != nil {
			return fmt.Errorf("import %s: %w", slug, err)
		}
		said := given
		if own {
			said = judge.Given{}
		}
		r.Report.Warnings = append(r.Report.Warnings, r.Give(slug, said)...)
		ps = append(ps, opened{slug: slug, pkg: r.Package, report: r.Report, closer: r, own: own})
		return nil
	}
	if own {
		for _, s := range samples.Slugs() {
			r, err := reading.Config{}.Sample(ctx, s)
			if err := add(r, s, true, err); err != nil {
				return ps, err
			}
		}
	}
	for _, path := range paths {
		r, name, err := reading.Config{}.Path(ctx, path)
		if err := add(r, firstOf(slug, name), false, err); err != nil {
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
	return become(uid, gid)
}

// importer stores packages and proves them.
type importer struct {
	bench    *bench         // nil if no program need run
	judge    *judging.Judge // nil if none can
	intake   *intake.Intake
	store    *sql.Store
	blobs    blob.Store
	override bool
}

// openImporter opens the stores with a function that gives up root, and what
// packages need to be finished and proved.
func openImporter(ctx context.Context, e *env, c *config, ps []opened, override bool, stores func() (*sql.Store, blob.Store, error)) (im *importer, err error) {
	im = &importer{override: override}
	defer func() {
		if err != nil {
			err = errors.Join(err, im.close())
		}
	}()
	open := func() (err error) { im.store, im.blobs, err = stores(); return err }
	i := slices.IndexFunc(ps, func(p opened) bool { return !p.own })
	if i < 0 {
		return im, open()
	}
	var noAgent error
	if im.bench, noAgent, err = openBenchAs(ctx, e, true, open); err != nil {
		return im, err
	}
	unfinished := slices.ContainsFunc(ps, func(p opened) bool { return !verify.Finished(p.pkg) })
	switch {
	case noAgent != nil && override && !unfinished:
		return im, nil
	case noAgent != nil && unfinished:
		return im, fmt.Errorf("import %s: its own programs must run to finish it: programs cannot be run: %w (see deepoj doctor)", ps[i].slug, noAgent)
	case noAgent != nil:
		return im, fmt.Errorf("import %s: its submissions must run to prove it: programs cannot be run: %w (see deepoj doctor); --override does without a proof", ps[i].slug, noAgent)
	}
	cfg, err := im.bench.judging()
	if err != nil {
		return im, err
	}
	cfg.Blobs, cfg.Uploaded = im.blobs, im.store.ActivePlugins
	if cfg.Factors, err = timeFactors(c.get("TIME_FACTORS")); err != nil {
		return im, err
	}
	if im.judge, err = judging.New(cfg); err != nil {
		return im, err
	}
	im.intake, err = intake.New(intake.Config{Store: im.store, Blobs: im.blobs, Plugins: im.bench.plugins, Judge: im.judge})
	return im, err
}

// importerName is who imports, in the audit log.
const importerName = "command line"

// put stores a package and makes it the active version of its problem if it is
// proved. Sample problems are proved by the tests of this program.
func (im *importer) put(ctx context.Context, e *env, p opened) (live bool, err error) {
	if _, err := p.pkg.Save(ctx, im.blobs); err != nil {
		return false, err
	}
	if p.own {
		return true, intake.Save(ctx, im.store, p.pkg, importerName)
	}
	if im.intake == nil {
		if err := intake.Keep(ctx, im.store, p.pkg, importerName, 0); err != nil {
			return false, err
		}
		return true, im.store.ActivateVersion(ctx, sql.Activation{Problem: p.slug, Version: string(p.pkg.Version), By: importerName, Override: true})
	}
	b := newSteps(e)
	defer b.clear()
	finished, err := verify.Finish(ctx, verify.Config{Judge: im.judge, Stage: b.stage}, p.pkg)
	if err != nil {
		return false, err
	}
	r, err := im.intake.Import(ctx, finished, importerName, im.override, func(told judge.Progress) { b.tell(e, told.Finding) })
	b.clear()
	if err != nil {
		return false, err
	}
	if r.Binding != nil {
		fmt.Fprintf(e.stderr, "%s: warning: %s\n", p.slug, r.Binding.Why)
	}
	if !r.Proof.OK() {
		err = r.Proof.Write(e.stderr)
	}
	return r.Live, err
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
