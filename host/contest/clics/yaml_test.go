package clics_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"deepoj/host/contest/clics"
)

func TestAConfigurationThatPeopleWroteIsReadAsWhatTheAPISays(t *testing.T) {
	t.Parallel()
	const contest = `{"id": "finals", "formal_name": "The Finals", "name": "Finals", "start_time": "2030-05-01T10:00:00+02:00", "duration": "5:00:00",
		"scoreboard_freeze_duration": "1:00:00", "penalty_time": 20, "scoreboard_type": "pass-fail"}`
	const problems = `[{"id": "adding", "label": "A", "name": "Adding", "rgb": "#ff0000", "time_limit": 1.5}, {"id": "stairs", "label": "B", "name": "Stairs"}]`
	for name, files := range map[string]clics.Package{
		"of the Contest Package Format": {
			"contest.yaml": []byte("id: finals\nname: Finals\nformal_name: The Finals\nstart_time: 2030-05-01T10:00:00+02:00\nduration: 5:00:00\n" +
				"scoreboard_freeze_duration: 1:00:00\nscoreboard_type: pass-fail\npenalty_time: 20\n"),
			"problems.yaml": []byte("- id: adding\n  label: A\n  name: Adding\n  rgb: '#ff0000'\n  time_limit: 1.5\n- {id: stairs, label: B, name: Stairs}\n"),
		},
		"of before it": {"a/contest.yaml": []byte("short-name: finals\nname: Finals\nformal-name: The Finals\nstart-time: 2030-05-01T10:00:00+02:00\nduration: '5:00:00'\n" +
			"scoreboard-freeze: 1:00:00\nscoreboard-type: pass-fail\npenalty-time: 20\nproblems:\n" +
			"- letter: A\n  short-name: adding\n  name: Adding\n  rgb: '#ff0000'\n  time_limit: 1.5\n- {letter: B, short-name: stairs, name: Stairs}\n")},
	} {
		var out bytes.Buffer
		if err := files.Write(&out); err != nil {
			t.Fatal(err)
		}
		p, err := clics.ReadPackage(bytes.NewReader(out.Bytes()), int64(out.Len()), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for file, want := range map[string]string{"contest.json": contest, "problems.json": problems, "teams.json": "[]"} {
			var a, b any
			if err := json.Unmarshal(p[file], &a); err != nil {
				t.Fatalf("%s: %s: %v", name, file, err)
			}
			if err := json.Unmarshal([]byte(want), &b); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s: %s is %s", name, file, p[file])
			}
		}
		if found := p.Sound(); len(found) > 0 {
			t.Errorf("%s: found %v", name, found)
		}
	}
	var out bytes.Buffer
	if err := (clics.Package{"contest.yaml": []byte("a: [")}).Write(&out); err != nil {
		t.Fatal(err)
	}
	if _, err := clics.ReadPackage(bytes.NewReader(out.Bytes()), int64(out.Len()), nil); err == nil {
		t.Error("what is no YAML is read")
	}
}
