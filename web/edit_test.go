package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"deepoj/host/blob"
	"deepoj/host/draft"
	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/sql"
	"deepoj/web/client"
)

// tripleFiles are those of a small package.
var tripleFiles = map[string]string{
	"problem.yaml":                         "# ours\nname: Triple\nlimits:\n  memory: 256 # plenty\nkeywords: [Math, easy]\n",
	".timelimit":                           "2\n",
	"problem_statement/problem.en.md":      "Three times the **number**.\n",
	"data/sample/1.in":                     "1\n",
	"data/sample/1.ans":                    "3\n",
	"data/secret/01.in":                    "2\n",
	"data/secret/01.ans":                   "6\n",
	"submissions/accepted/a.py":            "print(3*int(input()))\n",
	"submissions/wrong_answer/b.py":        "print(3)\n",
	"attachments/notes.txt":                "notes\n",
	"input_format_validators/validator.py": "import sys\nsys.exit(42)\n",
}

// keep stores a version of a problem made of files, as an import does.
func (s *stage) keep(blobs blob.Store, slug, by string, files map[string]string) string {
	s.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	pkg, _, err := importing.Read(fsys)
	s.must(err)
	pkg.Slug = slug
	_, err = pkg.Save(s.Context(), blobs)
	s.must(err)
	s.must(s.store.KeepVersion(s.Context(), pkg.Judge(), by, 0))
	return string(pkg.Version)
}

// editStage is a stage with blobs, a problem of sue's, and two other people.
func editStage(t *testing.T) (*stage, *blob.Dir, string, map[string]string) {
	t.Helper()
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	who := map[string]string{}
	for name, role := range map[string]judge.Role{"sue": judge.RoleSetter, "ola": judge.RoleSetter, "ann": judge.RoleContestant, "bo": judge.RoleStaff} {
		s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: name, PasswordHash: "x", Role: role}))
		who[name] = "Authorization: Bearer " + s.session(name)
	}
	return s, blobs, s.keep(blobs, "triple", "sue", tripleFiles), who
}

// imported takes in the archive of a job as an import does, and returns the version.
func (s *stage) imported(blobs *blob.Dir, receipt string) (*problem.Package, judge.PackagePayload) {
	s.Helper()
	var r struct {
		JobID int64 `json:"job_id"`
	}
	s.must(json.Unmarshal([]byte(receipt), &r))
	job := s.claimJob(r.JobID)
	var p judge.PackagePayload
	s.must(json.Unmarshal(job.Payload, &p))
	file, err := blobs.File(s.Context(), blob.Digest(p.Archive))
	s.must(err)
	defer file.Close()
	read, err := s.server.Config.Reader.Archive(s.Context(), file)
	s.must(err)
	defer read.Close()
	read.Slug = p.Problem
	_, err = read.Save(s.Context(), blobs)
	s.must(err)
	s.must(s.store.KeepVersion(s.Context(), read.Judge(), p.By, job.JobID))
	s.must(s.store.Finalize(s.Context(), job.Attempt, judge.Result{Verdict: judge.AC}))
	pkg, err := problem.Load(s.Context(), blobs, read.Version)
	s.must(err)
	return pkg, p
}

func (s *stage) edit(version, change string, headers ...string) reply {
	s.Helper()
	return s.do(http.MethodPost, "/api/v1/problems/triple/versions/"+version+"/edit", change, append(headers, asJSON)...)
}

