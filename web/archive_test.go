package web

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/blob"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/sql/sqltest"
	"deepoj/web/client"
	"deepoj/web/site"
)

// packed is the archive of a contest package.
func packed(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := clics.Package(files).Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// brings imports a package, of which nothing may be wrong.
func (c caller) brings(files map[string][]byte, n client.NewContest) client.ContestImport {
	c.Helper()
	raw := packed(c.T, files)
	out, err := c.as(c.token).ImportContest(c.Context(), n, bytes.NewReader(raw), int64(len(raw)))
	if err != nil || len(out.Findings) > 0 || out.Imported == n.Preview {
		c.Fatalf("import: %v, %+v", err, out)
	}
	return out
}

// papers gives the problem stairs two statements that are PDF, and an attachment.
func (s *stage) papers(blobs blob.Store) {
	s.Helper()
	p, err := s.store.Problem(s.Context(), "stairs")
	s.must(err)
	p.Files = nil
	for name, text := range map[string]string{"problem.en.pdf": "%PDF-1.7 stairs", "problem.ru.pdf": "%PDF-1.7 lestnitsy", "notes.pdf": "%PDF-1.7 notes"} {
		digest, n, err := blobs.Put(s.Context(), strings.NewReader(text))
		s.must(err)
		p.Files = append(p.Files, judge.ProblemFile{Name: name, Bytes: n, Digest: string(digest), Statement: name != "notes.pdf"})
	}
	slices.SortFunc(p.Files, func(a, b judge.ProblemFile) int { return strings.Compare(a.Name, b.Name) })
	p.Version = "sha256:" + strings.Repeat("b3", 32)
	s.must(s.store.SaveProblem(s.Context(), *p, "prof"))
}

func TestFilesOfProblemsAreForWhoIsToldOfThem(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	s.papers(blobs)
	prof, ann, _, _ := s.cup()
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET starts_at = now() + interval '1 hour' WHERE code = 'final'"))
	s.must(s.store.Rounds.LookAtAll(t.Context()))
	s.record()
	guest := caller{s, ""}
	const paper = "/clics/2026-01/contests/final/problems/stairs/statement.en.pdf"
	for _, c := range []caller{guest, ann} {
		c.reads(paper, 404)
	}
	if got := prof.reads(paper, 200); got.body != "%PDF-1.7 stairs" || got.header.Get("Content-Type") != "application/pdf" || !strings.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("staff get %q, %v", got.body, got.header)
	}
	prof.ask("POST", "/api/v1/rounds/final/start", "{}", 200)
	s.record()
	for _, c := range []caller{guest, ann} {
		if got := c.reads(paper, 200); got.body != "%PDF-1.7 stairs" {
			t.Errorf("a statement is %q", got.body)
		}
		for _, path := range []string{"statement.pdf", "statement.de.pdf", "problem.en.pdf", "..%2f..%2fproblems"} {
			c.reads("/clics/2026-01/contests/final/problems/stairs/"+path, 404)
		}
		c.reads("/clics/2026-01/contests/final/problems/aplusb/statement.en.pdf", 404)
	}
	if got := guest.reads("/clics/2026-01/contests/final/problems/stairs/notes.pdf", 200); got.body != "%PDF-1.7 notes" || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("an attachment is %q, %v", got.body, got.header)
	}
	const want = `"statement":[{"href":"contests/final/problems/stairs/statement.en.pdf","filename":"statement.en.pdf","mime":"application/pdf"},{"href":"contests/final/problems/stairs/statement.ru.pdf"`
	if got := guest.reads("/clics/2023-06/contests/final/problems/stairs", 200); !strings.Contains(got.body, want) {
		t.Errorf("the problem is %s", got.body)
	}
}

