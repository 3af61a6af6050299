package restore_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/restore"
	"deepoj/sql/rounds"
)

// foreign is a package of another system: red solved A at the second try, and was judged again; blue solved B in the freeze, which
// is thawed; a question was answered to all. Ids are not numbers, and zones have hours alone.
func foreign() clics.Package {
	return clics.Package{
		"contest.json":         []byte(`{"id":"xx","name":"X","start_time":"2023-02-14T09:00:00.000+01","duration":"5:00:00","scoreboard_freeze_duration":"1:00:00","scoreboard_type":"pass-fail","penalty_time":15}`),
		"state.json":           []byte(`{"started":"2023-02-14T09:00:00+01","ended":"2023-02-14T14:00:00+01","thawed":"2023-02-14T15:00:00+01","finalized":"2023-02-14T15:10:00+01","end_of_updates":null}`),
		"judgement-types.json": []byte(`[{"id":"AC","solved":true},{"id":"NO","solved":false,"penalty":true},{"id":"CE","solved":false,"penalty":true},{"id":"RTE","solved":false,"penalty":true},{"id":"JE","solved":false,"penalty":false},{"id":"XX","solved":false,"penalty":false}]`),
		"languages.json":       []byte(`[{"id":"C++--67"},{"id":"python3"}]`),
		"groups.json":          []byte(`[{"id":"all","name":"All"}]`),
		"organizations.json":   []byte(`[{"id":"tu","name":"TU"}]`),
		"teams.json":           []byte(`[{"id":"red","name":"Red","organization_id":"tu","group_ids":["all"]},{"id":"blue","name":"Blue","label":"7"},{"id":"ghost","name":"Ghost","hidden":true}]`),
		"problems.json":        []byte(`[{"id":"A","label":"A","name":"Adding","rgb":"#F00","time_limit":1.5},{"id":"stairs","label":"B","name":"Stairs"}]`),
		"submissions.json": []byte(`[{"id":"s2","team_id":"red","problem_id":"A","language_id":"python3","time":"2023-02-14T10:38:00+01","contest_time":"1:37:59.000"},
			{"id":"s1","team_id":"red","problem_id":"A","language_id":"C++--67","time":"2023-02-14T09:31:00.999+01","contest_time":"0:31:00.999"},
			{"id":"s3","team_id":"blue","problem_id":"stairs","time":"2023-02-14T13:30:00+01","contest_time":"4:30:00"},
			{"id":"s4","team_id":"ghost","problem_id":"stairs","language_id":"python3","time":"2023-02-14T13:31:00+01","contest_time":"4:31:00"},
			{"id":"s5","team_id":"blue","problem_id":"A","language_id":"python3","time":"2023-02-14T13:40:00+01","contest_time":"4:40:00"}]`),
		"submissions/s1/main.cpp": []byte("int main() {}"),
		"judgements.json": []byte(`[{"id":"j1","submission_id":"s1","judgement_type_id":"NO","start_time":"2023-02-14T09:31:01+01","end_time":"2023-02-14T09:31:05+01","max_run_time":0.25},
			{"id":"j2","submission_id":"s2","judgement_type_id":"RTE","start_time":"2023-02-14T10:38:01+01","end_time":"2023-02-14T10:38:05+01"},
			{"id":"j3","submission_id":"s2","judgement_type_id":"AC","start_time":"2023-02-14T11:00:00+01","end_time":"2023-02-14T11:00:05+01"},
			{"id":"j4","submission_id":"s3","judgement_type_id":"AC","start_time":"2023-02-14T13:30:01+01","end_time":"2023-02-14T13:30:05+01"},
			{"id":"j5","submission_id":"s4","judgement_type_id":"AC","start_time":"2023-02-14T13:31:01+01","end_time":"2023-02-14T13:31:05+01"},
			{"id":"j6","submission_id":"s5","start_time":"2023-02-14T13:40:01+01","judgement_type_id":null,"end_time":null}]`),
		"runs.json": []byte(`[{"id":"r2","judgement_id":"j1","ordinal":2,"judgement_type_id":"NO","time":"2023-02-14T09:31:04+01","run_time":0.25},{"id":"r1","judgement_id":"j1","ordinal":1,"judgement_type_id":"AC","time":"2023-02-14T09:31:02+01","run_time":0.1}]`),
		"clarifications.json": []byte(`[{"id":"c1","from_team_id":"red","problem_id":"A","text":"How?","time":"2023-02-14T09:40:00+01"},
			{"id":"c2","from_team_id":null,"to_team_id":null,"reply_to_id":"c1","text":"So.","time":"2023-02-14T09:41:00+01"},
			{"id":"c3","from_team_id":null,"to_team_id":"blue","reply_to_id":"unseen","text":"No.","time":"2023-02-14T09:42:00+01"}]`),
	}
}

