package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"deepoj/host/blob"
	"deepoj/host/judge"
)

// hostileSVG is a picture that would run a script if it were a page.
const hostileSVG = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60"><style>rect{fill:#0b6478}</style><rect width="120" height="60"/><script>document.title = "owned"</script></svg>`

// named is what a picture is called.
func named(data, extension string) string {
	return strings.TrimPrefix(string(blob.Of([]byte(data))), "sha256:") + extension
}

// picture stores a file that pages show.
func (s *stage) picture(blobs *blob.Dir, data, extension, kind string) judge.PageFile {
	s.Helper()
	digest, size, err := blobs.Put(s.Context(), strings.NewReader(data))
	s.must(err)
	return judge.PageFile{Name: named(data, extension), Type: kind, Digest: string(digest), Bytes: size}
}

// version keeps a version of a problem with its pages.
func (s *stage) version(p judge.Problem, live bool, r judge.Rendering) {
	s.Helper()
	if live {
		s.must(s.store.SaveProblem(s.Context(), p, "test"))
	} else {
		s.must(s.store.KeepVersion(s.Context(), p, "sue", 0))
	}
	_, err := s.store.SavePages(s.Context(), p.Slug, p.Version, r, 0)
	s.must(err)
}

// page is a page in English that shows a picture.
func pageWith(f judge.PageFile) []judge.Page {
	return []judge.Page{{Language: "en", Title: "Trees", HTML: `<p>Look:</p><p><img src="pictures/` + f.Name + `" alt="a tree"></p>`, Text: "Look:"}}
}

func TestPicturesAreServedToWhoSeesThePageAndRunNothing(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	sue := s.setter()
	shown, draft := s.picture(blobs, hostileSVG, ".svg", "image/svg+xml"), s.picture(blobs, "PNG of a draft", ".png", "image/png")
	trees := judge.Problem{Slug: "trees", Title: "Trees", Version: "sha256:" + strings.Repeat("1a", 32), Statement: "<p>from before</p>"}
	s.version(trees, true, judge.Rendering{Renderer: 2, Pages: pageWith(shown), Files: []judge.PageFile{shown}})
	next := trees
	next.Version = "sha256:" + strings.Repeat("1b", 32)
	s.version(next, false, judge.Rendering{Renderer: 2, Pages: pageWith(draft), Files: []judge.PageFile{draft}, Warnings: []string{"statement/x.eps: is a picture that is not shown"}})

	address := "/problems/trees/pictures/" + shown.Name
	if page := s.do(http.MethodGet, "/problems/trees", ""); !strings.Contains(page.body, `<img src="`+address+`" alt="a tree">`) || strings.Contains(page.body, "from before") {
		t.Errorf("the page does not show the picture:\n%s", page.body)
	}
	r := s.do(http.MethodGet, address, "")
	policy := r.header.Get("Content-Security-Policy")
	if r.status != http.StatusOK || r.body != hostileSVG || r.header.Get("Content-Type") != "image/svg+xml" || r.header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(policy, "default-src 'none'") || !strings.HasSuffix(policy, "sandbox") || strings.Contains(policy, "script") ||
		!strings.Contains(r.header.Get("Cache-Control"), "immutable") || !strings.Contains(r.header.Get("Cache-Control"), "private") {
		t.Errorf("%d %v %q", r.status, r.header, r.body)
	}
	tag := r.header.Get("ETag")
	if r := s.do(http.MethodGet, address, "", "If-None-Match: "+tag); r.status != http.StatusNotModified || r.body != "" || tag == "" {
		t.Errorf("a picture that the browser has: %d %q, tag %q", r.status, r.body, tag)
	}
	preview := "/packages/trees/versions/" + next.Version
	if page := s.do(http.MethodGet, preview, "", sue); page.status != http.StatusOK || !strings.Contains(page.body, `src="`+preview+"/pictures/"+draft.Name+`"`) ||
		!strings.Contains(page.body, "statement/x.eps: is a picture that is not shown") || !strings.Contains(page.body, "not live") {
		t.Errorf("the preview: %d\n%s", page.status, page.body)
	}
	if r := s.do(http.MethodGet, preview+"/pictures/"+draft.Name, "", sue); r.status != http.StatusOK || r.body != "PNG of a draft" {
		t.Errorf("a setter asks for the picture of a draft: %d %q", r.status, r.body)
	}
	for what, none := range map[string]string{
		"a draft's picture":            "/problems/trees/pictures/" + draft.Name,
		"another problem's picture":    "/problems/aplusb/pictures/" + shown.Name,
		"a picture as a document":      "/problems/trees/documents/" + shown.Name,
		"a blob that no page shows":    "/problems/trees/pictures/" + named("PNG", ".png"),
		"a digest without extension":   "/problems/trees/pictures/" + strings.TrimSuffix(shown.Name, ".svg"),
		"another extension":            "/problems/trees/pictures/" + strings.TrimSuffix(shown.Name, ".svg") + ".png",
		"a path":                       "/problems/trees/pictures/..%2f..%2f" + shown.Name,
		"capitals":                     "/problems/trees/pictures/" + strings.ToUpper(shown.Name),
		"a problem that is not":        "/problems/forest/pictures/" + shown.Name,
		"a wildcard":                   "/problems/trees/pictures/%25.svg",
		"a version's by contestants":   preview + "/pictures/" + draft.Name,
		"a live version's under files": "/problems/trees/files/" + shown.Name,
	} {
		if r := s.do(http.MethodGet, none, ""); r.status != http.StatusNotFound && r.status != http.StatusForbidden {
			t.Errorf("%s: %d %q", what, r.status, r.body)
		}
	}
	if r := s.do(http.MethodGet, "/packages/trees/versions/"+trees.Version+"/pictures/"+draft.Name, "", sue); r.status != http.StatusNotFound {
		t.Errorf("a picture of another version: %d", r.status)
	}
	s.must(s.store.HideProblem(t.Context(), "trees", true, "sue"))
	for _, hidden := range []string{address, "/problems/trees"} {
		if r := s.do(http.MethodGet, hidden, ""); r.status != http.StatusNotFound {
			t.Errorf("%s of a hidden problem: %d", hidden, r.status)
		}
	}
	if r := s.do(http.MethodGet, address, "", "If-None-Match: "+tag); r.status != http.StatusNotFound {
		t.Errorf("a hidden picture that the browser has: %d", r.status)
	}
}

