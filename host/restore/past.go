package restore

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/sql/rounds"
)

// Bounds of what is said of somebody or something.
const (
	maxName = 200 // bytes
	maxText = 64 << 10
)

var (
	shortName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,35}$`)
	balloon   = regexp.MustCompile(`^(#[0-9a-f]{6})?$`)
)

// saying is what a log said last of everything of one kind, in the order in which it was told of first.
type saying struct {
	order []string       // also of what is told of no more
	place map[string]int // in order; of what is told of
	data  map[string]json.RawMessage
}

// last is what a log says last of each kind.
func last(lines []Line) map[contest.Kind]*saying {
	out := map[contest.Kind]*saying{}
	for _, kind := range contest.Kinds {
		out[kind] = &saying{place: map[string]int{}, data: map[string]json.RawMessage{}}
	}
	for _, l := range lines {
		s := out[l.Kind]
		_, known := s.place[l.Object]
		switch {
		case l.Data == nil && l.Audience&(contest.Jury|contest.Staff) != 0:
			delete(s.data, l.Object)
			delete(s.place, l.Object)
			continue
		case l.Data == nil:
			continue // others are told of it no more
		case !known:
			s.place[l.Object] = len(s.order)
			s.order = append(s.order, l.Object)
		}
		s.data[l.Object] = l.Data
	}
	return out
}

// each calls fn with everything of a kind.
func each[D any](r *reading, s *saying, fn func(object string, d D)) {
	for i, object := range s.order {
		if at, told := s.place[object]; !told || at != i {
			continue
		}
		var d D
		if err := json.Unmarshal(s.data[object], &d); err != nil {
			r.wrong(r.file(), object, "%v", err)
			return
		}
		fn(object, d)
	}
}

// past fills in what is stored of the contest: what the log said last.
func (r *reading) past() {
	said := last(r.out.lines)
	p := &r.out.Past
	each(r, said[contest.KindRound], func(_ string, d contest.RoundData) { p.Round = roundOf(d, r.opt.Space) })
	if err := contest.Check(&p.Round); err != nil {
		r.wrong("contest.json", "", "%v", err)
		return
	}
	each(r, said[contest.KindOrganization], func(code string, d contest.OrganizationData) {
		r.named("organizations.json", code, d.Name, d.ICPCID, d.FormalName, d.Country, d.Subdivision, d.URL, d.Twitter)
		p.Organizations = append(p.Organizations, judge.Organization{
			Code: code, ICPCID: d.ICPCID, Name: d.Name, FormalName: d.FormalName, Country: d.Country, CountrySubdivision: d.Subdivision, URL: d.URL, Twitter: d.Twitter,
		})
		r.pastLogos(code, d.Logos)
	})
	each(r, said[contest.KindGroup], func(code string, d contest.GroupData) {
		r.named("groups.json", code, d.Name, d.ICPCID, d.Type)
		p.Groups = append(p.Groups, judge.TeamGroup{Code: code, ICPCID: d.ICPCID, Name: d.Name, Type: d.Type, Ranked: d.Ranked, Sort: int32(d.Sort)})
	})
	each(r, said[contest.KindParticipant], func(code string, d contest.ParticipantData) {
		r.named("teams.json", code, d.Name, d.ICPCID, d.Label, d.DisplayName, d.Room)
		status := judge.ParticipantActive
		if d.Disqualified {
			status = judge.ParticipantDisqualified
		}
		p.Participants = append(p.Participants, judge.Participant{
			Code: code, ICPCID: d.ICPCID, Label: d.Label, Name: d.Name, DisplayName: d.DisplayName, Organization: d.Organization, Groups: sortedNames(slices.Clone(d.Groups)),
			Room: d.Room, Ranked: d.Ranked, Hidden: d.Hidden, Status: status,
		})
		if d.AddedMinutes != 0 || d.AddedPoints != 0 {
			p.Adjustments = append(p.Adjustments, rounds.Adjustment{Participant: code, Minutes: d.AddedMinutes, Points: d.AddedPoints, Reason: "imported"})
		}
	})
	r.pastProblems(said[contest.KindProblem])
	each(r, said[contest.KindAward], func(code string, d contest.AwardData) {
		if d.Given {
			r.named("awards.json", code, d.Citation)
			p.Awards = append(p.Awards, judge.RoundAward{Code: code, Citation: d.Citation, Participants: d.Participants})
		}
	})
	r.pastExtras(said)
	r.pastClarifications(said[contest.KindClarification])
	r.pastSubmissions(said)
}

