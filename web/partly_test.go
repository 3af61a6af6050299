package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// half is a result that gives half of the points, as a package's grader accepts it.
func half() judge.Result {
	r := judge.Result{
		Verdict: judge.AC, Score: new(50.0), MaxScore: new(100.0), Usage: judge.Usage{CPUMillis: 4, WallMillis: 6, MemoryKiB: 3_512}, Compile: &judge.Compile{OK: true},
		Groups: []judge.GroupResult{
			{Name: "", Verdict: judge.AC, Score: new(50.0), MaxScore: new(100.0), Formula: "sum(0, 20, 30)"},
			{Name: "sample", Verdict: judge.AC, Score: new(0.0), MaxScore: new(0.0), Formula: "min(0)"},
			{Name: "secret/group1", Verdict: judge.AC, Score: new(20.0), MaxScore: new(20.0), Formula: "min(20)"},
			{Name: "secret/group2", Verdict: judge.AC, Score: new(30.0), MaxScore: new(80.0), Formula: "sum(30, 0)"},
		},
	}
	for i, group := range []string{"sample", "secret/group1", "secret/group2", "secret/group2"} {
		t := judge.TestResult{Index: i + 1, Group: group, Sample: i == 0, Name: fmt.Sprint(group, "/", i+1), Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 4, WallMillis: 6, MemoryKiB: 3_512}}
		if i == 3 {
			t.Verdict = judge.WA
		}
		r.Tests = append(r.Tests, t)
	}
	return r
}

// whole is a result that gives all of them.
func whole() judge.Result {
	r := half()
	r.Score, r.Groups = new(100.0), []judge.GroupResult{{Name: "", Verdict: judge.AC, Score: new(100.0), MaxScore: new(100.0), Formula: "sum(100)"}}
	return r
}

