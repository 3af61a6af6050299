package importing_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"deepoj/host/blob"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
)

var update = flag.Bool("update", false, "write the reports of the packages in testdata anew")

// The file of an archive that holds the report on the rest of it, and the one
// that holds what several archives share.
const (
	reportFile = "report"
	baseFile   = "base"
)

// TestPackagesAreReadAsTheirReportsSay reads each archive in testdata/packages
// over the base of its format, and compares what was read, or why it was
// refused, with the report in the archive. An empty file takes one of the base
// away. Run with -update to write the reports.
func TestPackagesAreReadAsTheirReportsSay(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/packages/*/*.txtar")
	if err != nil || len(archives) < 40 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, name := range archives {
		if filepath.Base(name) == baseFile+".txtar" {
			continue
		}
		t.Run(strings.TrimSuffix(strings.TrimPrefix(name, "testdata/packages/"), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			for _, f := range a.Files {
				if f.Name == reportFile {
					want = string(f.Data)
				}
			}
			p, report, err := importing.Read(archived(t, name))
			got := describe(p, report, err)
			if p != nil {
				saved(t, p)
			}
			if got == want {
				return
			}
			if !*update {
				t.Errorf("the report is\n%s\nwant\n%s", got, want)
				return
			}
			a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == reportFile })
			a.Files = append(a.Files, txtar.File{Name: reportFile, Data: []byte(got)})
			if err := os.WriteFile(name, txtar.Format(a), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// archived returns the package of an archive: its files over those of the base
// in the same folder.
func archived(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, from := range []string{filepath.Join(filepath.Dir(name), baseFile+".txtar"), name} {
		a, err := txtar.ParseFile(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if delete(fsys, f.Name); len(f.Data) > 0 && f.Name != reportFile {
				fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
			}
		}
	}
	return fsys
}

// saved saves a package and loads it: every file that is named has a digest.
func saved(t *testing.T, p *problem.Package) {
	t.Helper()
	store, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Save(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	q, err := problem.Load(t.Context(), store, v)
	if err != nil {
		t.Fatal(err)
	}
	if describe(p, problem.Report{}, nil) != describe(q, problem.Report{}, nil) {
		t.Error("the package that was saved is not the one that is loaded")
	}
	for _, in := range q.Includes {
		for _, f := range in.Files {
			if f.Digest == "" {
				t.Errorf("%s has no digest", f.Path)
			}
		}
	}
}

// describe says in lines what was read.
func describe(p *problem.Package, report problem.Report, err error) string {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	if err != nil {
		say("refused:")
		say("%v", err)
		return out.String()
	}
	say("%s %q by %q from %q, license %q, languages %q, scoring %t", p.Format, p.Title, p.Author, p.Source, p.License, p.Languages, p.Scoring)
	l := p.Limits
	say("cpu %s (%s), multipliers %g %g, memory %d, output %d, code %d", l.CPU, l.CPUFrom, l.Multiplier, l.SafetyMargin, l.MemoryMiB, l.OutputMiB, l.CodeKiB)
	if len(p.Titles) > 0 {
		say("called %q", p.Titles)
	}
	if p.Writable {
		say("programs may write files")
	}
	if p.Passes > 0 {
		say("%d passes", p.Passes)
	}
	if p.Twice != "" {
		say("run twice, the second run %s", p.Twice)
	}
	if p.InputFile+p.OutputFile != "" {
		say("reads %q, writes %q", p.InputFile, p.OutputFile)
	}
	for _, c := range p.Checkers {
		say("checker %s, points %t", c.Name(), c.Points)
		if p.Format != problem.FormatLegacy && p.Format != problem.Format202307 && p.Format != problem.Format202509 {
			say("  of %q with %q", paths(c.Sources), c.Flags)
		}
	}
	for _, c := range p.CheckerTests {
		say("  must say %s about %s %s %s, args %q", c.Wants, c.Input.Path, c.Output.Path, c.Answer.Path, c.Flags)
		if c.Valid != nil && len(c.Valid.Flags)+len(c.Valid.FlagsBy) > 0 {
			say("    of an input that is valid with %q %q", c.Valid.Flags, c.Valid.FlagsBy)
		}
	}
	for _, f := range p.Invalid {
		say("invalid input %s", f.Path)
		if len(f.Flags)+len(f.FlagsBy) > 0 {
			say("  with %q %q", f.Flags, f.FlagsBy)
		}
	}
	if p.Static != nil {
		say("static validator %s in %q of %q", p.Static.Name, p.Static.Language, paths(p.Static.Files))
	}
	if p.Grader != nil {
		say("grader %s in %q of %q", p.Grader.Name, p.Grader.Language, paths(p.Grader.Files))
	}
	for _, v := range p.Validators {
		say("validator %s in %q of %q, %s", v.Name, v.Language, paths(v.Files), v.Protocol)
		for _, t := range v.Tests {
			say("  must say %t about %s %q", t.Valid, t.Input.Path, t.Flags)
		}
	}
	for _, g := range p.Generators {
		say("generator %s in %q of %q", g.Name, g.Language, paths(g.Files))
	}
	if p.Interactor != nil {
		say("interactor %s, points %t", p.Interactor.Name(), p.Interactor.Points)
	}
	for _, in := range p.Includes {
		for _, f := range p.Included(in.Language) {
			say("include for %s: %s, %d bytes", in.Language, f.Name, f.File.Size)
		}
	}
	describeGroup(say, p.Root)
	for _, s := range p.Submissions {
		say("submission %s %s may get %q", s.Path, s.Language, s.Allowed)
		if len(s.Files) > 1 {
			say("  of %q", paths(s.Files))
		}
		if s.Entry != "" {
			say("  starts with %s", s.Entry)
		}
		if s.Main {
			say("  gives the answers")
		}
		for _, e := range s.Expect {
			say("  tests %q: permitted %q, required %q, score %s to %s, message %q, bound %q", e.Tests, e.Permitted, e.Required, bound(e.Low), bound(e.High), e.Message, e.Bound)
		}
	}
	for _, lang := range slices.Sorted(func(yield func(string) bool) {
		for lang := range p.Statements {
			if !yield(lang) {
				return
			}
		}
	}) {
		say("statement %s: %q", lang, p.Statements[lang])
	}
	for _, f := range p.Judge().Files {
		say("everybody may have %s, %d bytes", f.Name, f.Bytes)
	}
	for _, s := range p.Samples {
		say("sample %s: %q %q", s.Name, s.Input, s.Output)
	}
	for _, w := range report.Warnings {
		say("warning: %s", w)
	}
	return out.String()
}

func describeGroup(say func(string, ...any), g *problem.Group) {
	gr := g.Grading
	say("group %q: break %t, %s %s, any %t, tests give %g or %g, %s to %s, rule %q, requires %q", g.Name, gr.Break, gr.Verdict, gr.Score,
		gr.AcceptAny, gr.AcceptScore, gr.RejectScore, bound(gr.Low), bound(gr.High), gr.Rule, gr.Requires)
	for _, it := range g.Items {
		if it.Group != nil {
			describeGroup(say, it.Group)
		} else if it.Static != nil {
			say("  submitted files %s: sample %t, args %q, points %s", it.Static.Name, it.Static.Sample, it.Static.Flags, bound(it.Static.Points))
		} else {
			say("  test %s: sample %t, %d and %d bytes, args %q", it.Test.Name, it.Test.Sample, it.Test.Input.Size, it.Test.Answer.Size, it.Test.Flags)
			if len(it.Test.Args)+len(it.Test.Files) > 0 {
				say("    programs get %q and %v", it.Test.Args, it.Test.Files)
			}
			if it.Test.Points != nil {
				say("    points %g", *it.Test.Points)
			}
			if len(it.Test.InputFlags)+len(it.Test.InputFlagsOf) > 0 || it.Test.Made != nil {
				say("    made by %q, validated with %q", it.Test.Made, it.Test.InputFlags)
				for _, name := range slices.Sorted(maps.Keys(it.Test.InputFlagsOf)) {
					say("    by %s with %q", name, it.Test.InputFlagsOf[name])
				}
			}
		}
	}
}

func paths(files []problem.File) []string {
	var all []string
	for _, f := range files {
		all = append(all, f.Path)
	}
	return all
}

func bound(x *float64) string {
	if x == nil {
		return "any"
	}
	return fmt.Sprintf("%g", *x)
}