// named refuses what has no short name or no name, and texts that cannot be shown in one line.
func (r *reading) named(file, code, name string, texts ...string) {
	r.short(file, code)
	if strings.TrimSpace(name) == "" {
		r.wrong(file, code, "the name is missing")
	}
	r.lines(file, code, append(texts, name)...)
}

func (r *reading) short(file, code string) {
	if !shortName.MatchString(code) {
		r.wrong(file, code, "%.64q is no short name: that has up to 36 letters, digits, _, . and -, and begins with a letter, a digit or _", code)
	}
}

func (r *reading) lines(file, code string, texts ...string) {
	for _, text := range texts {
		if len(text) > maxName || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			r.wrong(file, code, "a text has more than %d bytes, or control characters", maxName)
		}
	}
}

func span(ms *int64) *time.Duration {
	if ms == nil {
		return nil
	}
	return new(time.Duration(*ms) * time.Millisecond)
}

// roundOf is the round that the log tells of.
func roundOf(d contest.RoundData, space string) judge.Round {
	r := judge.Round{
		Space: space, Code: d.Code, Title: d.Title, FormalName: d.FormalName, Kind: d.Kind, Format: d.Format, Settings: d.Settings, Start: d.Start,
		Paused: span(d.Paused), Duration: span(d.Duration), Freeze: span(d.Freeze), Thaw: d.Thaw, Thawed: d.Thawed, Finalized: d.Finalized, UpdatesEnd: d.UpdatesEnd,
		PublicRuns: d.PublicRuns, Speed: d.Speed,
	}
	for _, i := range d.Removed {
		removed := judge.RoundRemoved{From: i.From, To: i.To, Reason: "imported"}
		if i.Undone {
			removed.Undone = &removed.To
		}
		r.Removed = append(r.Removed, removed)
	}
	return r
}

func (r *reading) pastProblems(s *saying) {
	labels := map[string]bool{}
	var list []rounds.PastProblem
	place := map[string]int{}
	each(r, s, func(slug string, d contest.ProblemData) {
		r.named("problems.json", d.Label, d.Name)
		if !balloon.MatchString(d.RGB) {
			r.wrong("problems.json", slug, "%.40q is no colour such as #ff0000", d.RGB)
		}
		if labels[d.Label] {
			r.wrong("problems.json", slug, "two problems have the label %s", d.Label)
		}
		labels[d.Label], place[slug] = true, d.Ordinal
		for i, f := range slices.Concat(d.Statement, d.Attachments) {
			if f.Statement != (i < len(d.Statement)) || f.Name == "" || !fileDigest.MatchString(f.Digest) {
				r.wrong("problems.json", slug, "%.40q is no statement, or no attachment", f.Name)
			}
		}
		r.out.problems[slug] = d
		list = append(list, rounds.PastProblem{RoundProblem: judge.RoundProblem{Problem: slug, Label: d.Label, Points: d.Points, RGB: d.RGB, Color: d.Color}})
	})
	if len(list) > judge.MaxRoundProblems {
		r.wrong("problems.json", "", "there are %d problems; a round has at most %d", len(list), judge.MaxRoundProblems)
	}
	slices.SortStableFunc(list, func(a, b rounds.PastProblem) int { return place[a.Problem] - place[b.Problem] })
	r.out.Past.Problems = list
}