func TestASaveIsANewVersionWithTheChangeAndNothingElse(t *testing.T) {
	s, blobs, version, who := editStage(t)
	r := s.edit(version, `{
		"limits": {"time_ms": 1500, "memory_mib": 128}, "names": {"en": "Thrice"}, "languages": ["python3"],
		"statements": [{"language": "en", "text": "Three *times*.\n"}, {"language": "sv", "text": "Tre\n"}],
		"tests": [{"input": "5\n", "answer": "15\n"}, {"name": "secret/01", "input": "4\n", "answer": "12\n"}, {"name": "sample/1", "remove": true}],
		"submissions": [{"place": "wrong_answer", "name": "c.py", "text": "print(0)\n"}, {"place": "wrong_answer", "name": "b.py", "to": "accepted"}],
		"checker": {"standard": "default", "flags": ["float_tolerance", "1e-6"]},
		"files": [{"path": "attachments/more.bin", "base64": "AAE="}, {"path": "attachments/notes.txt", "remove": true}]}`, who["sue"])
	if r.status != http.StatusAccepted {
		t.Fatalf("%d %s", r.status, r.body)
	}
	pkg, p := s.imported(blobs, r.body)
	if p.Activate || p.By != "sue" || p.Problem != "triple" {
		t.Errorf("the job carries %+v: it must not go live by itself", p)
	}
	if pkg.Title != "Thrice" || pkg.Limits.CPU.Milliseconds() != 1500 || pkg.Limits.MemoryMiB != 128 || !strings.Contains(pkg.Statements["sv"], "Tre") ||
		!strings.Contains(pkg.Statement, "<em>times</em>") || !slices.Equal(pkg.Checkers[0].Flags, []string{"float_tolerance", "1e-6"}) {
		t.Errorf("the version has %q, %v, %d MiB, %q, %v", pkg.Title, pkg.Limits.CPU, pkg.Limits.MemoryMiB, pkg.Statements, pkg.Checkers)
	}
	got := map[string]bool{}
	for _, f := range pkg.Files {
		got[f.Path] = true
	}
	want := slices.Sorted(maps.Keys(map[string]bool{
		"problem.yaml": true, "problem_statement/problem.en.md": true, "problem_statement/problem.sv.md": true, "data/secret/01.in": true, "data/secret/01.ans": true,
		"data/secret/02.in": true, "data/secret/02.ans": true, "submissions/accepted/a.py": true, "submissions/accepted/b.py": true, "submissions/wrong_answer/c.py": true,
		"attachments/more.bin": true, "input_format_validators/validator.py": true,
	}))
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	at := slices.IndexFunc(pkg.Files, func(f problem.File) bool { return f.Path == "problem.yaml" })
	text, err := blob.ReadAll(t.Context(), blobs, pkg.Files[at].Digest, 1<<20)
	s.must(err)
	if yaml := string(text); !strings.Contains(yaml, "# ours") || !strings.Contains(yaml, "keywords: [Math, easy]") {
		t.Errorf("comments and other keys are lost:\n%s", yaml)
	}
}

func TestTheSecondOfTwoEditorsIsRefusedAndTold(t *testing.T) {
	s, blobs, base, who := editStage(t)
	s.must(s.store.AddProblemAuthor(t.Context(), "triple", "ola", "sue"))
	const one, two = `{"limits": {"memory_mib": 64}}`, `{"statements": [{"language": "en", "text": "Mine.\n"}]}`
	first := s.edit(base, one, who["sue"])
	if first.status != http.StatusAccepted {
		t.Fatalf("%d %s", first.status, first.body)
	}
	// While the first is under way, and after it.
	if r := s.edit(base, two, who["ola"]); r.status != http.StatusConflict || !strings.Contains(r.body, "sue is saving") {
		t.Errorf("while another save is under way: %d %s", r.status, r.body)
	}
	pkg, _ := s.imported(blobs, first.body)
	r := s.edit(base, two, who["ola"])
	for _, want := range []string{`"overtaken"`, base, string(pkg.Version), "problem.yaml", "sue"} {
		if r.status != http.StatusConflict || !strings.Contains(r.body, want) {
			t.Errorf("after another save: %d %s, want %s", r.status, r.body, want)
		}
	}
	// The page keeps what was typed, and saves it on top of the newest next.
	form := url.Values{"part": {"statement"}, "language": {"en"}, "format": {"md"}, "text": {"Mine."}, "seen": {base}, "act": {"put"}}
	page := s.do(http.MethodPost, "/packages/triple/edit?part=statement&version="+base, form.Encode(), who["ola"], asForm)
	if page.status != http.StatusConflict || !strings.Contains(page.body, "Mine.") || !strings.Contains(page.body, `name="seen" value="`+string(pkg.Version)+`"`) {
		t.Errorf("the page: %d %s", page.status, page.body)
	}
	again := s.edit(string(pkg.Version), two, who["ola"])
	if again.status != http.StatusAccepted {
		t.Fatalf("on top of the newest: %d %s", again.status, again.body)
	}
	if merged, _ := s.imported(blobs, again.body); merged.Limits.MemoryMiB != 64 || !strings.Contains(merged.Statement, "Mine.") {
		t.Errorf("both changes should be there: %d MiB, %q", merged.Limits.MemoryMiB, merged.Statement)
	}
}

