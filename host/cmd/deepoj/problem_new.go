package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/samples"
)

// standardTemplate is what a new package is made from where nobody says.
const standardTemplate = "aplusb"

// newProblem is `deepoj problem new`: it writes a package that is complete, imports
// and proves itself, as a model to be changed. It is one of the sample problems under
// another name.
func newProblem(_ context.Context, e *env) int {
	f := bareFlags(e, "problem new", "NAME")
	from := f.String("from", standardTemplate, "template that it is made from, of those that --list names")
	out := f.String("o", "", "folder to write; the name of the problem when empty")
	list := f.Bool("list", false, "list the templates and write nothing")
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if *list && len(args) == 0 {
		if err := listTemplates(e); err != nil {
			return e.fail(err)
		}
		return 0
	}
	if *list || len(args) != 1 {
		f.Usage()
		return 2
	}
	if !shortName.MatchString(args[0]) {
		return e.fail(fmt.Errorf("%q is no short name of a problem: it has letters, digits, dots, hyphens and underscores, at most 64, such as aplusb", args[0]))
	}
	to := firstOf(*out, args[0])
	if err := writeTemplate(*from, args[0], to); err != nil {
		return e.fail(err)
	}
	fmt.Fprintf(e.stdout, "wrote %s: prove it with deepoj problem verify %s, and take it in with deepoj problem import --slug %s %s\n", to, to, args[0], to)
	return 0
}

// shortName is what names of problems look like.
var shortName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// listTemplates prints the name, title and kind of each template.
func listTemplates(e *env) error {
	for _, slug := range samples.Slugs() {
		fsys, err := samples.FS(slug)
		if err != nil {
			return err
		}
		p, _, err := problem.Read(fsys)
		if err != nil {
			return fmt.Errorf("template %s: %w", slug, err)
		}
		kind := "all or nothing"
		if p.Scoring {
			kind = "points by groups"
		}
		if c := p.Checkers; len(c) > 0 && c[0].Standard == "" {
			kind += ", with a checker of its own"
		}
		if _, err := fmt.Fprintf(e.stdout, "%-10s %s (%s, %d tests, %d submissions)\n", slug, p.Title, kind, len(p.Tests()), len(p.Submissions)); err != nil {
			return err
		}
	}
	return nil
}

// writeTemplate writes the files of a template into a folder that is not there yet, or
// empty, whole or not at all. The title becomes the new name.
func writeTemplate(template, name, to string) error {
	fsys, err := samples.FS(template)
	if err != nil {
		return fmt.Errorf("there is no template %q: there are %s", template, strings.Join(samples.Slugs(), ", "))
	}
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is there and not empty: name another folder with -o", to)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write a package: %w", err)
	}
	to = filepath.Clean(to)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("write a package: %w", err)
	}
	part, err := os.MkdirTemp(filepath.Dir(to), "."+filepath.Base(to)+"-")
	if err != nil {
		return fmt.Errorf("write a package: %w", err)
	}
	err = fs.WalkDir(fsys, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(fsys, file)
		if err != nil {
			return err
		}
		if file == "problem.yaml" {
			b = renamed(b, name)
		}
		full := filepath.Join(part, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		return os.WriteFile(full, b, modeOf(file))
	})
	if err == nil {
		err = os.Chmod(part, 0o755)
	}
	if err == nil {
		err = os.Rename(part, to) // onto an empty folder, too
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write a package: %w", err), os.RemoveAll(part))
	}
	return nil
}

// modeOf is the mode of a file of a package: scripts may be executed.
func modeOf(file string) os.FileMode {
	if slices.Contains([]string{"build", "run"}, path.Base(file)) || path.Ext(file) == ".sh" {
		return 0o755
	}
	return 0o644
}

// Keys of problem.yaml that say what the template is and the new problem is not.
var (
	nameKey    = regexp.MustCompile(`(?m)^name:.*(\n[ \t]+.*)*`)
	foreignKey = regexp.MustCompile(`(?m)^(uuid|source|source_url|author|rights_owner):.*\n([ \t]+.*\n)*`)
)

// renamed is a problem.yaml with another name, without what belongs to the template.
func renamed(text []byte, name string) []byte {
	text = foreignKey.ReplaceAll(text, nil)
	if nameKey.Match(text) {
		return nameKey.ReplaceAllLiteral(text, []byte("name: \""+name+"\""))
	}
	return append([]byte("name: \""+name+"\"\n"), text...)
}
