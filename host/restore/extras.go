package restore

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/sql/rounds"
)

// This file reads persons, accounts and commentary: what nothing else of a contest depends on. Nobody's password, e-mail address or
// sex is taken.

type (
	personObject struct {
		ID     string   `json:"id"`
		ICPCID string   `json:"icpc_id"`
		Team   string   `json:"team_id"` // of releases that knew one
		Teams  []string `json:"team_ids"`
		Name   string   `json:"name"`
		Title  string   `json:"title"`
		Role   string   `json:"role"`
	}
	accountObject struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Name     string `json:"name"`
		Type     string `json:"type"`
		Team     string `json:"team_id"`
		Person   string `json:"person_id"`
	}
	commentaryObject struct {
		ID          string       `json:"id"`
		Time        clics.Moment `json:"time"`
		Message     string       `json:"message"`
		Tags        []string     `json:"tags"`
		Source      string       `json:"source_id"`
		Teams       []string     `json:"team_ids"`
		Problems    []string     `json:"problem_ids"`
		Submissions []string     `json:"submission_ids"`
	}
)

// toldOf is who is told of something that names some teams: the jury, where one of them is hidden.
func (f *foreign) toldOf(teams []string) contest.Audience {
	if slices.ContainsFunc(teams, func(team string) bool { return f.hidden[team] }) {
		return contest.Jury | contest.Staff
	}
	return contest.Everybody
}

// persons tells of persons and accounts.
func (f *foreign) persons() {
	for _, p := range objects[personObject](f.reading, "persons.json") {
		if p.Team != "" && len(p.Teams) == 0 {
			p.Teams = []string{p.Team}
		}
		d := contest.PersonData{ICPCID: p.ICPCID, Name: p.Name, Title: p.Title, Role: strings.ToLower(p.Role), Participants: called(p.Teams)}
		if !slices.Contains(contest.PersonRoles, d.Role) || d.Plays() && len(d.Participants) == 0 {
			f.note("The person %s has the role other here.", p.ID)
			d.Role = "other"
		}
		f.tell(f.begin, contest.KindPerson, clics.ID(p.ID), f.toldOf(d.Participants), "", d)
	}
	list := objects[accountObject](f.reading, "accounts.json")
	if len(list) > 0 {
		f.note("The accounts of the package are told of, and are no accounts of this server: import their list on the page of teams of the space.")
	}
	for _, a := range list {
		d := contest.AccountData{Username: a.Username, Name: a.Name, Type: strings.ToLower(a.Type)}
		if d.Username == "" {
			d.Username = a.ID
		}
		for _, id := range []struct {
			to   *string
			from string
		}{{&d.Participant, a.Team}, {&d.Person, a.Person}} {
			if id.from != "" {
				*id.to = clics.ID(id.from)
			}
		}
		if !slices.Contains(contest.AccountTypes, d.Type) || d.Type == "team" && d.Participant == "" {
			f.note("The account %s is left out: it has no type that there is, or is of no team.", a.ID)
			continue
		}
		audience, only := contest.Jury|contest.Staff, ""
		if d.Participant != "" {
			audience, only = audience|contest.Own, d.Participant
		}
		f.tell(f.begin, contest.KindAccount, clics.ID(a.ID), audience, only, d)
	}
}

// comments tells of commentary: as the recorder would, to the jury what tells of a freeze that was not thawed.
func (f *foreign) comments() {
	frozen := func(t time.Time) bool { return f.state.Thawed == nil && f.clock.Hides(t) }
	for _, c := range objects[commentaryObject](f.reading, "commentary.json") {
		d := contest.CommentaryData{Time: *grained(&c.Time), Message: c.Message, Tags: c.Tags, Participants: called(c.Teams)}
		if c.Source != "" {
			d.Source = clics.ID(c.Source)
		}
		teams, hidden := slices.Clone(d.Participants), f.clock.Started(f.opt.Now) == nil || d.TellsVerdict() && frozen(d.Time)
		for _, id := range c.Problems {
			d.Problems = append(d.Problems, f.problems[id])
		}
		for _, id := range c.Submissions {
			d.Submissions, teams = append(d.Submissions, f.numbers[id]), append(teams, f.teams[id])
			hidden = hidden || frozen(f.at[id])
		}
		audience := f.toldOf(teams)
		if hidden {
			audience = contest.Jury | contest.Staff
		}
		f.tell(later(d.Time, f.begin), contest.KindCommentary, clics.ID(c.ID), audience, "", d)
	}
}

// pastExtras fills in what the log said last of persons, accounts and commentary.
func (r *reading) pastExtras(said map[contest.Kind]*saying) {
	keep := func(kind contest.Kind, code string, d any) {
		data, err := json.Marshal(d)
		if err != nil {
			r.wrong(r.file(), code, "%v", err)
		}
		if len(r.out.Past.Extras) == rounds.MaxExtras {
			r.wrong(r.file(), "", "there are more than %d persons, accounts and comments", rounds.MaxExtras)
		}
		if len(r.out.Past.Extras) <= rounds.MaxExtras {
			r.out.Past.Extras = append(r.out.Past.Extras, rounds.Extra{Kind: string(kind), Code: code, Data: data})
		}
	}
	each(r, said[contest.KindPerson], func(code string, d contest.PersonData) {
		r.named("persons.json", code, d.Name, d.ICPCID, d.Title)
		if !slices.Contains(contest.PersonRoles, d.Role) {
			r.wrong("persons.json", code, "%.40q is no role of a person", d.Role)
		}
		keep(contest.KindPerson, code, d)
	})
	each(r, said[contest.KindAccount], func(code string, d contest.AccountData) {
		r.named("accounts.json", clics.ID(code), d.Username, d.Name)
		if !slices.Contains(contest.AccountTypes, d.Type) {
			r.wrong("accounts.json", code, "%.40q is no type of an account", d.Type)
		}
		keep(contest.KindAccount, code, d)
	})
	each(r, said[contest.KindCommentary], func(code string, d contest.CommentaryData) {
		r.short("commentary.json", code)
		r.lines("commentary.json", code, d.Tags...)
		if strings.TrimSpace(d.Message) == "" || len(d.Message) > maxText || !utf8.ValidString(d.Message) {
			r.wrong("commentary.json", code, "a message has from 1 to %d bytes", maxText)
		}
		keep(contest.KindCommentary, code, d)
	})
}
