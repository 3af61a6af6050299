package clics_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"deepoj/host/contest/clics"
)

// sound is a package with nothing wrong: two teams, of which red solved A at the second try.
func sound() clics.Package {
	return clics.Package{
		"contest.json":         []byte(`{"id":"x","name":"X","start_time":"2030-02-14T09:00:00.000Z","duration":"5:00:00.000","scoreboard_type":"pass-fail","penalty_time":"0:20:00.000"}`),
		"judgement-types.json": []byte(`[{"id":"AC","solved":true,"penalty":false},{"id":"WA","solved":false,"penalty":true},{"id":"CE","solved":false,"penalty":false},{"id":"JE","solved":false,"penalty":false}]`),
		"languages.json":       []byte(`[{"id":"cpp"}]`),
		"groups.json":          []byte(`[{"id":"all"}]`),
		"organizations.json":   []byte(`[{"id":"tu"}]`),
		"teams.json":           []byte(`[{"id":"red","name":"Red","organization_id":"tu","group_ids":["all"]},{"id":"blue","name":"Blue","group_ids":[]}]`),
		"problems.json":        []byte(`[{"id":"adding","label":"A"},{"id":"stairs","label":"B"}]`),
		"submissions.json": []byte(`[{"id":"1","team_id":"red","problem_id":"adding","language_id":"cpp","contest_time":"0:31:00.999","files":[{"filename":"files.zip"}]},
			{"id":"2","team_id":"red","problem_id":"adding","language_id":"cpp","contest_time":"1:37:59.000"},{"id":"3","team_id":"blue","problem_id":"stairs","language_id":"cpp","contest_time":"2:00:00.000"}]`),
		"submissions/1/files.zip": []byte("PK"),
		"judgements.json": []byte(`[{"id":"1-1","submission_id":"1","judgement_type_id":"AC","current":false},{"id":"1-2","submission_id":"1","judgement_type_id":"WA","current":true},
			{"id":"2-1","submission_id":"2","judgement_type_id":"AC","current":true},{"id":"3-1","submission_id":"3","judgement_type_id":"CE","current":true}]`),
		"scoreboard.json": []byte(`{"rows":[{"rank":1,"team_id":"red","score":{"num_solved":1,"total_time":"1:57:00.000"},"problems":[{"problem_id":"adding","num_judged":2,"num_pending":0,"solved":true},{"problem_id":"stairs","num_judged":0,"num_pending":0,"solved":false}]},
			{"rank":2,"team_id":"blue","score":{"num_solved":0,"total_time":"0:00:00.000"},"problems":[{"problem_id":"stairs","num_judged":0,"num_pending":0,"solved":false}]}]}`),
	}
}

