package polygon_test

import (
	"io"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"deepoj/host/problem"
	"deepoj/host/problem/importing"
)

// windows is a package of Polygon with some files of tests.
func windows(t *testing.T, files map[string]string) (*problem.Package, problem.Report) {
	t.Helper()
	fsys := fstest.MapFS{"problem.xml": {Data: []byte(`<problem short-name="w"><names><name language="english" value="W"/></names>
<judging><testset name="tests"><time-limit>1000</time-limit><memory-limit>268435456</memory-limit>
<input-path-pattern>tests/%02d</input-path-pattern><answer-path-pattern>tests/%02d.a</answer-path-pattern>
<tests><test method="manual" sample="true"/><test method="manual"/><test method="manual"/></tests></testset></judging>
<files><resources><file path="files/testlib.h"/></resources></files>
<assets><checker type="testlib"><source path="files/check.cpp" type="cpp.g++17"/><testset><tests><test verdict="ok"/></tests></testset></checker>
<validators><validator><source path="files/val.cpp" type="cpp.g++17"/><testset><tests><test verdict="valid"/></tests></testset></validator></validators>
<solutions><solution tag="main"><source path="solutions/a.py" type="python.3"/></solution></solutions></assets></problem>`)}}
	all := map[string]string{
		"files/check.cpp": "int main() {}\r\n", "files/val.cpp": "int main() {}\r\n", "files/testlib.h": "", "solutions/a.py": "print(1)\r\n",
		"tests/01": "1 2\n", "tests/01.a": "3\n", "tests/02": "1\n", "tests/02.a": "1\n", "tests/03": "1\n", "tests/03.a": "1\n",
		"files/tests/checker-tests/01": "1\n", "files/tests/checker-tests/01.o": "1\n", "files/tests/checker-tests/01.a": "1\n",
		"files/tests/validator-tests/01": "1\n",
	}
	maps.Copy(all, files)
	for name, text := range all {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	p, report, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return p, report
}

func TestTestsOfPolygonAreReadAsText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789\r\n", 20_000) // line ends at the edges of what is read at once
	binary := "P6\r\n\x00\x01\r\n"
	p, report := windows(t, map[string]string{
		"tests/01": "1 2\r\n\r\n3\n", "tests/01.a": "3\r\r\nlone \r here\r", "tests/02": long, "tests/03": binary, "tests/03.a": "prîvet\t\v\f\r\n\x1a",
		"files/tests/checker-tests/01.o": "1\r\n", "files/tests/validator-tests/01": "\r\n", "attachments/a.txt": "a\r\n",
	})
	want := map[string]string{
		"tests/01": "1 2\n\n3\n", "tests/01.a": "3\r\nlone \r here\r", "tests/02": strings.ReplaceAll(long, "\r", ""), "tests/03": binary, "tests/03.a": "prîvet\t\v\f\n\x1a",
		"files/tests/checker-tests/01.o": "1\n", "files/tests/validator-tests/01": "\n",
		"tests/02.a": "1\n", "attachments/a.txt": "a\r\n", "solutions/a.py": "print(1)\r\n", "files/check.cpp": "int main() {}\r\n",
	}
	for _, f := range p.Files {
		if _, ok := want[f.Path]; !ok {
			continue
		}
		r, err := p.Open(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(iotest.OneByteReader(r))
		if err != nil || string(got) != want[f.Path] || f.Size != int64(len(got)) {
			t.Errorf("%s is %d bytes, said to be %d (%v), want %d: %.60q", f.Path, len(got), f.Size, err, len(want[f.Path]), got)
		}
		delete(want, f.Path)
	}
	if len(want) > 0 {
		t.Errorf("no files: %q", want)
	}
	p.EachFile(func(f *problem.File) {
		for _, listed := range p.Files {
			if listed.Path == f.Path && listed.Size != f.Size {
				t.Errorf("%s has %d bytes in one place and %d in another", f.Path, listed.Size, f.Size)
			}
		}
	})
	if p.Samples[0].Input != "1 2\n\n3\n" {
		t.Errorf("the sample is shown as %q", p.Samples[0].Input)
	}
	var told []string
	for _, w := range report.Warnings {
		if strings.Contains(w.Reason, "line ends") {
			told = append(told, w.String())
		}
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "tests/01: and 5 other files of tests have the line ends of Windows") {
		t.Errorf("told %q", told)
	}
}

func TestAnExportKeepsTheLineEndsOfItsVersion(t *testing.T) {
	t.Parallel()
	p, _ := windows(t, map[string]string{"tests/02": "1\r\n", problem.VersionFile: "{}"})
	if got := p.Tests()[1].Input.Size; got != 3 {
		t.Errorf("a test of an exported version has %d bytes", got)
	}
}
