package contest

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deepoj/host/judge"
)

func TestWhatALogSaysIsReadAsItWasMeant(t *testing.T) {
	ms := func(n int64) *int64 { return &n }
	score := 41.5
	for _, tt := range []struct {
		kind   Kind
		object string
		data   any
		want   []Entry
	}{
		{KindRound, "day1", RoundData{Start: &start, Duration: ms(3_600_000), Freeze: ms(0), Removed: []RemovedData{{ID: 3, From: at(1), To: at(2), Undone: true}}, Thawed: &start}, []Entry{
			Round{Start: start, Duration: time.Hour, Freeze: new(time.Duration(0)), Thawed: true}, Removed{3, at(1), at(2), true},
		}},
		{KindRound, "day1", RoundData{}, []Entry{Round{}}},
		{KindGroup, "g", GroupData{Name: "G", Ranked: true, Sort: 3}, []Entry{Group{"g", "G", true, 3}}},
		{KindParticipant, "17", ParticipantData{Code: "t", Name: "T", Groups: []string{"g"}, Ranked: true}, []Entry{Participant{ID: 17, Name: "T", Groups: []string{"g"}, Ranked: true}, Adjustment{Participant: 17}}},
		{KindParticipant, "17", ParticipantData{Name: "T", DisplayName: "The T", Hidden: true, Disqualified: true, AddedMinutes: -20, AddedPoints: 1.5}, []Entry{Participant{ID: 17, Name: "The T", Hidden: true, Status: Disqualified}, Adjustment{17, -20, 1.5}}},
		{KindParticipant, "17", nil, []Entry{Participant{ID: 17, Gone: true}}},
		{KindProblem, "p", ProblemData{Label: "A", Name: "P", Ordinal: 2, Points: &score, MaxScore: 60}, []Entry{Problem{ID: "p", Label: "A", Name: "P", Ordinal: 2, Points: &score, Max: 60}}},
		{KindProblem, "p", nil, []Entry{Problem{ID: "p", Gone: true}}},
		{KindSubmission, "4", SubmissionData{Number: 4, Participant: 17, Team: "t", Problem: "p", Time: at(3)}, []Entry{Submission{4, 17, "p", at(3)}, Mark{4, false}}},
		{KindSubmission, "4", nil, []Entry{Mark{4, true}}},
		{KindJudgement, "4-2", JudgementData{Submission: 4, Generation: 2, Verdict: judge.PA, Current: true, Score: &score, Groups: []GroupScoreData{{"secret/1", 4}}}, []Entry{
			Judgement{4, 2, judge.PA, true, &score, []GroupScore{{"secret/1", 4}}},
		}},
		{KindJudgement, "4-2", nil, nil},
		{KindOrganization, "o", OrganizationData{Name: "O"}, nil},
		{"balloon", "1", struct{}{}, nil}, // of a later version
	} {
		var data []byte
		if tt.data != nil {
			var err error
			if data, err = json.Marshal(tt.data); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := Read(tt.kind, tt.object, data); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %s %s means %+v (%v), want %+v", tt.kind, tt.object, data, got, err, tt.want)
		}
	}
	for _, tt := range []struct{ kind, object, data string }{
		{"round", "day1", ""}, {"participant", "x", "{}"}, {"submission", "1", "[]"}, {"submission", "x", "{}"}, {"judgement", "1-1", "{"},
	} {
		if got, err := Read(Kind(tt.kind), tt.object, []byte(tt.data)); err == nil {
			t.Errorf("%s %s %q means %v, want an error", tt.kind, tt.object, tt.data, got)
		}
	}
}

// Entries that are taken in together lead to the board that they lead to one after another, and who is gone and comes back
// has what it had.
func TestEntriesTogetherAreAsOneAfterAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := icpcWorld(t, "")
		w.people(7)
		for range rapid.IntRange(0, 60).Draw(t, "acts") {
			w.act(t, 7)
		}
		entries := make([]Entry, len(w.log))
		for i, r := range w.log {
			entries[i] = r.Entry
		}
		at := rapid.IntRange(0, len(entries)).Draw(t, "parts")
		s := New(config(t, IOI, ""))
		for _, part := range [][]Entry{entries[:at], entries[at:]} {
			if _, err := s.Together(part...); err != nil {
				t.Fatal(err)
			}
		}
		s.Rescore(w.cfg)
		if got, want := s.Board(Query{}), w.staff.Board(Query{}); !reflect.DeepEqual(got, want) {
			t.Fatalf("together\n%+v, want\n%+v", got, want)
		}
		for _, group := range []string{"", "uni"} {
			order := s.Order(group)
			for i, r := range s.Board(Query{Group: group}).Rows {
				if len(order) <= i || order[i] != r.Participant {
					t.Fatalf("the order of %q is %v, and its row %d of %d", group, order, i, r.Participant)
				}
			}
		}
		some := w.staff.rows[rapid.Int64Range(1, 7).Draw(t, "gone")].Participant
		mustApply(t, s, Participant{ID: some.ID, Gone: true})
		b := s.Board(Query{})
		if b.Total != 6 || slices.ContainsFunc(b.Rows, func(r Row) bool { return r.Participant == some.ID }) {
			t.Fatalf("who is gone is on the board: %+v", b.Rows)
		}
		mustApply(t, s, some)
		if got, want := s.Board(Query{}), w.staff.Board(Query{}); !reflect.DeepEqual(got, want) {
			t.Fatalf("back again\n%+v, want\n%+v", got, want)
		}
	})
}

func mustApply(t fataler, s *State, e Entry) {
	t.Helper()
	if _, err := s.Apply(e); err != nil {
		t.Fatal(err)
	}
}
