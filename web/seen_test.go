package web

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// clocks are what differs between two answers though nothing has happened: ages,
// the time of the answer, and words made by chance for one answer. What figures of
// the last minutes tell of sets is tested where they are counted, in package sql.
var clocks = regexp.MustCompile(`>(just now|\d+ (s|min|h) ago)<|"(now|seen)":"[^"]*"|"oldest_seconds":[0-9.e-]+|"judged_last_minute":\d+|"eta_(low|high)_seconds":[0-9.]+` +
	`|<dt>(Oldest|Judged in a minute)</dt><dd>[^<]*</dd>|expected [^<".]*|<td>(within [^<]*|[0-9a-z ]+ to [0-9a-z ]+)</td>|(?s)<div class="pictures">.*?</div>` +
	`|"trace_id":"[0-9a-f]+"|<code>[0-9a-f]{32}</code>|name="key" value="[0-9a-f]+(-[a-z]+)?"|name="csrf" value="[^"]+"|W/"[^"]+"|nonce(=|-)["']?[0-9a-f]{32}|datetime="[^"]*" title="[^"]*">(just now|\d+ (s|min|h) ago)<`)

// ownHeaders are of one answer: when it was given, by which request, and how many
// more may be asked.
var ownHeaders = []string{"Date", "X-Request-Id", "Traceparent", "Content-Length", "Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "Trace-Id"}

// answer is an answer as it can be compared.
func (r reply) comparable() string {
	var out strings.Builder
	fmt.Fprintln(&out, r.status)
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range r.header {
			if !yield(name) {
				return
			}
		}
	}) {
		if !slices.Contains(ownHeaders, name) {
			fmt.Fprintln(&out, name+":", clocks.ReplaceAllString(strings.Join(r.header[name], ", "), "…"))
		}
	}
	return out.String() + clocks.ReplaceAllString(r.body, "…")
}

// heardStream returns a stream of events as far as it goes without waiting: to its
// end, or to the place of a job that waits.
func (s *stage) heardStream(path string, headers ...string) reply {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), time.Minute) // only a hang is that long
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	s.must(err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	s.must(err)
	defer resp.Body.Close()
	out, last := reply{status: resp.StatusCode, header: resp.Header}, false
	for lines := bufio.NewScanner(resp.Body); lines.Scan() && (!last || lines.Text() != ""); {
		out.body += lines.Text() + "\n"
		last = last || lines.Text() == "event: place" || lines.Text() == "event: end"
	}
	s.must(ctx.Err())
	return out
}

// contestantsPages are the addresses of every page, stream and answer of the router
// that somebody who is not staff can ask for, filled with the names of what there is.
func (s *stage) contestantsPages(names map[string][]string) (pages []string) {
	s.Helper()
	for route, who := range accessOf(s.T) {
		method, path, _ := strings.Cut(route, " ")
		if method != http.MethodGet || who == "staff" || who == "admin" || path == "/metrics" || path == "/readyz" || strings.HasPrefix(path, "/login") || strings.HasPrefix(path, "/static") {
			continue // of metrics and readiness only those who run the site know: they have a guard of their own
		}
		filled := []string{path}
		for param, values := range names {
			var next []string
			for _, p := range filled {
				if !strings.Contains(p, param) {
					next = append(next, p)
					continue
				}
				for _, v := range values {
					next = append(next, strings.Replace(p, param, v, 1))
				}
			}
			filled = next
		}
		for _, p := range filled {
			pages = append(pages, nowhere(p))
		}
	}
	slices.Sort(pages)
	return slices.Compact(pages)
}

// everything is what somebody can fetch, by address.
func (s *stage) everything(pages []string, who ...string) map[string]string {
	s.Helper()
	out := map[string]string{}
	for _, page := range pages {
		if strings.HasSuffix(page, "/events") {
			out[page] = s.heardStream(page, who...).comparable()
			for _, after := range []string{"0", "1", "9999999"} {
				out[page+" after "+after] = s.heardStream(page, append(who, "Last-Event-ID: "+after)...).comparable()
			}
			continue
		}
		out[page] = s.do(http.MethodGet, page, "", who...).comparable()
	}
	return out
}

// differs names the addresses whose answers differ, with the first difference of each.
func differs(before, after map[string]string) (out []string) {
	for page, was := range before {
		is := after[page]
		if was == is {
			continue
		}
		at := 0
		for at < min(len(was), len(is)) && was[at] == is[at] {
			at++
		}
		cut := func(text string) string { return text[max(0, at-60):min(len(text), at+90)] }
		out = append(out, fmt.Sprintf("%s:\n  was %q\n  is  %q", page, cut(was), cut(is)))
	}
	slices.Sort(out)
	return out
}

