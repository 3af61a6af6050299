package plain_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/problemtest"
)

// tests is a folder of tests with a program and a statement.
func tests(files map[string]string) map[string]string {
	all := map[string]string{
		"1.in": "1\n", "1.out": "2\n", "2.in": "5\n", "2.out": "6\n",
		"statement.md": "Add one.\n", "submissions/accepted/a.py": "print(int(input()) + 1)\n",
	}
	maps.Copy(all, files)
	return all
}

func TestAFolderOfTestsIsTheSameAsAZIPFile(t *testing.T) {
	t.Parallel()
	files := tests(nil)
	p, _, err := importing.Read(problemtest.Files(files))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := problemtest.Kept(t, p)
	for name, prefix := range map[string]string{"at the top": "", "in its only folder": "plus/", "in a folder in a folder": "a/plus/"} {
		archived := maps.Clone(files)
		archived["__MACOSX/._1.in"] = "x"
		junk := problemtest.ZIP(t, prefix, archived)
		q, _, err := problemtest.Unzip(t, junk)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		problemtest.Arrives(t, q)
		if got, _ := problemtest.Kept(t, q); got != want {
			t.Errorf("%s: the version is %s, want %s", name, got, want)
		}
	}
}

func TestTestsAreReadAsText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789\r\n", 10_000)
	files := tests(map[string]string{
		"1.in": "1\r\n2\r\n", "1.out": "\xef\xbb\xbf3\r4\r\r5", "2.in": "a\x00\r\n", "2.out": "\xef\xbb\xbf", "3.in": long, "3.out": strings.Repeat("x", 32<<10-1) + "\r\n\r\n",
		"4.in": "5\n", "4.out": "\r\n",
	})
	p, report, err := importing.Read(problemtest.Files(files))
	if err != nil {
		t.Fatal(err)
	}
	_, got := problemtest.Kept(t, p)
	for name, want := range map[string]string{
		"1.in": "1\n2\n", "1.out": "3\n4\n\n5", "2.in": "a\x00\r\n", "2.out": "", "3.in": strings.ReplaceAll(long, "\r", ""), "3.out": strings.Repeat("x", 32<<10-1) + "\n\n",
		"4.in": "5\n", "4.out": "\n",
	} {
		if got[name] != want {
			t.Errorf("%s is %.40q (%d bytes), want %.40q (%d bytes)", name, got[name], len(got[name]), want, len(want))
		}
	}
	said := ""
	for _, w := range report.Warnings {
		said += w.String() + "\n"
	}
	for _, want := range []string{
		"1.in: has line ends of Windows, which programs do not get: they are turned into those of Unix (5 files like this: also 1.out, 3.in, 3.out, …)",
		"1.out: begins with a byte order mark, which is left out (2 files like this: also 2.out)",
	} {
		if !strings.Contains(said, want+"\n") {
			t.Errorf("the warnings are\n%swant %s", said, want)
		}
	}
	files["deepoj.yaml"] = "binary: true\n"
	if p, _, err = importing.Read(problemtest.Files(files)); err != nil {
		t.Fatal(err)
	}
	if _, got := problemtest.Kept(t, p); got["1.in"] != files["1.in"] || got["1.out"] != files["1.out"] {
		t.Errorf("binary tests are %q and %q", got["1.in"], got["1.out"])
	}
	delete(files, "deepoj.yaml")
	files["1.in"] = "\xff\xfe1\x00"
	if _, _, err = importing.Read(problemtest.Files(files)); err == nil || !strings.Contains(err.Error(), "1.in: is text in UTF-16") {
		t.Errorf("UTF-16: %v", err)
	}
}

// DMOJ's judge reads tests as text with an end of the last line.
func TestWhatIsGivenIsWhatAPackageDoesNotSay(t *testing.T) {
	t.Parallel()
	all := judge.Given{Title: "Plus one", CPUMillis: 500, MemoryMiB: 64}
	for name, tt := range map[string]struct {
		files  map[string]string
		given  judge.Given
		title  string
		cpu    time.Duration
		memory int64
		idle   []string
	}{
		"nothing":                      {tests(nil), judge.Given{}, "plus", 2 * time.Second, 256, nil},
		"everything":                   {tests(nil), all, "Plus one", 500 * time.Millisecond, 64, nil},
		"what deepoj.yaml says itself": {tests(map[string]string{"deepoj.yaml": "title: Own\nlimits: {time_limit: 3, memory: 1024}\n"}), all, "Own", 3 * time.Second, 1024, []string{"deepoj.yaml: title: is \"Own\"", "deepoj.yaml: limits.time_limit: comes from deepoj.yaml: limits.time_limit, so the 500ms", "deepoj.yaml: limits.memory: is 1024 MiB, so the 64 MiB"}},
		"what it says by the way":      {tests(map[string]string{"deepoj.yaml": "limits: {memory: 1024}\n"}), all, "Plus one", 500 * time.Millisecond, 1024, []string{"deepoj.yaml: limits.memory"}},
		"another format":               {map[string]string{"problem.yaml": "name: Small\n", ".timelimit": "1\n", "data/secret/1.in": "1\n", "data/secret/1.ans": "1\n"}, all, "Small", time.Second, 2048, []string{"package: title", "package: limits.time_limit", "package: limits.memory"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, err := importing.Read(problemtest.Files(tt.files))
			if err != nil {
				t.Fatal(err)
			}
			idle := p.Give("plus", tt.given)
			if p.Slug != "plus" || p.Title != tt.title || p.Limits.CPU != tt.cpu || p.Limits.MemoryMiB != tt.memory {
				t.Errorf("%q %q, %s, %d MiB; want %q, %s, %d MiB", p.Slug, p.Title, p.Limits.CPU, p.Limits.MemoryMiB, tt.title, tt.cpu, tt.memory)
			}
			if len(idle) != len(tt.idle) {
				t.Fatalf("without effect: %v, want %v", idle, tt.idle)
			}
			for i, f := range idle {
				if !strings.HasPrefix(f.String(), tt.idle[i]) {
					t.Errorf("without effect: %s, want %s", f, tt.idle[i])
				}
			}
			version, _ := problemtest.Kept(t, p)
			again := problemtest.Export(t, p)
			again.Give("plus", judge.Given{})
			if v, _ := problemtest.Kept(t, again); v != version {
				t.Errorf("exported and imported, the version is %s, want %s", v, version)
			}
		})
	}
}
