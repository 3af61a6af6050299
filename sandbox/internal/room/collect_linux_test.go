package room

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/glob"
)

// below makes folders in each other, each with some files, in a temporary folder.
func foldersBelow(t *testing.T, depth, files int) string {
	t.Helper()
	top := t.TempDir()
	dir := top
	for range depth {
		dir = filepath.Join(dir, "a")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range files {
			if err := os.WriteFile(filepath.Join(dir, "a"+strconv.Itoa(i)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return top
}

// stepsOf counts the steps of matching in collecting.
func stepsOf(t *testing.T, top string, globs ...string) (steps, found int) {
	t.Helper()
	patterns, err := glob.Parse(globs)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := unix.Open(top, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{left: 1 << 20, looks: maxCollected}
	defer c.close()
	if err := errors.Join(c.walk(dir, "", glob.NewSearch(patterns)), unix.Close(dir)); err != nil {
		t.Fatal(err)
	}
	return c.steps, len(c.files)
}

func TestCollectingTakesNoMoreStepsThanFilesTimesParts(t *testing.T) {
	const depth, files = 45, 3
	top := foldersBelow(t, depth, files)
	entries := depth * (1 + files)
	for k := range 14 {
		for _, tt := range []struct {
			glob string
			want int
		}{
			{"**/a" + strings.Repeat("/**/a", k) + "/zz", 0},
			{"**/a" + strings.Repeat("/**/a", k) + "/a0", depth - k},
			{strings.Repeat("**/*/", k+1) + "zz", 0},
		} {
			steps, found := stepsOf(t, top, tt.glob)
			parts := strings.Count(tt.glob, "/") + 1
			if steps > entries*parts || found != tt.want {
				t.Errorf("%s over %d entries took %d steps, want at most %d; found %d, want %d", tt.glob, entries, steps, entries*parts, found, tt.want)
			}
		}
	}
	if steps, found := stepsOf(t, top, "b/**", "a/b/**"); found != 0 || steps > 20 {
		t.Errorf("folders in which nothing can match took %d steps, and %d were found", steps, found)
	}
}