var now = time.Date(2023, 3, 1, 0, 0, 0, 0, time.UTC)

// board is what somebody was shown when a contest time was first d; less than 0: in the end.
func board(t *testing.T, c *restore.Contest, of contest.Viewer, d time.Duration) string {
	t.Helper()
	numbers, codes := map[string]int64{}, map[int64]string{}
	for i, p := range c.Past.Participants {
		numbers[p.Code], codes[int64(i+1)] = int64(i+1), p.Code
	}
	lines, err := c.Past.Log(numbers, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := contest.ParseConfig(contest.Format(c.Past.Round.Format), c.Past.Round.Settings)
	if err != nil {
		t.Fatal(err)
	}
	log := func(yield func(contest.Record) bool) {
		for i, l := range lines {
			data := l.Data
			if l.Gone {
				data = nil
			}
			entries, err := contest.Read(contest.Kind(l.Kind), l.Object.Object, data)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if !yield(contest.Record{Seq: int64(i + 1), At: l.At, Audience: contest.Audience(l.Audience), Only: l.Only, Entry: e}) {
					return
				}
			}
		}
	}
	var state *contest.State
	if d < 0 {
		state, err = contest.Fold(cfg, of, log)
	} else {
		state, err = contest.At(cfg, of, log, d)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range state.Board(contest.Query{}).Rows {
		text := fmt.Sprintf("%d %s %d/%d:", r.Rank, codes[r.Participant], r.Solved, r.Total)
		for _, cell := range r.Cells {
			text += fmt.Sprintf(" %d+%d", cell.Judged, cell.Pending)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// read is the contest of a package as it arrives from the process that has read it.
func read(t *testing.T, p clics.Package) *restore.Contest {
	t.Helper()
	c, found := restore.Read(p, restore.Options{Space: "s", Now: now})
	if len(found) > 0 {
		t.Fatal(found)
	}
	return sent(t, restore.Outcome{Contest: c}).Contest
}

// sent is an outcome after it was sent, which has to be the same.
func sent(t *testing.T, o restore.Outcome) restore.Outcome {
	t.Helper()
	var first, again bytes.Buffer
	if err := o.Send(&first); err != nil {
		t.Fatal(err)
	}
	is, err := restore.Receive(bytes.NewReader(first.Bytes()))
	if err == nil {
		err = is.Send(&again)
	}
	if err == nil && o.Contest != nil {
		numbers := map[string]int64{}
		for i, p := range o.Contest.Past.Participants {
			numbers[p.Code] = int64(i + 1)
		}
		was, wrong := o.Contest.Past.Log(numbers, nil)
		got, err := is.Contest.Past.Log(numbers, nil)
		if fmt.Sprint(was, wrong) != fmt.Sprint(got, err) {
			t.Fatalf("the log was\n%v %v\nand arrived is\n%v %v", was, wrong, got, err)
		}
	}
	if err != nil || !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Fatalf("sent was\n%s\nand arrived has (%v)\n%s", first.Bytes(), err, again.Bytes())
	}
	return is
}

func TestAnOutcomeThatIsCutIsNone(t *testing.T) {
	t.Parallel()
	c, _ := restore.Read(foreign(), restore.Options{Space: "s", Now: now})
	refused := restore.Outcome{Flaws: []clics.Flaw{{File: "a.json", Object: "1", Problem: "no"}}}
	if got := sent(t, refused); got.Contest != nil || len(got.Flaws) != 1 || got.Flaws[0] != refused.Flaws[0] {
		t.Errorf("a refusal arrives as %+v", got)
	}
	if got := sent(t, restore.Outcome{Unreadable: "no ZIP"}); got.Unreadable != "no ZIP" {
		t.Errorf("what cannot be read arrives as %+v", got)
	}
	var whole bytes.Buffer
	if err := (restore.Outcome{Contest: c}).Send(&whole); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < whole.Len()-1; n += 101 {
		if _, err := restore.Receive(bytes.NewReader(whole.Bytes()[:n])); err == nil {
			t.Fatalf("the first %d bytes of %d are taken for all", n, whole.Len())
		}
	}
}

func TestAPackageOfAnotherSystemIsSeenAsItWasThen(t *testing.T) {
	t.Parallel()
	c := read(t, foreign())
	everybody, staff := contest.Viewer{Audience: contest.Public}, contest.Viewer{Audience: contest.Staff}
	for _, tt := range []struct {
		who  string
		of   contest.Viewer
		at   time.Duration
		want string
	}{
		{"everybody before anything", everybody, 10 * time.Minute, "1 blue 0/0: 0+0 0+0; 1 red 0/0: 0+0 0+0"},
		{"everybody when it was judged wrongly", everybody, 100 * time.Minute, "1 blue 0/0: 0+0 0+0; 1 red 0/0: 2+0 0+0"},
		{"everybody when it was judged again", everybody, 125 * time.Minute, "1 red 1/112: 2+0 0+0; 2 blue 0/0: 0+0 0+0"},
		{"everybody in the freeze", everybody, 290 * time.Minute, "1 red 1/112: 2+0 0+0; 2 blue 0/0: 0+1 0+1"},
		{"staff in the freeze", staff, 290 * time.Minute, "1 red 1/112: 2+0 0+0; 2 blue 1/270: 0+1 1+0; 0 ghost 1/271: 0+0 1+0"},
		{"everybody in the end", everybody, -1, "1 red 1/112: 2+0 0+0; 2 blue 1/270: 0+1 1+0"},
		{"blue in the freeze", contest.Viewer{Audience: contest.Teams, Participant: 2}, 290 * time.Minute, "1 red 1/112: 2+0 0+0; 2 blue 1/270: 0+1 1+0"},
	} {
		if got := board(t, c, tt.of, tt.at); got != tt.want {
			t.Errorf("%s saw\n%s, want\n%s", tt.who, got, tt.want)
		}
	}
	p := c.Past
	if r := p.Round; r.Code != "xx" || *r.Duration != 5*time.Hour || *r.Freeze != 4*time.Hour || r.Thawed == nil || r.Finalized == nil || string(r.Settings) != `{"penalise_ce":true,"penalty_minutes":15}` {
		t.Errorf("the round is %+v, %s", r, r.Settings)
	}
	want := []string{"1 red xx-A cpp", "2 red xx-A python", "3 blue stairs unknown", "4 ghost stairs python", "5 blue xx-A python"}
	for i, s := range p.Submissions {
		got := fmt.Sprintf("%d %s %s %s", s.Number, s.Participant, s.Problem, strings.Replace(s.Language, clics.ID("C++--67"), "cpp", 1))
		if got != want[i] {
			t.Errorf("submission %d is %s, want %s", i, got, want[i])
		}
	}
	first := p.Submissions[0]
	if len(first.Sources) != 1 || first.Sources[0] != (judge.Source{Name: "main.cpp", Text: "int main() {}"}) {
		t.Errorf("its sources are %v", first.Sources)
	}
	if r := first.Judgings[0].Result; r.Verdict != judge.WA || len(r.Tests) != 2 || r.Tests[0].Verdict != judge.AC || r.Tests[1].Usage.CPUMicros != 250_000 || r.Tests[1].Usage.WallMillis != 2000 || r.Usage.CPUMicros != 250_000 {
		t.Errorf("its result is %+v", r)
	}
	if again := p.Submissions[1].Judgings; len(again) != 2 || again[0].Current || !again[1].Current || again[0].Result.Verdict != judge.RE {
		t.Errorf("what was judged twice is %+v", again)
	}
	if len(p.Submissions[4].Judgings) != 0 {
		t.Errorf("what was not judged is %+v", p.Submissions[4].Judgings)
	}
	if q := p.Clarifications; len(q) != 3 || q[0].From != "red" || q[1].ReplyTo != "c1" || q[2].ReplyTo != "" || !slices.Equal(q[2].Teams, []string{"blue"}) {
		t.Errorf("clarifications are %+v", q)
	}
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "NO is a wrong answer") || !strings.Contains(notes, "XX, which costs nothing") || !strings.Contains(notes, "problem A is called xx-A") {
		t.Errorf("notes: %s", notes)
	}
	if p.Problems[0].RGB != "#ff0000" {
		t.Errorf("the colour is %q", p.Problems[0].RGB)
	}
}

func TestAPackageThatCannotBeIsRefusedWithWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ file, from, to, want string }{
		"no contest":              {"contest.json", "", "", "contest.json : it is missing"},
		"no duration":             {"contest.json", `"duration":"5:00:00",`, ``, "contest.json : duration"},
		"another duration":        {"contest.json", `5:00:00`, `five`, "contest.json : duration"},
		"no start":                {"contest.json", `"start_time":"2023-02-14T09:00:00.000+01",`, ``, "contest.json : start_time is missing"},
		"a start that is none":    {"contest.json", `2023-02-14T09:00:00.000+01`, `today`, "contest.json : it cannot be read"},
		"a code that is none":     {"contest.json", `"id":"xx"`, `"id":"x y"`, "contest.json : code: A short name"},
		"a team twice":            {"teams.json", `"blue"`, `"red"`, "teams.json red: the id is there twice"},
		"a team without a name":   {"teams.json", `"name":"Red"`, `"name":" "`, "teams.json red: the name is missing"},
		"two lines in a name":     {"teams.json", `"name":"Red"`, `"name":"R\ned"`, "teams.json red: a text"},
		"an unknown team":         {"submissions.json", `"team_id":"ghost"`, `"team_id":"spirit"`, "submissions.json s4: team_id"},
		"an unknown problem":      {"submissions.json", `"problem_id":"stairs","language_id":"python3"`, `"problem_id":"lift","language_id":"python3"`, "submissions.json s4: problem_id"},
		"an unknown verdict":      {"judgements.json", `"judgement_type_id":"RTE"`, `"judgement_type_id":"OLE"`, "judgements.json j2: judgement_type_id"},
		"an unknown group":        {"teams.json", `["all"]`, `["none"]`, "teams.json red: group_ids"},
		"two equal labels":        {"problems.json", `"label":"B"`, `"label":"A"`, "problems.json stairs: two problems have the label A"},
		"a judgement of nothing":  {"judgements.json", `"submission_id":"s4"`, `"submission_id":"s9"`, "judgements.json j5: submission_id"},
		"an answer to a later":    {"clarifications.json", `"time":"2023-02-14T09:40:00+01"`, `"time":"2023-02-14T09:50:00+01"`, ""},
		"what is said is nothing": {"clarifications.json", `"So."`, `""`, "clarifications.json c2: a text"},
		"a judgement to come":     {"judgements.json", `2023-02-14T13:31:05+01`, `2033-02-14T13:31:05+01`, "contest.json 4-1: line"},
		"a log that is none":      {restore.LogFile, "", "x", restore.LogFile + " : it cannot be read"},
		"a log of nothing":        {restore.LogFile, "", `{"at":"2023-02-14T09:00:00Z","kind":"cake","object":"x","audience":1,"data":{}}`, restore.LogFile + " x: line 1 is of no kind"},
		"a log for nobody":        {restore.LogFile, "", `{"at":"2023-02-14T09:00:00Z","kind":"group","object":"x","audience":0,"data":{}}`, restore.LogFile + " x: line 1 is for nobody"},
		"a round that changes at every line": {
			restore.LogFile, "", strings.Repeat(`{"at":"2023-02-14T09:00:00Z","kind":"round","object":"xx","audience":1,"data":{}}`+"\n", 6500),
			restore.LogFile + " : the round changes too often",
		},
		"a log for who is not": {restore.LogFile, "", `{"at":"2023-02-14T09:00:00Z","kind":"group","object":"x","audience":4,"only":"eve","data":{}}`, restore.LogFile + " : line 1 of the log: \"eve\" is no participant"},
	} {
		p := foreign()
		switch {
		case tt.from == "" && tt.to == "":
			delete(p, tt.file)
		case tt.from == "":
			p[tt.file] = []byte(tt.to)
		default:
			if !strings.Contains(string(p[tt.file]), tt.from) {
				t.Fatalf("%s: %s has no %s", name, tt.file, tt.from)
			}
			p[tt.file] = []byte(strings.Replace(string(p[tt.file]), tt.from, tt.to, 1))
		}
		_, found := restore.Read(p, restore.Options{Space: "s", Now: now})
		said := len(found) == 0 && tt.want == ""
		for _, f := range found {
			said = said || tt.want != "" && strings.HasPrefix(fmt.Sprintf("%s %s: %s", f.File, f.Object, f.Problem), tt.want)
		}
		if !said {
			t.Errorf("%s: found %v, want %q", name, found, tt.want)
		}
	}
}

