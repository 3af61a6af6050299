package restore

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
)

// foreign makes a log of the objects of a package of another system, as the recorder would have written it had the contest been
// here: each thing at its time, judgements of the freeze to who may know of them, and again to everybody at the thaw.
func (r *reading) foreign() {
	f := &foreign{reading: r, problems: map[string]string{}, hidden: map[string]bool{}, members: map[string][]string{}, verdicts: map[string]judge.Verdict{}, numbers: map[string]int64{}, at: map[string]time.Time{}}
	for _, step := range []func(){f.contest, f.phases, f.people, f.problemsOf, f.handedIn, f.judgings, f.questions, f.comments} {
		if len(r.found) == 0 {
			step()
		}
	}
	byTime(f.lines)
	r.out.lines = f.lines
}

// foreign is a log in the making.
type foreign struct {
	*reading
	lines []Line

	about contestObject
	state stateObject
	round contest.RoundData
	clock contest.Clock // as if nothing had been thawed
	begin time.Time     // when it is told who takes part

	problems map[string]string   // our short names, by id
	hidden   map[string]bool     // teams
	members  map[string][]string // teams of groups
	verdicts map[string]judge.Verdict
	numbers  map[string]int64     // of submissions, by id
	at       map[string]time.Time // when they were handed in
	teams    map[string]string    // whose they are
}

// tell adds a line.
func (f *foreign) tell(at time.Time, kind contest.Kind, name string, audience contest.Audience, only string, data any) {
	if len(f.lines) == maxLines {
		if len(f.found) == 0 {
			f.wrong("contest.json", "", "it takes more than %d lines to tell everybody what there is; are there announcements to groups of many teams?", maxLines)
		}
		return
	}
	raw, err := json.Marshal(data)
	if err != nil {
		f.wrong("contest.json", name, "%v", err)
	}
	f.lines = append(f.lines, Line{at.UTC(), kind, name, audience, only, raw})
}

func (f *foreign) contest() {
	f.about, f.state = object[contestObject](f.reading, "contest.json"), object[stateObject](f.reading, "state.json")
	a := f.about
	if a.ID == "" {
		a.ID = f.opt.Code
	}
	f.round = contest.RoundData{
		Code: a.ID, Title: a.Name, FormalName: a.FormalName, Kind: judge.RoundContest, Format: string(contest.ICPC), Start: grained(a.Start), Duration: f.length("duration", a.Duration),
		Thaw: grained(a.Thaw), Finalized: grained(f.state.Finalized), UpdatesEnd: grained(f.state.UpdatesEnd), PublicRuns: true,
	}
	if f.round.Title == "" {
		f.round.Title = a.FormalName
	}
	if f.round.FormalName == f.round.Title {
		f.round.FormalName = ""
	}
	if f.round.Duration == nil {
		f.wrong("contest.json", "", "duration is missing")
		return
	}
	if freeze := f.length("scoreboard_freeze_duration", a.Freeze); freeze != nil && *freeze > 0 {
		f.round.Freeze = new(max(*f.round.Duration-*freeze, 0))
	}
	settings := map[string]any{}
	if a.Type == "score" {
		f.round.Format = string(contest.IOI)
		settings["mode"] = contest.Max
	} else {
		minutes, err := clics.Penalty(a.Penalty)
		if err != nil {
			f.wrong("contest.json", "", "%v", err)
		}
		if a.Penalty != nil {
			settings["penalty_minutes"] = minutes
		}
	}
	f.types(settings)
	if len(settings) > 0 {
		raw, err := json.Marshal(settings)
		if err != nil {
			f.wrong("contest.json", "", "%v", err)
		}
		f.round.Settings = raw
	}
	f.clock = f.round.Clock()
	if end := f.clock.End(); f.round.Thaw != nil && !end.IsZero() && f.round.Thaw.Before(end) {
		f.round.Thaw = nil
		f.note("The contest has a thaw before its end, which is left out.")
	}
	if f.begin = f.opt.Now; f.round.Start != nil && f.round.Start.Before(f.begin) {
		f.begin = *f.round.Start
	}
	f.begin = f.begin.Add(-time.Second)
}

// grained is a time with the grain of contest time.
func grained(t *clics.Moment) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC().Truncate(time.Millisecond))
}

