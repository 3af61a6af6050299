package lineup

import (
	"cmp"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/roster"
)

// Login is a line of a list of accounts, such as accounts.tsv.
type Login struct {
	Line                        int
	Kind                        string // team, or what the organisers have: judge, admin, analyst, …
	Name, DisplayName, Password string
	Team                        string // its code, "" where the name tells it
}

// Account is one that is to be made for a team. Its members share it.
type Account struct {
	Line              int
	Name, DisplayName string
	Password          string // that the list brings; "" = one is to be made
	Team, TeamName    string
	Room              string
}

// Making says which accounts are made beside those that a list names.
type Making struct {
	All    bool   // for each team of the list that has no contestant
	Prefix string // of their names, such as the short name of the space
}

// kindTeam is the kind of a login that a team has.
const kindTeam = "team"

// accountOf is the name of the account of a team: what the list says, or the code behind a prefix, so that teams of another
// contest with the same code have another.
func (m Making) accountOf(t Team) string {
	if t.Account != "" {
		return t.Account
	}
	const most = 27 // of the prefix
	return strings.Trim(strings.ToLower(m.Prefix[:min(len(m.Prefix), most)]), "._-") + "-" + strings.ToLower(t.Code)
}

// wants reports whether a team gets an account of its own, given who is in it.
func (m Making) wants(t Team, members []judge.ParticipantMember) bool {
	return t.Account != "" || t.Password != "" || m.All && !slices.ContainsFunc(members, func(p judge.ParticipantMember) bool { return p.Role == judge.MemberContestant })
}

// login reads a line of an accounts.tsv: type, name of the person or the team, name of the account, password, and maybe the team.
func (l *List) login(line int, f []string) {
	const least = 4
	if len(f) < least {
		l.wrong(line, "", "invalid", "The fields of a line are, apart by tabs: type, full name, account and password.")
		return
	}
	a := Login{Line: line, Kind: strings.ToLower(f[0]), DisplayName: f[1], Name: f[2], Password: f[3]}
	if len(f) > least {
		a.Team = f[least]
	}
	l.Logins = append(l.Logins, a)
}

// numbered are the digits at the end of a name without the zeros before them, as in team-007; "" = there are none.
func numbered(name string) string {
	return strings.TrimLeft(name[len(strings.TrimRight(name, "0123456789")):], "0")
}

// accounts plans the accounts of teams, those of the list of teams and those of a list of accounts.
func (p *Plan) accounts(l *List, k Known, m Making) {
	b := book{known: k.Accounts, made: map[string]int{}, in: map[string]string{}}
	byNumber, byName := map[string]int{}, map[string]int{}
	for i, v := range p.now {
		byNumber[strings.TrimLeft(v.Code, "0")] = i
		byName[v.Name] = i
		for _, c := range v.Members {
			if c.Role == judge.MemberContestant {
				b.in[c.User] = v.Code
			}
		}
	}
	for _, t := range l.Teams {
		if at := p.at[t.Code]; m.wants(t, p.now[at].Members) {
			p.account(b, Account{Line: t.Line, Name: m.accountOf(t), Password: t.Password}, &p.now[at], t.Account != "")
		}
	}
	for _, a := range l.Logins {
		if a.Kind == "" && a.Team == "" {
			p.wrong(a.Line, "type", "missing", "Whose the account is is missing: a type, such as team, or a team.")
			continue
		}
		if a.Kind != "" && a.Kind != kindTeam {
			p.Steps = append(p.Steps, Step{a.Line, "account", a.Name, a.DisplayName, Stays})
			p.Counts[Stays]++
			continue
		}
		// Where no team is named, it is whose the account is, whose code or number its name has, or whose name it is by.
		at, there := p.at[cmp.Or(a.Team, b.in[a.Name], a.Name)]
		if number := numbered(a.Name); !there && a.Team == "" && number != "" {
			at, there = byNumber[number]
		}
		if !there && a.Team == "" {
			at, there = byName[a.DisplayName]
			there = there && a.DisplayName != ""
		}
		if !there {
			p.wrong(a.Line, "team", "unknown", "There is no team %.64q. Import the teams first.", cmp.Or(a.Team, a.Name))
			continue
		}
		p.account(b, Account{Line: a.Line, Name: a.Name, Password: a.Password}, &p.now[at], true)
	}
}

// book is what is known of accounts while some are planned.
type book struct {
	known map[string]bool   // that there are
	made  map[string]int    // lines of those of the list, by name
	in    map[string]string // the team of each contestant
}

// account has a team take part by an account, which is made where there is none. One whose name was made up is never that of
// somebody else.
func (p *Plan) account(b book, a Account, team *judge.Participant, named bool) {
	a.DisplayName, a.Team, a.TeamName, a.Room = cmp.Or(team.DisplayName, team.Name), team.Code, team.Name, team.Room
	in := slices.ContainsFunc(team.Members, func(m judge.ParticipantMember) bool {
		return m.User == a.Name && m.Role == judge.MemberContestant
	})
	if at, twice := b.made[a.Name]; twice {
		p.wrong(a.Line, "account", "duplicate", "%.64q is the account of line %d already.", a.Name, at)
		return
	}
	if other := b.in[a.Name]; other != "" && other != team.Code {
		p.wrong(a.Line, "account", "in_two", "%s is in %s already: nobody is in two teams.", a.Name, other)
		return
	}
	b.made[a.Name] = a.Line
	there := b.known[a.Name]
	switch {
	case there && !in && !named:
		p.wrong(a.Line, "account", "duplicate", "There is an account %.64q already. Name the account of the team in a column account.", a.Name)
		return
	case !there:
		if e := people.CheckUserName(a.Name); e != nil {
			p.wrong(a.Line, "account", e.Reason, "%.64q is no name of an account: that has up to 64 of a to z, 0 to 9 and . _ @ -.", a.Name)
			return
		}
		p.Accounts = append(p.Accounts, a)
	}
	does := Stays
	switch {
	case !there:
		does = Makes
	case !in:
		does = Changes
	}
	p.Steps = append(p.Steps, Step{a.Line, "account", a.Name, a.DisplayName, does})
	p.Counts[does]++
	if in {
		return
	}
	if i := slices.IndexFunc(team.Members, func(m judge.ParticipantMember) bool { return m.User == a.Name }); i >= 0 {
		team.Members = slices.Delete(slices.Clone(team.Members), i, i+1)
	}
	team.Members = append(slices.Clone(team.Members), judge.ParticipantMember{User: a.Name, Role: judge.MemberContestant})
	p.changed[team.Code] = true
}

// CheckPasswords notes which passwords a list brings that nobody may have, and refuses more than are hashed at once.
func (p *Plan) CheckPasswords() error {
	brought := 0
	for _, a := range p.Accounts {
		if a.Password == "" {
			continue
		}
		if brought++; brought > roster.MaxPasswords {
			p.wrong(a.Line, "password", "too_many", "A list brings up to %d passwords; leave the others empty, and they are made.", roster.MaxPasswords)
			break
		}
		e, err := people.CheckNewPassword("password", a.Password, judge.User{Name: a.Name, DisplayName: a.DisplayName})
		if err != nil {
			return err
		}
		if e != nil {
			p.mistake(a.Line, e)
		}
	}
	p.sort()
	return nil
}
