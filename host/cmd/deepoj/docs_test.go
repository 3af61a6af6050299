package main

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheFiguresOfTheQueueAreDocumented compares the table of figures with the
// names in the code, in both directions.
func TestTheFiguresOfTheQueueAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/queue.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "\n## Figures\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented []string
	for _, m := range regexp.MustCompile("`([a-z_]+)(?:\\{[a-z,]+\\})?`").FindAllStringSubmatch(section, -1) {
		documented = append(documented, m[1])
	}
	documented = slices.DeleteFunc(documented, func(word string) bool { return word == "reason" })
	if len(documented) < 30 {
		t.Fatalf("only %d figures are documented: %v", len(documented), documented)
	}
	name := regexp.MustCompile(`"((?:api_outbox|contest|queue|audit|worker|judge|retention|deepoj_sandbox)_[a-z_]+)"`)
	var made []string
	for _, dir := range []string{"host/recorder", "host/scheduler", "host/worker", "host/judging"} {
		root := os.DirFS("../../../" + dir)
		err := fs.WalkDir(root, ".", func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			code, err := fs.ReadFile(root, file)
			if err != nil || !strings.Contains(string(code), "client_golang") {
				return err // it makes no figures
			}
			for _, m := range name.FindAllStringSubmatch(string(code), -1) {
				made = append(made, m[1])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, figure := range documented {
		if !slices.Contains(made, figure) {
			t.Errorf("%s is documented, and nothing makes it", figure)
		}
	}
	for _, figure := range made {
		const reason = "queue_lost" // why a delivery is made again
		if figure != reason && !slices.Contains(documented, figure) {
			t.Errorf("%s is not documented", figure)
		}
	}
}