// types finds out what the judgement types are with us.
func (f *foreign) types(settings map[string]any) {
	known := map[string]judge.Verdict{"RTE": judge.RE, "RE": judge.RE}
	for _, v := range judge.Verdicts {
		if v.Final() && v != judge.PA {
			known[clics.JudgementTypeID(v)] = v
		}
	}
	for _, t := range objects[typeObject](f.reading, "judgement-types.json") {
		v, there := known[t.ID]
		costs := t.Penalty == nil || *t.Penalty
		switch {
		case t.Solved:
			v = judge.AC
		case there && v != judge.AC && (v == judge.JE || v == judge.CE || costs):
			if v == judge.CE && t.Penalty != nil && costs && f.round.Format == string(contest.ICPC) {
				settings["penalise_ce"] = true
			}
		case costs:
			v = judge.WA
			f.note("The judgement type %s is a wrong answer here.", t.ID)
		default:
			v = judge.CE // which costs nothing
			f.note("The judgement type %s, which costs nothing, is a compile error here.", t.ID)
		}
		f.verdicts[t.ID] = v
	}
}

func (f *foreign) people() {
	for _, o := range objects[organizationObject](f.reading, "organizations.json") {
		f.tell(f.begin, contest.KindOrganization, clics.ID(o.ID), contest.Everybody, "", contest.OrganizationData{
			ICPCID: o.ICPCID, Name: o.Name, FormalName: o.FormalName, Country: o.Country, Subdivision: o.Subdivision, URL: o.URL, Twitter: strings.TrimPrefix(o.Twitter, "@"),
			Logos: f.logosOf(clics.ID(o.ID), o.ID, o.Logo),
		})
	}
	for _, g := range objects[groupObject](f.reading, "groups.json") {
		f.tell(f.begin, contest.KindGroup, clics.ID(g.ID), contest.Everybody, "", contest.GroupData{ICPCID: g.ICPCID, Name: g.Name, Type: g.Type, Ranked: true})
	}
	for _, t := range objects[teamObject](f.reading, "teams.json") {
		code, groups := clics.ID(t.ID), called(t.Groups)
		f.hidden[code] = t.Hidden
		for _, g := range groups {
			f.members[g] = append(f.members[g], code)
		}
		label := t.Label
		if label == code {
			label = ""
		}
		if t.Organization != "" {
			t.Organization = clics.ID(t.Organization)
		}
		audience, only := f.whom(code)
		f.tell(f.begin, contest.KindParticipant, code, audience, only, contest.ParticipantData{
			Code: code, ICPCID: t.ICPCID, Label: label, Name: t.Name, DisplayName: t.DisplayName, Organization: t.Organization, Groups: sortedNames(groups),
			Ranked: true, Hidden: t.Hidden,
		})
	}
	f.persons()
}

// called are short names of things of another system.
func called(ids []string) (out []string) {
	for _, id := range ids {
		out = append(out, clics.ID(id))
	}
	return out
}

// whom is who is told of a team and of what it does.
func (f *foreign) whom(team string) (contest.Audience, string) {
	if f.hidden[team] {
		return contest.Jury | contest.Staff | contest.Own, team
	}
	return contest.Everybody, ""
}

// problemsOf gives the problems short names that none of a server is likely to have, where theirs says nothing but a letter or two.
func (f *foreign) problemsOf() {
	const tells = 3 // letters
	taken := map[string]bool{}
	for i, p := range objects[problemObject](f.reading, "problems.json") {
		slug := p.ID
		if !problemName.MatchString(slug) || len(slug) < tells || taken[slug] {
			slug = strings.ToLower(f.round.Code) + "-" + p.ID
			f.note("The problem %s is called %s here.", p.ID, slug)
		}
		taken[slug], f.problems[p.ID] = true, slug
		f.packaged(slug, p.ID, nil)
		d := contest.ProblemData{
			Label: p.Label, Name: p.Name, Ordinal: i, RGB: colour(p.RGB), Color: p.Color, CPU: micros(p.TimeLimit) / 1000, MemoryMiB: p.MemoryLimit, OutputMiB: p.OutputLimit,
			CodeKiB: p.CodeLimit, Tests: p.Tests, Statement: f.statementsOf(slug, p), Attachments: f.those(slug, p.ID, p.Attachments, false),
		}
		if p.Ordinal != nil {
			d.Ordinal = *p.Ordinal
		}
		if d.Name == "" {
			d.Name = p.Label
		}
		if p.MaxScore != nil && f.round.Format == string(contest.IOI) {
			d.MaxScore = *p.MaxScore
		}
		audience := contest.Jury | contest.Staff
		if f.clock.Started(f.opt.Now) != nil {
			audience = contest.Everybody
		}
		f.tell(f.begin, contest.KindProblem, slug, audience, "", d)
	}
}