func TestWhatIsToldOfNoMoreIsNotThere(t *testing.T) {
	t.Parallel()
	p := foreign()
	line := func(group, data string) string {
		return fmt.Sprintf(`{"at":"2023-02-14T09:00:00Z","kind":"group","object":%q,"audience":%d,"data":%s}`+"\n", group, contest.Everybody, data)
	}
	round := fmt.Sprintf(`{"at":"2023-02-14T08:00:00Z","kind":"round","object":"xx","audience":%d,"data":{"code":"xx","title":"X","kind":"contest","format":"icpc","start":"2023-02-14T08:00:00Z","duration_ms":18000000}}`+"\n", contest.Everybody)
	p[restore.LogFile] = []byte(round + line("one", `{"name":"1"}`) + line("two", `{"name":"2"}`) + line("one", "null") + line("three", `{"name":"3"}`) + line("one", `{"name":"1 again"}`) + line("three", "null"))
	var got []string
	for _, g := range read(t, p).Past.Groups {
		got = append(got, g.Name)
	}
	if want := []string{"2", "1 again"}; !slices.Equal(got, want) {
		t.Errorf("the groups are %v, want %v", got, want)
	}
}

func TestSourcesThatUnpackToTooMuchAreRefused(t *testing.T) {
	t.Parallel()
	packed, err := clics.PackSources([]judge.Source{{Name: "main.cpp", Text: strings.Repeat(" ", 16<<20)}})
	if err != nil {
		t.Fatal(err)
	}
	p := foreign()
	var list strings.Builder
	for i := range 20 {
		fmt.Fprintf(&list, `,{"id":"x%d","team_id":"red","problem_id":"A","language_id":"python3","time":"2023-02-14T10:38:00+01","contest_time":"1:37:59.000"}`, i)
		p[fmt.Sprintf("submissions/x%d/files.zip", i)] = packed
	}
	p["submissions.json"] = []byte(strings.TrimSuffix(string(p["submissions.json"]), "]") + list.String() + "]")
	_, found := restore.Read(p, restore.Options{Space: "s", Now: now})
	if len(found) != 1 || !strings.Contains(found[0].Problem, "more than 256 MiB in all") {
		t.Errorf("20 times 16 MiB: found %v", found)
	}
}

