package intake_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"deepoj/host/blob"
	"deepoj/host/intake"
	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/reading"
	"deepoj/sql"
)

// like is the intake of a bench with other limits.
func (b *bench) like(t *testing.T, change func(*intake.Config)) *bench {
	t.Helper()
	m := judgingtest.Get(t)
	cfg := intake.Config{Store: b.store.Site, Blobs: m.Blobs, Plugins: m.Runtime, Judge: b.judge, TempDir: t.TempDir()}
	change(&cfg)
	x, err := intake.New(cfg)
	must(t, err)
	return &bench{Intake: x, store: b.store, judge: b.judge}
}

// noisy is text that is not packed, and other with each seed.
func noisy(n int, seed uint32) string {
	b := make([]byte, n)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = 'a' + byte(seed>>24)%26
	}
	return string(b)
}

// ladder is a package that a setter stops all judging with, where links are followed
// without counting.
func ladder() map[string]string {
	all := with()
	for l := range 13 {
		for w := range 12 {
			all[fmt.Sprintf("d%d/l%d", l, w)] = fmt.Sprintf("->../d%d", l+1)
		}
	}
	all["d13/x"] = "x"
	return all
}

// formulas is a statement of so many formulas, of which no two are alike.
func formulas(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "$\\frac{%d}{b}$\n", i)
	}
	return b.String()
}

func TestAPackageThatCannotBeReadInTimeIsRefusedAndNotTriedAgain(t *testing.T) {
	b := newBench(t).like(t, func(c *intake.Config) { c.Reader = reading.Config{CPU: time.Second, Bytes: 256 << 20} })
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a ladder of links":         {ladder(), "one link too many to the same folder"},
		"stars that nothing closes": {with("statement/problem.en.md", strings.Repeat("*a_", 80_000)), "has more than 1000 of the signs"},
		"formulas without end":      {with("statement/problem.en.md", formulas(15_000)), "reading the package took more than 1 s of CPU"},
	} {
		job := b.importing(t, zipped(t, tt.files), true)
		x := b.finish(t, job)
		said := x.report.Error
		for _, f := range x.report.Refused {
			said += "\n" + f.String()
		}
		if x.result.Verdict != judge.JE || !strings.Contains(said, tt.want) {
			t.Errorf("%s: %s with %q, want JE with %q", name, x.result.Verdict, said, tt.want)
		}
		if view, err := b.store.Job(t.Context(), job.JobID); err != nil || view.Status != judge.Finished || view.Tries > 1 {
			t.Errorf("%s: %+v, %v", name, view, err)
		}
	}
	if left := b.versions(t); len(left) > 0 {
		t.Errorf("half imported: %+v", left)
	}
}

// halting is a store in which a job is cancelled while a file of its package is stored.
type halting struct {
	blob.Store

	cancel func()
}

func (h halting) Put(ctx context.Context, r io.Reader) (blob.Digest, int64, error) {
	return h.Store.Put(ctx, reader(func(p []byte) (int, error) {
		n, err := r.Read(p)
		if n > 4096 {
			h.cancel()
			<-ctx.Done()
		}
		return n, err
	}))
}

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

func TestAnImportThatIsCancelledEndsAtOnceAndLeavesNoHalfBlob(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	kept, err := blob.OpenDir(t.TempDir())
	must(t, err)
	b := newBench(t)
	stored := b.like(t, func(c *intake.Config) { c.Blobs = halting{kept, cancel} })
	archive := zipped(t, with("attachments/large.txt", noisy(4<<20, 1)))
	d, n, err := kept.Put(ctx, bytes.NewReader(archive))
	must(t, err)
	job := b.order(t, judge.KindImport, judge.PackagePayload{Archive: string(d), Bytes: n})
	if _, err := stored.run(ctx, t, job); !errors.Is(err, context.Canceled) {
		t.Fatalf("the import: %v", err)
	}
	must(t, kept.List(t.Context(), func(d blob.Digest, size int64) error {
		if err := kept.Verify(t.Context(), d); err != nil {
			return err
		}
		if size == 4<<20 {
			return fmt.Errorf("%s of %d bytes is stored", d, size)
		}
		return nil
	}))
	if left := b.versions(t); len(left) > 0 {
		t.Errorf("half imported: %+v", left)
	}
}

