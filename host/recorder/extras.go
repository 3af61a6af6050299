package recorder

import (
	"encoding/json"
	"slices"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/sql/rounds"
)

// This file wants told what nothing of a round depends on: persons, accounts and commentary. What names a team that is hidden is for
// the jury alone.

// persons wants persons told, and accounts: those that came with the contest, and those that hand in.
func (p *planner) persons(taking []judge.Participant) {
	byID := map[int64]judge.Participant{}
	for _, v := range taking {
		p.taking[v.Code], byID[v.ID] = v, v
	}
	named := map[string]bool{}
	for _, e := range p.seen.Extras {
		//exhaustive:ignore
		switch contest.Kind(e.Kind) {
		case contest.KindPerson:
			extra(p, e, func(d contest.PersonData) { p.person(e.Code, d) })
		case contest.KindAccount:
			named[e.Code] = true
			extra(p, e, func(d contest.AccountData) { p.account(e.Code, d, p.taking[d.Participant]) })
		}
	}
	for _, m := range p.seen.Members {
		if team, takes := byID[m.Participant]; takes && !named[m.Name] {
			p.account(m.Name, contest.AccountData{Username: m.Name, Name: m.DisplayName, Type: "team", Participant: team.Code}, team)
		}
	}
}

// extra calls tell with the data of an extra.
func extra[D any](p *planner, e rounds.Extra, tell func(D)) {
	var d D
	if err := json.Unmarshal(e.Data, &d); err != nil {
		p.err = err
		return
	}
	tell(d)
}

// who are those of some participants that take part, and who is told of something that names them.
func (p *planner) who(codes []string) (taking []string, audience contest.Audience) {
	audience = contest.Everybody
	for _, code := range codes {
		v, takes := p.taking[code]
		if !takes {
			continue
		}
		if taking = append(taking, code); v.Hidden {
			audience = contest.Jury | contest.Staff
		}
	}
	return taking, audience
}

func (p *planner) person(code string, d contest.PersonData) {
	var audience contest.Audience
	if d.Participants, audience = p.who(d.Participants); len(d.Participants) == 0 && d.Plays() {
		return // of a team that takes no part
	}
	p.say(object{kind: contest.KindPerson, name: code, audience: audience}, d)
}

// account wants an account told to the jury, and to the team whose it is.
func (p *planner) account(code string, d contest.AccountData, team judge.Participant) {
	o := object{kind: contest.KindAccount, name: code, audience: contest.Jury | contest.Staff}
	if d.Participant != "" {
		if team.ID == 0 {
			return // it takes no part
		}
		o.audience, o.only = o.audience|contest.Own, team.ID
	}
	p.say(o, d)
}

// comments wants commentary told, once it is told what it is about.
func (p *planner) comments() {
	handed := map[int64]*rounds.Handed{}
	for i := range p.seen.Handed {
		handed[p.seen.Handed[i].Number] = &p.seen.Handed[i]
	}
	for _, e := range p.seen.Extras {
		if contest.Kind(e.Kind) == contest.KindCommentary {
			extra(p, e, func(d contest.CommentaryData) { p.comment(e.Code, d, handed) })
		}
	}
}

// comment wants something told that was said of the round: to the jury before the start, and as long as it may say what is hidden.
func (p *planner) comment(code string, d contest.CommentaryData, handed map[int64]*rounds.Handed) {
	var audience contest.Audience
	d.Participants, audience = p.who(d.Participants)
	hidden := p.clock.Started(p.now) == nil
	if d.TellsVerdict() {
		hidden = hidden || p.clock.Hides(d.Time) || p.config.Closed() && p.clock.Ended(p.now) == nil
	}
	d.Submissions = slices.DeleteFunc(d.Submissions, func(number int64) bool {
		h := handed[number]
		hidden = hidden || h != nil && (h.Hidden || h.Ignored || p.clock.Hides(h.At))
		return h != nil && h.Ignored // of which nobody is told
	})
	if hidden {
		audience = contest.Jury | contest.Staff
	}
	p.say(object{kind: contest.KindCommentary, name: code, audience: audience}, d)
}