func TestAPackageGivesNobodyAFileOfTheServer(t *testing.T) {
	blobs, option := withBlobs(t)
	_, _, files := heldContest(t)
	secret, _, err := blobs.Put(t.Context(), strings.NewReader("secret"))
	if err != nil {
		t.Fatal(err)
	}
	paper := regexp.MustCompile(`"digest":"sha256:[0-9a-f]{64}"`)
	two := newStage(t, option)
	two.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}}, judge.Language{ID: "python", Name: "Python", Available: true, Extensions: []string{"py"}})
	two.someone("prof", judge.RoleStaff)
	two.space("cup", func(v *judge.Space) { v.Listed = true })
	prof := caller{two, two.session("prof")}
	files["deepoj/log.ndjson"] = paper.ReplaceAll(files["deepoj/log.ndjson"], []byte(`"digest":"`+secret+`"`))
	out := prof.brings(files, client.NewContest{Space: "cup"})
	if notes := strings.Join(out.Notes, "\n"); !strings.Contains(notes, "statement.en.pdf is another than the log says") {
		t.Errorf("the notes are %s", notes)
	}
	delete(files, "problems/stairs/statement.en.pdf")
	delete(files, "problems/stairs/statement.ru.pdf")
	delete(files, "problems/stairs/notes.pdf")
	out = prof.brings(files, client.NewContest{Space: "cup", Code: "again"})
	if notes := strings.Join(out.Notes, "\n"); !strings.Contains(notes, "statement.ru.pdf is not in the package") {
		t.Errorf("the notes are %s", notes)
	}
	for _, code := range []string{"final", "again"} {
		for _, name := range []string{"statement.en.pdf", "statement.ru.pdf", "statement.pdf", "notes.pdf"} {
			prof.reads("/clics/2026-01/contests/"+code+"/problems/stairs/"+name, 404)
		}
	}
}

