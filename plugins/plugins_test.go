package plugins_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"deepoj/plugins"
)

func TestStandardCheckersAreEmbedded(t *testing.T) {
	t.Parallel()
	want := []string{"default", "exact", "floats", "letters", "linecount", "lines", "rows", "sorted", "tokens", "yesno"}
	if got := plugins.Checkers(); !slices.Equal(got, want) {
		t.Errorf("checkers are %q, want %q", got, want)
	}
	for _, name := range want {
		module, err := plugins.Checker(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(module), "\x00asm\x01\x00\x00\x00") || len(module) > 64<<10 {
			t.Errorf("%s is %d bytes and starts with %q", name, len(module), module[:8])
		}
	}
}

func TestAnUnknownCheckerIsNamedWithTheKnownOnes(t *testing.T) {
	t.Parallel()
	_, err := plugins.Checker("../secret")
	if !errors.Is(err, plugins.ErrNoChecker) || !strings.Contains(err.Error(), "yesno") {
		t.Errorf("error is %v", err)
	}
}

// The committed digests are what reviewers and verify-plugins compare with.
func TestDigestsAreTheCommittedOnes(t *testing.T) {
	t.Parallel()
	sums, err := os.ReadFile("dist/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	digests, err := plugins.Digests()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(sums)) {
		digest, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[file] = true
		if digests[file] != "sha256:"+digest {
			t.Errorf("%s has digest %s, SHA256SUMS says %s", file, digests[file], digest)
		}
	}
	for file := range digests {
		if !listed[file] {
			t.Errorf("%s is not in SHA256SUMS", file)
		}
	}
}

func TestEveryLanguageIsEmbeddedOnceBuilt(t *testing.T) {
	t.Parallel()
	modules, err := plugins.Languages()
	if errors.Is(err, plugins.ErrNotBuilt) {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	folders, err := os.ReadDir("languages")
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]string{}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		module, err := modules.Read(folder.Name())
		if err != nil || !strings.HasPrefix(string(module), "\x00asm") {
			t.Errorf("the adapter of %s has %d bytes, %v", folder.Name(), len(module), err)
		}
		// Made of one program, they differ by their manifests.
		if other, ok := digests[modules.Digest(folder.Name())]; ok {
			t.Errorf("the adapters of %s and %s are one module", folder.Name(), other)
		}
		digests[modules.Digest(folder.Name())] = folder.Name()
	}
}
