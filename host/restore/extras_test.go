package restore_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
)

// TestPersonsAccountsAndCommentaryComeWithAContest has them told to whom another system told them, without passwords, and nothing of
// a team that is hidden to others than the jury.
func TestPersonsAccountsAndCommentaryComeWithAContest(t *testing.T) {
	t.Parallel()
	p := foreign()
	p["persons.json"] = []byte(`[{"id":"p 1","team_ids":["red"],"name":"Ann","role":"contestant","email":"ann@example.org","sex":"female"},{"id":"p2","team_id":"ghost","name":"Eve","role":"Coach"},
		{"id":"p3","name":"Max","role":"king"}]`)
	p["accounts.json"] = []byte(`[{"id":"a1","username":"team-red","password":"geheim","type":"team","team_id":"red","person_id":"p 1","ip":"10.0.0.1"},{"id":"a2","type":"judge"},{"id":"a3","username":"x","type":"team"}]`)
	p["commentary.json"] = []byte(`[{"id":"m1","time":"2023-02-14T09:32:00+01","message":"{teams:red} fails","tags":["rejected"],"team_ids":["red"],"problem_ids":["A"],"submission_ids":["s1"],"source_id":"p3"},
		{"id":"m2","time":"2023-02-14T13:32:00+01","message":"fast","tags":[],"submission_ids":["s4"]}]`)
	c := read(t, p)
	numbers := map[string]int64{}
	for i, v := range c.Past.Participants {
		numbers[v.Code] = int64(i + 1)
	}
	lines, err := c.Past.Log(numbers, nil)
	if err != nil {
		t.Fatal(err)
	}
	told := func(v contest.Viewer) string {
		var out []string
		for _, l := range lines {
			extra := slices.Contains([]contest.Kind{contest.KindPerson, contest.KindAccount, contest.KindCommentary}, contest.Kind(l.Kind))
			if extra && v.Sees(contest.Record{Audience: contest.Audience(l.Audience), Only: l.Only}) {
				out = append(out, l.Object.Object)
			}
			if extra && regexp.MustCompile("geheim|example.org|female|10.0.0.1").Match(l.Data) {
				t.Errorf("of %s is told %s", l.Object.Object, l.Data)
			}
		}
		return strings.Join(out, " ")
	}
	ann := clics.ID("p 1")
	for who, tt := range map[string]struct {
		of   contest.Viewer
		want string
	}{
		"everybody": {contest.Viewer{Audience: contest.Public}, ann + " p3 m1"}, "its team": {contest.Viewer{Audience: contest.Teams, Participant: numbers["red"]}, ann + " p3 a1 m1"},
		"another team": {contest.Viewer{Audience: contest.Teams, Participant: numbers["blue"]}, ann + " p3 m1"}, "staff": {contest.Viewer{Audience: contest.Staff}, ann + " p2 p3 a1 a2 m1 m2"},
	} {
		if got := told(tt.of); got != tt.want {
			t.Errorf("%s is told of %s, want %s", who, got, tt.want)
		}
	}
	// Without a thaw it is told as the recorder would tell it.
	p["state.json"] = regexp.MustCompile(`"thawed":("[^"]*"|null),?`).ReplaceAll(p["state.json"], nil)
	p["commentary.json"] = []byte(`[{"id":"m3","time":"2023-02-14T13:31:00+01","message":"right","tags":["accepted"],"team_ids":["blue"]},{"id":"m4","time":"2023-02-14T13:31:00+01","message":"x","tags":[],"submission_ids":["s3"]},
		{"id":"m5","time":"2023-02-14T13:31:00+01","message":"coffee","tags":[]}]`)
	if lines, err = read(t, p).Past.Log(numbers, nil); err != nil {
		t.Fatal(err)
	}
	if got := told(contest.Viewer{Audience: contest.Public}); got != ann+" p3 m5" {
		t.Errorf("in the freeze everybody is told of %s", got)
	}
	var kept []string
	for _, e := range c.Past.Extras {
		kept = append(kept, e.Kind+" "+e.Code)
	}
	if got, want := strings.Join(kept, ", "), "person "+ann+", person p2, person p3, account a1, account a2, commentary m1, commentary m2"; got != want {
		t.Errorf("kept are %s, want %s", got, want)
	}
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "person p3 has the role other") || !strings.Contains(notes, "account a3 is left out") || !strings.Contains(notes, "are no accounts of this server") {
		t.Errorf("notes: %s", notes)
	}
}