// heldContest is a contest that is over, with everything in it that a package may have, and its package.
func heldContest(t *testing.T) (*stage, caller, map[string][]byte) {
	t.Helper()
	blobs, option := withBlobs(t)
	s := newStage(t, option, func(c *site.Config) { c.RatePerUser, c.RatePerAddress = 1<<20, 1<<20 })
	s.papers(blobs)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}}, judge.Language{ID: "python", Name: "Python", Available: true, Extensions: []string{"py"}})
	prof, ann, bob, _ := s.cup()
	judged := func(c caller, problem string, v judge.Verdict, tests ...judge.Verdict) int64 {
		id := c.hands(problem, "")
		r := judge.Result{Verdict: v, Usage: judge.UsageOf(12_345*time.Microsecond, 20*time.Millisecond, 1024)}
		for i, v := range tests {
			r.Tests = append(r.Tests, judge.TestResult{Index: i + 1, Name: fmt.Sprint(i + 1), Verdict: v, Usage: judge.UsageOf(1234*time.Microsecond, 3*time.Millisecond, 512)})
		}
		s.finish(id, r)
		s.record()
		return id
	}
	prof.ask("POST", "/api/v1/spaces/cup/organizations", `{"organizations": [{"code": "tu", "name": "TU <Delft> & more", "country": "NLD"}]}`, 200)
	if r := prof.do("POST", "/api/v1/spaces/cup/organizations/tu/logos", `<svg width="56" height="56" xmlns="http://www.w3.org/2000/svg"/>`, "Authorization: Bearer "+prof.token, "Content-Type: image/svg+xml"); r.status != 200 {
		t.Fatalf("a logo: %d %s", r.status, r.body)
	}
	prof.ask("POST", "/api/v1/spaces/cup/participants", `{"participants": [
		{"code": "red", "name": "Red", "room": "4.1", "label": "17", "organization": "tu", "groups": ["uni"], "members": [{"user": "ann"}, {"user": "amy"}]},
		{"code": "ghost", "name": "Ghost", "hidden": true, "members": [{"user": "eve"}]}]}`, 200)
	prof.ask("POST", "/api/v1/rounds/final/entries", `{"participants": ["ghost"]}`, 200)
	again := judged(ann, "aplusb", judge.WA, judge.AC, judge.WA)
	judged(bob, "stairs", judge.AC, judge.AC)
	judged(caller{s, s.session("eve")}, "stairs", judge.RE)
	prof.ask("POST", "/api/v1/rounds/final/freeze", "{}", 200)
	judged(bob, "aplusb", judge.CE)
	judged(ann, "stairs", judge.TLE, judge.AC, judge.TLE)
	other := judged(bob, "stairs", judge.AC)
	prof.ask("POST", "/api/v1/rounds/final/ignored", fmt.Sprintf(`{"job_id": %d, "reason": "by another machine"}`, other), 204)
	prof.ask("POST", "/api/v1/rounds/final/adjustments", `{"participant": "red", "minutes": 7}`, 204)
	s.record()
	_, err := s.store.Rejudge(t.Context(), []int64{again}, judge.LaneNormal, "prof")
	s.must(err)
	s.finish(again, judge.Result{Verdict: judge.AC})
	asked := ann.ask("POST", "/api/v1/rounds/final/clarifications", `{"text": "Is <B> hard?", "problem": "stairs"}`, 201)["id"].(string)
	bob.ask("POST", "/api/v1/rounds/final/clarifications", `{"text": "Nobody answers this."}`, 201)
	prof.ask("POST", "/api/v1/rounds/final/clarifications", fmt.Sprintf(`{"text": "Yes.", "reply_to": %q, "to_teams": ["red"]}`, asked), 201)
	prof.ask("POST", "/api/v1/rounds/final/clarifications", `{"text": "Universities, wait.", "to_groups": ["uni"]}`, 201)
	prof.ask("POST", "/api/v1/rounds/final/clarifications", `{"text": "There is coffee."}`, 201)
	prof.ask("POST", "/api/v1/rounds/final/persons", `{"persons": [
		{"code": "p1", "name": "Ann <A>", "participants": ["red"], "icpc_id": "77"}, {"code": "p2", "name": "Cora", "role": "coach", "participants": ["red", "blue"]},
		{"code": "p3", "name": "Eve", "participants": ["ghost"]}, {"code": "p4", "name": "Dan", "role": "staff", "title": "Technical director"}]}`, 200)
	prof.sends("POST", "/commentary", `{"message": "{teams:red} & {problems:stairs}", "tags": ["submission"], "team_ids": ["red"], "problem_ids": ["stairs"], "submission_ids": ["1"]}`, 201)
	prof.sends("POST", "/commentary", `{"message": "{teams:ghost} is fast", "tags": [], "team_ids": ["ghost"]}`, 201)
	s.must(s.store.Rounds.PutAward(t.Context(), "final", judge.RoundAward{Code: "best-name", Citation: "Best name", Participants: []string{"red"}}, "prof"))
	s.record()
	r, err := s.store.Rounds.Round(t.Context(), "final")
	s.must(err)
	from := r.Start.Add(time.Minute).UTC()
	for _, to := range []int{10, 20} {
		out := prof.ask("POST", "/api/v1/rounds/final/removed", fmt.Sprintf(`{"from": %q, "to": %q}`, from.Add(time.Duration(to-5)*time.Minute).Format(time.RFC3339Nano), from.Add(time.Duration(to)*time.Minute).Format(time.RFC3339Nano)), 200)
		s.record()
		if to == 20 {
			list := out["removed"].([]any)
			prof.ask("DELETE", fmt.Sprintf("/api/v1/rounds/final/removed/%v", list[0].(map[string]any)["id"]), "", 204)
		}
	}
	s.record()
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1"))
	for _, c := range prof.ask("GET", "/api/v1/rounds/final/clarifications", "", 200)["clarifications"].([]any) {
		if c := c.(map[string]any); c["text"] == "Nobody answers this." {
			prof.ask("POST", fmt.Sprintf("/api/v1/rounds/final/clarifications/%v/close", c["id"]), "", 204)
		}
	}
	time.Sleep(5 * time.Millisecond)
	prof.ask("POST", "/api/v1/rounds/final/finalize", `{}`, 200)
	s.record()
	prof.ask("POST", "/api/v1/rounds/final/thaw", "{}", 200)
	s.record()
	files, err := s.as(prof.token).ExportContest(t.Context(), "2026-01", "final")
	s.must(err)
	return s, prof, files
}