// remembersStatements looks at what becomes of a choice at the switch of a statement in German, English and Swedish.
func (s *stage) remembersStatements() {
	s.Helper()
	const kept = "statements=sv"
	for from, want := range map[string]bool{"same-origin": true, "": true, "cross-site": false, "same-site": false, "none": false} {
		r := s.do(http.MethodGet, "/problems/trees?lang=SV", "", "Sec-Fetch-Site: "+from)
		if set := r.header.Get("Set-Cookie"); strings.Contains(set, kept+";") != want || want && (!strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Lax")) {
			s.Errorf("a choice from %q is remembered by %q", from, set)
		}
	}
	for _, address := range []string{"/api/v1/problems/trees?lang=sv", "/problems/trees?lang=fr", "/problems/trees"} {
		if set := s.do(http.MethodGet, address, "").header.Get("Set-Cookie"); strings.Contains(set, "statements=") {
			s.Errorf("%s is remembered by %q", address, set)
		}
	}
	for _, one := range []struct{ cookie, accept, lang string }{
		{kept, "de", "sv"},
		{kept, "", "sv"},
		{"statements=fr", "de", "de"}, // the problem lacks it
		{"statements=fr", "", "en"},
		{"statements=;<x>", "de", "de"},
		{"statements=" + strings.Repeat("a-", 500), "de", "de"},
		{"language=en", "de", "en"}, // who chose English for pages
		{"language=zh-Hans", "de", "de"},
		{kept + "; language=en", "de", "sv"},
	} {
		page := s.do(http.MethodGet, "/problems/trees", "", "Cookie: "+one.cookie, "Accept-Language: "+one.accept)
		if !strings.Contains(page.body, `<article class="statement" lang="`+one.lang+`">`) || !strings.Contains(strings.Join(page.header.Values("Vary"), ","), "Cookie") {
			s.Errorf("with %q and %q: %d %v, want %s", one.cookie, one.accept, page.status, page.header, one.lang)
		}
	}
	if api := s.do(http.MethodGet, "/api/v1/problems/trees", "", "Cookie: "+kept); !strings.Contains(api.body, `"language":"en"`) {
		s.Errorf("a program gets what a page chose: %s", api.body)
	}
}