func TestAPartOfThePointsIsNeverShownAsAccepted(t *testing.T) {
	s := newStage(t, allowLoopback)
	s.someone("prof", judge.RoleAdmin)
	for _, name := range []string{"ann", "bob"} {
		s.someone(name, judge.RoleContestant)
	}
	space := s.space("here")
	s.must(s.store.PutSpaceProblem(t.Context(), space.ID, "stairs", 0, new(10.0), "prof"))
	s.member(space, judge.SpaceContestant, "ann", "bob")
	hand := func(author string) int64 {
		r, err := s.store.Submit(t.Context(), sql.NewJob{
			Problem: "stairs", Language: "cpp", Author: author, Space: space.ID, Sources: []judge.Source{{Name: "main.cpp", Text: "x"}},
		})
		s.must(err)
		return r.JobID
	}
	address, messages := s.receiver(nil)
	_, err := s.store.CreateWebhook(t.Context(), judge.Webhook{Owner: "prof", Everyone: true, URL: address, Kinds: []string{"submission.finished"}}, []byte("x"), "prof")
	s.must(err)
	partly, fully := hand("ann"), hand("bob")
	s.finish(partly, half())
	s.finish(fully, whole())

	ann, bob := "Authorization: Bearer "+s.session("ann"), "Authorization: Bearer "+s.session("bob")
	get := func(path, who string) string {
		t.Helper()
		r := s.do(http.MethodGet, path, "", who)
		if r.status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, r.status, r.body)
		}
		return r.body
	}
	n := fmt.Sprint(partly)
	for path, want := range map[string]string{
		site.SubmissionURL(partly):                  `<p class="headline">Partly accepted, 50 of 100 <span class="code">PA</span>`,
		site.SubmissionURL(partly) + "/live":        `<section class="verdict-card v-pa"`,
		"/submissions":                              `<span class="badge v-pa"><svg aria-hidden="true"><use href="#s-half"/></svg><abbr title="Partly accepted">PA</abbr></span> <span class="num">50`,
		"/submissions?verdict=PA":                   site.SubmissionURL(partly),
		"/":                                         `<abbr title="Partly accepted">PA</abbr>`,
		"/spaces/here":                              `<abbr title="Partly accepted">PA</abbr>`,
		"/status/" + n:                              `"verdict":"PA","score":50,"max_score":100`,
		"/api/v1/submissions":                       `"verdict":"PA","score":50,"max_score":100`,
		"/api/v1/submissions?verdict=PA":            `"job_id":` + n,
		"/api/v1/submissions/" + n:                  `{"name":"secret/group2","verdict":"PA","score":30,"max_score":80`,
		"/api/v1/spaces/here/problems":              `"verdict":"PA"`,
		"/api/v1/submissions/batch?ids=" + n:        `"verdict":"PA"`,
		"/spaces/here/submissions?verdict=PA":       site.SubmissionURL(partly),
		"/api/v1/spaces/here/submissions?limit=200": `"verdict":"PA"`,
	} {
		if body := get(path, ann); !strings.Contains(body, want) {
			t.Errorf("%s does not say %s:\n%s", path, want, body)
		}
	}
	for _, path := range []string{"/submissions", "/submissions?verdict=AC", "/", "/api/v1/submissions?verdict=AC", "/spaces/here/submissions?verdict=AC"} {
		body := regexp.MustCompile(`(?s)<form.*?</form>|<select.*?</select>`).ReplaceAllString(get(path, ann), "")
		if strings.Contains(body, ">AC<") || strings.Contains(body, "Accepted<") || strings.Contains(path, "verdict=AC") && strings.Contains(body, site.SubmissionURL(partly)) {
			t.Errorf("%s calls half of the points accepted:\n%s", path, body)
		}
	}
	page := get(site.SubmissionURL(partly), ann)
	if strings.Contains(page, "passed every test") || strings.Contains(page, "finished after 4 tests: AC") || !strings.Contains(page, "finished after 4 tests: PA") {
		t.Errorf("the page says more than that it is partly accepted:\n%s", page)
	}
	if strings.Contains(page, `<span class="num">0<span class="muted"> / 0</span>`) && !strings.Contains(page, "How the score came about") {
		t.Error("the samples are shown with points")
	}
	if body := get(site.SubmissionURL(fully), bob); !strings.Contains(body, `<p class="headline">Accepted <span class="code">AC</span>`) {
		t.Errorf("all of the points are not accepted:\n%s", body)
	}
	if stream := s.heardStream(site.SubmissionURL(partly)+"/events", ann); !strings.Contains(stream.body, `{"verdict":"PA","score":50}`) {
		t.Errorf("the stream says:\n%s", stream.body)
	}

	scores := get("/api/v1/spaces/here/scores", ann)
	for _, want := range []string{`"name":"ann","solved":0,"tried":1,"points":5,"display_name":""}`, `"name":"bob","solved":1,"tried":1,"points":10,"display_name":""}`} {
		if !strings.Contains(scores, want) {
			t.Errorf("the scores are %s, want %s", scores, want)
		}
	}
	if problems := get("/api/v1/spaces/here/problems", ann); !regexp.MustCompile(`"slug":"stairs"[^}]*"solved":1`).MatchString(problems) {
		t.Errorf("solved by as many as the problems say: %s", problems)
	}
	days, err := s.store.History(t.Context(), sql.Filter{}, 7)
	if err != nil || len(days) != 1 || days[0].Submitted != 2 || days[0].Accepted != 1 {
		t.Errorf("the chart counts %+v, %v", days, err)
	}
	heard := map[string]bool{}
	for range 2 {
		m := s.next(messages)
		heard[regexp.MustCompile(`"job_id":(\d+)`).FindStringSubmatch(string(m.body))[1]+regexp.MustCompile(`"verdict":"(\w+)"`).FindStringSubmatch(string(m.body))[1]] = true
	}
	if !heard[n+"PA"] || !heard[fmt.Sprint(fully)+"AC"] {
		t.Errorf("webhooks were told %v", heard)
	}
}

func TestAPartOfThePointsLooksPartlyAccepted(t *testing.T) {
	s := newStage(t)
	pages := map[string]string{"partly-list": "/submissions", "partly-problems": "/", "partly-space": "/spaces/here"}
	space := s.space("here")
	s.must(s.store.PutSpaceProblem(t.Context(), space.ID, "stairs", 0, new(10.0), "prof"))
	s.user("root", "correct horse", judge.RoleAdmin)
	s.someone("ann", judge.RoleContestant)
	s.member(space, judge.SpaceContestant, "root", "ann")
	for author, r := range map[string]judge.Result{"root": half(), "ann": whole()} {
		in, err := s.store.Submit(t.Context(), sql.NewJob{
			Problem: "stairs", Language: "cpp", Author: author, Space: space.ID, Sources: []judge.Source{{Name: "main.cpp", Text: "int main() {}"}},
		})
		s.must(err)
		s.finish(in.JobID, r)
		pages["partly-"+author] = site.SubmissionURL(in.JobID)
	}
	pages["partly-package"] = "/packages/aplusb"
	ctx, console := browser(t)
	s.signInAs(func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) }, "root", "/")
	s.must(see(ctx, "h1", "Problems"))
	s.examineAll(ctx, t, console, map[string]look{"wide-light": looks["wide-light"], "phone-dark": {375, 812, "dark"}, "wide-dark": {1200, 800, "dark"}}, pages)
}