func TestPackagesOfASetterTakeNoMoreRoomThanTheirQuota(t *testing.T) {
	const quota = 200 << 10
	b := newBench(t).like(t, func(c *intake.Config) { c.Quota = quota })
	must(t, b.store.CreateUser(t.Context(), sql.NewUser{Name: "setter", PasswordHash: "x", Role: judge.RoleSetter}))
	before := 0
	count := func() (n int) {
		must(t, judgingtest.Get(t).Blobs.List(t.Context(), func(blob.Digest, int64) error { n++; return nil }))
		return n
	}
	large := with("problem.yaml", triple["problem.yaml"]+"limits: {time_limit: 1}\n", "attachments/a.txt", noisy(150<<10, 2))
	for _, step := range []struct {
		what  string
		files map[string]string
		want  string // "" = it is kept
	}{
		{"what fits", large, ""},
		{"the same with another statement", mixed(large, "statement/problem.en.md", "Write it three times.\n"), ""},
		{"more than fits", mixed(large, "attachments/b.txt", noisy(60<<10, 3)), "the package takes 0.1 MiB more, and your packages take 0.1 MiB of 0.2 MiB already"},
		{"as much as fits", mixed(large, "attachments/c.txt", noisy(30<<10, 4)), ""},
	} {
		job := b.importing(t, zipped(t, step.files), false)
		before = count()
		x := b.finish(t, job)
		if step.want == "" && (x.report.Version == "" || x.report.Error != "") || step.want != "" && !strings.Contains(x.report.Error, step.want) {
			t.Errorf("%s: %s", step.what, x.result.Report)
		}
		if after := count(); step.want != "" && after != before {
			t.Errorf("%s: %d files are stored of what was refused", step.what, after-before)
		}
	}
	if used, err := b.store.SetterBytes(t.Context(), "setter"); err != nil || used < 180<<10 || used > quota {
		t.Errorf("the setter has %d bytes, %v", used, err)
	}
	must(t, b.store.SetRole(t.Context(), "setter", judge.RoleStaff, "root"))
	if x := b.finish(t, b.importing(t, zipped(t, mixed(large, "attachments/d.txt", noisy(90<<10, 5))), false)); x.report.Version == "" {
		t.Errorf("staff have a quota: %s", x.result.Report)
	}
}

// mixed is a package with one file more or other.
func mixed(files map[string]string, name, text string) map[string]string {
	all := with()
	maps.Copy(all, files)
	all[name] = text
	return all
}

func TestAnImportOfAProblemThatBecameAnothersIsRefused(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	for _, name := range []string{"setter", "rival"} {
		must(t, b.store.CreateUser(ctx, sql.NewUser{Name: name, PasswordHash: "x", Role: judge.RoleSetter}))
	}
	job := b.importing(t, zipped(t, triple), true) // ordered while nobody had the name
	must(t, b.store.KeepVersion(ctx, judge.Problem{Slug: "triple", Title: "Rival's", Version: "sha256:01"}, "rival", 0))
	if x := b.finish(t, job); x.result.Verdict != judge.JE || !strings.Contains(x.report.Error, "triple is not a problem of setter") {
		t.Errorf("the import: %s", x.result.Report)
	}
	if all := b.versions(t); len(all) != 1 {
		t.Errorf("versions: %+v", all)
	}
	must(t, b.store.AddProblemAuthor(ctx, "triple", "setter", "rival"))
	if x := b.finish(t, b.importing(t, zipped(t, triple), true)); x.report.Version == "" {
		t.Errorf("a co-author's import: %s", x.result.Report)
	}
}
