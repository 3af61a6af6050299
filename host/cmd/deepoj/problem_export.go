package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"deepoj/web/client"
)

// exportProblem is `deepoj problem export`: it writes a version of a problem of a
// server to a ZIP file, which gives the same version when it is imported.
func exportProblem(ctx context.Context, e *env) int {
	f := bareFlags(e, "problem export", "NAME")
	out := f.String("o", "", "file to write; NAME.zip when empty")
	version := f.String("version", "", "version to export; the live one when empty")
	server := f.String("server", "", "address of the server; DEEPOJ_URL or "+defaultServer+" when empty")
	token := f.String("token", "", "key, or token of a login; DEEPOJ_TOKEN when empty")
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if len(args) != 1 {
		f.Usage()
		return 2
	}
	c, err := client.New(firstOf(*server, e.variable("DEEPOJ_URL"), defaultServer), client.WithToken(firstOf(*token, e.variable("DEEPOJ_TOKEN"))))
	if err != nil {
		return e.fail(err)
	}
	name := firstOf(*out, filepath.Base(args[0])+".zip")
	if err := download(ctx, c, args[0], *version, name); err != nil {
		return e.fail(fmt.Errorf("export %s: %w", args[0], err))
	}
	fmt.Fprintf(e.stdout, "exported %s to %s\n", args[0], name)
	return 0
}

// download writes an export to a file, whole or not at all.
func download(ctx context.Context, c *client.Client, problem, version, name string) (err error) {
	from, err := c.ExportProblem(ctx, problem, version)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(to.Name()))
		}
	}()
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	z, err := zip.OpenReader(to.Name())
	if err != nil {
		return fmt.Errorf("the archive did not come whole: %w", err)
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.Rename(to.Name(), name)
}
