// Package docs_test looks whether what the documents say is there.
package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// top is the first folder of the repository, from here.
const top = "../.."

// texts returns the files of the repository that are ours and whose names pass, by
// their paths: no test data, nothing that is built or fetched.
func texts(t *testing.T, pass func(name string) bool) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if slices.Contains([]string{"testdata", "node_modules", "bin", ".git", ".build", ".deepoj"}, name) {
				return filepath.SkipDir
			}
			return nil
		}
		if !pass(name) || !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(file)
		rel, _ := filepath.Rel(top, file)
		found[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// documents returns what people read.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := texts(t, func(name string) bool { return path.Ext(name) == ".md" })
	for _, want := range []string{"README.md", ".github/CONTRIBUTING.md", "host/docs/glossary.md", "sandbox/README.md"} {
		if found[want] == "" {
			t.Fatalf("%s was not found", want)
		}
	}
	return found
}

// fenced are blocks of code.
var fenced = regexp.MustCompile("(?ms)^ *```[^\n]*\n.*?^ *```$")

// code returns what a document sets as code within its lines.
func code(text string) (words []string) {
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		words = append(words, m[1])
	}
	return words
}

// unbroken are addresses and links, which are as long as they are.
var unbroken = regexp.MustCompile(`\]\([^)]*\)|https?://\S+`)

func TestProseIsAtMost120ColumnsWide(t *testing.T) {
	t.Parallel()
	const columns = 120
	for name, text := range documents(t) {
		inCode := false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				inCode = !inCode
			}
			if inCode || strings.HasPrefix(strings.TrimSpace(line), "|") {
				continue
			}
			if width := len([]rune(line)); width > columns && !unbroken.MatchString(line) {
				t.Errorf("%s:%d has %d columns", name, i+1, width)
			}
		}
	}
}

// TestEveryFileThatAContributorIsSentToExists looks at what has the shape of a path.
func TestEveryFileThatAContributorIsSentToExists(t *testing.T) {
	t.Parallel()
	file := regexp.MustCompile(`^\.{0,2}[a-z][\w./-]*$`)
	checked := 0
	for name, text := range documents(t) {
		if name == "host/docs/changelog.md" || name == "host/docs/benchmarks-history.md" {
			continue // they tell of what was
		}
		for _, word := range code(text) {
			folder, _, nested := strings.Cut(word, "/")
			if _, err := os.Stat(path.Join(top, folder)); !nested || err != nil || !file.MatchString(word) {
				continue
			}
			checked++
			if folder == "bin" || folder == ".build" || regexp.MustCompile(`/[A-Z]+$`).MatchString(word) {
				continue // it is built, or stands for many
			}
			if _, err := os.Stat(path.Join(top, word)); err != nil {
				t.Errorf("%s names %s: %v", name, word, err)
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d names of files were found", checked)
	}
}

// TestEveryTargetThatAContributorIsToldOfExists looks at the page of contributors;
// those of the other documents are looked at where the commands are.
func TestEveryTargetThatAContributorIsToldOfExists(t *testing.T) {
	t.Parallel()
	makefiles := texts(t, func(name string) bool { return name == "Makefile" || path.Ext(name) == ".mk" })
	var targets []string
	for _, text := range makefiles {
		for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z -]*):`).FindAllStringSubmatch(text, -1) {
			targets = append(targets, strings.Fields(m[1])...)
		}
	}
	found := regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(documents(t)[".github/CONTRIBUTING.md"], -1)
	for _, m := range found {
		if !slices.Contains(targets, m[1]) {
			t.Errorf("`make %s` is not there", m[1])
		}
	}
	if len(found) < 5 {
		t.Errorf("only %d targets were found", len(found))
	}
}

// foreign are words of the system: of its calls, libraries and files.
var foreign = []string{
	"FOR_WINDOWS", "memfd_create", "no_new_privs", "pidfd_getfd", "posix_fadvise", "pthread_exit", "pthread_join", "ru_maxrss", "set_tid",
}

// TestEverySettingMetricAndColumnInTheDocumentsExists looks for words with an
// underscore between their parts in what the program is made of.
func TestEverySettingMetricAndColumnInTheDocumentsExists(t *testing.T) {
	t.Parallel()
	sources := texts(t, func(name string) bool {
		return name == "Makefile" || path.Dir(name) != "docs" && path.Ext(name) != ".md" && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, ".wasm")
	})
	known := map[string]bool{}
	word := regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+`)
	for _, text := range sources {
		for _, w := range word.FindAllString(text, -1) {
			known[w] = true
		}
	}
	alone := regexp.MustCompile(`^([a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:$|[{=])`)
	checked := map[string]bool{}
	for name, text := range documents(t) {
		if name == "host/docs/changelog.md" || name == "host/docs/benchmarks-history.md" {
			continue // they tell of what was
		}
		for _, w := range code(text) {
			if m := alone.FindStringSubmatch(w); m != nil && !slices.Contains(foreign, m[1]) {
				checked[m[1]] = true
				if !known[m[1]] && !known[strings.TrimSuffix(m[1], "_sum")] { // of a histogram
					t.Errorf("%s says `%s`, which nothing knows", name, m[1])
				}
			}
		}
	}
	if len(checked) < 200 {
		t.Errorf("only %d names were found", len(checked))
	}
}

// TestTheStoryNamesEveryPackageOfTheHost compares the folders beside the story with its table.
func TestTheStoryNamesEveryPackageOfTheHost(t *testing.T) {
	t.Parallel()
	story, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && !regexp.MustCompile(`(?m)^\| .*\]\(`+f.Name()+`[)/]`).Match(story) {
			t.Errorf("host/README.md says nothing of host/%s", f.Name())
		}
	}
}

// unmapped are larger packages whose comment lists no files: generated code.
var unmapped = []string{"sql/internal/dbsqlc"}

// TestTheCommentOfALargePackageListsItsFiles looks at packages of more than ten
// files, and at every list that there is.
func TestTheCommentOfALargePackageListsItsFiles(t *testing.T) {
	t.Parallel()
	sources := texts(t, func(name string) bool { return path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") })
	files, listed := map[string][]string{}, map[string][]string{}
	row := regexp.MustCompile(`(?m)^//\t(\w+\.go) +\S`)
	for name, text := range sources {
		dir := path.Dir(name)
		if path.Base(name) != "doc.go" {
			files[dir] = append(files[dir], path.Base(name))
		}
		comment, _, _ := strings.Cut(text, "\npackage ")
		for _, m := range row.FindAllStringSubmatch(comment, -1) {
			listed[dir] = append(listed[dir], m[1])
		}
	}
	for dir, have := range files {
		if len(listed[dir]) == 0 && (len(have) <= 10 || slices.Contains(unmapped, dir)) {
			continue
		}
		for _, file := range have {
			if !slices.Contains(listed[dir], file) {
				t.Errorf("the package comment of %s says nothing of %s", dir, file)
			}
		}
		for _, file := range listed[dir] {
			if !slices.Contains(have, file) {
				t.Errorf("the package comment of %s lists %s, which is not there", dir, file)
			}
		}
	}
	if len(listed) < 8 {
		t.Errorf("only %d packages list their files", len(listed))
	}
}
