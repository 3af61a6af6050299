package jury

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"deepoj/host/judging/blame"
	"deepoj/host/problem"
	"deepoj/sandbox"
)

// Some packages have programs read and write files of the working directory. Such a program gets a fresh box for each
// test: what is there for one test, or was written in it, must not be there for the next.

// maxInputFile bounds an input that is put into a box, in bytes.
const maxInputFile = 256 << 20

// TestFiles returns the files of a package that a program finds beside it. Their content is read whole.
func (j *Jury) TestFiles(ctx context.Context, pkg *problem.Package, named []problem.NamedFile) ([]sandbox.File, error) {
	var files []sandbox.File
	for _, f := range named {
		b, err := j.Content(ctx, pkg, f.File, problem.MaxTestFile)
		if err != nil {
			return nil, err
		}
		files = append(files, sandbox.File{Path: f.Name, Data: b})
	}
	return files, nil
}

// OpenFolder opens a box for one run, with files and the input, and changes c so that it reads and writes there.
func (j *Jury) OpenFolder(ctx context.Context, pkg *problem.Package, files []sandbox.File, c *sandbox.Cmd, input *os.File) (*sandbox.Box, error) {
	files = slices.Clip(files)
	if pkg.InputFile != "" {
		b, err := io.ReadAll(io.NewSectionReader(input, 0, maxInputFile+1))
		if err != nil {
			return nil, fmt.Errorf("read an input: %w", err)
		}
		if len(b) > maxInputFile {
			return nil, blame.Packagef("an input has more than %d MiB, too much for the file %s", maxInputFile>>20, pkg.InputFile)
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

// Collect puts what a program wrote in its folder into stdout. A program that wrote no such file wrote nothing.
func Collect(ctx context.Context, pkg *problem.Package, box *sandbox.Box, limit int64, stdout *os.File) error {
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