func TestAContestThatIsPackedAndBroughtElsewhereIsTheSameBytes(t *testing.T) {
	one, _, files := heldContest(t)
	if found := clics.Package(files).Check(); len(found) > 0 {
		t.Fatalf("the package: %v", found)
	}
	if string(files["problems/stairs/statement.en.pdf"]) != "%PDF-1.7 stairs" || string(files["problems/stairs/statement.ru.pdf"]) != "%PDF-1.7 lestnitsy" {
		t.Errorf("of the statements it has %q", slices.Sorted(maps.Keys(files)))
	}
	_, option := withBlobs(t)
	two := newStage(t, option)
	two.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}}, judge.Language{ID: "python", Name: "Python", Available: true, Extensions: []string{"py"}})
	two.someone("prof", judge.RoleStaff)
	two.space("cup", func(v *judge.Space) { v.Listed = true })
	prof := caller{two, two.session("prof")}
	seen := prof.brings(files, client.NewContest{Space: "cup", Preview: true})
	if n := sqltest.One[int](t, two.store, "SELECT count(*) FROM rounds"); n != 0 || seen.Submissions != 5 || seen.Participants != 3 || seen.Problems != 2 || seen.Clarifications != 5 || seen.Title != "Final" {
		t.Errorf("a preview made %d rounds and says %+v", n, seen)
	}
	prof.brings(files, client.NewContest{Space: "cup"})
	before := sqltest.One[int](t, two.store, "SELECT count(*) FROM contest_log")
	two.record()
	if after := sqltest.One[int](t, two.store, "SELECT count(*) FROM contest_log"); after != before {
		t.Errorf("the recorder had %d more lines to write", after-before)
		for _, line := range sqltest.All[string](t, two.store, "SELECT kind || ' ' || object || ' ' || audience || ' ' || coalesce(data::text, '-') FROM contest_log WHERE seq > $1 ORDER BY seq", before) {
			t.Log(line)
		}
	}
	const last = "SELECT shown || ' ' || unshown || ' ' || seq FROM contest_recorders"
	if a, b := sqltest.One[string](t, one.store, last), sqltest.One[string](t, two.store, last); a != b {
		t.Errorf("the last numbers were %s and are %s", a, b)
	}
	back, err := two.as(prof.token).ExportContest(t.Context(), "2026-01", "final")
	two.must(err)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !bytes.Equal(files[name], back[name]) {
			t.Errorf("%s was\n%.2000s\nand is\n%.2000s", name, files[name], back[name])
		}
	}
	if !bytes.Equal(packed(t, files), packed(t, back)) {
		t.Error("the archives differ")
	}
	if got := prof.reads("/clics/2026-01/contests/final/problems/stairs/notes.pdf", 200); got.body != "%PDF-1.7 notes" {
		t.Errorf("the attachment is %q", got.body)
	}
	if got := prof.reads("/clics/2026-01/contests/final/problems/stairs/statement.ru.pdf", 200); got.body != "%PDF-1.7 lestnitsy" {
		t.Errorf("the statement is %q", got.body)
	}
	// What was handed in can be read, and judged again.
	list := prof.ask("GET", "/api/v1/submissions?limit=10", "", 200)["submissions"].([]any)
	if len(list) != 5 || !strings.Contains(fmt.Sprint(list[0]), "TLE") {
		t.Errorf("the submissions are %v", list)
	}
	// A second round of it needs another name, and takes the same people and problems.
	raw := packed(t, files)
	if _, err := two.as(prof.token).ImportContest(t.Context(), client.NewContest{Space: "cup"}, bytes.NewReader(raw), int64(len(raw))); err == nil || !strings.Contains(err.Error(), "short name") {
		t.Errorf("the same contest twice: %v", err)
	}
	// Meanwhile a problem is another one: the round keeps what it had.
	two.must(two.store.SaveProblem(t.Context(), judge.Problem{Slug: "stairs", Title: "Elevators", Version: "sha256:02", CPUMillis: 1000}, "prof"))
	prof.brings(files, client.NewContest{Space: "cup", Code: "again"})
	two.record()
	for _, endpoint := range []string{"judgements", "problems", "clarifications", "awards", "scoreboard"} {
		if a, b := prof.reads("/clics/2026-01/contests/final/"+endpoint, 200), prof.reads("/clics/2026-01/contests/again/"+endpoint, 200); a.body != strings.ReplaceAll(b.body, "contests/again/", "contests/final/") {
			t.Errorf("by another name %s are\n%s, and were\n%s", endpoint, b.body, a.body)
		}
	}
}

