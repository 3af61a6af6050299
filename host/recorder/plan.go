package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/sql/rounds"
)

// object is something that is to be told, and whom.
type object struct {
	kind       contest.Kind
	name       string
	submission int64
	data       []byte
	audience   contest.Audience
	only       int64
}

// key names an object in its round.
type key struct {
	kind contest.Kind
	name string
}

// planner compares what is to be told of a round with what was told.
type planner struct {
	seen    rounds.Seen
	clock   contest.Clock
	config  contest.Config
	now     time.Time
	told    map[key]rounds.Object
	want    []object
	ignored map[int64]bool               // numbers of submissions that staff have not count
	taking  map[string]judge.Participant // who takes part, by code
	written rounds.Written
	err     error
}

// Plan says what the log of a round gets. It depends on nothing but what was seen: what was told once is not told again as
// long as it is the same, so however often, and by whomever, it is asked for, the log is the same.
func Plan(seen rounds.Seen) (rounds.Written, error) {
	r := *seen.Round
	seen.Round = &r
	p := &planner{seen: seen, clock: contest.ClockOf(&r), now: r.Now, told: map[key]rounds.Object{}, ignored: map[int64]bool{}, taking: map[string]judge.Participant{}}
	p.written.Shown, p.written.Unshown, p.written.Numbers = seen.Shown, seen.Unshown, map[int64]int64{}
	if seen.Whole && p.clock.Thaws(p.now) {
		r.Thawed = &p.now
		p.clock, p.written.Thaw = contest.ClockOf(&r), true
	}
	var err error
	if p.config, err = contest.ParseConfig(contest.Format(r.Format), r.Settings); err != nil {
		return rounds.Written{}, fmt.Errorf("round %s: %w", r.Code, err)
	}
	for _, o := range seen.Told {
		p.told[key{contest.Kind(o.Kind), o.Object}] = o
	}
	if seen.Whole {
		p.round()
		p.people()
		p.problems()
	}
	p.submissions()
	if seen.Whole {
		p.clarifications()
		p.comments()
	}
	if seen.Whole {
		p.given()
	}
	if seen.Whole && r.Finalized != nil {
		p.awards()
	}
	p.compare()
	p.written.Wake = p.clock.Next(p.now)
	return p.written, p.err
}

// say wants something told.
func (p *planner) say(o object, data any) {
	var err error
	if o.data, err = json.Marshal(data); err != nil {
		p.err = fmt.Errorf("%s %s: %w", o.kind, o.name, err)
	}
	p.want = append(p.want, o)
}

// moment is a time at which something happened as it is written: to the millisecond of contest time.
func (p *planner) moment(t time.Time) time.Time {
	if p.seen.Round.Speed > 1 {
		return t.UTC().Truncate(time.Microsecond)
	}
	return *utc(&t)
}

// utc is a time as it is written: with milliseconds, which are the grain of contest time.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC().Truncate(time.Millisecond))
}

func millis(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	return new(d.Milliseconds())
}

func (p *planner) round() {
	r := p.seen.Round
	d := contest.RoundData{
		Code: r.Code, Title: r.Title, FormalName: r.FormalName, Kind: r.Kind, Format: r.Format, Settings: r.Settings,
		Start: utc(r.Start), Paused: millis(r.Paused), Duration: millis(r.Duration), Freeze: millis(r.Freeze), Thaw: utc(r.Thaw),
		Started: utc(p.clock.Started(p.now)), Frozen: utc(p.clock.Frozen(p.now)), Ended: utc(p.clock.Ended(p.now)),
		Thawed: utc(r.Thawed), Finalized: utc(r.Finalized), UpdatesEnd: utc(r.UpdatesEnd), PublicRuns: r.PublicRuns,
	}
	if r.Speed > 1 {
		d.Speed = r.Speed
	}
	for _, i := range r.Removed {
		d.Removed = append(d.Removed, contest.RemovedData{ID: i.ID, From: *utc(&i.From), To: *utc(&i.To), Undone: i.Undone != nil})
	}
	p.say(object{kind: contest.KindRound, name: r.Code, audience: contest.Everybody}, d)
}

// whom says who is told of a participant and of what it does.
func whom(hidden bool) contest.Audience {
	if hidden {
		return contest.Jury | contest.Staff | contest.Own
	}
	return contest.Everybody
}

