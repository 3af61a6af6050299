package workbench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/source"
	"deepoj/host/verify"
)

// Desk is a bench with a problem on it, and a judge.
type Desk struct {
	*Bench

	Judge   *judging.Judge
	Problem *problem.Package

	cfg DeskConfig
}

// DeskConfig says which problem is on a desk.
type DeskConfig struct {
	Config

	Path  string             // folder or ZIP file
	Tests string             // pattern of those that are judged; "" = all
	Given judge.Given        // what the package does not say
	Stage func(verify.Stage) // told how far making it ready is
}

// OpenDesk reads a package with the rights of the caller, and stores it for the time of one command, with the tests
// that match. Those that the package does not hold are made.
func OpenDesk(ctx context.Context, cfg DeskConfig) (d *Desk, err error) {
	files, slug, closer, err := source.Open(cfg.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = closer.Close() }() // it was only read
	cfg.Sandbox = true
	b, noAgent, err := Open(ctx, cfg.Config)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if noAgent != nil {
		return nil, fmt.Errorf("programs cannot be run: %w (see deepoj doctor)", noAgent)
	}
	pkg, report, err := importing.Read(files)
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", cfg.Path, err)
	}
	report.Warnings = append(report.Warnings, pkg.Give(slug, cfg.Given)...)
	for _, w := range report.Warnings {
		fmt.Fprintf(cfg.Told, "%s: warning: %s\n", slug, w)
	}
	if err := pkg.Only(cfg.Tests); err != nil {
		return nil, err
	}
	j, blobs, err := b.NewJudge()
	if err != nil {
		return nil, err
	}
	if _, err := pkg.Save(ctx, blobs); err != nil {
		return nil, err
	}
	if pkg, err = verify.Make(ctx, verify.Config{Judge: j, Stage: cfg.Stage}, pkg); err != nil {
		return nil, err
	}
	return &Desk{Bench: b, Judge: j, Problem: pkg, cfg: cfg}, nil
}

// Limit finds the time limit of a package that states none. A package that shows none keeps the default.
func (d *Desk) Limit(ctx context.Context) error {
	limited, err := verify.Infer(ctx, verify.Config{Judge: d.Judge, Stage: d.cfg.Stage}, d.Problem)
	if verify.AtFault(err) {
		fmt.Fprintf(d.cfg.Told, "%s: warning: %v: %s are taken\n", d.Problem.Slug, err, d.Problem.Limits.CPU)
		return nil
	}
	if err != nil {
		return err
	}
	d.Problem = limited
	return nil
}

// ReadModule reads a file of at most as many bytes as a module may have. More is for the admission to refuse.
func ReadModule(name string) ([]byte, error) {
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

// OpenRegular opens a file that can be read at any place. What cannot, such as a pipe, is copied.
func OpenRegular(name string) (*os.File, error) {
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