func TestPackagesOfProblemsInAContestPackageAreTakenIn(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option, func(c *site.Config) { c.SetterVersions = 1 })
	s.someone("prof", judge.RoleStaff)
	space := s.space("cup")
	prof := caller{s, s.session("prof")}
	problem := packed(t, map[string][]byte{"problem.yaml": []byte("name: Adding\n")})
	files := map[string][]byte{
		"contest.yaml":                 []byte("id: fall\nname: Fall\nstart_time: 2099-05-01T10:00:00+02:00\nduration: 5:00:00\n"),
		"problems.yaml":                []byte("- {id: adding, label: A, name: Adding}\n- {id: ladder, label: B, name: Ladder}\n- {id: later, label: C, name: Later}\n"),
		"problems/adding/adding.zip":   problem,
		"problems/ladder/problem.yaml": []byte("name: Ladder\n"),
		"problems/ladder/data/1.in":    []byte("1\n"),
	}
	type job struct{ Problem, Archive, Instead string }
	jobs := func() map[string]job {
		out := map[string]job{}
		for _, p := range sqltest.All[string](t, s.store, "SELECT convert_from(p.payload, 'UTF8') FROM job_payloads p JOIN jobs j USING (job_id) WHERE j.kind = 'import'") {
			var j job
			s.must(json.Unmarshal([]byte(p), &j))
			out[j.Problem] = j
		}
		return out
	}
	seen := prof.brings(files, client.NewContest{Space: "cup", Preview: true})
	if len(seen.Packages) != 2 || seen.Packages[0].Problem != "adding" || seen.Packages[0].JobID != 0 || len(jobs()) != 0 {
		t.Errorf("a preview says %+v, and there are the jobs %v", seen.Packages, jobs())
	}
	done := prof.brings(files, client.NewContest{Space: "cup"})
	ordered := jobs()
	if len(done.Packages) != 2 || done.Packages[1].Problem != "ladder" || done.Packages[1].JobID == 0 || len(ordered) != 2 {
		t.Fatalf("an import says %+v, and there are the jobs %v", done.Packages, ordered)
	}
	for slug, want := range map[string][]string{"adding": {"problem.yaml"}, "ladder": {"data/1.in", "problem.yaml"}} {
		j := ordered[slug]
		kept, err := blobs.File(t.Context(), blob.Digest(j.Archive))
		s.must(err)
		about, err := kept.Stat()
		s.must(err)
		z, err := zip.NewReader(kept, about.Size())
		s.must(err)
		var names []string
		for _, f := range z.File {
			names = append(names, f.Name)
		}
		s.must(kept.Close())
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("the package of %s has %v, want %v", slug, names, want)
		}
		if live := sqltest.One[string](t, s.store, "SELECT version FROM problems WHERE slug = $1", slug); j.Instead != live {
			t.Errorf("%s comes in the place of %q, and is %q", slug, j.Instead, live)
		}
	}
	// Until it starts, the round follows what is made; a problem without a package is what the contest says.
	pinned := map[string]string{}
	for _, p := range prof.ask("GET", "/api/v1/rounds/fall/problems", "", 200)["problems"].([]any) {
		p := p.(map[string]any)
		pinned[p["slug"].(string)] = p["version"].(string)
	}
	if pinned["adding"] != "" || pinned["ladder"] != "" || pinned["later"] == "" {
		t.Errorf("the versions are %v", pinned)
	}
	// What cannot be taken in is said, and the contest is there.
	s.someone("other", judge.RoleSetter)
	s.member(space, judge.SpaceStaff, "other")
	other := caller{s, s.session("other")}
	more := other.brings(map[string][]byte{
		"contest.yaml":        []byte("id: winter\nname: Winter\nstart_time: 2099-05-01T10:00:00+02:00\nduration: 5:00:00\n"),
		"problems.yaml":       []byte("- {id: broken, label: X, name: Broken}\n- {id: first, label: A, name: First}\n- {id: second, label: B, name: Second}\n"),
		"problems/broken.zip": []byte("none"), "problems/first.zip": problem, "problems/second.zip": problem,
	}, client.NewContest{Space: "cup"})
	// What is no package takes nothing of the day.
	if len(more.Packages) != 3 || !strings.Contains(more.Packages[0].Error, "no ZIP archive") || more.Packages[1].JobID == 0 || !strings.Contains(more.Packages[2].Error, "as many as a setter may") {
		t.Errorf("with one version a day: %+v", more.Packages)
	}
}