// people wants participants told, with their groups, and with their organizations as far as somebody comes from them.
func (p *planner) people() {
	from := map[string]contest.Audience{}
	active := map[int64]bool{}
	for _, h := range p.seen.Handed {
		active[h.Participant] = true
	}
	var all []judge.Participant
	for _, v := range p.seen.Participants {
		if v.Status == judge.ParticipantWithdrawn && !active[v.ID] {
			continue
		}
		all = append(all, v)
		from[v.Organization] |= whom(v.Hidden) &^ contest.Own
	}
	for _, o := range p.seen.Organizations {
		if from[o.Code] == 0 {
			continue
		}
		p.say(object{kind: contest.KindOrganization, name: o.Code, audience: from[o.Code]}, contest.OrganizationData{
			ICPCID: o.ICPCID, Name: o.Name, FormalName: o.FormalName, Country: o.Country, Subdivision: o.CountrySubdivision, URL: o.URL, Twitter: o.Twitter,
			Logos: p.seen.Logos[o.Code],
		})
	}
	for _, g := range p.seen.Groups {
		p.say(object{kind: contest.KindGroup, name: g.Code, audience: contest.Everybody}, contest.GroupData{
			ICPCID: g.ICPCID, Name: g.Name, Type: g.Type, Ranked: g.Ranked, Sort: int(g.Sort),
		})
	}
	for _, v := range all {
		o := object{kind: contest.KindParticipant, name: strconv.FormatInt(v.ID, 10), audience: whom(v.Hidden)}
		if v.Hidden {
			o.only = v.ID
		}
		added := p.seen.Adjusted[v.ID]
		p.say(o, contest.ParticipantData{
			Code: v.Code, ICPCID: v.ICPCID, Label: v.Label, Name: v.Name, DisplayName: v.DisplayName, Organization: v.Organization, Groups: v.Groups,
			Room: v.Room, Ranked: v.Ranked, Hidden: v.Hidden, Disqualified: v.Status == judge.ParticipantDisqualified,
			AddedMinutes: added.Minutes, AddedPoints: added.Points,
		})
	}
	p.persons(all)
}

// problems wants the problems told: before the start to who prepares the round alone.
func (p *planner) problems() {
	audience := contest.Jury | contest.Staff
	if p.clock.Started(p.now) != nil {
		audience = contest.Everybody
	}
	for i, v := range p.seen.Problems {
		p.say(object{kind: contest.KindProblem, name: v.Problem, audience: audience}, contest.ProblemData{
			Label: v.Label, Name: v.Title, Ordinal: i, Points: v.Points, RGB: v.RGB, Color: v.Color,
			CPU: v.Is.CPUMillis, MemoryMiB: v.Is.MemoryMiB, OutputMiB: v.Is.OutputMiB, CodeKiB: v.Is.CodeKiB, Tests: v.Is.Tests, MaxScore: v.Is.MaxScore,
			Statement: v.Is.Papers(), Attachments: v.Is.Attachments(),
		})
	}
}

// clarifications wants questions told to the jury and to who asked, and what the jury says to whom it is for. That something
// answers a question, nobody learns who was not told of that.
func (p *planner) clarifications() {
	codes := map[int64]string{}
	for _, v := range p.seen.Participants {
		codes[v.ID] = v.Code
	}
	alone := func(c *rounds.Clarified, id int64, d contest.ClarificationData) {
		if id != c.AskedBy {
			d.ReplyTo = ""
		}
		p.say(object{kind: contest.KindClarification, name: fmt.Sprintf("%s@%d", c.Code, id), audience: contest.Own, only: id}, d)
	}
	for i := range p.seen.Clarifications {
		c := &p.seen.Clarifications[i]
		d := contest.ClarificationData{From: c.From, Groups: c.Groups, ReplyTo: c.ReplyTo, Problem: c.Problem, Text: c.Text, Time: p.moment(c.At)}
		for _, id := range c.Alone {
			d.Teams = append(d.Teams, codes[id])
		}
		p.say(object{kind: contest.KindClarification, name: c.Code, audience: contest.Jury | contest.Staff}, d)
		switch {
		case c.Participant != 0:
			p.say(object{kind: contest.KindClarification, name: fmt.Sprintf("%s@%d", c.Code, c.Participant), audience: contest.Own, only: c.Participant}, d)
		case len(c.Alone) == 0 && len(c.Groups) == 0:
			everybody := d
			everybody.ReplyTo = ""
			p.say(object{kind: contest.KindClarification, name: c.Code + "*", audience: contest.Public | contest.Teams}, everybody)
			if c.AskedBy != 0 {
				alone(c, c.AskedBy, d)
			}
		}
		for _, id := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(c.Alone), c.Members...)))) {
			one := d
			one.Teams = nil
			if slices.Contains(c.Alone, id) {
				one.Teams = []string{codes[id]}
			}
			alone(c, id, one)
		}
	}
}

