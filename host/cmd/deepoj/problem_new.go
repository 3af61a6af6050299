package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/command"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/samples"
)

// standardTemplate is what a new package is made from where nobody says.
const standardTemplate = "aplusb"

// newProblem writes a package that is complete, imports and proves itself, as a model to
// be changed. It is one of the sample problems under another name.
func newProblem(f *command.Flags) command.Run {
	from := f.String("from", standardTemplate, "template that it is made from, of those that --list names")
	f.OneOf("from", samples.Slugs()...)
	out := f.String("o", "", "`folder` to write; the name of the problem when empty")
	list := f.Bool("list", false, "list the templates and write nothing")
	return func(_ context.Context, c *command.Call) error {
		switch {
		case *list && len(c.Args) == 0:
			return listTemplates(c)
		case *list || len(c.Args) != 1:
			return command.ErrUsage
		}
		name := c.Args[0]
		if !problem.IsShortName(name) {
			return noShortName(name)
		}
		to := cmp.Or(*out, name)
		if err := writeTemplate(*from, name, to); err != nil {
			return err
		}
		return c.Say(map[string]string{"problem": name, "folder": to},
			"wrote %s: prove it with deepoj problem verify %s, and take it in with deepoj problem import --problem %s %s", to, to, name, to)
	}
}

func noShortName(name string) error {
	return fmt.Errorf("%q is no short name of a problem: it has letters, digits, dots, hyphens and underscores, at most 64, such as aplusb", name)
}

// template is what the list of templates says of one.
type template struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Kind        string `json:"kind"`
	Tests       int    `json:"tests"`
	Submissions int    `json:"submissions"`
}

// listTemplates prints the name, title and kind of each template.
func listTemplates(c *command.Call) error {
	var all []template
	for _, slug := range samples.Slugs() {
		fsys, err := samples.FS(slug)
		if err != nil {
			return err
		}
		p, _, err := importing.Read(fsys)
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
		all = append(all, template{slug, p.Title, kind, len(p.Tests()), len(p.Submissions)})
	}
	return c.Write(all, func(w io.Writer) error {
		for _, t := range all {
			fmt.Fprintf(w, "%-10s %s (%s, %d tests, %d submissions)\n", t.Name, t.Title, t.Kind, t.Tests, t.Submissions)
		}
		return nil
	})
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
