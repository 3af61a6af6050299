package deploy_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tooled is where each way to install Deep-OJ says what it needs.
func tooled(t *testing.T, file, pattern string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
		for _, word := range strings.FieldsFunc(m[1], func(c rune) bool { return c == ' ' || c == ',' || c == '\n' }) {
			if !slices.Contains(all, word) {
				all = append(all, word)
			}
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		t.Fatalf("%s names no package", file)
	}
	return all
}

// without returns a list without some.
func without(list []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(one string) bool { return slices.Contains(some, one) })
}

// Whoever runs Deep-OJ from a clone, as a Debian package or in a container has the same
// tools: what judges, what compiles checkers, and what draws pictures of statements.
func TestEveryInstallationBringsTheSameTools(t *testing.T) {
	script, err := os.ReadFile("../../.tools/deps.sh")
	if err != nil {
		t.Fatal(err)
	}
	forRun, _, found := strings.Cut(string(script), `if [ "$want" = test ]`)
	if !found {
		t.Fatal("deps.sh does not say what only tests need")
	}
	file := t.TempDir() + "/run.sh"
	if err := os.WriteFile(file, []byte(forRun), 0o644); err != nil {
		t.Fatal(err)
	}
	run := tooled(t, file, `(?m)^\s*need \S+ (\S+) "`)
	deb := tooled(t, "debian/control", `(?m)^Recommends: ((?:.|\n )*)$`)
	image := tooled(t, "../../.tools/image-root.sh", `<<<"\$\{[A-Z]+:?-([^}]*)\}"`)

	services := []string{"postgresql", "redis-server"} // others' containers
	const java = "default-jdk-headless"                // is large, and only suggested
	const c = "gcc"                                    // deps.sh asks for g++, which brings it
	if a, b := without(run, java), without(deb, c); !slices.Equal(a, b) {
		t.Errorf("make run installs %q, and the Debian package recommends %q", a, b)
	}
	if a, b := without(deb, services...), without(image, "libc6-dev"); !slices.Equal(a, b) { // libc6-dev is only recommended by gcc
		t.Errorf("the Debian package recommends %q, and the image has %q", a, b)
	}

	// What the messages of compilers are said to lack is what is installed.
	for _, lacking := range tooled(t, "../judging/build/compilers.go", `\), "([a-z0-9+-]+)"\},`) {
		if !slices.Contains(run, lacking) {
			t.Errorf("make run does not install %s, without which checkers do not compile", lacking)
		}
	}
}
