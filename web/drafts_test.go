package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/sql"
	"deepoj/web/client"
)

func TestADraftSubmissionIsJudgedOnItsVersionAndSeenByItsSettersAlone(t *testing.T) {
	s, blobs, base, who := editStage(t)
	ctx := t.Context()
	live := tripleFiles["problem.yaml"]
	s.must(s.store.ActivateVersion(ctx, sql.Activation{Problem: "triple", Version: base, By: "sue", Override: true}))
	files := map[string]string{}
	maps.Copy(files, tripleFiles)
	files["problem.yaml"] = strings.Replace(live, "Triple", "Draft title", 1)
	next := s.keep(blobs, "triple", "sue", files)
	at := "/api/v1/problems/triple/versions/" + next + "/submissions"
	const program = `{"language": "python", "source": "print('secret-program')"}`
	for _, name := range []string{"ola", "ann", ""} {
		if r := s.do(http.MethodPost, at, program, append(headersOf(who, name), asJSON)...); r.status != http.StatusForbidden {
			t.Errorf("%q hands in to a draft: %d %s", name, r.status, r.body)
		}
	}
	r := s.do(http.MethodPost, at, program, who["sue"], asJSON)
	var made client.Receipt
	s.must(json.Unmarshal([]byte(r.body), &made))
	if r.status != http.StatusCreated || made.URL != fmt.Sprintf("/packages/triple/drafts/%d", made.JobID) {
		t.Fatalf("%d %s", r.status, r.body)
	}
	job := s.claimJob(made.JobID)
	p, err := judge.DecodePayload(job.Payload)
	if err != nil || job.Kind != judge.KindDraft || p.Version != next || p.ContentType != judge.DraftType || p.Problem != "triple" {
		t.Fatalf("the job is a %s of %+v, %v", job.Kind, p, err)
	}
	s.compiled(job.Attempt, 1)
	s.must(s.store.Finalize(ctx, job.Attempt, judge.Result{Verdict: judge.AC, ProblemVersion: next, Usage: judge.Usage{CPUMillis: 1}}))

	// The owner, a co-author and staff see all of it.
	own := []string{made.URL, fmt.Sprintf("/api/v1/problems/triple/drafts/%d", made.JobID)}
	s.must(s.store.SetProblemOwner(ctx, "stairs", "ola", "test"))
	for _, name := range []string{"sue", "bo"} {
		for _, path := range own {
			if r := s.do(http.MethodGet, path, "", who[name]); r.status != http.StatusOK || !strings.Contains(r.body, "secret-program") || !strings.Contains(r.body, next) {
				t.Errorf("%s reads %s: %d %s", name, path, r.status, r.body)
			}
		}
	}
	// A setter of another problem, a contestant and a guest learn as much as of one
	// that does not exist, wherever they ask; nor is it anybody's submission.
	id := fmt.Sprint(made.JobID)
	for _, path := range append(own, made.URL+"/live", made.URL+"/events", own[1]+"/events", "/submissions/"+id, "/status/"+id, "/api/v1/submissions/"+id,
		"/api/v1/submissions/"+id+"/events", "/submissions/"+id+"/events", "/api/v1/jobs/"+id, "/api/v1/jobs/"+id+"/events", "/imports/"+id, "/imports/"+id+"/events",
		"/checkers/jobs/"+id, "/checkers/jobs/"+id+"/events", "/runs/"+id, "/api/v1/runs/"+id, "/packages/stairs/drafts/"+id, "/api/v1/problems/stairs/drafts/"+id) {
		for _, name := range []string{"ola", "ann", ""} {
			got, none := s.do(http.MethodGet, path, "", headersOf(who, name)...), s.do(http.MethodGet, strings.Replace(path, "/"+id, "/999999", 1), "", headersOf(who, name)...)
			if got.status != none.status || got.status < 300 || strings.Contains(got.body, "secret-program") {
				t.Errorf("%q reads %s: %d %s; of one that is not there: %d", name, path, got.status, got.body, none.status)
			}
		}
	}
	for _, post := range []string{made.URL + "/cancel", own[1] + "/cancel", "/api/v1/jobs/" + id + "/cancel", "/api/v1/submissions/" + id + "/cancel", "/imports/" + id + "/cancel"} {
		r, none := s.do(http.MethodPost, post, "{}", who["ola"], asJSON), s.do(http.MethodPost, strings.Replace(post, "/"+id+"/", "/999999/", 1), "{}", who["ola"], asJSON)
		if r.status != none.status || r.status != http.StatusNotFound && r.status != http.StatusForbidden {
			t.Errorf("a setter of another problem: %s: %d; of one that is not there: %d", post, r.status, none.status)
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/problems/triple/drafts", "", who["ola"]); r.status != http.StatusForbidden {
		t.Errorf("the list, of a setter of another problem: %d", r.status)
	}
	if r := s.do(http.MethodGet, "/api/v1/problems/triple/drafts", "", who["sue"]); r.status != http.StatusOK || !strings.Contains(r.body, `"draft":true`) {
		t.Errorf("the list: %d %s", r.status, r.body)
	}
	// It counts nowhere.
	for _, path := range []string{"/api/v1/submissions", "/api/v1/submissions?problem=triple", "/submissions?author=sue"} {
		if r := s.do(http.MethodGet, path, "", who["bo"]); strings.Contains(r.body, "/submissions/"+id+`"`) || strings.Contains(r.body, `"job_id":`+id) {
			t.Errorf("%s lists it:\n%s", path, r.body)
		}
	}
	st, err := s.store.ProblemStatistics(ctx, "triple", 10)
	if err != nil || st.Tried != 0 || len(st.Counts) != 0 || len(st.Fastest) != 0 {
		t.Errorf("statistics: %+v, %v", st, err)
	}
	found, err := s.store.SearchProblems(ctx, sql.Search{Viewer: "sue", Words: "triple"})
	if err != nil || len(found) != 1 || found[0].Best != nil || found[0].Title != "Triple" {
		t.Errorf("the list of problems: %+v, %v", found, err)
	}
	if days, err := s.store.History(ctx, sql.Filter{Author: "sue"}, 30); err != nil || len(days) > 0 {
		t.Errorf("the picture of days: %+v, %v", days, err)
	}
}

func headersOf(who map[string]string, name string) []string {
	if name == "" {
		return nil
	}
	return []string{who[name]}
}

func TestAVersionIsLookedAtBeforeContestantsSeeIt(t *testing.T) {
	s, _, base, who := editStage(t)
	const form = `id="submit"`
	for name, submits := range map[string]bool{"sue": true, "bo": true, "ola": false} {
		r := s.do(http.MethodGet, "/packages/triple/try?version="+base, "", who[name])
		if r.status != http.StatusOK || !strings.Contains(r.body, "Three times the <strong>number</strong>") || !strings.Contains(r.body, "256 MiB") || !strings.Contains(r.body, "sample-in-1") {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
		if strings.Contains(r.body, form) != submits {
			t.Errorf("%s may hand in: %v", name, !submits)
		}
	}
	if r := s.do(http.MethodGet, "/problems/triple", "", who["sue"]); r.status != http.StatusNotFound {
		t.Errorf("the page of contestants: %d", r.status)
	}
	if r := s.do(http.MethodGet, "/packages/triple/versions/"+url.PathEscape(base)+"/files/notes.txt", "", who["ola"]); r.status != http.StatusOK || r.body != "notes\n" {
		t.Errorf("its attachment: %d %q", r.status, r.body)
	}
	body := url.Values{"language": {"python"}, "source": {"print(1)\r\n"}, "key": {"k"}}.Encode()
	r := s.do(http.MethodPost, "/packages/triple/try?version="+base, body, who["sue"], asForm)
	if r.status != http.StatusSeeOther {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if page := s.do(http.MethodGet, r.header.Get("Location"), "", who["sue"]); page.status != http.StatusOK || !strings.Contains(page.body, "Draft submission") || !strings.Contains(page.body, `data-events="/packages/triple/drafts/`) {
		t.Errorf("%d %s", page.status, page.body)
	}
	var draftID int64
	_, err := fmt.Sscanf(r.header.Get("Location"), "/packages/triple/drafts/%d", &draftID)
	s.must(err)
	if d, err := s.store.Draft(t.Context(), draftID); err != nil || d.Sources[0].Text != "print(1)\n" {
		t.Errorf("%+v, %v", d, err)
	}
	if page := s.do(http.MethodPost, "/packages/triple/try?version="+base, url.Values{"language": {""}, "source": {"x"}}.Encode(), who["sue"], asForm); page.status != http.StatusUnprocessableEntity || !strings.Contains(page.body, "\nx</textarea>") {
		t.Errorf("a refused one: %d %s", page.status, page.body)
	}
}

func TestLabelsHoldBesideTheVersion(t *testing.T) {
	s, _, base, who := editStage(t)
	ctx := t.Context()
	s.must(s.store.ActivateVersion(ctx, sql.Activation{Problem: "triple", Version: base, By: "sue", Override: true}))
	list := func(query string) string {
		t.Helper()
		r := s.do(http.MethodGet, "/api/v1/problems?"+query, "")
		var page struct {
			Problems []judge.Problem
			Next     *string
		}
		s.must(json.Unmarshal([]byte(r.body), &page))
		names := ""
		for _, p := range page.Problems {
			names += p.Slug + " "
		}
		if page.Next != nil {
			names += "next " + *page.Next
		}
		return strings.TrimSpace(names)
	}
	if got := list("tag=math"); got != "triple" { // a keyword of the package, in small letters
		t.Errorf("by a keyword of the package: %q", got)
	}
	for _, name := range []string{"ola", "ann", ""} {
		if r := s.do(http.MethodPost, "/api/v1/problems/triple/labels", `{"difficulty": 5}`, append(headersOf(who, name), asJSON)...); r.status != http.StatusForbidden {
			t.Errorf("%q: %d %s", name, r.status, r.body)
		}
	}
	r := s.do(http.MethodPost, "/api/v1/problems/triple/labels", `{"tags": ["Greedy", "two  words", "greedy"], "difficulty": 1500, "source": "Cup 2026", "author": "Sue"}`, who["sue"], asJSON)
	if r.status != http.StatusOK || !strings.Contains(r.body, `["greedy","two words"]`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	for query, want := range map[string]string{
		"tag=greedy": "triple", "tag=math": "", "easiest=1000": "triple", "hardest=1000": "", "q=cup": "triple", "q=TRIP": "triple", "q=%25": "",
		"limit=1": "aplusb next aplusb", "limit=1&after=aplusb": "stairs next stairs", "limit=1&after=stairs": "triple", "": "aplusb stairs triple",
	} {
		if got := list(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if p, err := s.store.Problem(ctx, "triple"); err != nil || p.Difficulty != 1500 || p.Source != "Cup 2026" || p.Author != "Sue" || strings.Join(p.Tags, "|") != "greedy|two words" {
		t.Errorf("%+v, %v", p, err)
	}
	for body, field := range map[string]string{`{"tags": ["a,b"]}`: "tags", `{"difficulty": 0}`: "difficulty", `{"source": "a\nb"}`: "source", `{"tags": 1}`: "tags"} {
		if r := s.do(http.MethodPost, "/api/v1/problems/triple/labels", body, who["sue"], asJSON); r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, `"field":"`+field+`"`) {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	form := url.Values{"tags": {""}, "difficulty": {""}}.Encode()
	if r := s.do(http.MethodPost, "/packages/triple/labels", form, who["sue"], asForm); r.status != http.StatusSeeOther || list("tag=math") != "triple" {
		t.Errorf("as the package says again: %d, %q", r.status, list("tag=math"))
	}
	if page := s.do(http.MethodGet, "/?tag=math&q=trip", ""); page.status != http.StatusOK || !strings.Contains(page.body, "Triple") || strings.Contains(page.body, "Stairs") {
		t.Errorf("the page: %d %s", page.status, page.body)
	}
	// In a contest tags and difficulty tell how a problem is solved.
	s.must(s.store.HideProblem(ctx, "triple", true, "sue"))
	opens, closes := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	s.must(s.store.CreateSpace(ctx, judge.Space{Slug: "cup", Title: "Cup", Opens: &opens, Closes: &closes}, "bo"))
	space, err := s.store.Space(ctx, "cup", "ann")
	s.must(err)
	s.must(s.store.PutSpaceProblem(ctx, space.ID, "triple", 0, nil, "bo"))
	_, err = s.store.PutSpaceMembers(ctx, space.ID, []string{"ann"}, judge.SpaceContestant, "bo")
	s.must(err)
	for _, path := range []string{"/api/v1/problems/triple", "/api/v1/spaces/cup/problems/triple", "/spaces/cup/problems/triple", "/problems/triple"} {
		if r := s.do(http.MethodGet, path, "", who["ann"]); r.status != http.StatusOK || strings.Contains(r.body, `"math"`) || strings.Contains(r.body, "tag=math") {
			t.Errorf("%s tells a contestant its tags: %d %s", path, r.status, r.body)
		}
	}
	for _, path := range []string{"/problems/triple/statistics", "/api/v1/problems/triple/statistics"} {
		if r := s.do(http.MethodGet, path, "", who["ann"]); r.status != http.StatusForbidden {
			t.Errorf("%s: %d", path, r.status)
		}
	}
}

// The search finds what titles, labels and statements say, a PDF's too, to those who
// see the problem in the list; of hidden problems and of drafts no word is found.
func TestSearchFindsNothingThatIsHiddenFromWhoeverAsks(t *testing.T) {
	s, blobs, base, who := editStage(t)
	ctx := t.Context()
	say := func(slug, version string, pages ...judge.Page) {
		t.Helper()
		_, err := s.store.SavePages(ctx, slug, version, judge.Rendering{Renderer: problem.Renderer, Pages: pages}, 0)
		s.must(err)
	}
	s.must(s.store.ActivateVersion(ctx, sql.Activation{Problem: "triple", Version: base, By: "sue", Override: true}))
	say("triple", base, judge.Page{Language: "en", Title: "Triple", HTML: "<p>x</p>", Text: "A zeppelin."}, judge.Page{Language: "sv", Title: "Tre", Text: "En luftballong.", Document: "tre.pdf"})
	files := maps.Clone(tripleFiles)
	files["problem.yaml"] = strings.Replace(files["problem.yaml"], "Triple", "Unseen title", 1)
	draft := s.keep(blobs, "triple", "sue", files)
	say("triple", draft, judge.Page{Language: "en", Title: "Unseen title", Text: "An airship."})
	secret := s.keep(blobs, "secret-one", "sue", tripleFiles)
	s.must(s.store.ActivateVersion(ctx, sql.Activation{Problem: "secret-one", Version: secret, By: "sue", Override: true}))
	say("secret-one", secret, judge.Page{Language: "en", Title: "Triple", Text: "A zeppelin under cover.", Document: "x.pdf"})
	s.must(s.store.HideProblem(ctx, "secret-one", true, "sue"))
	s.must(s.store.SetProblemLabels(ctx, "secret-one", sql.Labels{Tags: []string{"wizardry"}}, "sue"))
	opens, closes := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	s.must(s.store.CreateSpace(ctx, judge.Space{Slug: "cup", Title: "Cup", Opens: &opens, Closes: &closes}, "bo"))
	space, err := s.store.Space(ctx, "cup", "mia")
	s.must(err)
	s.must(s.store.CreateUser(ctx, sql.NewUser{Name: "mia", PasswordHash: "x", Role: judge.RoleContestant}))
	who["mia"] = "Authorization: Bearer " + s.session("mia")
	s.must(s.store.PutSpaceProblem(ctx, space.ID, "secret-one", 0, nil, "bo"))
	_, err = s.store.PutSpaceMembers(ctx, space.ID, []string{"mia"}, judge.SpaceContestant, "bo")
	s.must(err)
	for _, c := range []struct{ words, all, setters string }{
		{"zeppelin", "triple", "secret-one triple"},
		{"zeppelin cover", "", "secret-one"},
		{"wizardry", "", "secret-one"},
		{"tre LUFTBALLONG", "triple", "triple"},
		{"math number zeppelin", "", ""},
		{"math zeppelin triple", "triple", "triple"},
		{"airship", "", ""},
		{"unseen", "", ""},
	} {
		for _, name := range []string{"", "ann", "mia", "ola", "sue", "bo"} { // ola sets another problem
			want := c.all
			if name == "ola" || name == "sue" || name == "bo" {
				want = c.setters
			}
			r := s.do(http.MethodGet, "/api/v1/problems?q="+url.QueryEscape(c.words), "", headersOf(who, name)...)
			var page struct{ Problems []judge.Problem }
			s.must(json.Unmarshal([]byte(r.body), &page))
			var got []string
			for _, p := range page.Problems {
				got = append(got, p.Slug)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%q finds %q by %q, want %q", name, got, c.words, want)
			}
		}
	}
	if page := s.do(http.MethodGet, "/?q=zeppelin", ""); !strings.Contains(page.body, "/problems/triple") || strings.Contains(page.body, "secret-one") {
		t.Errorf("the page of a guest: %d %s", page.status, page.body)
	}
}

func TestYourBestForgetsNothing(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	s.must(s.store.CreateUser(ctx, sql.NewUser{Name: "carol", PasswordHash: "x", Role: judge.RoleContestant}))
	token := "Authorization: Bearer " + s.session("carol")
	first := s.submitAs("carol", "aplusb", "cpp", "x")
	s.finish(first, judge.Result{Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 7}})
	var many []sql.NewJob
	for i := range 210 {
		many = append(many, sql.NewJob{Problem: "stairs", Language: "cpp", Author: "carol", Sources: []judge.Source{{Name: "a.cpp", Text: fmt.Sprint(i)}}})
	}
	_, err := s.store.SubmitMany(ctx, many)
	s.must(err)
	r := s.do(http.MethodGet, "/api/v1/problems?solved=solved", "", token)
	if !strings.Contains(r.body, fmt.Sprintf(`"best":{"job_id":%d,"verdict":"AC","score":null}`, first)) || strings.Contains(r.body, "stairs") {
		t.Errorf("solved before 210 others: %s", r.body)
	}
	for solved, want := range map[string]string{"unsolved": "stairs", "untried": "stairs", "tried": ""} {
		if r := s.do(http.MethodGet, "/api/v1/problems?solved="+solved, "", token); strings.Contains(r.body, `"slug":"aplusb"`) || strings.Contains(r.body, `"slug":"stairs"`) != (want != "") {
			t.Errorf("%s: %s", solved, r.body)
		}
	}
}

func TestStatisticsHideWhatSpacesAndSetsHide(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	for _, name := range []string{"ann", "bob"} {
		s.must(s.store.CreateUser(ctx, sql.NewUser{Name: name, PasswordHash: "x", Role: judge.RoleContestant}))
	}
	s.must(s.store.CreateUser(ctx, sql.NewUser{Name: "bo", PasswordHash: "x", Role: judge.RoleStaff}))
	s.finish(s.submitAs("ann", "aplusb", "cpp", "xxxxx"), judge.Result{Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 9}})
	s.finish(s.submitAs("ann", "aplusb", "python", "xx"), judge.Result{Verdict: judge.AC, Usage: judge.UsageOf(8_900*time.Microsecond, 0, 0)})
	wrong := s.submitAs("bob", "aplusb", "cpp", "x")
	s.finish(wrong, judge.Result{Verdict: judge.WA})
	opens, closes := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	s.must(s.store.CreateSpace(ctx, judge.Space{Slug: "cup", Title: "Cup", Opens: &opens, Closes: &closes}, "bo"))
	space, err := s.store.Space(ctx, "cup", "bob")
	s.must(err)
	s.must(s.store.PutSpaceProblem(ctx, space.ID, "aplusb", 0, nil, "bo"))
	_, err = s.store.PutSpaceMembers(ctx, space.ID, []string{"bob"}, judge.SpaceContestant, "bo")
	s.must(err)
	inside, err := s.store.Submit(ctx, sql.NewJob{Problem: "aplusb", Language: "cpp", Author: "bob", Space: space.ID, Sources: []judge.Source{{Name: "a.cpp", Text: "y"}}})
	s.must(err)
	s.finish(inside.JobID, judge.Result{Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 1}})
	// A set that is open judges bob's wrong one anew, as accepted.
	_, err = s.store.StartRejudge(ctx, sql.RejudgeRequest{JobIDs: []int64{wrong}, Reason: "why", By: "bo"})
	s.must(err)
	s.finish(wrong, judge.Result{Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 2}})

	public, err := s.as(s.session("bob")).GetProblemStatistics(ctx, "aplusb")
	s.must(err)
	if public.Tries != 3 || public.Accepted != 2 || public.Tried != 2 || public.Solved != 1 || len(public.Verdicts) != 2 || public.Verdicts[0] != (client.TriesCount{Name: "AC", Tries: 2}) {
		t.Errorf("%+v", public)
	}
	if len(public.Fastest) != 1 || public.Fastest[0] != (client.Record{Language: "python", Figure: 8, Micros: 8_900}) || public.Shortest[0].Figure != 2 {
		t.Errorf("records: %+v %+v", public.Fastest, public.Shortest)
	}
	// The list says the same as the statistics, and nothing of a draft's tries.
	s.must(s.store.CreateUser(ctx, sql.NewUser{Name: "sue", PasswordHash: "x", Role: judge.RoleSetter}))
	live, err := s.store.Problem(ctx, "aplusb")
	s.must(err)
	tried, err := s.store.SubmitDraft(ctx, sql.NewJob{Problem: "aplusb", Language: "cpp", Author: "sue", Sources: []judge.Source{{Name: "a.cpp", Text: "z"}}}, live.Version)
	s.must(err)
	s.finish(tried.JobID, judge.Result{Verdict: judge.AC})
	if r := s.do(http.MethodGet, "/api/v1/problems", ""); strings.Count(r.body, `"tries":3,"people_tried":2,"people_solved":1`) != 1 || strings.Count(r.body, `"tries":0,"people_tried":0,"people_solved":0`) != 1 {
		t.Errorf("the list: %s", r.body)
	}
	if page := s.do(http.MethodGet, "/", ""); !strings.Contains(page.body, `<a href="/problems/aplusb/statistics">1 of 2</a>`) || strings.Contains(page.body, "/problems/stairs/statistics") {
		t.Errorf("the page of the list: %s", page.body)
	}
	if staff, err := s.as(s.session("bo")).GetProblemStatistics(ctx, "aplusb"); err != nil || staff.Fastest[0].Author != "ann" {
		t.Errorf("to staff: %+v, %v", staff.Fastest, err)
	}
	if page := s.do(http.MethodGet, "/problems/aplusb/statistics", ""); page.status != http.StatusOK || !strings.Contains(page.body, "<svg") || !strings.Contains(page.body, "67%") || strings.Contains(page.body, ">ann<") {
		t.Errorf("the page: %d %s", page.status, page.body)
	}
}
