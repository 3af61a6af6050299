package judge0

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
)

var most = judge.RunLimits{CPUMillis: 15_000, WallMillis: 30_000, MemoryKiB: 512 << 10, OutputKiB: 4 << 10, Processes: 120}

var languages = []judge.Language{{ID: "cpp", Name: "C++", Extensions: []string{"cpp"}, Available: true}, {ID: "org.example.b", Available: true}}

// FuzzDecode sends anything as a submission. What is taken keeps every bound and
// is told again as it was sent.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"source_code": "int main() {}", "language_id": 54, "stdin": "1", "expected_output": "", "cpu_time_limit": "0.1"}`,
		`{"source_code": "eA==", "language_id": "54", "memory_limit": 1e400, "number_of_runs": -0}`,
		`{"source_code": "f0VMRgD/", "language_id": 44, "additional_files": "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA=="}`,
		`{"source_code": null, "language_id": 89, "additional_files": "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA=="}`,
		`{"source_code": "x", "language_id": 54, "tests": [{"stdin": "1"}, {}], "compiler_options": "-O2 'a b'", "callback_url": "http://a/"}`,
		`{"source_code": {}, "language_id": [], "tests": {}, "enable_network": 0}`, `null`, `[]`, `{`, "\xff",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, encoded bool) {
		params, err := ReadParams(body)
		if err != nil {
			return
		}
		run, _, errs := Decode(params, encoded, languages, most)
		if len(errs) > 0 {
			if _, err := json.Marshal(errs); err != nil {
				t.Fatalf("the refusal cannot be told: %v", err)
			}
			return
		}
		l := run.Limits
		if l.CPUMillis < 1 || l.CPUMillis > most.CPUMillis || l.WallMillis < 1 || l.WallMillis > most.WallMillis || l.MemoryKiB < 2048 || l.MemoryKiB > most.MemoryKiB ||
			l.OutputKiB < 1 || l.OutputKiB > most.OutputKiB || l.Processes < 1 || l.Processes > most.Processes || run.Repeat < 1 || run.Repeat > 20 {
			t.Fatalf("limits %+v, repeated %d", l, run.Repeat)
		}
		if len(run.Tests) < 1 || len(run.Tests) > maxTests || (run.Language == "") != (len(run.Sources) == 0) {
			t.Fatalf("%d tests and %d sources in %q", len(run.Tests), len(run.Sources), run.Language)
		}
		payload, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		kept := &judge.Run{Job: judge.Job{Status: judge.Pending}}
		if err := json.Unmarshal(payload, &kept.Asked); err != nil {
			t.Fatal(err)
		}
		told, err := Encode(kept, []string{"source_code", "stdin", "status_id"}, true, languages)
		if err != nil || told["status_id"] != 1 {
			t.Fatalf("told as %v, %v", told, err)
		}
		if text, ok := told["source_code"].(string); ok {
			source := ""
			if run.Language == "" {
				source = string(run.Files[0].Data)
			} else {
				source = run.Sources[0].Text
			}
			if b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "\n", "")); err != nil || string(b) != source {
				t.Fatalf("the source %q is told as %q", source, text)
			}
		}
		text, _ := told["stdin"].(string)
		if b, err := fromBase64(text); err != nil || !bytes.Equal(b, run.Tests[0].Input) && told["tests"] == nil && len(run.Tests) == 1 && told["stdin"] != nil {
			t.Fatalf("the input %q is told as %q", run.Tests[0].Input, text)
		}
	})
}

// FuzzWords compares the splitting of a command line with quoting its words.
func FuzzWords(f *testing.F) {
	f.Add("-O2", "a b", `it's "so"`, "gcc -DX='1 2' \\\"")
	f.Add("", "\\", "\t", "'")
	f.Fuzz(func(t *testing.T, a, b, c, line string) {
		_, _ = splitWords(line) // ends, whatever it is
		want := []string{strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?"), strings.ToValidUTF8(c, "?")}
		quoted := make([]string, len(want))
		for i, word := range want {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		got, err := splitWords(strings.Join(quoted, " \t"))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q became %q, %v", want, got, err)
		}
	})
}

// packed returns an archive of files with these names and contents, in turn.
func packed(tb testing.TB, files ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		out, err := w.Create(files[i])
		if err == nil {
			_, err = out.Write([]byte(files[i+1]))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// FuzzArchive unpacks anything. What comes out lies below the folder and is no
// larger than it may be.
func FuzzArchive(f *testing.F) {
	f.Add(packed(f, "a", "1", "b/c", "2"))
	f.Add(packed(f, "../a", "1"))
	f.Add(packed(f, "a", "1", "a/b", "2"))
	f.Add([]byte("PK"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		files, err := unzip(archive)
		if err != nil {
			return
		}
		total, seen := 0, map[string]bool{}
		for _, file := range files {
			total += len(file.Data)
			if !plainPath(file.Name) || strings.HasPrefix(path.Join("/box", file.Name), "/box/") == false || seen[file.Name] {
				t.Errorf("it has the file %q", file.Name)
			}
			seen[file.Name] = true
		}
		if total > MaxArchiveBytes || len(files) > maxArchiveFiles {
			t.Errorf("it has %d files with %d bytes", len(files), total)
		}
	})
}

func TestAnArchiveIsRefusedForWhatItHolds(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range maxArchiveFiles + 1 {
		many = append(many, strings.Repeat("x", i%190+1)+string(rune('a'+i/190)), "")
	}
	for name, tt := range map[string]struct {
		archive []byte
		says    string
	}{
		"no archive":              {[]byte("x"), "not a ZIP"},
		"above the folder":        {packed(t, "../x", ""), "no regular file below"},
		"an absolute path":        {packed(t, "/etc/passwd", ""), "no regular file below"},
		"a path that turns back":  {packed(t, "a/../../x", ""), "no regular file below"},
		"a backslash":             {packed(t, `..\x`, ""), "no regular file below"},
		"the same name twice":     {packed(t, "a", "", "a", ""), "twice"},
		"a file that is a folder": {packed(t, "a/b", "", "a", ""), "as a file and as a folder"},
		"many files":              {packed(t, many...), "more than 256"},
		"a bomb":                  {packed(t, "a", strings.Repeat("0", MaxArchiveBytes/2+1), "b", strings.Repeat("0", MaxArchiveBytes/2)), "more than 8 MiB unpacked"},
	} {
		if _, err := unzip(tt.archive); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	files, err := unzip(packed(t, "d/", "", "d/e/f", "1", "g", "2"))
	if err != nil || len(files) != 2 || files[0].Name != "d/e/f" || string(files[1].Data) != "2" {
		t.Errorf("a good one: %v, %v", files, err)
	}
}

func TestEveryLanguageHasANumberOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[int]string{MultiFile: ""}
	for id, numbers := range wellKnown {
		for _, n := range append(slices.Clone(numbers), ownID(id)) {
			if other, taken := seen[n]; taken {
				t.Errorf("%d is %q and %q", n, id, other)
			}
			seen[n] = id
		}
	}
	own := ListedID("org.example.b")
	if own < firstOwn || own != ownID("org.example.b") || Find(languages, own).ID != "org.example.b" || Find(languages, 53).ID != "cpp" ||
		Find(languages, ListedID("cpp")).ID != "cpp" || Find(languages, 1) != nil || Find(languages, 71) != nil {
		t.Errorf("an uploaded language has the number %d", own)
	}
}