func TestWhatAServerHasOfAProblemIsTakenAndTheRestIsMade(t *testing.T) {
	t.Parallel()
	p := foreign()
	p["problems.json"] = []byte(strings.Replace(string(p["problems.json"]), `"id":"stairs","label":"B","name":"Stairs"`, `"id":"stairs","label":"B","name":"Stairs","statement":[{"filename":"B.pdf"}],"attachments":[{"filename":"tool.py"},{"filename":"gone.py"}],"time_limit":2`, 1))
	known := map[string]judge.Problem{"stairs": {Slug: "stairs", Title: "Stairs", Version: "sha256:1", CPUMillis: 2000}}
	settle := func(known map[string]judge.Problem, mine bool) (*restore.Contest, []clics.Flaw) {
		c := read(t, p)
		found, err := c.Settle(known, now, func(string) (bool, error) { return mine, nil })
		if err != nil {
			t.Fatal(err)
		}
		return c, found
	}
	of := func(c *restore.Contest, slug string) rounds.PastProblem {
		return c.Past.Problems[slices.Index(c.Slugs(), slug)]
	}
	c, found := settle(known, false)
	if same := of(c, "stairs"); len(found) > 0 || same.Make != nil || same.Version != "sha256:1" {
		t.Errorf("a problem that the server has: %+v, %v", same, found)
	}
	if made := of(c, "xx-A").Make; made == nil || made.Title != "Adding" || made.CPUMillis != 1500 || !strings.Contains(made.Statement, "neither a statement") {
		t.Errorf("a problem that it does not have is made as %+v", made)
	}
	// Statements come along, but a version that the server has is as good without the same ones.
	p["problems/A/statement.en.pdf"], p["problems/A/statement.ru.pdf"] = []byte("%PDF-1.4 adding"), []byte("none")
	p["problems/stairs/B.pdf"], p["problems/stairs/tool.py"] = []byte("%PDF-1.4 stairs"), []byte("pass")
	c, found = settle(known, true)
	if made := of(c, "xx-A").Make; len(found) > 0 || made == nil || len(made.Papers()) != 1 || made.Files[0].Name != "statement.en.pdf" || made.Files[0].Bytes != 15 || !strings.Contains(made.Statement, "among its files") {
		t.Errorf("a problem with a statement is made as %+v, %v", made, found)
	}
	if len(c.Files) != 3 || c.Files[2].Problem != "stairs" || string(c.Files[2].Data) != "pass" || c.Files[0].Problem != "xx-A" || string(c.Files[0].Data) != "%PDF-1.4 adding" || !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, "statement.ru.pdf is left out: it is no PDF") }) {
		t.Errorf("there are %d statements, and the notes %q", len(c.Files), c.Notes)
	}
	if same := of(c, "stairs"); same.Make != nil || same.Version != "sha256:1" {
		t.Errorf("a problem that the server has without the statement: %+v", same)
	}
	known["stairs"] = judge.Problem{Slug: "stairs", Title: "Elevators", Version: "sha256:2"}
	if _, found := settle(known, false); len(found) != 1 || found[0].Object != "stairs" || !strings.Contains(found[0].Problem, "not yours") {
		t.Errorf("another problem of that name, of somebody else: %v", found)
	}
	if c, found := settle(known, true); len(found) > 0 || of(c, "stairs").Make == nil || of(c, "stairs").Version == "sha256:2" {
		t.Errorf("another problem of that name, of one's own: %+v, %v", of(c, "stairs"), found)
	}
}

