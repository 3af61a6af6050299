package contest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deepoj/host/judge"
)

// places are who has each of the awards that are remarked on, by the whole list of awards.
func places(s *State) map[string]string {
	out, all := map[string]string{}, []int64{}
	for _, a := range s.Awards() {
		if a.ID != "winner" && !strings.HasSuffix(a.ID, "-medal") {
			continue
		}
		slices.Sort(a.Participants)
		if out[a.ID] = fmt.Sprint(a.Participants); a.ID != "winner" {
			all = append(all, a.Participants...)
		}
	}
	slices.Sort(all)
	out["medal"] = fmt.Sprint(all)
	return out
}

func TestARemarkSaysWhatChangesInThePlacesOfAwards(t *testing.T) {
	said := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		const teams = 7
		w := icpcWorld(t, rapid.SampledFrom([]string{`{"medals": {"gold": 1, "silver": 1, "bronze": 1}}`, `{"medals": {"gold": 2, "silver": 0, "bronze": 2, "groups": ["uni"]}, "b": 1}`}).Draw(t, "settings"))
		w.people(teams)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.act(t, teams)
		}
		r := NewRemarks(New(w.cfg))
		var log []Record
		fold := func(more ...Entry) *State {
			all := slices.Clone(log)
			for _, e := range more {
				all = append(all, Record{Audience: Everybody, Entry: e})
			}
			s, err := Fold(w.cfg, public, slices.Values(all))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		for _, rec := range w.log {
			if !public.Sees(rec) {
				continue
			}
			before := fold()
			log = append(log, rec)
			got, err := r.Apply(rec.Entry)
			if err != nil {
				t.Fatal(err)
			}
			var after *State
			var kind string
			switch e := rec.Entry.(type) {
			case Submission:
				if sub := before.submissions[e.ID]; sub != nil && len(sub.judgements) > 0 || before.submissions[e.ID] != nil && before.submissions[e.ID].ignored {
					continue
				}
				before, after, kind = fold(), fold(Judgement{Submission: e.ID, Generation: 1, Current: true, Verdict: judge.AC}), "submission"
			case Judgement:
				if e.Current && e.Verdict == judge.AC {
					after, kind = fold(), "accepted"
				}
			}
			if after == nil {
				if got != nil {
					t.Fatalf("%+v is remarked on: %+v", rec.Entry, got)
				}
				continue
			}
			was, is, want := places(before), places(after), []string{kind}
			for _, name := range remarked {
				if was[name] != is[name] {
					want = append(want, kind+"-"+name)
				}
			}
			if got == nil {
				if len(want) > 1 && kind == "submission" {
					t.Fatalf("nothing is said of %+v, want %v", rec.Entry, want)
				}
				continue
			}
			if fmt.Sprint(got.Tags) != fmt.Sprint(want) {
				t.Fatalf("%+v is remarked on by %v, want %v", rec.Entry, got.Tags, want)
			}
			said[kind]++
		}
		if a, b := everything(t, r.state), everything(t, fold()); a != b {
			t.Fatalf("what was looked at left traces:\n%s\nwant\n%s", a, b)
		}
	})
	if said["submission"] == 0 || said["accepted"] == 0 {
		t.Errorf("it is remarked on %v", said)
	}
}

func TestNothingIsSaidOfWhatDoesNotMatter(t *testing.T) {
	w := icpcWorld(t, `{"medals": {"gold": 1, "silver": 0, "bronze": 0}}`)
	w.people(3)
	r := NewRemarks(New(w.cfg))
	for _, rec := range w.log {
		if _, err := r.Apply(rec.Entry); err != nil {
			t.Fatal(err)
		}
	}
	say := func(e Entry, want string) {
		t.Helper()
		got, err := r.Apply(e)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		if got != nil {
			text = fmt.Sprint(got.Tags, " leads ", got.Leads, " shares ", got.Shares, " ", got.Medal, " solved ", got.Solved)
		}
		if text != want {
			t.Errorf("%+v: %q, want %q", e, text, want)
		}
	}
	ac := func(id int64) Judgement {
		return Judgement{Submission: id, Generation: 1, Current: true, Verdict: judge.AC}
	}
	say(Submission{ID: 1, Participant: 1, Problem: "a", Time: at(10)}, "[submission submission-winner submission-medal submission-gold-medal] leads true shares false gold-medal solved 1")
	say(ac(1), "[accepted accepted-winner accepted-medal accepted-gold-medal] leads true shares false gold-medal solved 1")
	say(Submission{ID: 2, Participant: 2, Problem: "a", Time: at(30)}, "")
	say(ac(2), "")
	say(Submission{ID: 3, Participant: 1, Problem: "a", Time: at(40)}, "") // solved already
	say(Submission{ID: 4, Participant: 2, Problem: "b", Time: at(50)}, "[submission submission-winner submission-medal submission-gold-medal] leads true shares false gold-medal solved 2")
	say(Judgement{Submission: 4, Generation: 1, Current: true, Verdict: judge.WA}, "")
	say(Submission{ID: 5, Participant: 3, Problem: "a", Time: at(10).Add(10 * time.Second)}, "[submission submission-winner submission-medal submission-gold-medal] leads true shares true gold-medal solved 1")
}