// awards wants told who gets what, once the result stands: to everybody where nothing is hidden any more.
func (p *planner) awards() {
	var entries []contest.Entry
	codes := map[int64]string{}
	for _, o := range p.want {
		some, err := contest.Read(o.kind, o.name, o.data)
		if err != nil {
			p.err = err
			return
		}
		for _, e := range some {
			if t, ok := e.(contest.Participant); ok {
				var d contest.ParticipantData
				if p.err = json.Unmarshal(o.data, &d); p.err != nil {
					return
				}
				codes[t.ID] = d.Code
			}
		}
		entries = append(entries, some...)
	}
	state := contest.New(p.config)
	if _, p.err = state.Together(entries...); p.err != nil {
		return
	}
	audience := p.awarded()
	for _, a := range state.Awards() {
		d := contest.AwardData{Citation: a.Citation}
		for _, id := range a.Participants {
			d.Participants = append(d.Participants, codes[id])
		}
		p.say(object{kind: contest.KindAward, name: a.ID, audience: audience}, d)
	}
}

// awarded is who is told of awards.
func (p *planner) awarded() contest.Audience {
	if r := p.seen.Round; r.Finalized == nil || r.Freeze != nil && r.Thawed == nil {
		return contest.Jury | contest.Staff
	}
	return contest.Everybody
}

// given wants told what the jury gives: to itself until the result stands and nothing is hidden any more.
func (p *planner) given() {
	for _, a := range p.seen.Awards {
		p.say(object{kind: contest.KindAward, name: a.Code, audience: p.awarded()}, contest.AwardData{Citation: a.Citation, Participants: append([]string{}, a.Participants...), Given: true})
	}
}

// compare writes what is to be told and was not. What is to be told of no more goes first, the last kind before those that
// it refers to.
func (p *planner) compare() {
	var gone, added []rounds.Line
	wanted := map[key]bool{}
	for _, o := range p.want {
		wanted[key{o.kind, o.name}] = true
		is := rounds.Object{Kind: string(o.kind), Object: o.name, Submission: o.submission, Data: o.data, Audience: uint8(o.audience), Only: o.only}
		was, known := p.told[key{o.kind, o.name}]
		same := known && bytes.Equal(was.Data, is.Data)
		if same && was.Audience == is.Audience && was.Only == is.Only {
			continue
		}
		p.written.Keep = append(p.written.Keep, is)
		if less := was.Audience &^ is.Audience; known && less&^uint8(contest.Own) != 0 {
			no := was
			no.Audience = less &^ uint8(contest.Own)
			gone = append(gone, rounds.Line{Object: no, Gone: true})
		}
		more := is
		if same {
			more.Audience = is.Audience &^ was.Audience
		}
		if more.Audience != 0 {
			added = append(added, rounds.Line{Object: more})
		}
	}
	for _, o := range p.seen.Told {
		kind := contest.Kind(o.Kind)
		// Submissions are never taken back, but after years, when the log still has them.
		handedIn := kind == contest.KindSubmission || kind == contest.KindJudgement || kind == contest.KindRun
		if !slices.Contains(contest.Kinds, kind) {
			continue // a later version tells of it
		}
		if handedIn && !p.ignored[o.Submission] || !handedIn && (!p.seen.Whole || wanted[key{kind, o.Object}]) {
			continue
		}
		p.written.Drop = append(p.written.Drop, o)
		gone = append(gone, rounds.Line{Object: o, Gone: true})
	}
	order := func(k string) int { return slices.Index(contest.Kinds, contest.Kind(k)) }
	slices.SortStableFunc(gone, func(a, b rounds.Line) int { return order(b.Kind) - order(a.Kind) })
	p.written.Lines = append(gone, added...)
}
