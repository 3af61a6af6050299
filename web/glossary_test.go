package web

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestPagesSpeakTheWordsOfTheGlossary looks for other words in whatever makes pages. What stands for them is in
// host/docs/glossary.md.
func TestPagesSpeakTheWordsOfTheGlossary(t *testing.T) {
	t.Parallel()
	instead := map[string]string{
		"Handed out": "Delivered", "handed out": "delivered", "given to the queue": "delivered", "Left the set": "Cancelled or judged alone",
		"Left out": "Not taken in", "What the compiler says": "Output of the compiler", "without their tools": "lacks a tool chain",
		`"Not judged"`: "Given up", "a worker took it": "claimed by a worker",
	}
	seen := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case d.IsDir(), strings.HasSuffix(path, "_test.go"), !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".html"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		for words, rather := range instead {
			if strings.Contains(string(text), words) {
				t.Errorf("%s says %q; the word is %q", path, words, rather)
			}
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Errorf("%d files were read, %v", seen, err)
	}
}