func (r *reading) pastClarifications(s *saying) {
	var list []judge.Clarification
	each(r, s, func(object string, d contest.ClarificationData) {
		if strings.ContainsAny(object, "*@") {
			return // as others than the jury are told
		}
		if len(d.Text) > maxText || strings.TrimSpace(d.Text) == "" {
			r.wrong("clarifications.json", object, "a text has from 1 to %d bytes", maxText)
		}
		list = append(list, judge.Clarification{Code: object, From: d.From, Teams: d.Teams, Groups: d.Groups, ReplyTo: d.ReplyTo, Problem: d.Problem, Text: d.Text, At: d.Time})
	})
	slices.SortStableFunc(list, func(a, b judge.Clarification) int { return a.At.Compare(b.At) })
	r.out.Past.Clarifications = list
}

// pastSubmissions fills in what was handed in, with how it was judged.
func (r *reading) pastSubmissions(said map[contest.Kind]*saying) {
	tests := map[string][]contest.RunData{}
	each(r, said[contest.KindRun], func(_ string, d contest.RunData) { tests[d.Judgement] = append(tests[d.Judgement], d) })
	judged := map[int64][]rounds.PastJudging{}
	each(r, said[contest.KindJudgement], func(object string, d contest.JudgementData) {
		if object != fmt.Sprintf("%d-%d", d.Submission, d.Generation) || d.Generation < 1 || d.Generation > 10_000 || !d.Verdict.Final() {
			r.wrong("judgements.json", object, "it is no judgement with a verdict of submission %d", d.Submission)
			return
		}
		judged[d.Submission] = append(judged[d.Submission], rounds.PastJudging{
			Generation: d.Generation, Start: d.Start, End: d.End, Current: d.Current, Result: resultOf(d, tests[object]),
		})
	})
	seen := map[int64]bool{}
	each(r, said[contest.KindSubmission], func(object string, d contest.SubmissionData) {
		if object != strconv.FormatInt(d.Number, 10) || d.Number < 1 || r.out.problems[d.Problem].Label == "" {
			r.wrong("submissions.json", object, "it has no number above 0, or is to %.64q, which is no problem of the contest", d.Problem)
			return
		}
		seen[d.Number] = true
		list := judged[d.Number]
		slices.SortFunc(list, func(a, b rounds.PastJudging) int { return a.Generation - b.Generation })
		id := object
		if theirs, ok := r.ids[d.Number]; ok {
			id = theirs
		}
		r.out.Past.Submissions = append(r.out.Past.Submissions, rounds.PastSubmission{
			Number: d.Number, Participant: d.Team, Problem: d.Problem, Language: d.Language, At: d.Time, Sources: r.sources(id), Judgings: list, Token: d.Token,
		})
	})
	for number := range judged {
		if !seen[number] {
			r.wrong("judgements.json", "", "submission %d is judged, and is not there", number)
		}
	}
	slices.SortStableFunc(r.out.Past.Submissions, func(a, b rounds.PastSubmission) int { return a.At.Compare(b.At) })
}

// resultOf is the result that the log tells of.
func resultOf(d contest.JudgementData, tests []contest.RunData) judge.Result {
	out := judge.Result{Verdict: d.Verdict, Score: d.Score, Usage: judge.Usage{CPUMillis: d.CPU / 1000, CPUMicros: d.CPU}}
	for _, g := range d.Groups {
		out.Groups = append(out.Groups, judge.GroupResult{Name: g.Name, Verdict: d.Verdict, Score: new(g.Score)})
	}
	slices.SortFunc(tests, func(a, b contest.RunData) int { return a.Ordinal - b.Ordinal })
	before := d.Start
	for i, t := range tests {
		wall := max(t.Time.Sub(before), 0)
		before = t.Time
		out.Tests = append(out.Tests, judge.TestResult{
			Index: i + 1, Name: strconv.Itoa(i + 1), Verdict: t.Verdict,
			Usage: judge.Usage{CPUMillis: t.CPU / 1000, CPUMicros: t.CPU, WallMillis: wall.Milliseconds(), WallMicros: wall.Microseconds()},
		})
	}
	return out
}