// handedIn tells of what was handed in, in the order of its time. Ids that are numbers stay.
func (f *foreign) handedIn() {
	all := objects[submissionObject](f.reading, "submissions.json")
	if len(all) > 0 && f.round.Start == nil {
		f.wrong("contest.json", "", "start_time is missing, and there are submissions")
		return
	}
	when := func(s submissionObject) time.Time {
		t := s.Time.Time
		if d, err := clics.ParseRelTime(s.ContestTime); err == nil {
			if t.IsZero() || f.clock.At(t) != d {
				t = f.clock.When(d) // the standings are by contest time
			}
		}
		return t.UTC().Truncate(time.Millisecond)
	}
	slices.SortStableFunc(all, func(a, b submissionObject) int { return when(a).Compare(when(b)) })
	keep := true
	for i := range all {
		all[i].Team = clics.ID(all[i].Team)
	}
	for _, s := range all {
		n, err := strconv.ParseInt(s.ID, 10, 64)
		keep = keep && err == nil && n > 0 && n < 1<<53 && strconv.FormatInt(n, 10) == s.ID
	}
	f.teams, f.ids = map[string]string{}, map[int64]string{}
	for i, s := range all {
		number := int64(i + 1)
		if keep {
			number, _ = strconv.ParseInt(s.ID, 10, 64)
		}
		f.numbers[s.ID], f.at[s.ID], f.teams[s.ID], f.ids[number] = number, when(s), s.Team, s.ID
		language := s.Language
		switch language {
		case "python3":
			language = "python"
		case "":
			language = "unknown"
		default:
			language = clics.ID(language)
		}
		audience, only := f.whom(s.Team)
		f.tell(f.at[s.ID], contest.KindSubmission, strconv.FormatInt(number, 10), audience, only, contest.SubmissionData{
			Number: number, Team: s.Team, Problem: f.problems[s.Problem], Language: language, Time: f.at[s.ID],
		})
	}
}

// judgings tells how submissions were judged: of each the last judgement that counts, and those before it.
func (f *foreign) judgings() {
	of := map[string][]judgementObject{}
	for _, j := range objects[judgementObject](f.reading, "judgements.json") {
		if j.Type != "" && j.End != nil {
			of[j.Submission] = append(of[j.Submission], j)
		}
	}
	runs := map[string][]runObject{}
	for _, run := range objects[runObject](f.reading, "runs.json") {
		runs[run.Judgement] = append(runs[run.Judgement], run)
	}
	for _, id := range slices.SortedFunc(maps.Keys(of), func(a, b string) int { return int(f.numbers[a] - f.numbers[b]) }) {
		list := of[id]
		slices.SortStableFunc(list, func(a, b judgementObject) int { return a.End.Compare(b.End.Time) })
		// Those that came last count, where it is not said.
		counts := len(list) - 1
		for i, j := range list {
			if j.Current != nil && *j.Current {
				counts = i
			}
		}
		for i, j := range list {
			var until *time.Time
			if i < counts {
				until = grained(list[counts].End)
			}
			f.judgement(id, i+1, j, runs[j.ID], i == counts, until)
		}
	}
}

