package judging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"deepoj/host/problem"
	"deepoj/sandbox"
)

// Some packages have programs read and write files of the working directory. Such
// a program gets a fresh box for each test: what is there for one test, or was
// written in it, must not be there for the next.

// maxInputFile bounds an input that is put into a box, in bytes.
const maxInputFile = 256 << 20

// usesFiles reports whether programs read or write files of their working
// directory.
func usesFiles(pkg *problem.Package) bool {
	return pkg.InputFile != "" || pkg.OutputFile != "" || pkg.Writable ||
		slices.ContainsFunc(pkg.Tests(), func(t *problem.Test) bool { return len(t.Files) > 0 })
}

// testFiles returns the files of a package that a program finds beside it. Their
// content is read whole.
func (j *Judge) testFiles(ctx context.Context, pkg *problem.Package, named []problem.NamedFile) ([]sandbox.File, error) {
	var files []sandbox.File
	for _, f := range named {
		b, err := j.content(ctx, pkg, f.File, problem.MaxTestFile)
		if err != nil {
			return nil, err
		}
		files = append(files, sandbox.File{Path: f.Name, Data: b})
	}
	return files, nil
}

// openFolder opens a box for one run, with files and the input, and changes c so
// that it reads and writes there.
func (j *Judge) openFolder(ctx context.Context, pkg *problem.Package, files []sandbox.File, c *sandbox.Cmd, input *os.File) (*sandbox.Box, error) {
	files = slices.Clip(files)
	if pkg.InputFile != "" {
		b, err := io.ReadAll(io.NewSectionReader(input, 0, maxInputFile+1))
		if err != nil {
			return nil, fmt.Errorf("read an input: %w", err)
		}
		if len(b) > maxInputFile {
			return nil, &packageError{fmt.Errorf("an input has more than %d MiB, too much for the file %s", maxInputFile>>20, pkg.InputFile)}
		}
		files = append(files, sandbox.File{Path: pkg.InputFile, Data: b})
		c.Stdin = nil
	}
	if pkg.OutputFile != "" {
		c.Stdout, c.StdoutLimit = nil, 0
		c.Limits.FileBytes = c.Limits.OutputBytes
	}
	box, err := j.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{Writable: pkg.Writable || pkg.OutputFile != ""})
	if err != nil {
		return nil, err
	}
	if err := box.Put(ctx, files...); err != nil {
		return nil, errors.Join(err, box.Close())
	}
	return box, nil
}

// collect puts what a program wrote in its folder into stdout. A program that
// wrote no such file wrote nothing.
func collect(ctx context.Context, pkg *problem.Package, box *sandbox.Box, limit int64, stdout *os.File) error {
	if pkg.OutputFile == "" {
		return nil
	}
	outputs, err := box.Collect(ctx, []string{pkg.OutputFile}, limit)
	if err != nil {
		return err
	}
	for _, f := range outputs {
		if _, err := stdout.Write(f.Data); err != nil {
			return fmt.Errorf("keep what a program wrote: %w", err)
		}
	}
	return nil
}

// boxFor returns the box in which a test is run, and a function that gives it back
// if it is for this test alone. It changes c so that it runs there.
func (l *lane) boxFor(ctx context.Context, t *problem.Test, c *sandbox.Cmd, input *os.File) (*sandbox.Box, func() error, error) {
	c.Args = slices.Concat(c.Args, t.Args)
	if l.box != nil {
		return l.box, func() error { return nil }, nil
	}
	files, err := l.e.j.testFiles(ctx, l.e.pkg, t.Files)
	if err != nil {
		return nil, nil, err
	}
	// The program comes last: no file of a test takes the place of one of its own.
	box, err := l.e.j.openFolder(ctx, l.e.pkg, append(files, l.e.prog.files...), c, input)
	if err != nil {
		return nil, nil, err
	}
	return box, box.Close, nil
}