func TestAChangeThatIsWrongNamesItsFields(t *testing.T) {
	s, _, base, who := editStage(t)
	for change, field := range map[string]string{
		`{}`:                                                                             "changes",
		`{"limits": {"memory_mib": 0}}`:                                                  "limits.memory_mib",
		`{"limits": {"cpu": 1}}`:                                                         "limits",
		`{"tests": [{"name": "../x"}]}`:                                                  "tests[0].name",
		`{"tests": [{"input": "1"}]}`:                                                    "tests[0].answer",
		`{"tests": [{"command": "gen 1"}]}`:                                              "tests[0].command",
		`{"files": [{"path": "/etc/passwd", "text": ""}]}`:                               "files[0].path",
		`{"files": [{"path": "made/secret/1.in", "text": ""}]}`:                          "files[0].path",
		`{"files": [{"path": "deepoj-version.json", "text": "{}"}]}`:                     "files[0].path",
		`{"submissions": [{"place": "nowhere", "name": "a.py", "text": ""}]}`:            "submissions[0].place",
		`{"submissions": [{"place": "accepted", "name": "../a.py", "text": ""}]}`:        "submissions[0].name",
		`{"submissions": [{"place": "wrong_answer", "name": "a.py", "to": "accepted"}]}`: "submissions[0].name",
		`{"checker": {"standard": "mine"}}`:                                              "checker.standard",
		`{"statements": [{"language": "../x", "text": ""}]}`:                             "statements[0].language",
	} {
		r := s.edit(base, change, who["sue"])
		if r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, `"field":"`+field+`"`) {
			t.Errorf("%s: %d %s, want field %s", change, r.status, r.body, field)
		}
	}
	if jobs, err := s.store.Jobs(t.Context(), []judge.Kind{judge.KindImport}, 0, 10); err != nil || len(jobs) > 0 {
		t.Errorf("%v, and %v: nothing should be stored", jobs, err)
	}
}