// judgement tells of one, and, where another took its place at some time, that it counts no more from then on.
func (f *foreign) judgement(id string, generation int, j judgementObject, runs []runObject, counts bool, until *time.Time) {
	start := f.at[id]
	if j.Start != nil {
		start = *grained(j.Start)
	}
	name := fmt.Sprintf("%d-%d", f.numbers[id], generation)
	d := contest.JudgementData{
		Submission: f.numbers[id], Generation: generation, Verdict: f.verdicts[j.Type], Current: counts || until != nil, Start: start, End: *grained(j.End), CPU: micros(j.MaxRunTime),
	}
	if f.round.Format == string(contest.IOI) {
		d.Score = j.Score
	}
	audience, only := f.whom(f.teams[id])
	hides := f.clock.Hides(f.at[id]) && audience&contest.Public != 0
	if hides {
		audience, only = contest.Jury|contest.Staff|contest.Own, f.teams[id]
	}
	at := d.End
	if at.Before(f.at[id]) {
		at = f.at[id]
	}
	from := len(f.lines)
	f.tell(at, contest.KindJudgement, name, audience, only, d)
	slices.SortStableFunc(runs, func(a, b runObject) int { return a.Ordinal - b.Ordinal })
	for i, run := range runs {
		f.tell(at, contest.KindRun, fmt.Sprintf("%s-%d", name, i+1), audience, only, contest.RunData{
			Judgement: name, Ordinal: i + 1, Verdict: f.verdicts[run.Type], Time: *grained(&run.Time), CPU: micros(run.RunTime),
		})
	}
	if hides && f.state.Thawed != nil && counts {
		for _, l := range f.lines[from:] {
			l.At, l.Audience, l.Only = later(*grained(f.state.Thawed), at), contest.Public|contest.Teams, ""
			f.lines = append(f.lines, l)
		}
	}
	if until != nil {
		d.Current = false
		f.tell(later(*until, at), contest.KindJudgement, name, audience, only, d)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// questions tells of clarifications, to whom they are for.
func (f *foreign) questions() {
	all := objects[clarificationObject](f.reading, "clarifications.json")
	asked := map[string]string{}
	for i := range all {
		c := &all[i]
		c.ID, c.Teams, c.Groups = clics.ID(c.ID), called(c.Teams), called(c.Groups)
		for _, id := range []*string{&c.From, &c.Team, &c.ReplyTo} {
			if *id != "" {
				*id = clics.ID(*id)
			}
		}
		asked[c.ID] = c.From
	}
	for _, c := range all {
		if len(f.found) > 0 {
			return
		}
		if _, there := asked[c.ReplyTo]; !there {
			c.ReplyTo = ""
		}
		d := contest.ClarificationData{From: c.From, Teams: c.Teams, Groups: c.Groups, ReplyTo: c.ReplyTo, Problem: f.problems[c.Problem], Text: c.Text, Time: *grained(&c.Time)}
		if c.Team != "" && len(d.Teams) == 0 {
			d.Teams = []string{c.Team}
		}
		f.tell(d.Time, contest.KindClarification, c.ID, contest.Jury|contest.Staff, "", d)
		alone := func(team string, teams []string) {
			one := d
			if one.Teams = teams; asked[c.ReplyTo] != team {
				one.ReplyTo = ""
			}
			f.tell(d.Time, contest.KindClarification, c.ID+"@"+team, contest.Own, team, one)
		}
		switch {
		case c.From != "":
			alone(c.From, nil)
		case len(d.Teams)+len(d.Groups) == 0:
			everybody := d
			everybody.ReplyTo = ""
			f.tell(d.Time, contest.KindClarification, c.ID+"*", contest.Public|contest.Teams, "", everybody)
			if team := asked[c.ReplyTo]; team != "" {
				alone(team, nil)
			}
		default:
			named := map[string]bool{}
			for _, team := range d.Teams {
				named[team] = true
				alone(team, []string{team})
			}
			for _, g := range d.Groups {
				for _, team := range f.members[g] {
					if !named[team] {
						alone(team, nil)
					}
				}
			}
		}
	}
}

// phases tells of the round itself, as far as it got by each moment at which that changed.
func (f *foreign) phases() {
	at, d := f.begin, f.round
	d.Finalized, d.UpdatesEnd = nil, nil
	f.tell(at, contest.KindRound, f.round.Code, contest.Everybody, "", d)
	step := func(moment *time.Time, set func(*contest.RoundData, *time.Time)) {
		if moment == nil || moment.After(f.opt.Now) {
			return
		}
		set(&d, moment)
		at = later(at, *moment)
		f.tell(at, contest.KindRound, f.round.Code, contest.Everybody, "", d)
	}
	now := f.opt.Now
	step(f.clock.Started(now), func(d *contest.RoundData, t *time.Time) { d.Started = t })
	step(f.clock.Frozen(now), func(d *contest.RoundData, t *time.Time) { d.Frozen = t })
	step(f.clock.Ended(now), func(d *contest.RoundData, t *time.Time) { d.Ended = t })
	thawed := grained(f.state.Thawed)
	if f.round.Freeze == nil {
		thawed = nil
	}
	step(thawed, func(d *contest.RoundData, t *time.Time) { d.Thawed = t })
	if d.Ended != nil {
		step(grained(f.state.Finalized), func(d *contest.RoundData, t *time.Time) { d.Finalized = t })
		step(grained(f.state.UpdatesEnd), func(d *contest.RoundData, t *time.Time) { d.UpdatesEnd = t })
	}
}
