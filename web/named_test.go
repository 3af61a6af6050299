package web

import (
	"net/http"
	"strings"
	"testing"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// TestSomebodyIsNamedByTheirAccountAndByWhatPeopleCallThem has ann call herself as staff are called.
func TestSomebodyIsNamedByTheirAccountAndByWhatPeopleCallThem(t *testing.T) {
	s := newStage(t)
	for name, role := range map[string]judge.Role{"ann": judge.RoleContestant, "bob": judge.RoleContestant, "prof": judge.RoleStaff} {
		s.someone(name, role)
	}
	cookie := func(name string) string { return "Cookie: " + peopleroom.SessionCookie + "=" + s.session(name) }
	s.must(s.store.SetDisplayName(t.Context(), "ann", "prof <i>", "ann"))
	s.must(s.store.SetProfile(t.Context(), "ann", judge.AudienceMembers))
	id := s.submitAs("ann", "aplusb", "cpp", "x")
	s.finish(id, judge.Result{Verdict: judge.AC, Usage: judge.UsageOf(8_900_000, 0, 100)})
	s.finish(s.submitAs("bob", "aplusb", "cpp", "y"), judge.Result{Verdict: judge.WA})
	const called = `<bdi class="called">prof &lt;i&gt;</bdi>`

	prof, ann := cookie("prof"), cookie("ann")
	for path, want := range map[string][]string{
		"/submissions":                {"<td>ann " + called + "</td>", "<td>bob</td>"},
		"/submissions?author=ann":     {"<td>ann " + called + "</td>"},
		site.SubmissionURL(id):        {"· ann " + called + " ·"},
		"/problems/aplusb/statistics": {">ann</a> " + called},
		"/people/ann":                 {"<h1><bdi>prof &lt;i&gt;</bdi></h1>", `<span class="name">ann</span>`, "<title>prof &lt;i&gt; (ann) · Deep-OJ</title>"},
		"/people/bob":                 {"<h1>bob</h1>", "<title>bob · Deep-OJ</title>"},
	} {
		s.says(s.show(prof, path), want...)
	}
	s.says(s.show(ann, "/languages"), `<a href="/account" title="ann">`+called+`</a>`)
	s.says(s.show(prof, "/languages"), `<a href="/account">prof</a>`)
	s.says(s.show(ann, "/account"), `title="ann">`)
	for _, path := range []string{"/submissions", "/problems/aplusb/statistics", "/"} { // to others ann is nobody here
		if page := s.show(cookie("bob"), path); strings.Contains(page, "prof &lt;i&gt;") {
			t.Errorf("%s tells bob what ann is called", path)
		}
	}
	s.must(s.store.SetDisplayName(t.Context(), "ann", "", "ann"))
	s.says(s.show(prof, "/submissions"), "<td>ann</td>")
	s.says(s.show(ann, "/languages"), `<a href="/account">ann</a>`)
}

// TestPagesOfSolvingAreReadInTheReadersLanguage looks at what pages, and the parts of them that are fetched while
// something is judged, say to whoever reads Chinese. What programs get stays English.
func TestPagesOfSolvingAreReadInTheReadersLanguage(t *testing.T) {
	s := newStage(t)
	s.someone("ann", judge.RoleStaff)
	session := peopleroom.SessionCookie + "=" + s.session("ann")
	reads := "Cookie: " + session + "; language=zh-Hans"
	wrong := s.submitAs("ann", "aplusb", "cpp", "x")
	s.submitAs("ann", "aplusb", "cpp", "y")
	if live := s.do(http.MethodGet, site.SubmissionURL(wrong)+"/live", "", reads, "Accept: text/html"); !strings.Contains(live.body, "等待中") || strings.Contains(live.body, "Waiting") {
		t.Errorf("while it waits, the part that is fetched says %s", live.body)
	}
	s.finish(wrong, judge.Result{Verdict: judge.WA, Score: new(1234.5), MaxScore: new(2000.0), Usage: judge.UsageOf(1_340_000_000, 2_000_000_000, 48_212), Tests: []judge.TestResult{
		{Index: 1, Name: "sample/1", Sample: true, Verdict: judge.WA, Output: "1\n", Usage: judge.UsageOf(1_340_000_000, 2_000_000_000, 48_212)},
	}})
	broken := s.submitAs("ann", "aplusb", "cpp", "z")
	s.finish(broken, judge.Result{Verdict: judge.CE, Compile: &judge.Compile{Output: "out", Diagnostics: []judge.Diagnostic{
		{File: "main.cpp", Line: 1, Column: 2, Severity: "error", Message: "bad"}, {Line: 1, Severity: "warning", Message: "odd"},
	}}})
	for path, want := range map[string][]string{
		site.SubmissionURL(broken):          {"CE · 提交 ", "编译输出", "第 1 行，第 2 列</a>: <span lang=\"en\">bad</span>", ">警告</span>", "完整输出"},
		"/":                                 {"难度从", "<th scope=\"col\">题目</th>", "0 / 1", "<title>题目 · Deep-OJ</title>"},
		"/problems/aplusb":                  {`<section aria-labelledby="samples" lang="zh-Hans">`, "<dt>内存</dt>", "输入 1", "编译器与命令行", "提交</button>"},
		"/problems/aplusb/statistics":       {"尝试人数", "的统计 · Deep-OJ"},
		"/submissions":                      {"提交时间", "刚刚", "3 次提交", "已派发"},
		site.SubmissionURL(wrong):           {"WA · 提交 ", "答案错误", "1.34 s", "47.1 MiB", "1,234.5", "从第 1 行开始不同。", "未通过的样例"},
		site.SubmissionURL(wrong) + "/live": {"答案错误", "程序在某个测试点上给出了错误的答案。", "经过", " 秒</time>"},
		"/people/ann":                       {"尝试过但未解决", "每日提交", "今天", "谁可以查看此页"},
		"/languages":                        {"编译命令", "<title>语言 · Deep-OJ</title>"},
	} {
		page := s.do(http.MethodGet, path, "", reads, "Accept: text/html").body
		s.says(page, want...)
		if _, main, whole := strings.Cut(page, `<main id="main"`); whole {
			page = main
		}
		for _, english := range []string{"Submission", "Accepted", "Wrong answer", "Language<", "Verdict", "just now", " points", "Statistics", "Handed in"} {
			if strings.Contains(page, english) {
				t.Errorf("%s says %q to who reads Chinese", path, english)
			}
		}
	}
	for _, path := range []string{"/api/v1" + site.SubmissionURL(wrong), "/api/v1/languages"} {
		if r := s.do(http.MethodGet, path, "", reads, "Accept: application/json"); strings.ContainsFunc(r.body, func(c rune) bool { return c >= 0x2e80 }) {
			t.Errorf("%s speaks Chinese to programs: %s", path, r.body)
		}
	}
}