func TestPackagesOfProblemsThatAServerLacksComeWithTheContest(t *testing.T) {
	t.Parallel()
	settle := func(p clics.Package, at time.Time) *restore.Contest {
		c := read(t, p)
		known := map[string]judge.Problem{"stairs": {Slug: "stairs", Title: "Stairs", Version: "sha256:1"}}
		if found, err := c.Settle(known, at, func(string) (bool, error) { return true, nil }); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
		return c
	}
	p := foreign()
	for _, name := range []string{"problems/A/statement.pdf", "problems/A/adding.zip", "problems/stairs.zip", "other-systems/x/problems/A.zip"} {
		p[name] = []byte{}
	}
	c := settle(p, now)
	if want := map[string]string{"xx-A": "problems/A/adding.zip"}; !maps.Equal(c.Packages, want) {
		t.Errorf("the packages are %v, want %v: the server has the other problem", c.Packages, want)
	}
	if made := c.Past.Problems[0]; made.Make == nil || made.Version != made.Make.Version {
		t.Errorf("the round was held with what the contest says: %+v", made)
	}
	// One that is still to come is judged by what the package makes until then.
	if c = settle(p, time.Date(2023, 2, 1, 0, 0, 0, 0, time.UTC)); c.Past.Problems[0].Make == nil || c.Past.Problems[0].Version != "" {
		t.Errorf("the round is to come: %+v", c.Past.Problems[0])
	}
	delete(p, "problems/A/adding.zip")
	p["problems/A/problem.yaml"] = []byte{}
	if c = settle(p, now); c.Packages["xx-A"] != "problems/A/" {
		t.Errorf("unpacked in a folder: %v", c.Packages)
	}
}

