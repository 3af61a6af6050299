package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/web/client"
	"deepoj/web/site"
)

// told is what a checker says that gives the answer away.
const told = "wrong answer 1st words differ - expected: '77753'"

// rejected is a result whose test was rejected with a message of somebody; "" is as
// results were before that was noted.
func rejected(by judge.Speaker, sample bool, v judge.Verdict) judge.Result {
	t := judge.TestResult{Index: 1, Name: "secret/01-trap", Group: "secret", Verdict: v, Message: told, MessageBy: by}
	said := v.Name() + " on test 1 of 1"
	if sample {
		t.Sample, t.Name, t.Group = true, "sample/1", "sample"
		said += " (sample/1)"
	}
	return judge.Result{Verdict: v, Message: said + ": " + told, MessageBy: by, Tests: []judge.TestResult{t}}
}

// reaches says where somebody finds the words about a submission, of all pages,
// answers and streams about it.
func (s *stage) reaches(id int64, who ...string) (where []string) {
	s.Helper()
	n := fmt.Sprint(id)
	for _, page := range []string{
		site.SubmissionURL(id), site.SubmissionURL(id) + "/live", "/submissions", "/status/" + n, "/api/v1/submissions", "/api/v1/submissions/" + n, "/api/v1/submissions/" + n + "?wait=1",
		"/api/v1/submissions/batch?ids=" + n, "/api/v1/submissions/" + n + "/events", site.SubmissionURL(id) + "/events",
	} {
		var r reply
		if strings.HasSuffix(page, "/events") {
			r = s.heardStream(page, who...)
		} else {
			r = s.do(http.MethodGet, page, "", who...)
		}
		if r.status != http.StatusOK {
			s.Errorf("%s: %d %s", page, r.status, r.body)
		}
		if strings.Contains(r.body, "77753") {
			where = append(where, page)
		}
	}
	return where
}

func TestWhatACheckerSaysOfASecretTestReachesNobodyButStaff(t *testing.T) {
	s := newStage(t)
	s.server.rates.address, s.server.rates.user = newLimiter(s.server.rates.address.now, 0), newLimiter(s.server.rates.user.now, 0)
	s.someone("ann", judge.RoleContestant)
	s.someone("prof", judge.RoleAdmin)
	ann, prof := "Authorization: Bearer "+s.session("ann"), "Authorization: Bearer "+s.session("prof")
	discreet := false
	s.must(s.store.SavePlugin(t.Context(), judge.Plugin{Digest: digest(1), Kind: "checker", Name: "org.example.pair", Version: "1", Protocol: "testlib/1", Manifest: json.RawMessage(`{}`), Conforms: true, Leaks: &discreet, JobID: 1, By: "set"}))
	s.must(s.store.ActivatePlugin(t.Context(), digest(1), "set"))
	s.use("aplusb", "org.example.pair")

	type said struct {
		by     judge.Speaker
		sample bool
		v      judge.Verdict
	}
	ids := map[said]int64{}
	for _, by := range []judge.Speaker{"", judge.ByJudge, judge.ByTeam, judge.ByChecker} {
		for _, sample := range []bool{false, true} {
			for _, v := range []judge.Verdict{judge.WA, judge.TLE} {
				id := s.submitAs("ann", "aplusb", "cpp", "x")
				s.finish(id, rejected(by, sample, v))
				ids[said{by, sample, v}] = id
			}
		}
	}
	for _, who := range []judge.CheckerMessages{"", judge.ToldNobody, judge.ToldSamples, judge.ToldAll} {
		s.must(s.store.SetCheckerMessages(t.Context(), "aplusb", who, "prof"))
		for m, id := range ids {
			checkers := m.by == judge.ByChecker || m.by == "" && m.v == judge.WA // what does not tell is a checker's, unless a limit was met
			want := !checkers || who == judge.ToldAll || who != judge.ToldNobody && m.sample
			where := s.reaches(id, ann)
			where = without(where, "/submissions", "/api/v1/submissions") // of other submissions too: looked at below
			if !want && len(where) > 0 {
				t.Errorf("checker_messages %q, sample %t, %s by %q: ann reads it at %v", who, m.sample, m.v, m.by, where)
			}
			if want && len(where) < 8 {
				t.Errorf("checker_messages %q, sample %t, %s by %q: ann reads it only at %v", who, m.sample, m.v, m.by, where)
			}
			if where := s.reaches(id, prof); len(without(where, "/submissions", "/api/v1/submissions")) < 8 {
				t.Errorf("checker_messages %q: staff read it only at %v", who, where)
			}
		}
		rows := s.do(http.MethodGet, "/api/v1/submissions?limit=200", "", ann)
		var page struct {
			Submissions []struct {
				JobID  int64        `json:"job_id"`
				Result judge.Result `json:"result"`
			} `json:"submissions"`
		}
		s.must(json.Unmarshal([]byte(rows.body), &page))
		for _, row := range page.Submissions {
			for m, id := range ids {
				checkers := m.by == judge.ByChecker || m.by == "" && m.v == judge.WA
				if want := !checkers || who == judge.ToldAll || who != judge.ToldNobody && m.sample; id == row.JobID && strings.Contains(row.Result.Message, "77753") != want {
					t.Errorf("checker_messages %q, sample %t, %s by %q: the list says %q", who, m.sample, m.v, m.by, row.Result.Message)
				}
			}
		}
	}
	// A checker that may leak takes the place of the discreet one: all counts no more.
	s.use("aplusb", "pair.cpp")
	if where := s.reaches(ids[said{judge.ByChecker, false, judge.WA}], ann); len(without(where, "/submissions", "/api/v1/submissions")) > 0 {
		t.Errorf("a new version has a checker that nobody has looked at, and ann reads what it says at %v", where)
	}
}

