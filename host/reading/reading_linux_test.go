package reading_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/blob"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/samples"
	"deepoj/host/reading"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == reading.Command {
		os.Exit(child(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// child is a reader, or one that probes what it may, or lies.
func child(args []string) int {
	sample := reading.Sample(args)
	if lie, is := strings.CutPrefix(sample, "lie "); is {
		return forge(lie)
	}
	if sample != "probe" {
		return reading.Child(args)
	}
	err := reading.Confined(args)
	if err == nil {
		err = reading.Tell(probe())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// entry is a file, folder or link of an archive.
type entry struct {
	name, text string
	mode       fs.FileMode
	zeros      int64 // that follow the text
}

func file(name, text string) entry { return entry{name: name, text: text, mode: 0o644} }
func link(name, target string) entry {
	return entry{name: name, text: target, mode: fs.ModeSymlink | 0o777}
}
func folder(name string) entry { return entry{name: name + "/", mode: fs.ModeDir | 0o755} }

// archive makes a ZIP file of a small good package and more.
func archive(t testing.TB, more ...entry) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "package.zip"))
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	w := zip.NewWriter(f)
	all := append([]entry{
		file("problem.yaml", "name: Small\n"), file(".timelimit", "1\n"), file("data/secret/1.in", "1\n"), file("data/secret/1.ans", "one\n"), file("submissions/accepted/a.py", "print()\n"),
	}, more...)
	for _, e := range all {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode)
		if e.zeros > 0 {
			addZeros(t, w, h, e.zeros)
			continue
		}
		to, err := w.CreateHeader(h)
		must(t, err)
		_, err = io.WriteString(to, e.text)
		must(t, err)
	}
	must(t, w.Close())
	return f
}

// addZeros adds a file of n zeros, whole MiBs. One MiB is compressed, and written as
// often as it takes: a flushed stretch stands for itself.
func addZeros(t testing.TB, w *zip.Writer, h *zip.FileHeader, n int64) {
	t.Helper()
	const mib = 1 << 20
	var stretch bytes.Buffer
	deflate, err := flate.NewWriter(&stretch, flate.BestSpeed)
	must(t, err)
	_, err = deflate.Write(make([]byte, mib))
	must(t, err)
	must(t, deflate.Flush())
	before := stretch.Len()
	must(t, deflate.Close())
	end := bytes.Clone(stretch.Bytes()[before:])
	stretch.Truncate(before)
	sum, zeros := uint32(0), make([]byte, mib)
	for range n / mib {
		sum = crc32.Update(sum, crc32.IEEETable, zeros)
	}
	h.CRC32, h.UncompressedSize64, h.CompressedSize64 = sum, uint64(n), uint64(n/mib)*uint64(before)+uint64(len(end))
	to, err := w.CreateRaw(h)
	must(t, err)
	for range n / mib {
		_, err = to.Write(stretch.Bytes())
		must(t, err)
	}
	_, err = to.Write(end)
	must(t, err)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func statement(text string) entry { return file("problem_statement/problem.en.md", text) }

// ladder is a package whose links lead from each of many folders to the next in several
// ways: ways^levels paths, none of which is deep.
func ladder(levels, ways int) (all []entry) {
	for l := range levels + 1 {
		all = append(all, folder(fmt.Sprintf("d%d", l)))
	}
	for l := range levels {
		for w := range ways {
			all = append(all, link(fmt.Sprintf("d%d/l%d", l, w), fmt.Sprintf("../d%d", l+1)))
		}
	}
	return all
}

func TestAPackageThatCostsTooMuchIsItsOwnFault(t *testing.T) {
	quick := reading.Config{CPU: 2 * time.Second, Bytes: 256 << 20}
	tables := strings.Repeat("|", 20_000) + "\n" + strings.Repeat("-|", 20_000) + "\n" + strings.Repeat("a\n", 90_000)
	for name, tt := range map[string]struct {
		entries []entry
		want    []string // one of these
	}{
		"a ladder of links":                    {ladder(13, 12), []string{"one link too many to the same folder"}},
		"a ladder of few links":                {ladder(15, 2), []string{"one link too many to the same folder"}},
		"a folder that links to itself":        {[]entry{folder("d"), link("d/x", "../d")}, []string{"d/x: is a link to a folder that it is in"}},
		"two folders that link to each other":  {[]entry{folder("d"), folder("e"), link("d/x", "../e"), link("e/x", "../d")}, []string{"is a link to a folder that it is in"}},
		"many links to a folder of many files": {manyVisits(), []string{"is one too many: at most 200000 files and folders are read"}},
		"a large file with many names":         {manyNames(), []string{"the files have more than 4 GiB together"}},
		"a gigabyte of zeros":                  {[]entry{{name: "attachments/big", mode: 0o644, zeros: 1 << 30}}, []string{`more than 100 times its size: "attachments/big" alone has 1024 MiB`}},
		"a statement of 300 KiB":               {[]entry{statement(strings.Repeat("word ", 60<<10))}, []string{"problem_statement/problem.en.md: is longer than 256 KiB"}},
		"a statement of 300 KiB of TeX":        {[]entry{file("problem_statement/problem.tex", strings.Repeat("word ", 60<<10))}, []string{"problem.tex: is longer than 256 KiB"}},
		"stars that nothing closes":            {[]entry{statement(strings.Repeat("*a_", 80_000))}, []string{"has more than 1000 of the signs"}},
		"formulas without end":                 {[]entry{statement(formulas())}, []string{"took more than 2 s of CPU"}},
		"definitions of the same link":         {[]entry{statement(strings.Repeat("[a]: x\n", 36_000))}, nil},
		"a table that becomes a million times": {[]entry{statement(tables)}, []string{"MiB of memory", "MiB of HTML", "s of CPU"}},
		"quotes in quotes":                     {[]entry{statement(strings.Repeat(">", 250_000))}, nil},
		"brackets that nothing closes":         {[]entry{statement(strings.Repeat("[", 250_000))}, nil},
		"links in links":                       {[]entry{statement(strings.Repeat("[a](", 62_000))}, nil},
		"lists in lists":                       {[]entry{statement(strings.Repeat("- ", 120_000))}, nil},
		"backticks of all lengths":             {[]entry{statement(ticks())}, nil},
		"aliases of aliases":                   {[]entry{file("data/testdata.yaml", aliases())}, nil},
		"samples without end":                  {manySamples(), []string{"at most 4 MiB of all samples"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // only a hang takes that long
			defer cancel()
			c := quick
			if strings.HasPrefix(name, "many") { // of what only the visits are too many
				c.CPU = time.Minute
			}
			r, err := c.Archive(ctx, archive(t, tt.entries...))
			must(t, r.Close())
			if err == nil && tt.want == nil {
				return // read in time, for it is not slow, or not any more
			}
			failed, isFailure := errors.AsType[*reading.FailureError](err)
			if _, refused := errors.AsType[*problem.Error](err); !refused && !isFailure {
				t.Fatalf("the error %v is nobody's fault", err)
			}
			if tt.want == nil {
				tt.want = []string{"s of CPU", "MiB of memory", "MiB of HTML", "is not YAML", "of the signs", "in each other"}
			}
			for _, want := range tt.want {
				if strings.Contains(err.Error(), want) {
					return
				}
			}
			t.Errorf("it is refused with %q (%v), want one of %q", err, failed, tt.want)
		})
	}
}

// manyVisits is a folder of few enough files, to which few enough links lead.
func manyVisits() (all []entry) {
	for i := range 4000 {
		all = append(all, file(fmt.Sprintf("attachments/a/%d", i), ""))
	}
	for i := range 55 {
		all = append(all, link(fmt.Sprintf("attachments/l%d", i), "a"))
	}
	return all
}

// manyNames is one file of 60 MiB with as many names as make too much of it.
func manyNames() []entry {
	all := []entry{{name: "attachments/big", text: noise(1 << 20), mode: 0o644, zeros: 59 << 20}}
	for i := range 100 {
		all = append(all, link(fmt.Sprintf("attachments/l%d", i), "big"))
	}
	return all
}

// noise is text that is not packed well.
func noise(n int) string {
	b, x := make([]byte, n), uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return string(b)
}

func manySamples() (all []entry) {
	for i := range 70 {
		all = append(all, file(fmt.Sprintf("data/sample/%d.in", i), noise(64<<10)), file(fmt.Sprintf("data/sample/%d.ans", i), "1\n"))
	}
	return all
}

func ticks() string {
	var b strings.Builder
	for i := 0; b.Len() < 250_000; i++ {
		b.WriteString(strings.Repeat("`", i%600+1) + " ")
	}
	return b.String()
}

func aliases() string {
	text := "a0: &a0 [x, x]\n"
	for i := range 40 {
		text += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	return text
}

func TestAPackageIsTheSameWhoeverReadsIt(t *testing.T) {
	t.Parallel()
	store, err := blob.OpenDir(t.TempDir())
	must(t, err)
	for _, slug := range samples.Slugs() {
		fsys, err := samples.FS(slug)
		must(t, err)
		p, report, err := importing.Read(fsys)
		must(t, err)
		p.Slug = slug
		want, err := p.Save(t.Context(), store)
		must(t, err)
		r, err := reading.Config{}.Sample(t.Context(), slug)
		must(t, err)
		r.Slug = slug
		if got, err := r.Save(t.Context(), store); err != nil || got != want || len(r.Report.Warnings) != len(report.Warnings) {
			t.Errorf("%s: version %s, %v; want %s", slug, got, err, want)
		}
		must(t, r.Close())
	}
	// A folder, an archive and its content, also through a link, in any order.
	dir := t.TempDir()
	more := []entry{
		file("attachments/a.bin", noise(300_000)), link("attachments/b.bin", "a.bin"), file("attachments/empty", ""), file("attachments/frame", noise(64<<10)),
		file("problem_statement/problem.de.tex", `Ist $\frac{1}{2}$ in \includegraphics{a}?`), file("problem_statement/a.svg", `<svg xmlns="http://www.w3.org/2000/svg"><script/><path d="M0 0"/></svg>`),
	}
	z := archive(t, more...)
	must(t, exec.Command("python3", "-c", "import sys,zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])", z.Name(), dir).Run())
	must(t, os.Remove(filepath.Join(dir, "attachments", "b.bin"))) // which that made a file of
	must(t, os.Symlink("a.bin", filepath.Join(dir, "attachments", "b.bin")))
	var versions []blob.Digest
	for _, path := range []string{dir, z.Name()} {
		r, slug, err := reading.Config{}.Path(t.Context(), path)
		must(t, err)
		if want := strings.TrimSuffix(filepath.Base(path), ".zip"); slug != want {
			t.Errorf("%s is called %q", path, slug)
		}
		if text := r.Statements["de"]; !strings.Contains(text, "<mfrac>") || !strings.Contains(text, `src="pictures/`) || len(r.Pictures) != 1 {
			t.Errorf("the statement of %s is %s, with pictures %+v", path, text, r.Pictures)
		}
		r.Slug = "small"
		v, err := r.Save(t.Context(), store)
		must(t, err)
		versions = append(versions, v)
		for _, f := range r.Files {
			in, err := r.Open(t.Context(), f)
			must(t, err)
			b, err := io.ReadAll(in)
			must(t, err)
			if blob.Of(b) != f.Digest || strings.HasSuffix(f.Path, ".bin") && !bytes.Equal(b, []byte(noise(300_000))) {
				t.Errorf("%s of %s is not what it was", f.Path, path)
			}
		}
		must(t, r.Close())
	}
	if versions[0] != versions[1] {
		t.Errorf("the folder is version %s, the archive %s", versions[0], versions[1])
	}
}