func TestLogosComeWithTheirOrganizations(t *testing.T) {
	t.Parallel()
	const svg = `<svg width="56" height="56"/>`
	p := foreign()
	p["organizations.json"] = []byte(`[{"id":"tu","name":"TU","logo":[{"filename":"named.svg","mime":"image/svg+xml","width":1,"height":1}]},{"id":"x","name":"X"}]`)
	p["organizations/tu/named.svg"], p["organizations/tu/logo.png"] = []byte(`<svg width="160" height="80"/>`), []byte("none")
	p["organizations/x/logo.dark.56x56.svg"], p["organizations/x/logo.56x56.svg"], p["organizations/x/photo.png"] = []byte(svg), []byte(svg), []byte("x")
	c := read(t, p)
	var got []string
	for _, l := range c.Past.Logos {
		got = append(got, l.Organization+"/"+l.Name)
	}
	if want := []string{"tu/logo.160x80.svg", "x/logo.56x56.svg"}; !slices.Equal(got, want) {
		t.Errorf("the logos are %v, want %v", got, want)
	}
	if !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, "organizations/tu/logo.png is left out") }) {
		t.Errorf("what is no picture is not noted: %v", c.Notes)
	}
	large := bytes.Repeat([]byte("x"), 1<<20)
	for i := range 65 {
		p[fmt.Sprintf("organizations/tu/logo.%d.png", i)] = large
	}
	if _, found := restore.Read(p, restore.Options{Space: "s", Now: now}); len(found) != 1 || !strings.Contains(found[0].Problem, "more than 64 MiB together") {
		t.Errorf("65 MiB of logos: %v", found)
	}
}

func FuzzAPackageIsReadOrRefused(f *testing.F) {
	for name, data := range foreign() {
		f.Add(name, data)
	}
	f.Add(restore.LogFile, []byte(`{"at":"2023-02-14T09:00:00Z","kind":"round","object":"x","audience":27,"data":{"code":"x","title":"X","kind":"contest","format":"icpc"}}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		p := foreign()
		p[name] = data
		c, found := restore.Read(p, restore.Options{Space: "s", Now: now})
		if (c == nil) != (len(found) > 0) {
			t.Fatalf("%v, %v", c, found)
		}
		if c == nil {
			return
		}
		if _, err := c.Settle(nil, time.Now(), func(string) (bool, error) { return true, nil }); err != nil {
			t.Fatal(err)
		}
		board(t, c, contest.Viewer{Audience: contest.Public}, -1)
	})
}
