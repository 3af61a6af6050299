package judging_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/plugins"
	"deepoj/plugins/abi"
)

// effort is how many odd submissions each language gets: n, or DEEPOJ_EFFORT times
// that.
func effort(t *testing.T, n int) int {
	t.Helper()
	v := os.Getenv("DEEPOJ_EFFORT")
	if v == "" {
		return n
	}
	times, err := strconv.Atoi(v)
	if err != nil || times < 1 {
		t.Fatalf("DEEPOJ_EFFORT=%s is no positive number", v)
	}
	return n * times
}

// oddities makes submissions of one language that nobody in their right mind hands
// in. The same numbers make the same submissions.
type oddities struct {
	*rand.Rand
	language *abi.Language
}

func pick[T any](o oddities, from []T) T { return from[o.IntN(len(from))] }

func (o oddities) name() string {
	e := "." + o.language.Extensions[0]
	long := strings.Repeat("n", 300)
	return pick(o, []string{
		"", ".", "..", "/", "a/", "../x" + e, "/etc/passwd", "/box/main" + e, "-o", "-" + e, e, "a b" + e, "a\nb" + e, "a\x00b" + e, "\xff\xfe" + e, long, long + e,
		strings.Repeat("d/", 40) + "x" + e, strings.Repeat("d/", 600) + "x" + e, strings.Repeat("\U0001F4A5", 80) + e, "ä" + e, "con" + e, "main" + e, "Main" + e,
		"main" + e + "/x" + e, "main", "main/x", "a", "a/b" + e, "a/b" + e + "/c", "out", "out/x" + e, "run", "compile", "cache", "cache/x", "deepoj/input", "*" + e,
		"$(id)" + e, "~" + e, "a\\b" + e, "Hello" + e, "package.json", "__init__" + e, "a:b" + e, "@a" + e,
	})
}

func (o oddities) text() string {
	hello := pick(o, [][]abi.Source{o.language.Hello, o.language.Hello, o.language.Broken})[0].Text
	bytes := make([]byte, 1+o.IntN(2000))
	for i := range bytes {
		bytes[i] = byte(o.Uint32())
	}
	flipped := []byte(hello)
	flipped[o.IntN(len(flipped))] ^= 1 << o.IntN(8)
	var wide strings.Builder
	for _, u := range utf16.Encode([]rune(hello)) {
		wide.WriteByte(byte(u))
		wide.WriteByte(byte(u >> 8))
	}
	long := strings.Repeat("a", 260)
	at := o.IntN(len(hello))
	return pick(o, []string{
		hello, hello, string(flipped), string(flipped), string(bytes), wide.String(), "", " \n", "\x00", hello + "\x00", "\ufeff" + hello, "\xff\xfe" + hello,
		strings.ReplaceAll(hello, "\n", "\r\n"), hello[:at], hello[:at] + string(bytes) + hello[at:], hello[:at] + strings.Repeat(hello[at:], 20),
		strings.Repeat(pick(o, []string{"(", "{", "[", "/*", "\"", "'", "<", "\n", "#", "\\", "`", "\t", "\u2028", "é"}), 20_000),
		"package hello\n\nfunc main() {}\n", "package " + strings.Repeat("a.", 2000) + "a;\n" + hello,
		strings.ReplaceAll(strings.ReplaceAll(hello, "Hello", long), "main(", long+"("), "public class " + long + " { public static void main(String[] a) { } }",
		"class A { public static void main" + strings.Repeat("(]void main", 3000), "#error \x1b[31m\x07 \u202e", "#include \"/dev/zero\"\n", "#include __FILE__\n",
		"#!/bin/sh\nexit 0\n", strings.Repeat("x", 60_000), "import " + long + "\n", "mod " + long + ";", "fun " + long + "() { }",
	})
}

func (o oddities) sources() []judge.Source {
	sources := make([]judge.Source, pick(o, []int{1, 1, 1, 2, 3, 5}))
	for i := range sources {
		sources[i] = judge.Source{Name: o.name(), Text: o.text()}
	}
	return sources
}