func TestNobodyButStaffSeesAnythingOfARejudgeSetBeforeItIsApplied(t *testing.T) {
	s := newStage(t)
	s.server.rates.address, s.server.rates.user = newLimiter(time.Now, 0), newLimiter(time.Now, 0)
	s.server.Depth.Believe(0) // what is believed for a while would hide what leaks
	s.server.staff.Flow.Believe(0)
	for name, role := range map[string]judge.Role{"prof": judge.RoleAdmin, "ann": judge.RoleContestant, "tutor": judge.RoleContestant, "set": judge.RoleSetter} {
		s.someone(name, role)
	}
	space := s.space("here", func(v *judge.Space) { v.Listed = true })
	s.member(space, judge.SpaceContestant, "ann")
	s.member(space, judge.SpaceStaff, "tutor")

	wrong := judge.Result{
		Verdict: judge.WA, Message: "Wrong answer on test 1 of 1", Tests: []judge.TestResult{{Index: 1, Name: "secret/01", Group: "secret", Verdict: judge.WA}},
		Usage: judge.Usage{CPUMillis: 3, WallMillis: 4, MemoryKiB: 512}, Compile: &judge.Compile{OK: true},
	}
	right := wrong
	right.Verdict, right.Message, right.Usage.CPUMillis = judge.AC, "", 777
	right.Tests = []judge.TestResult{{Index: 1, Name: "secret/01", Group: "secret", Verdict: judge.AC}}

	hand := func(author string, in *judge.Space) int64 {
		n := sql.NewJob{Problem: "aplusb", Language: "cpp", Author: author, GroupKey: author, Sources: []judge.Source{{Name: "main.cpp", Text: "x"}}}
		if in != nil {
			n.Space = in.ID
		}
		r, err := s.store.Submit(t.Context(), n)
		s.must(err)
		return r.JobID
	}
	judgeIt := func(id int64, r judge.Result) {
		s.finish(id, r)
	}
	plain, retried, here, guests := hand("ann", nil), hand("ann", nil), hand("ann", space), hand("guest", nil)
	waits := hand("ann", nil)
	failed := s.claim(retried)
	s.fails(failed)
	for _, id := range []int64{plain, here, guests} {
		judgeIt(id, wrong)
	}
	s.must(s.store.Release(t.Context(), retried, "prof"))
	judgeIt(retried, wrong)
	withdrawn := hand("ann", nil) // judged again by itself, which was withdrawn
	judgeIt(withdrawn, wrong)
	_, err := s.store.Rejudge(t.Context(), []int64{withdrawn}, judge.LaneRejudge, "prof")
	s.must(err)
	s.must(s.store.Cancel(t.Context(), withdrawn, "prof", ""))

	ids := []int64{plain, retried, here, guests, withdrawn}
	var numbers []string
	for _, id := range append(slices.Clone(ids), waits) {
		numbers = append(numbers, strconv.FormatInt(id, 10))
	}
	pages := append(s.contestantsPages(map[string][]string{
		":id": numbers, ":slug": {"aplusb"}, ":space": {"here"}, ":name": {"ann"}, ":kind": {"checker"},
	}), "/api/v1/submissions/batch?ids="+strings.Join(numbers, ","), "/api/v1/queue?group=ann", "/submissions?verdict=AC", "/submissions?verdict=WA",
		"/api/v1/submissions?verdict=AC", "/api/v1/submissions?limit=2", "/spaces/here/submissions?author=ann", "/problems/aplusb?from="+numbers[0])
	for _, id := range numbers[:len(ids)] {
		pages = append(pages, "/api/v1/submissions/"+id+"?wait=1")
	}
	who := map[string][]string{"a guest": nil}
	for _, name := range []string{"ann", "tutor", "set"} {
		who[name] = []string{"Authorization: Bearer " + s.session(name)}
	}
	look := func() map[string]map[string]string {
		out := map[string]map[string]string{}
		for name, headers := range who {
			out[name] = s.everything(pages, headers...)
		}
		return out
	}
	busy := judge.WorkerInfo{
		Name: "judge1-5f3a", Pool: "default", Slots: 2, Languages: languages, Version: "test", Sandbox: "cgroup v2", Started: time.Now(), Seen: time.Now(),
	}
	s.must(s.store.WorkerBeat(t.Context(), busy))
	before := look()
	same := func(when string) {
		t.Helper()
		after := look()
		for name := range who {
			for _, d := range differs(before[name], after[name]) {
				t.Errorf("%s, %s sees it at %s", when, name, d)
			}
		}
	}
	same("when nothing has happened")
	if t.Failed() {
		t.Fatal("the answers cannot be compared")
	}

	begin := func(ids ...int64) sql.RejudgeSet {
		set, err := s.store.StartRejudge(t.Context(), sql.RejudgeRequest{By: "prof", JobIDs: ids})
		s.must(err)
		if set.Total != int64(len(ids)) {
			t.Fatalf("the set has %d of %d submissions", set.Total, len(ids))
		}
		return set
	}
	set := begin(ids...)
	same("while a set waits")
	running := s.claim(plain)
	s.compiled(running, 1)
	s.test(running, 1, right.Tests[0])
	busy.Busy, busy.Seen = 1, time.Now()
	s.must(s.store.WorkerBeat(t.Context(), busy))
	same("while a judging of a set runs")
	s.must(s.store.Finalize(t.Context(), running, right))
	s.fails(s.claim(here))
	same("when a judging of a set was retried")
	s.must(s.store.Bury(t.Context(), s.claimSoon(here), judge.ReasonPayload, "cannot be judged"))
	s.must(s.store.Cancel(t.Context(), guests, "prof", ""))
	same("when judgings of a set are done, given up and withdrawn")
	busy.Busy, busy.Seen = 0, time.Now()
	s.must(s.store.WorkerBeat(t.Context(), busy))
	s.must(s.store.CancelRejudge(t.Context(), set.ID, "prof"))
	same("when a set was cancelled")

	set = begin(ids...)
	for _, id := range ids {
		judgeIt(id, right)
	}
	another := begin(retried) // takes it from the set that is open
	judgeIt(retried, right)
	same("when a set is done, and not applied")
	s.must(s.store.CancelRejudge(t.Context(), another.ID, "prof"))
	same("when a set was cancelled that took a submission from another")

	s.must(s.store.ApplyRejudge(t.Context(), set.ID, "prof"))
	after := look()
	var changed []string
	for _, d := range differs(before["ann"], after["ann"]) {
		changed = append(changed, strings.SplitN(d, ":\n", 2)[0])
	}
	for _, want := range []string{site.SubmissionURL(plain), "/api/v1" + site.SubmissionURL(plain), "/api/v1" + site.SubmissionURL(plain) + "/events", "/status/" + numbers[0], "/api/v1/submissions", "/spaces/here"} {
		if !slices.Contains(changed, want) {
			t.Errorf("the set is applied, and ann sees the same as before at %s", want)
		}
	}
	if slices.Contains(changed, site.SubmissionURL(retried)) {
		t.Error("ann sees another judging of a submission that had left the set")
	}
	page, events := after["ann"][site.SubmissionURL(plain)], after["ann"][site.SubmissionURL(plain)+"/events"]
	if !strings.Contains(page, "judged again with others (judging 2): AC") || strings.Count(page, "attempt ") != strings.Count(before["ann"][site.SubmissionURL(plain)], "attempt ") {
		t.Errorf("the page tells more of the set, or less, than that it was applied:\n%s", page)
	}
	if strings.Count(events, "\nevent: applied\n") != 1 || strings.Count(events, "event: ") != strings.Count(before["ann"][site.SubmissionURL(plain)+"/events"], "event: ")+1 || strings.Contains(events, "prof") {
		t.Errorf("the stream tells more of the set, or less, than that it was applied:\n%s", events)
	}
	// Two judgings of it were in sets, of which one was cancelled: nobody can count that.
	if api := after["ann"]["/api/v1"+site.SubmissionURL(plain)]; !strings.Contains(api, `"generation":2`) || !strings.Contains(api, `"attempt_id":2`) {
		t.Errorf("the numbers tell of a cancelled set: %s", api)
	}
}

// fails ends an attempt by a failure of ours.
func (s *stage) fails(a judge.Attempt) {
	s.Helper()
	_, err := s.store.Fail(s.Context(), a, "the disk was full", true)
	s.must(err)
}

// claimSoon claims a job that is to be tried again, as soon as that may be.
func (s *stage) claimSoon(jobID int64) judge.Attempt {
	s.Helper()
	s.must(s.store.Release(s.Context(), jobID, "prof"))
	return s.claim(jobID)
}

func TestNoHandlerReadsJobsPastTheRuleOfWhatIsSeen(t *testing.T) {
	direct := regexp.MustCompile(`\bstore\.(Submissions?|Events|Places?|QueueStats|QueueFlow|Waiting|Ready)\(`)
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range direct.FindAllString(string(text), -1) {
			t.Errorf("%s calls %s: say for whom with For", f.Name(), found)
		}
		if n := strings.Count(string(text), ".Events(ctx"); n > 0 && f.Name() != "public.go" {
			t.Errorf("%s reads events, and not by seenEvents", f.Name())
		}
	}
}
