package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deepoj/host/plugin"
	"deepoj/host/reading"
)

// documents returns every Markdown file of the repository that people read, by its
// path: no test data, nothing that is built.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	top := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "testdata" || name == "node_modules" || name == "bin" || strings.HasPrefix(name, ".") && file != top && name != ".github" {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) == ".md" {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(top, file)
			found[filepath.ToSlash(rel)] = string(text)
		}
		return nil
	})
	if err != nil || len(found) < 15 {
		t.Fatalf("%d documents, %v", len(found), err)
	}
	return found
}

// fenced are blocks of code; the first group is what is in them.
var fenced = regexp.MustCompile("(?ms)^```[^\n]*\n(.*?)^```$")

// anchors returns the names by which headings can be linked to.
func anchors(text string) (names []string) {
	text = fenced.ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(m[1])
		name = regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(name, "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

func TestEveryLinkInTheDocumentsLeadsSomewhere(t *testing.T) {
	t.Parallel()
	all := documents(t)
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	links := 0
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join("..", "..", "..", to)); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
				continue
			}
			if anchor != "" && !slices.Contains(anchors(all[to]), anchor) {
				t.Errorf("%s links to %s, and %s has no such heading", name, m[1], to)
			}
		}
	}
	if links < 60 {
		t.Errorf("only %d links were found", links)
	}
}

// code returns what a document sets as code, piece by piece.
func code(text string) (pieces []string) {
	for _, m := range fenced.FindAllStringSubmatch(text, -1) {
		pieces = append(pieces, strings.Split(m[1], "\n")...)
	}
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		pieces = append(pieces, m[1])
	}
	return pieces
}

func TestEveryCommandInTheDocumentsExists(t *testing.T) {
	t.Parallel()
	var targets []string
	for _, file := range []string{"Makefile", "plugins/plugins.mk", "web/web.mk"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z -]*):`).FindAllStringSubmatch(string(text), -1) {
			targets = append(targets, strings.Fields(m[1])...)
		}
	}
	verbs := []string{"help", plugin.CompileCommand, plugin.WorkerCommand, reading.Command}
	for _, c := range program().Verbs {
		verbs = append(verbs, strings.Fields(c.Name)[0])
	}
	makes := regexp.MustCompile(`(?:^|[$;] )make ([a-z][a-z-]*)`)
	calls := regexp.MustCompile(`\bdeepoj ([a-z][a-z-]*)`)
	checked := map[string]int{}
	check := func(document, what string, known []string, found [][]string) {
		t.Helper()
		for _, m := range found {
			checked[what]++
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s says `%s %s`, which is not there", document, what, m[1])
			}
		}
	}
	for name, text := range documents(t) {
		for _, piece := range code(text) {
			check(name, "make", targets, makes.FindAllStringSubmatch(piece, -1))
			check(name, "deepoj", verbs, calls.FindAllStringSubmatch(piece, -1))
		}
	}
	if checked["make"] < 15 || checked["deepoj"] < 60 {
		t.Errorf("only these were found: %v", checked)
	}
}
