package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"deepoj/host/blob"
	"deepoj/host/command"
	"deepoj/host/intake"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/problem"
	"deepoj/host/problem/samples"
	"deepoj/host/reading"
	"deepoj/host/roles"
	"deepoj/host/settings"
	"deepoj/host/verify"
	"deepoj/host/workbench"
	"deepoj/sql"
)

// givenFlags are the flags that say of a problem what a folder of tests, or an init.yml, does not.
func givenFlags(f *command.Flags) *judge.Given {
	g := &judge.Given{}
	f.StringVar(&g.Title, "title", "", "title of a folder of tests or DMOJ problem that has none in its deepoj.yaml; its short name when empty")
	f.Func("time", "time limit of such a problem in `seconds`; 2 when missing", func(s string) error {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x >= 0.001 && x <= judge.MostGivenSeconds) {
			return fmt.Errorf("it must be from 0.001 to %d", judge.MostGivenSeconds)
		}
		g.CPUMillis = int64(math.Round(x * 1000))
		return nil
	})
	f.Func("memory", "memory limit of such a problem in `MiB`; 256 when missing", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 || n > judge.MostGivenMiB {
			return fmt.Errorf("it must be a whole number from 1 to %d", judge.MostGivenMiB)
		}
		g.MemoryMiB = n
		return nil
	})
	return g
}

// checkGiven reports what of the flags no problem can have.
func checkGiven(g judge.Given) error {
	if field, err := g.Check(); err != nil {
		return fmt.Errorf("--%s: %w", field, err)
	}
	return nil
}

// importProblems reads packages, proves them, and makes them the active versions of their problems, in the database and
// blob folder that are configured or of the Deep-OJ that runs on the data folder.
func importProblems(f *command.Flags) command.Run {
	load, data := settingsFlag(f), dataFlag(f)
	own := f.Bool("samples", false, "import the sample problems too, which need no proof")
	slug := problemFlag(f, "short name of the problem; the name of the folder or file when empty")
	given := givenFlags(f)
	override := f.Bool("override", false, "make versions live also if their proof fails or cannot be had here; the audit log notes it")
	return func(ctx context.Context, c *command.Call) error {
		if len(c.Args) == 0 && !*own || (*slug != "" || given.Title != "") && len(c.Args) != 1 {
			return command.ErrUsage
		}
		if err := checkGiven(*given); err != nil {
			return err
		}
		l, err := load(c)
		if err != nil {
			return err
		}
		ps, err := openPackages(ctx, c.Args, *slug, *given, *own)
		defer func() {
			for _, p := range ps {
				_ = p.closer.Close() // it was only read
			}
		}()
		if err != nil {
			return err
		}
		im, err := openImporter(ctx, c, &l.Settings, *data, ps, *override)
		if err != nil {
			return err
		}
		defer func() { _ = im.close() }() // what was imported is stored
		told := []map[string]any{}
		status := error(nil)
		for _, p := range ps {
			for _, w := range p.report.Warnings {
				fmt.Fprintf(c.Err, "%s: warning: %s\n", p.slug, w)
			}
			live, err := im.put(ctx, c, p)
			if err != nil {
				return fmt.Errorf("import %s: %w", p.slug, err)
			}
			told = append(told, map[string]any{"problem": p.slug, "live": live})
			switch {
			case !live:
				fmt.Fprintf(c.Err, "%s: kept and not live: mend what its proof found, or import it with --override\n", p.slug)
				status = command.Exit(3)
			case !c.JSON:
				fmt.Fprintf(c.Out, "imported %s\n", p.slug)
			}
		}
		return errors.Join(c.Print(told, command.Table{}), status)
	}
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
	if slug != "" && !problem.IsShortName(slug) {
		return nil, fmt.Errorf("--problem: %w", noShortName(slug))
	}
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
		if err := add(r, cmp.Or(slug, problem.ShortName(name)), false, err); err != nil {
			return ps, err
		}
	}
	return ps, nil
}

// importer stores packages and proves them.
type importer struct {
	bench    *workbench.Bench // nil if no program need run
	judge    *judging.Judge   // nil if none can
	intake   *intake.Intake
	db       *sql.DB
	blobs    blob.Store
	override bool
}

// openImporter opens the stores, by which it gives up root, and what packages need to be finished and proved.
func openImporter(ctx context.Context, c *command.Call, s *settings.Settings, data string, ps []opened, override bool) (im *importer, err error) {
	im = &importer{override: override}
	defer func() {
		if err != nil {
			err = errors.Join(err, im.close())
		}
	}()
	open := func() (err error) { im.db, im.blobs, err = roles.OpenStores(ctx, s, data); return err }
	i := slices.IndexFunc(ps, func(p opened) bool { return !p.own })
	if i < 0 {
		return im, open()
	}
	var noAgent error
	cfg := benchConfig(c)
	cfg.Sandbox, cfg.GiveUp = true, open
	if im.bench, noAgent, err = workbench.Open(ctx, cfg); err != nil {
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
	j, err := im.bench.Judging()
	if err != nil {
		return im, err
	}
	j.Blobs, j.Uploaded = im.blobs, im.db.Site.ActivePlugins
	j.Factors = s.TimeFactors
	if im.judge, err = judging.New(j); err != nil {
		return im, err
	}
	im.intake, err = intake.New(intake.Config{Store: im.db.Site, Blobs: im.blobs, Plugins: im.bench.Plugins, Judge: im.judge})
	return im, err
}

// importerName is who imports, in the audit log.
const importerName = "command line"

// put stores a package and makes it the active version of its problem if it is
// proved. Sample problems are proved by the tests of this program.
func (im *importer) put(ctx context.Context, c *command.Call, p opened) (live bool, err error) {
	if _, err := p.pkg.Save(ctx, im.blobs); err != nil {
		return false, err
	}
	if p.own {
		return true, intake.Save(ctx, im.db.Site, p.pkg, importerName)
	}
	if im.intake == nil {
		if err := intake.Keep(ctx, im.db.Site, p.pkg, importerName, 0); err != nil {
			return false, err
		}
		return true, im.db.Site.ActivateVersion(ctx, sql.Activation{Problem: p.slug, Version: string(p.pkg.Version), By: importerName, Override: true})
	}
	b := newSteps(c.Err)
	defer b.clear()
	finished, err := verify.Finish(ctx, verify.Config{Judge: im.judge, Stage: b.stage}, p.pkg)
	if err != nil {
		return false, err
	}
	r, err := im.intake.Import(ctx, finished, importerName, im.override, func(told judge.Progress) { b.tell(told.Finding) })
	b.clear()
	if err != nil {
		return false, err
	}
	if r.Binding != nil {
		fmt.Fprintf(c.Err, "%s: warning: %s\n", p.slug, r.Binding.Why)
	}
	if !r.Proof.OK() {
		err = verify.Write(c.Err, *r.Proof)
	}
	return r.Live, err
}

func (im *importer) close() error {
	if im.db != nil {
		im.db.Close()
	}
	if im.bench == nil {
		return nil
	}
	return im.bench.Close()
}