func TestQuotasHoldForSavesClonesAndTemplates(t *testing.T) {
	s, _, base, who := editStage(t)
	s.server.Config.SetterVersions = 1
	if r := s.edit(base, `{"limits": {"memory_mib": 0}}`, who["sue"]); r.status != http.StatusUnprocessableEntity {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := s.edit(base, `{"limits": {"memory_mib": 64}}`, who["sue"]); r.status != http.StatusAccepted {
		t.Fatalf("the first of today: %d %s", r.status, r.body)
	}
	for _, post := range [][2]string{{"/api/v1/problems/triple/clone", `{"name": "other"}`}, {"/api/v1/templates/aplusb", `{"name": "fresh"}`}} {
		if r := s.do(http.MethodPost, post[0], post[1], who["sue"], asJSON); r.status != http.StatusTooManyRequests {
			t.Errorf("%s beyond the quota: %d %s", post[0], r.status, r.body)
		}
	}
}

// Whoever edits in the browser saves often: what follows a save of the same problem
// soon is no further version of the day, but there is an end to it, too.
func TestSavesThatFollowEachOtherAreOneVersionOfTheDay(t *testing.T) {
	s, blobs, base, who := editStage(t)
	s.server.Config.SetterVersions = 1
	s.must(s.store.AddProblemAuthor(t.Context(), "triple", "ola", "sue"))
	used := func(name string, versions, saves int32) {
		t.Helper()
		if day, err := s.store.SetterToday(t.Context(), name); err != nil || day.Versions != versions || day.Saves != saves {
			t.Errorf("%s has made %d versions and %d more saves today, %v; want %d and %d", name, day.Versions, day.Saves, err, versions, saves)
		}
	}
	save := func(name, version string, memory int) reply {
		t.Helper()
		return s.edit(version, fmt.Sprintf(`{"limits": {"memory_mib": %d}}`, memory), who[name])
	}
	taken := func(name, version string, memory int) string {
		t.Helper()
		r := save(name, version, memory)
		if r.status != http.StatusAccepted {
			t.Fatalf("%s, %d MiB: %d %s", name, memory, r.status, r.body)
		}
		pkg, _ := s.imported(blobs, r.body)
		return string(pkg.Version)
	}
	next := taken("sue", base, 1)
	used("sue", 1, 0)
	next = taken("sue", next, 2)
	used("sue", 1, 1)
	if r := save("sue", next, 0); r.status != http.StatusUnprocessableEntity {
		t.Errorf("a wrong one: %d", r.status)
	}
	if r := save("sue", base, 3); r.status != http.StatusConflict {
		t.Errorf("one that comes late: %d", r.status)
	}
	used("sue", 1, 1)
	// One that the import refused does not count as a version, nor does that which mends it.
	refused := save("sue", next, 4)
	var r client.Receipt
	s.must(json.Unmarshal([]byte(refused.body), &r))
	s.finish(r.JobID, judge.Result{Verdict: judge.JE})
	next = taken("sue", next, 5)
	used("sue", 1, 3)
	next = taken("ola", next, 6)
	used("ola", 1, 0)
	for i := range 7 {
		next = taken("sue", next, 7+i)
	}
	if r := save("sue", next, 20); r.status != http.StatusTooManyRequests {
		t.Errorf("beyond ten saves for a version: %d %s", r.status, r.body)
	}
	used("sue", 1, 10)
}

func TestEveryCheckerOfThePlatformCanBeChosen(t *testing.T) {
	s, _, base, who := editStage(t)
	for _, name := range problem.Standard {
		r := s.do(http.MethodPost, "/api/v1/problems/triple/versions/"+base+"/preview", `{"checker": {"standard": "`+name+`"}}`, who["sue"], asJSON)
		if r.status != http.StatusOK || !strings.Contains(r.body, `"refused":null`) && !strings.Contains(r.body, `"refused":[]`) {
			t.Errorf("%s: %d %.300s", name, r.status, r.body)
		}
	}
}

func TestAPreviewShowsWhatWouldBeAndStoresNothing(t *testing.T) {
	s, _, base, who := editStage(t)
	ask := func(change string) (p struct {
		Problem    *judge.Problem
		Statements map[string]string
		Refused    []problem.Finding
	},
	) {
		t.Helper()
		r := s.do(http.MethodPost, "/api/v1/problems/triple/versions/"+base+"/preview", change, who["sue"], asJSON)
		if r.status != http.StatusOK {
			t.Fatalf("%d %s", r.status, r.body)
		}
		s.must(json.Unmarshal([]byte(r.body), &p))
		return p
	}
	p := ask(`{"statements": [{"language": "en", "text": "Now <script>x</script> **bold**.\n"}], "limits": {"memory_mib": 99}}`)
	if p.Problem == nil || !strings.Contains(p.Problem.Statement, "<strong>bold</strong>") || strings.Contains(p.Problem.Statement, "<script") || p.Problem.MemoryMiB != 99 || len(p.Problem.Samples) != 1 {
		t.Errorf("preview: %+v", p.Problem)
	}
	if p := ask(`{"files": [{"path": "problem.yaml", "text": "limits: [\n"}]}`); p.Problem != nil || len(p.Refused) == 0 {
		t.Errorf("of a package that would be refused: %+v", p)
	}
	form := url.Values{"part": {"statement"}, "language": {"en"}, "format": {"md"}, "text": {"Some **words**."}, "seen": {base}, "act": {"preview"}}
	page := s.do(http.MethodPost, "/packages/triple/edit?part=statement&version="+base, form.Encode(), who["sue"], asForm)
	if page.status != http.StatusOK || !strings.Contains(page.body, "<strong>words</strong>") || !strings.Contains(page.body, "Some **words**.") {
		t.Errorf("the page of the preview: %d %s", page.status, page.body)
	}
	if jobs, err := s.store.Jobs(t.Context(), []judge.Kind{judge.KindImport}, 0, 10); err != nil || len(jobs) > 0 {
		t.Errorf("%v, and %v: nothing should be stored", jobs, err)
	}
}

func TestEveryPartOfAVersionHasAPage(t *testing.T) {
	s, _, base, who := editStage(t)
	for part, want := range map[string]string{
		"statement": "Three times the **number**.", "settings": "Triple", "tests&test=secret/01": "6\n", "submissions&submission=submissions/wrong_answer/b.py": "print(3)",
		"checker": "default", "files&file=problem.yaml": "# ours",
	} {
		r := s.do(http.MethodGet, "/packages/triple/edit?version="+base+"&part="+part, "", who["sue"])
		if r.status != http.StatusOK || !strings.Contains(r.body, want) {
			t.Errorf("%s: %d, want %q in\n%s", part, r.status, want, r.body)
		}
	}
	forms := []url.Values{
		{"part": {"settings"}, "time": {"1.5"}, "memory": {"256"}, "output": {"8"}, "code": {"128"}, "name-language": {"en"}, "name": {"Triple"}, "languages": {""}, "act": {"put"}},
		{"part": {"tests"}, "name": {""}, "input": {"7\r\n"}, "answer": {"21\r\n"}, "act": {"put"}},
		{"part": {"submissions"}, "place": {"wrong_answer"}, "name": {"b.py"}, "to": {"accepted"}, "act": {"move"}},
		{"part": {"files"}, "path": {"attachments/notes.txt"}, "act": {"remove"}},
	}
	for i, form := range forms {
		form.Set("seen", base)
		form.Set("key", fmt.Sprint("k", i))
		r := s.do(http.MethodPost, "/packages/triple/edit?part="+form.Get("part")+"&version="+base, form.Encode(), who["sue"], asForm)
		if r.status != http.StatusSeeOther || !strings.HasPrefix(r.header.Get("Location"), "/imports/") {
			t.Errorf("%v: %d %s", form, r.status, r.body)
			continue
		}
		var id int64
		_, err := fmt.Sscanf(r.header.Get("Location"), "/imports/%d", &id)
		s.must(err)
		s.finish(id, judge.Result{Verdict: judge.JE}) // refused: the turn is free again
	}
}

func TestVersionsAreCompared(t *testing.T) {
	s, blobs, base, who := editStage(t)
	files := maps.Clone(tripleFiles)
	files["problem.yaml"] = strings.Replace(files["problem.yaml"], "256", "64", 1)
	files["data/secret/02.in"], files["data/secret/02.ans"] = "9\n", "27\n"
	files["data/secret/01.ans"] = strings.Repeat("8\x00", 10)
	delete(files, "attachments/notes.txt")
	next := s.keep(blobs, "triple", "sue", files)
	r := s.do(http.MethodGet, "/api/v1/problems/triple/diff?from="+base+"&to="+next, "", who["ola"])
	var d draft.Difference
	s.must(json.Unmarshal([]byte(r.body), &d))
	if !slices.Equal(d.Tests.Added, []string{"secret/02"}) || !slices.Equal(d.Tests.Changed, []string{"secret/01"}) || len(d.Tests.Removed) > 0 {
		t.Errorf("tests: %+v", d.Tests)
	}
	if len(d.Values) != 1 || d.Values[0] != (draft.ValueDiff{Name: "memory", From: "256 MiB", To: "64 MiB"}) {
		t.Errorf("values: %+v", d.Values)
	}
	got := map[string]draft.FileChange{}
	for _, f := range d.Files {
		got[f.Path] = f
	}
	if f := got["problem.yaml"]; f.Change != "changed" || !strings.Contains(f.Lines, "-  memory: 256 # plenty\n+  memory: 64 # plenty\n") {
		t.Errorf("problem.yaml: %+v", f)
	}
	if got["attachments/notes.txt"].Change != "removed" || got["data/secret/02.in"].Change != "added" || got["data/secret/01.ans"].Why != "binary" || len(got) != 5 {
		t.Errorf("files: %+v", got)
	}
	if page := s.do(http.MethodGet, "/packages/triple/compare?from="+base+"&to="+next, "", who["sue"]); page.status != http.StatusOK || !strings.Contains(page.body, "64 MiB") || !strings.Contains(page.body, `class="added"`) {
		t.Errorf("the page: %d %s", page.status, page.body)
	}
}

func TestACloneIsAProblemOfItsOwn(t *testing.T) {
	s, blobs, base, who := editStage(t)
	r := s.do(http.MethodPost, "/api/v1/problems/triple/clone", `{"name": "fourfold"}`, who["ola"], asJSON)
	if r.status != http.StatusAccepted {
		t.Fatalf("%d %s", r.status, r.body)
	}
	pkg, p := s.imported(blobs, r.body)
	if p.Problem != "fourfold" || p.By != "ola" || p.Activate || len(pkg.Files) != len(tripleFiles) {
		t.Errorf("%+v with %d files", p, len(pkg.Files))
	}
	for name, rights := range map[string]bool{"ola": true, "sue": false} {
		if got, err := s.store.ProblemRights(t.Context(), "fourfold", name); err != nil || got.Owns != rights {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if r := s.do(http.MethodPost, "/api/v1/problems/triple/clone", `{"name": "fourfold", "version": "`+base+`"}`, who["sue"], asJSON); r.status != http.StatusConflict {
		t.Errorf("of a name that is taken: %d %s", r.status, r.body)
	}
	r = s.do(http.MethodPost, "/api/v1/templates/aplusb", `{"name": "mine"}`, who["ola"], asJSON)
	if r.status != http.StatusAccepted {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if pkg, p := s.imported(blobs, r.body); p.Problem != "mine" || pkg.Title != "A + B" || len(pkg.Submissions) == 0 {
		t.Errorf("of a template: %+v, %q", p, pkg.Title)
	}
}
