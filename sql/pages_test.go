package sql_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// aPicture is a picture that pages show.
var aPicture = judge.PageFile{Name: strings.Repeat("ab", 32) + ".png", Type: "image/png", Digest: "sha256:" + strings.Repeat("cd", 32), Bytes: 7}

func TestPagesOfAVersionAreReplacedTogetherAndItsProofStays(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	others, err := s.Renderings(ctx)
	sqltest.Must(t, err)
	for _, v := range others { // what else is in the database is done
		_, err := s.SavePages(ctx, v.Problem, v.Version, judge.Rendering{Renderer: 9}, 0)
		sqltest.Must(t, err)
	}
	kept(t, s, "sha256:01")
	sqltest.Must(t, s.ProveVersion(ctx, "primes", "sha256:01", true, []byte(`{"rows":[]}`), 7))
	if due, err := s.RenderingDue(ctx, 2); err != nil || !due {
		t.Errorf("a version from before is not due: %v, %v", due, err)
	}
	save := func(job int64, want bool, r judge.Rendering) {
		t.Helper()
		if saved, err := s.SavePages(ctx, "primes", "sha256:01", r, job); err != nil || saved != want {
			t.Fatalf("saved is %v, want %v: %v", saved, want, err)
		}
	}
	save(0, true, judge.Rendering{Renderer: 1, Pages: []judge.Page{
		{Language: "en", Title: "Primes", HTML: "<p>Count primes</p>", Text: "Count primes"}, {Language: "sv", Title: "Primtal", HTML: "<p>Räkna</p>", Text: "Räkna primtal"},
	}, Files: []judge.PageFile{aPicture}})
	if due, err := s.RenderingDue(ctx, 2); err != nil || !due {
		t.Errorf("what an older renderer made is not due: %v, %v", due, err)
	}
	save(9, true, judge.Rendering{Renderer: 2, Pages: []judge.Page{{Language: "sv", Title: "Primtalen", HTML: "<p>Ny</p>", Text: "Ny", Document: "x.pdf"}}, Warnings: []string{"a: b"}})
	save(8, false, judge.Rendering{Renderer: 3, Pages: []judge.Page{{Language: "en", Title: "Old"}}})
	if due, err := s.RenderingDue(ctx, 2); err != nil || due {
		t.Errorf("what is new is due: %v, %v", due, err)
	}
	all, err := s.StatementLanguages(ctx, "primes", "sha256:01")
	if want := []judge.StatementLanguage{{Language: "sv", Title: "Primtalen", Document: "x.pdf"}}; err != nil || !slices.Equal(all, want) {
		t.Errorf("languages %+v, %v, want %+v", all, err, want)
	}
	if p, err := s.Page(ctx, "primes", "sha256:01", "sv"); err != nil || p.HTML != "<p>Ny</p>" {
		t.Errorf("page %+v, %v", p, err)
	}
	_, noPage := s.Page(ctx, "primes", "sha256:01", "en")
	_, noFile := s.PageFile(ctx, "primes", "sha256:01", aPicture.Name)
	_, noVersion := s.Rendering(ctx, "primes", "sha256:02")
	_, noProblem := s.LabelledVersion(ctx, "primes", "sha256:02")
	for what, err := range map[string]error{"page": noPage, "file": noFile, "rendering": noVersion, "version": noProblem} {
		if !errors.Is(err, sql.ErrNotFound) {
			t.Errorf("a %s that is gone: %v", what, err)
		}
	}
	r, err := s.Rendering(ctx, "primes", "sha256:01")
	if err != nil || r.Renderer != 2 || r.JobID != 9 || !slices.Equal(r.Warnings, []string{"a: b"}) {
		t.Errorf("rendering %+v, %v", r, err)
	}
	if v, err := s.ProblemVersion(ctx, "primes", "sha256:01"); err != nil || v.Proved == nil || !*v.Proved || v.ProofJob != 7 {
		t.Errorf("the proof is %+v, %v", v, err)
	}
}

func TestPagesAreCopiedListedAndSearched(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	kept(t, s, "sha256:01")
	kept(t, s, "sha256:02")
	sqltest.Must(t, s.ActivateVersion(ctx, sql.Activation{Problem: "primes", Version: "sha256:01", By: "sue", Override: true}))
	_, err := s.SavePages(ctx, "primes", "sha256:01", judge.Rendering{
		Renderer: 2, Pages: []judge.Page{
			{Language: "en", Title: "Primes", HTML: "<p>x</p>", Text: "The Sieve of Eratosthenes"}, {Language: "sv", Title: "Primtal", Text: "RÄKNESTICKA och Простые числа", Document: "p.pdf"},
		}, Files: []judge.PageFile{aPicture},
	}, 5)
	sqltest.Must(t, err)
	sqltest.Must(t, s.CopyPages(ctx, "primes", "sha256:01", "sha256:02"))
	kept(t, s, "sha256:03")
	_, err = s.SavePages(ctx, "primes", "sha256:03", judge.Rendering{Renderer: 2, Pages: []judge.Page{{Language: "en", Title: "Primes", Text: "Sieve of Atkinson"}}}, 0)
	sqltest.Must(t, err)
	if f, err := s.PageFile(ctx, "primes", "sha256:02", aPicture.Name); err != nil || *f != aPicture {
		t.Errorf("the copy has the picture %+v, %v", f, err)
	}
	all, err := s.Renderings(ctx, "primes", "none")
	if err != nil || len(all) != 3 || all[0].Version != "sha256:01" || all[0].JobID != 5 || all[1].Renderer != 2 || all[1].JobID != 0 {
		t.Errorf("renderings %+v, %v", all, err)
	}
	sqltest.Must(t, s.SetProblemLabels(ctx, "primes", sql.Labels{Tags: []string{"number theory"}, Source: new("Öresund Cup")}, "sue"))
	for text, want := range map[string]int{
		"sieve ERATOSTHENES": 1, "primes sieve": 1, "sieve atkin": 0, "100% sieve": 0, "räknesticka ПРОСТЫЕ": 1, "RÄKNESTICKA": 1, "sieve theory öresund": 1, "sieve ÖRESUND": 1,
		"atkinson": 0, // of a version that is not live
	} {
		found, err := s.SearchProblems(ctx, sql.Search{Words: text})
		if err != nil || len(found) != want || want > 0 && found[0].Slug != "primes" {
			t.Errorf("%q finds %+v, %v, want %d", text, found, err, want)
		}
	}
}