func (o oddities) run() judge.RunPayload {
	p := judge.RunPayload{
		SchemaVersion: judge.PayloadVersion, ContentType: judge.RunType, Language: o.language.ID, Sources: o.sources(), Tests: []judge.RunTest{{Input: []byte(o.text())}},
		Limits: pick(o, []judge.RunLimits{{}, {CPUMillis: 10}, {WallMillis: 10}, {MemoryKiB: 2048}, {OutputKiB: 1}, {Processes: 1}}), Writable: o.IntN(2) == 0,
	}
	for range o.IntN(3) {
		p.Files = append(p.Files, judge.RunFile{Name: o.name(), Data: []byte(o.text())})
	}
	for range o.IntN(3) {
		p.Options = append(p.Options, pick(o, []string{"-c", "-S", "-E", "-shared", "-o/dev/null", "-o", "--help", "-version", "@x", "-", "--", "", o.name(), "-O99", "-nostdlib", "-Wl,-e,0"}))
	}
	for range o.IntN(3) {
		p.Args = append(p.Args, pick(o, []string{"", "-", "--help", strings.Repeat("a", 1024), o.name()}))
	}
	return p
}

// fault says what is wrong with how an odd submission ended: only its verdict may be
// bad, and what is kept of it has to be what every database takes.
func fault(r judge.Result, err error) string {
	if err != nil {
		return err.Error()
	}
	if !slices.Contains([]judge.Verdict{judge.AC, judge.WA, judge.PE, judge.CE, judge.RE, judge.TLE, judge.MLE, judge.OLE}, r.Verdict) {
		return fmt.Sprintf("it is %s: %s %s", r.Verdict, r.Message, r.JudgeNote)
	}
	texts := []string{r.Message, r.JudgeNote, r.Compile.Output, r.Compile.Command}
	for _, d := range r.Compile.Diagnostics {
		texts = append(texts, d.File, d.Message, d.Severity)
	}
	for _, t := range r.Tests {
		texts = append(texts, t.Message, t.JudgeNote, t.Output)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fmt.Sprintf("a database does not take %q", text)
		}
	}
	return ""
}

// available says why a language cannot be judged here; "" if it can.
func available(t *testing.T, j *judging.Judge, id string) string {
	t.Helper()
	for _, l := range j.Languages(t.Context()) {
		if l.ID == id {
			return l.Unavailable
		}
	}
	return "there is no language " + id
}

func TestNoOddSubmissionIsAFailureOfThePlatform(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	adapters, err := plugins.Languages()
	if err != nil {
		t.Fatal(err)
	}
	pkg := echo(t, map[string]string{"problem.yaml": "name: Echo\nlimits: {memory: 128, output: 1, code: 512}\n"})
	folder := echo(t, map[string]string{
		"problem.yaml":            "name: Echo\nlimits: {memory: 128, output: 1, code: 512}\n",
		"data/sample/1.files/a/b": "x", "data/sample/1.files/out": "x",
	})
	for _, id := range adapters.Names() {
		if why := available(t, m.Judge, id); why != "" {
			if !optional[id] {
				t.Errorf("%s: %s", id, why)
			}
			continue
		}
		module, err := m.Runtime.LoadDigest(t.Context(), adapters.Digest(id), func() ([]byte, error) { return adapters.Read(id) }, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			seed := fnv.New64a()
			seed.Write([]byte(id))
			for n := range effort(t, 8) {
				o := oddities{rand.New(rand.NewPCG(seed.Sum64(), uint64(n))), module.Manifest.Language}
				var r judge.Result
				var err error
				var what any
				if n%2 == 0 {
					p := judge.Payload{Problem: "echo", Language: id, Sources: o.sources()}
					what = p
					r, err = m.Judge.Judge(t.Context(), p, pick(o, []*problem.Package{pkg, folder}).Version, nil)
				} else {
					p := o.run()
					what = p
					payload, jerr := json.Marshal(p)
					if jerr != nil {
						t.Fatal(jerr)
					}
					r, err = m.Judge.Run(t.Context(), judge.Claim{Attempt: judge.Attempt{JobID: 1, Owner: "w1"}, Kind: judge.KindRun, Payload: payload}, func(judge.Progress) {})
				}
				if why := fault(r, err); why != "" {
					t.Errorf("number %d: %.1000s\nof %.400s", n, why, fmt.Sprintf("%+q", what))
				}
			}
		})
	}
}