func without(all []string, some ...string) (rest []string) {
	for _, one := range all {
		if !slices.Contains(some, one) {
			rest = append(rest, one)
		}
	}
	return rest
}

func TestARunOfTheSamplesSaysWhatTheProblemLetsItsCheckersSay(t *testing.T) {
	s := newStage(t)
	r, err := s.client.StartRun(t.Context(), client.NewRun{Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "main.cpp", Text: "x"}}, Samples: true})
	s.must(err)
	res := rejected(judge.ByChecker, true, judge.WA)
	res.Message = told
	s.finish(r.JobID, res)
	for who, want := range map[judge.CheckerMessages]bool{judge.ToldNobody: false, judge.ToldSamples: true} {
		s.must(s.store.SetCheckerMessages(t.Context(), "aplusb", who, "prof"))
		for _, page := range []string{site.RunURL(r.JobID), site.RunURL(r.JobID) + "/live", fmt.Sprintf("/api/v1/runs/%d", r.JobID)} {
			if got := s.do(http.MethodGet, page, ""); strings.Contains(got.body, "77753") != want {
				t.Errorf("checker_messages %s: %s says %s", who, page, got.body)
			}
		}
		if got := s.heardStream(fmt.Sprintf("/api/v1/runs/%d/events", r.JobID)); strings.Contains(got.body, "77753") != want {
			t.Errorf("checker_messages %s: the stream says %s", who, got.body)
		}
	}
	token := s.judge0Submit(`{"source_code":"x","language_id":54,"stdin":"1","expected_output":"2"}`)
	runs, err := s.store.RunsOfTokens(t.Context(), "judge0:"+token)
	s.must(err)
	s.finish(runs[0].JobID, res)
	if got := s.do(http.MethodGet, "/judge0/submissions/"+token+"?fields=*", ""); got.status != http.StatusOK || strings.Contains(got.body, "77753") {
		t.Errorf("a client of Judge0 reads %s", got.body)
	}
}

func TestEverybodyMayReadOnlyCheckersThatWereShownToBeDiscreet(t *testing.T) {
	s := newStage(t)
	s.user("sue", "correct horse battery", judge.RoleStaff)
	key := s.keyOf("sue", judge.ScopeStaff)
	set := func(who string) reply {
		return s.do(http.MethodPost, "/api/v1/problems/aplusb/checker-messages", `{"checker_messages":"`+who+`"}`, "Authorization: Bearer "+key, "Content-Type: application/json")
	}
	yes, no := true, false
	for name, tt := range map[string]struct {
		checkers []string
		leaks    *bool
		want     bool
	}{
		"a standard checker":                           {[]string{"default"}, nil, true},
		"a checker in the package":                     {[]string{"pair.cpp"}, &no, false},
		"a plugin whose report warns of a leak":        {[]string{"org.example.pair"}, &yes, false},
		"a plugin whose messages were never looked at": {[]string{"org.example.pair"}, nil, false},
		"a discreet plugin by name":                    {[]string{"org.example.pair"}, &no, true},
		"a discreet plugin by digest":                  {[]string{digest(1)}, &no, true},
		"a discreet plugin, and one that nobody has":   {[]string{"org.example.pair", "org.example.other"}, &no, false},
	} {
		t.Run(name, func(t *testing.T) {
			s.must(s.store.SavePlugin(t.Context(), judge.Plugin{Digest: digest(1), Kind: "checker", Name: "org.example.pair", Version: "1", Protocol: "testlib/1", Manifest: json.RawMessage(`{}`), Conforms: true, Leaks: tt.leaks, JobID: 1, By: "set"}))
			s.must(s.store.ActivatePlugin(t.Context(), digest(1), "set"))
			s.use("aplusb", tt.checkers...)
			r := set("all")
			if tt.want != (r.status == http.StatusOK && strings.Contains(r.body, `"counts":"all"`)) {
				t.Errorf("%d %s", r.status, r.body)
			}
			if !tt.want && (r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "may_leak") || !strings.Contains(r.body, "upload it as a plugin")) {
				t.Errorf("the refusal names no remedy: %d %s", r.status, r.body)
			}
			if r := set(""); r.status != http.StatusOK || !strings.Contains(r.body, `"counts":"samples"`) {
				t.Errorf("as the package says: %d %s", r.status, r.body)
			}
		})
	}
	if r := set("everybody"); r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "nobody, samples or all") {
		t.Errorf("a choice that does not exist: %d %s", r.status, r.body)
	}
	// The page has the same control.
	s.use("aplusb", "pair.cpp")
	session := s.login("sue", "correct horse battery")
	page := s.show(session, "/packages/aplusb")
	if strings.Contains(page, `<option value="all"`) || !strings.Contains(page, "nobody has shown that the checker pair.cpp gives no answer away") {
		t.Errorf("the page offers what it refuses:\n%s", page)
	}
	s.posted(session, "/packages/aplusb/checker-messages", url.Values{"checker_messages": {"nobody"}})
	if rule, err := s.store.CheckerMessages(t.Context(), "aplusb"); err != nil || rule.Counts != judge.ToldNobody {
		t.Errorf("after the form: %+v, %v", rule, err)
	}
}
