package importing_test

import (
	"testing"

	"deepoj/host/blob"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/samples"
)

// The samples are read without a word of warning, and saving them again gives
// the same version.
func TestTheSamplesAreGoodPackages(t *testing.T) {
	t.Parallel()
	store, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, slug := range samples.Slugs() {
		t.Run(slug, func(t *testing.T) {
			t.Parallel()
			var versions []blob.Digest
			for range 2 {
				fsys, err := samples.FS(slug)
				if err != nil {
					t.Fatal(err)
				}
				p, report, err := importing.Read(fsys)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range report.Warnings {
					t.Errorf("warning: %s", w)
				}
				p.Slug = slug
				v, err := p.Save(t.Context(), store)
				if err != nil {
					t.Fatal(err)
				}
				versions = append(versions, v)
				if shown := p.Judge(); len(shown.Samples) == 0 || shown.Statement == "" || shown.Version != string(v) {
					t.Errorf("the page has %d samples, a statement of %d bytes and version %q", len(shown.Samples), len(shown.Statement), shown.Version)
				}
			}
			if versions[0] != versions[1] {
				t.Errorf("two imports give the versions %s and %s", versions[0], versions[1])
			}
			p, err := problem.Load(t.Context(), store, versions[0])
			if err != nil {
				t.Fatal(err)
			}
			if p.Slug != slug || len(p.Tests()) < 6 || len(p.Submissions) < 8 {
				t.Errorf("loaded %s with %d tests and %d submissions", p.Slug, len(p.Tests()), len(p.Submissions))
			}
		})
	}
}