func TestAStatementIsThereInEachOfItsLanguages(t *testing.T) {
	s := newStage(t)
	p := judge.Problem{Slug: "trees", Title: "Trees", Version: "sha256:" + strings.Repeat("1a", 32), Samples: []judge.Sample{{Name: "1", Input: "1\n", Output: "2\n"}}}
	s.version(p, true, judge.Rendering{Renderer: 2, Pages: []judge.Page{
		{Language: "de", Title: "Bäume", HTML: "<p>Zähle die Bäume.</p>"},
		{Language: "en", Title: "Trees", HTML: "<p>Count the trees.</p>"},
		{Language: "sv", Title: "Träd", HTML: "<p>Räkna träden.</p>"},
	}})
	for _, one := range []struct{ query, accept, lang, title string }{
		{"", "", "en", "Trees"},
		{"", "sv", "sv", "Träd"},
		{"", "de-AT,de;q=0.9,en;q=0.5", "de", "Bäume"},
		{"", "fr, ja;q=0.3", "en", "Trees"},
		{"?lang=sv", "de", "sv", "Träd"},
		{"?lang=DE", "", "de", "Bäume"},
		{"", "nonsense;;q=x", "en", "Trees"},
		{"", "fr;q=1, sv;q=0.2, en;q=0.1", "sv", "Träd"},
	} {
		page := s.do(http.MethodGet, "/problems/trees"+one.query, "", "Accept-Language: "+one.accept)
		if page.status != http.StatusOK || !strings.Contains(page.body, `<article class="statement" lang="`+one.lang+`">`) || !strings.Contains(page.body, "<h1>"+one.title+"</h1>") ||
			page.header.Get("Content-Language") != one.lang || !strings.Contains(page.header.Get("Vary"), "Accept-Language") {
			t.Errorf("%q with %q: %d, %v, want %s", one.query, one.accept, page.status, page.header, one.lang)
		}
		api := s.do(http.MethodGet, "/api/v1/problems/trees"+one.query, "", "Accept-Language: "+one.accept)
		if !strings.Contains(api.body, `"language":"`+one.lang+`"`) || !strings.Contains(api.body, `"title":"`+one.title+`"`) {
			t.Errorf("API %q with %q: %s", one.query, one.accept, api.body)
		}
	}
	page := s.do(http.MethodGet, "/problems/trees?lang=sv", "").body
	for _, want := range []string{`href="/problems/trees?lang=de" hreflang="de" lang="de">Deutsch</a>`, `lang="sv" aria-current="true">svenska</a>`, `hreflang="en" lang="en">English</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the switch lacks %s", want)
		}
	}
	s.remembersStatements()
	for _, address := range []string{"/api/v1/problems/trees?lang=fr", "/problems/trees?lang=fr", "/api/v1/problems/aplusb?lang=en"} {
		r := s.do(http.MethodGet, address, "")
		if r.status != http.StatusNotFound || strings.Contains(address, "trees") && !strings.Contains(r.body, "There are: de, en, sv.") {
			t.Errorf("%s: %d %s", address, r.status, r.body)
		}
	}
	got, err := s.client.Problem(t.Context(), "trees", "de")
	if err != nil || got.Statement != "<p>Zähle die Bäume.</p>" || len(got.Statements) != 3 {
		t.Errorf("the client reads %+v, %v", got, err)
	}
	if page := s.do(http.MethodGet, "/problems/aplusb", ""); !strings.Contains(page.body, "Write their sum.") || strings.Contains(page.body, "tongues") {
		t.Errorf("a problem from before, without pages: %d", page.status)
	}
}

func TestAStatementThatIsAPDFIsShownInThePage(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	paper := s.picture(blobs, "%PDF-1.4 …", ".pdf", "application/pdf")
	p := judge.Problem{Slug: "paper", Title: "Paper", Version: "sha256:" + strings.Repeat("1c", 32), Files: []judge.ProblemFile{{Name: "problem.pdf", Bytes: paper.Bytes, Digest: paper.Digest}}}
	s.version(p, true, judge.Rendering{Renderer: 2, Files: []judge.PageFile{paper}, Pages: []judge.Page{{Language: "en", Title: "Paper", Text: "Fold <it>.", Document: paper.Name}}})
	address := "/problems/paper/documents/" + paper.Name
	page := s.do(http.MethodGet, "/problems/paper", "")
	for _, want := range []string{`<object class="paper" data="` + address + `" type="application/pdf"`, `<a href="` + address + `">Open the PDF`, "Fold &lt;it&gt;.", `href="/problems/paper/files/problem.pdf" download`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %s:\n%s", want, page.body)
		}
	}
	if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "object-src 'self'; frame-src 'self'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("the page's policy is %s", policy)
	}
	if policy := s.do(http.MethodGet, "/problems/aplusb", "").header.Get("Content-Security-Policy"); strings.Contains(policy, "object-src") {
		t.Errorf("the policy of a page without a document is %s", policy)
	}
	r := s.do(http.MethodGet, address, "")
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "application/pdf" || !strings.HasPrefix(r.header.Get("Content-Disposition"), "inline") ||
		!strings.Contains(r.header.Get("Content-Security-Policy"), "frame-ancestors 'self'") || !strings.Contains(r.header.Get("Content-Security-Policy"), "default-src 'none'") ||
		r.header.Get("X-Frame-Options") != "SAMEORIGIN" || r.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v", r.status, r.header)
	}
	if r := s.do(http.MethodGet, "/problems/paper/pictures/"+paper.Name, ""); r.status != http.StatusNotFound {
		t.Errorf("a document as a picture: %d", r.status)
	}
	s.must(s.store.HideProblem(t.Context(), "paper", true, "sue"))
	if r := s.do(http.MethodGet, address, ""); r.status != http.StatusNotFound {
		t.Errorf("the document of a hidden problem: %d", r.status)
	}
}

func TestASetOfProblemsIsPrintedForWhoSeesThem(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	sue := s.setter()
	f := s.picture(blobs, hostileSVG, ".svg", "image/svg+xml")
	s.version(judge.Problem{Slug: "trees", Title: "Trees", Version: "sha256:" + strings.Repeat("1a", 32)}, true, judge.Rendering{Renderer: 2, Pages: pageWith(f), Files: []judge.PageFile{f}})
	space := s.space("final", func(v *judge.Space) { v.Title = "The final" })
	s.must(s.store.PutSpaceProblem(t.Context(), space.ID, "trees", 0, nil, "prof"))
	s.member(space, judge.SpaceContestant, "sue")
	page := s.do(http.MethodGet, "/spaces/final/print", "", sue)
	if page.status != http.StatusOK {
		t.Fatalf("%d %s", page.status, page.body)
	}
	order := []string{"<h1>The final</h1>", "<h1>A. A plus B</h1>", "Write their sum", "<h1>B. Trees</h1>", `src="/spaces/final/problems/trees/pictures/` + f.Name}
	at := -1
	for _, want := range order {
		next := strings.Index(page.body, want)
		if next <= at {
			t.Errorf("%s is not behind what goes before:\n%s", want, page.body)
		}
		at = next
	}
	if strings.Contains(page.body, "<textarea") || strings.Contains(page.body, "<select") {
		t.Error("what is printed has a form")
	}
	if r := s.do(http.MethodGet, "/spaces/final/problems/trees/pictures/"+f.Name, "", sue); r.status != http.StatusOK {
		t.Errorf("the picture in the space: %d", r.status)
	}
	for _, outside := range []string{"/spaces/final/print", "/spaces/final/problems/trees/pictures/" + f.Name} {
		if r := s.do(http.MethodGet, outside, ""); r.status != http.StatusNotFound && r.status != http.StatusForbidden {
			t.Errorf("%s for a guest: %d", outside, r.status)
		}
	}
	_ = space
}

func TestStatementsAreRenderedAgainForWhoMayChangeThem(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	s.someone("stan", judge.RoleStaff)
	staff := "Authorization: Bearer " + s.session("stan")
	s.must(s.store.KeepVersion(t.Context(), judge.Problem{Slug: "theirs", Title: "Theirs", Version: "sha256:" + strings.Repeat("1d", 32)}, "otto", 0))
	s.must(s.store.KeepVersion(t.Context(), judge.Problem{Slug: "mine", Title: "Mine", Version: "sha256:" + strings.Repeat("1a", 32)}, "sue", 0))
	for what, one := range map[string]struct {
		body, as string
		status   int
	}{
		"one's own":        {`{"problems":["mine"]}`, sue, 202},
		"somebody else's":  {`{"problems":["theirs"]}`, sue, 403},
		"all as a setter":  {`{"all":true}`, sue, 403},
		"all as staff":     {`{"all":true}`, staff, 202},
		"nothing":          {`{}`, staff, 422},
		"both":             {`{"all":true,"problems":["mine"]}`, staff, 422},
		"one that is not":  {`{"problems":["none"]}`, staff, 422},
		"no name":          {`{"problems":["../x"]}`, staff, 422},
		"as a contestant":  {`{"problems":["mine"]}`, "", 403},
		"a field too many": {`{"problems":["mine"],"force":true}`, staff, 422},
		"more than may be": {`{"problems":["` + strings.Repeat(`mine","`, 31) + `mine"]}`, staff, 422},
	} {
		headers := []string{"Content-Type: application/json"}
		if one.as != "" {
			headers = append(headers, one.as)
		}
		if r := s.do(http.MethodPost, "/api/v1/renderings", one.body, headers...); r.status != one.status && (one.status != 401 || r.status != 403) {
			t.Errorf("%s: %d %s, want %d", what, r.status, r.body, one.status)
		}
	}
	jobs, err := s.store.Jobs(t.Context(), []judge.Kind{judge.KindRender}, 0, 10)
	s.must(err)
	if len(jobs) != 2 || !slices.ContainsFunc(jobs, func(j judge.SetterJob) bool {
		return j.Render != nil && slices.Equal(j.Render.Problems, []string{"mine"})
	}) {
		t.Errorf("the jobs are %+v", jobs)
	}
}
