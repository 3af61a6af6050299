package contest

import (
	"math"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
)

func TestAWrongSettingIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"penalty": 20}`:            `format_config: there is no setting "penalty"; there are b, commentary, medals, own_verdicts_in_freeze, penalise_ce`,
		`{"penalty_minutes": -1}`:    "format_config: penalty_minutes: -1 is not from 0 to",
		`{"penalty_minutes": "20"}`:  "penalty_minutes",
		`{"rounding": "hour"}`:       `format_config: rounding: "hour" is none of ["minute_each" "second" "second_then_minute"]`,
		`{"medals": {"platin": 1}}`:  `format_config: medals: there is no setting "platin"; there are bronze, gold, groups, silver`,
		`{"medals": {"gold": -4}}`:   "format_config: medals: gold: -4 is not from 0 to",
		`{"medals": 3}`:              "format_config: medals: it is no JSON object",
		`[]`:                         "format_config: it is no JSON object",
		`{"b": 1.5}`:                 "b",
		`{"b": 1} {"b": 2}`:          "format_config: it is no JSON object",
		`{"b": -1}`:                  "format_config: b: -1 is not",
		`{"medals": {"bronze": -4}}`: "bronze",
	} {
		if _, err := ParseConfig(ICPC, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is refused with %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"mode": "best"}`: `mode: "best" is none of`, `{"precision": 7}`: "precision: 7 is not from 0 to 6", `{"tie": "age"}`: "tie",
		`{"feedback": "some"}`: "feedback", `{"board": "x"}`: "board", `{"min_interval_s": -1}`: "min_interval_s", `{"max_submissions": -1}`: "max_submissions",
	} {
		if _, err := ParseConfig(IOI, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is refused with %v, want %q", text, err, want)
		}
	}
	if _, err := ParseConfig("atcoder", nil); err == nil || !strings.Contains(err.Error(), `format: there is no format "atcoder"; there are icpc and ioi`) {
		t.Errorf("an unknown format is refused with %v", err)
	}
	if c, err := ParseConfig(ICPC, []byte(` {"medals": {"gold": 3}} `)); err != nil || c.ICPC.Medals.Gold != 3 || c.ICPC.Medals.Silver != 4 || c.ICPC.PenaltyMinutes != 20 {
		t.Errorf("what is left out is %+v, %v, want the defaults", c.ICPC, err)
	}
}

func TestAnEntryThatMakesNoSenseIsRefusedAndChangesNothing(t *testing.T) {
	w := icpcWorld(t, "")
	w.people(3)
	w.submit(Submission{ID: 1, Participant: 1, Problem: "a", Time: at(10)})
	w.decide(1, judge.AC, nil, nil)
	before := everything(t, w.staff)
	nan := math.NaN()
	for _, e := range []Entry{
		nil,
		Round{Duration: -time.Second},
		Round{Freeze: new(time.Duration(-1))},
		Problem{},
		Problem{ID: "x", Points: new(nan)},
		Participant{Name: "nobody"},
		Participant{ID: 1, Status: "asleep"},
		Submission{},
		Submission{ID: 2, Participant: 1},
		Submission{ID: 2, Problem: "a"},
		Judgement{Generation: 1},
		Judgement{Submission: 1},
		Judgement{Submission: 1, Generation: 2, Verdict: "OK"},
		Judgement{Submission: 1, Generation: 2, Verdict: judge.AC, Score: &nan},
		Judgement{Submission: 1, Generation: 2, Groups: []GroupScore{{"1", math.Inf(1)}}},
		Adjustment{Participant: 1, Points: nan},
	} {
		if _, err := w.staff.Apply(e); err == nil {
			t.Errorf("%#v is taken", e)
		}
	}
	if after := everything(t, w.staff); after != before {
		t.Errorf("the board was\n%s\nand is\n%s", before, after)
	}
}

func TestEachModeCountsWhatItSays(t *testing.T) {
	type judged struct {
		verdict judge.Verdict
		one     float64
		two     float64
		token   bool
	}
	all := []judged{{judge.PA, 30, 5, false}, {judge.PA, 10, 40, true}, {judge.CE, 0, 0, false}, {judge.PA, 20, 10, false}, {"", 0, 0, false}}
	for settings, want := range map[string]Cell{
		`{"mode": "max"}`:              {Judged: 3, Pending: 1, Score: 50, Time: 2 * time.Minute},
		`{"mode": "max_subtask"}`:      {Judged: 3, Pending: 1, Score: 70, Time: 2 * time.Minute},
		`{"mode": "last"}`:             {Judged: 3, Pending: 1, Score: 0, Time: 5 * time.Minute},
		`{"mode": "max_tokened_last"}`: {Judged: 3, Pending: 1, Score: 50, Time: 2 * time.Minute},
	} {
		w := alone(newWorld(config(t, IOI, settings), Round{Start: start, Duration: 5 * time.Hour}))
		for i, j := range all {
			id := int64(i + 1)
			w.submit(Submission{ID: id, Participant: 1, Problem: "c", Time: at(float64(i + 1))})
			score := j.one + j.two
			w.decide(id, j.verdict, &score, []GroupScore{{"1", j.one}, {"2", j.two}})
			if j.token {
				w.say(Everybody, 0, Token{id})
			}
		}
		if _, c := one(t, w.staff); c != want {
			t.Errorf("%s: the cell is %+v, want %+v", settings, c, want)
		}
	}
}

func TestScoresOfGroupsAddUpToTheSameHoweverTheyCame(t *testing.T) {
	score := func(all ...[]GroupScore) float64 {
		w := alone(newWorld(config(t, IOI, `{"mode": "max_subtask"}`), Round{Start: start, Duration: 5 * time.Hour}))
		for i, groups := range all {
			id, sum := int64(i+1), 0.0
			for _, g := range groups {
				sum += g.Score
			}
			w.submit(Submission{ID: id, Participant: 1, Problem: "c", Time: at(float64(i + 1))})
			w.decide(id, judge.PA, &sum, groups)
		}
		_, c := one(t, w.staff)
		return c.Score
	}
	at := func(one, two float64) []GroupScore { return []GroupScore{{"1", one}, {"2", two}} }
	step, once := score(at(0.1, 0), at(0, 0.1), at(0.7, 0)), score(at(0.7, 0.1))
	if other := score([]GroupScore{{"2", 0.1}, {"1", 0.7}}); step != once || other != once {
		t.Errorf("0.7 and 0.1 are %v, step by step %v, and the other way around %v", once, step, other)
	}
}

func TestWithoutGroupsASubmissionIsOneAndWithoutScoresItCountsOne(t *testing.T) {
	w := alone(newWorld(config(t, IOI, ""), Round{Start: start}))
	w.submit(Submission{ID: 1, Participant: 1, Problem: "c", Time: at(1)})
	w.decide(1, judge.WA, nil, nil)
	w.submit(Submission{ID: 2, Participant: 1, Problem: "c", Time: at(100_000)}) // it has no end
	w.decide(2, judge.AC, nil, nil)
	if r, c := one(t, w.staff); r.Points != 1 || !c.Solved {
		t.Errorf("the row is %+v", r)
	}
}