func TestAPackageIsCheckedAndRecounted(t *testing.T) {
	t.Parallel()
	if found := sound().Check(); len(found) > 0 {
		t.Fatalf("a sound package: %v", found)
	}
	// Seconds that are added up are as right as whole minutes, and teams out of competition have ranks of their own.
	seconds := sound()
	seconds["submissions.json"] = []byte(strings.Replace(string(seconds["submissions.json"]), `"team_id":"blue","problem_id":"stairs","language_id":"cpp","contest_time":"2:00:00.000"`, `"team_id":"red","problem_id":"stairs","language_id":"cpp","contest_time":"2:00:59.000"`, 1))
	seconds["judgements.json"] = []byte(strings.Replace(string(seconds["judgements.json"]), `"CE"`, `"AC"`, 1))
	seconds["scoreboard.json"] = []byte(`{"rows":[{"rank":1,"team_id":"red","score":{"num_solved":2,"total_time":"3:58:58.000"},"problems":[]},{"rank":2,"team_id":"blue","score":{"num_solved":0,"total_time":"0:00:00.000"},"problems":[]}]}`)
	apart := sound()
	apart["teams.json"] = []byte(`[{"id":"red","name":"Red"},{"id":"blue","name":"Blue"},{"id":"guest","name":"Guest"}]`)
	apart["submissions.json"] = []byte(strings.TrimSuffix(string(apart["submissions.json"]), "]") + `,{"id":"4","team_id":"guest","problem_id":"adding","language_id":"cpp","contest_time":"0:05:00.000"}]`)
	apart["judgements.json"] = []byte(strings.TrimSuffix(string(apart["judgements.json"]), "]") + `,{"id":"4-1","submission_id":"4","judgement_type_id":"AC","current":true}]`)
	apart["scoreboard.json"] = []byte(strings.TrimSuffix(string(apart["scoreboard.json"]), "]}") + `,{"rank":1,"team_id":"guest","score":{"num_solved":1,"total_time":"0:05:00.000"},"problems":[]}]}`)
	for name, p := range map[string]clics.Package{"seconds": seconds, "teams apart": apart} {
		if found := p.Check(); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
	for name, tt := range map[string]struct{ file, from, to, want string }{
		"no teams":           {"teams.json", "", "", "submissions.json 1"},
		"no list":            {"groups.json", `[`, `{`, "groups.json "},
		"an id twice":        {"teams.json", `"blue"`, `"red"`, "teams.json red"},
		"no id":              {"teams.json", `"id":"blue"`, `"id":"b lue"`, "teams.json #2"},
		"another group":      {"teams.json", `["all"]`, `["none"]`, "teams.json red"},
		"another team":       {"submissions.json", `"team_id":"blue"`, `"team_id":"green"`, "submissions.json 3"},
		"a file is missing":  {"submissions.json", `files.zip`, `other.zip`, "submissions.json 1"},
		"a verdict is none":  {"judgements.json", `"CE"`, `"XX"`, "judgements.json 3-1"},
		"a time is none":     {"submissions.json", `0:31:00.999`, `half past`, "submissions.json "},
		"another rank":       {"scoreboard.json", `"rank":2`, `"rank":1`, "scoreboard.json blue"},
		"another total":      {"scoreboard.json", `1:57:00.000`, `1:58:00.000`, "scoreboard.json red"},
		"another cell":       {"scoreboard.json", `"num_judged":2`, `"num_judged":1`, "scoreboard.json red"},
		"a rejudged verdict": {"judgements.json", `"judgement_type_id":"WA","current":true`, `"judgement_type_id":"AC","current":true`, "scoreboard.json red"},
	} {
		p := sound()
		if tt.from == "" {
			delete(p, tt.file)
		} else {
			p[tt.file] = []byte(strings.Replace(string(p[tt.file]), tt.from, tt.to, 1))
		}
		found := p.Check()
		said := false
		for _, f := range found {
			said = said || f.File+" "+f.Object == tt.want
		}
		if !said {
			t.Errorf("%s: found %v, want something of %s", name, found, tt.want)
		}
	}
}

func TestAPackageIsTheSameBytesAndReadBack(t *testing.T) {
	t.Parallel()
	write := func(p clics.Package) []byte {
		var out bytes.Buffer
		if err := p.Write(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	one, two := write(sound()), write(sound())
	if !bytes.Equal(one, two) {
		t.Error("the same package is another archive")
	}
	back, err := clics.ReadPackage(bytes.NewReader(one), int64(len(one)), nil)
	if err != nil || !maps.EqualFunc(back, sound(), bytes.Equal) {
		t.Errorf("read back: %v", err)
	}
	folder := clics.Package{}
	for name, data := range sound() {
		folder["x/"+name] = data
	}
	in := write(folder)
	if back, err := clics.ReadPackage(bytes.NewReader(in), int64(len(in)), nil); err != nil || !maps.EqualFunc(back, sound(), bytes.Equal) {
		t.Errorf("read back from a folder: %v", err)
	}
	for _, name := range []string{"../up.json", "/abs.json", "a/../b.json", `a\b.json`} {
		bad := write(clics.Package{name: []byte("x")})
		if _, err := clics.ReadPackage(bytes.NewReader(bad), int64(len(bad)), nil); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := clics.ReadPackage(strings.NewReader("hello"), 5, nil); err == nil {
		t.Error("no archive is taken")
	}
	// An archive that unpacks to far more than it has is not read.
	var bomb bytes.Buffer
	z := zip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	f, err := z.Create("contest.json")
	for range 300 {
		if err == nil {
			_, err = f.Write(zeros)
		}
	}
	if err = firstOf(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := clics.ReadPackage(bytes.NewReader(bomb.Bytes()), int64(bomb.Len()), nil); err == nil {
		t.Error("an archive of 300 MiB of zeros is read")
	}
	for name, many := range map[string]string{"objects": "{},", "values": "1,,,,,,,,,,,,,,,,"} {
		in := write(clics.Package{"contest.json": []byte(strings.Repeat(many, 3_000_001))})
		if _, err := clics.ReadPackage(bytes.NewReader(in), int64(len(in)), nil); err == nil || !strings.Contains(err.Error(), "more than 3000000 objects") {
			t.Errorf("millions of %s: %v", name, err)
		}
	}
}

func TestAFeedIsWhatItToldLast(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ feed, want string }{
		"in the order of the first telling": {"a1 b1 a2", "a2 b1"},
		"what is gone":                      {"a1 b1 a- c1", "b1 c1"},
		"what comes again":                  {"a1 b1 a- a3", "b1 a3"},
		"all gone":                          {"a1 a-", ""},
		"what never was":                    {"a-", ""},
	} {
		var feed strings.Builder
		for event := range strings.FieldsSeq(tt.feed) {
			data := "null"
			if event[1] != '-' {
				data = fmt.Sprintf(`{"id":%q,"name":%q}`, event[:1], event)
			}
			fmt.Fprintf(&feed, `{"type":"groups","id":%q,"data":%s}`+"\n", event[:1], data)
		}
		p, err := clics.OfFeed([]byte(feed.String()))
		if err != nil {
			t.Fatal(err)
		}
		var groups []struct{ Name string }
		if err := json.Unmarshal(p["groups.json"], &groups); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := []string{}
		for _, g := range groups {
			got = append(got, g.Name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func FuzzParseRelTime(f *testing.F) {
	f.Add("1:37:59.000")
	f.Add("-0:00:00.1")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := clics.ParseRelTime(text)
		if err != nil {
			return
		}
		if back, err := clics.ParseRelTime(clics.RelTime(d)); err != nil || back != d {
			t.Fatalf("%q is %v, and back %v, %v", text, d, back, err)
		}
	})
}

func ExamplePackage_Check() {
	p := sound()
	delete(p, "submissions/1/files.zip")
	fmt.Println(p.Check())
	// Output: [{submissions.json 1 submissions/1/files.zip is missing}]
}
