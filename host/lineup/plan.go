package lineup

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/roster"
)

// Known is what there is in a space, and of what a list asks for.
type Known struct {
	Participants  []judge.Participant
	Organizations []judge.Organization
	Groups        []judge.TeamGroup
	Accounts      map[string]bool // names of accounts that there are, of those that the list names
}

// Users are the accounts that a list names, or that would be made.
func (l *List) Users(m Making) []string {
	out := []string{}
	for _, a := range l.Logins {
		out = append(out, a.Name)
	}
	for _, t := range l.Teams {
		out = append(out, m.accountOf(t))
		if t.Members == nil {
			continue
		}
		for _, m := range *t.Members {
			out = append(out, m.User)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// What becomes of a line.
const (
	Makes   = "make"
	Changes = "change"
	Stays   = "same"
)

// Step is what would become of a line.
type Step struct {
	Line       int
	Kind       string // participant, organization or group
	Code, Name string
	Does       string
}

// Plan is what would become of a list: what is written, and what is wrong.
type Plan struct {
	*List

	Steps  []Step
	Counts map[string]int // of the steps, by what is done

	Organizations []judge.Organization // to be made or changed
	Groups        []judge.TeamGroup
	Participants  []judge.Participant
	Accounts      []Account // to be made

	now     []judge.Participant // all that there are then
	at      map[string]int      // where they are there, by code
	changed map[string]bool     // those to be written, by code
}

// Plan says what would become of a list, with what there is. What a list does not say of a team that there is stays. An
// organization or a group that a team names and that there is not is made.
func (l *List) Plan(k Known, m Making) *Plan {
	p := &Plan{
		List: &List{Problems: slices.Clone(l.Problems), More: l.More}, Counts: map[string]int{},
		now: slices.Clone(k.Participants), at: map[string]int{}, changed: map[string]bool{},
	}
	for i, v := range p.now {
		p.at[v.Code] = i
	}
	organizations, groups := map[string]judge.Organization{}, map[string]judge.TeamGroup{}
	for _, o := range k.Organizations {
		organizations[o.Code] = o
	}
	for _, g := range k.Groups {
		groups[g.Code] = g
	}
	for _, o := range l.Organizations {
		was, there := organizations[o.Code]
		o.ID = was.ID
		if p.step(o.Line, "organization", o.Code, o.Name, there, was == o.Organization) {
			p.Organizations = append(p.Organizations, o.Organization)
		}
		organizations[o.Code] = o.Organization
	}
	for _, g := range l.Groups {
		was, there := groups[g.Code]
		g.ID = was.ID
		if p.step(g.Line, "group", g.Code, g.Name, there, was == g.TeamGroup) {
			p.Groups = append(p.Groups, g.TeamGroup)
		}
		groups[g.Code] = g.TeamGroup
	}
	p.teams(l, k, organizations, groups)
	p.accounts(l, k, m)
	for _, v := range p.now {
		if p.changed[v.Code] {
			p.Participants = append(p.Participants, v)
		}
	}
	p.sort()
	return p
}

// sort has all that is wrong in the order of the lines.
func (p *Plan) sort() {
	slices.SortStableFunc(p.Problems, func(a, b roster.Mistake) int { return a.Line - b.Line })
}

// step notes what becomes of a line, and reports whether something is written.
func (p *Plan) step(line int, kind, code, name string, there, same bool) bool {
	does := Makes
	switch {
	case there && same:
		does = Stays
	case there:
		does = Changes
	}
	p.Steps = append(p.Steps, Step{line, kind, code, name, does})
	p.Counts[does]++
	return does != Stays
}

// teams plans the teams.
func (p *Plan) teams(l *List, k Known, organizations map[string]judge.Organization, groups map[string]judge.TeamGroup) {
	there := map[string]judge.Participant{}
	in := map[string]string{} // the team of each contestant
	for _, v := range k.Participants {
		there[v.Code] = v
		for _, m := range v.Members {
			if m.Role == judge.MemberContestant {
				in[m.User] = v.Code
			}
		}
	}
	listed := map[string]bool{}
	for _, t := range l.Teams {
		listed[t.Code] = listed[t.Code] || t.Members != nil
	}
	for _, t := range l.Teams {
		was, known := there[t.Code]
		is := was
		if !known {
			is = judge.Participant{Code: t.Code, Ranked: true, Status: judge.ParticipantActive, Groups: []string{}, Members: []judge.ParticipantMember{}}
			if t.Name == nil {
				p.wrong(t.Line, "name", "missing", "The name is missing, and there is no team %s yet.", t.Code)
			}
		}
		for into, text := range map[*string]*string{&is.Name: t.Name, &is.DisplayName: t.DisplayName, &is.ICPCID: t.ICPCID, &is.Label: t.Label, &is.Room: t.Room} {
			if text != nil {
				*into = *text
			}
		}
		for into, truth := range map[*bool]*bool{&is.Ranked: t.Ranked, &is.Hidden: t.Hidden} {
			if truth != nil {
				*into = *truth
			}
		}
		if t.Organization != nil {
			is.Organization = p.organization(t, organizations)
		}
		if t.Groups != nil {
			is.Groups = p.groups(t, groups)
		}
		if t.Members != nil {
			is.Members = slices.Clone(*t.Members)
			for _, m := range is.Members {
				other := in[m.User]
				switch {
				case !k.Accounts[m.User]:
					p.wrong(t.Line, "members", "unknown", "There is no account %.64q. Import the people first, on the page of members of the space.", m.User)
				case m.Role == judge.MemberContestant && other != "" && other != t.Code && !listed[other]:
					p.wrong(t.Line, "members", "in_two", "%s is in %s already: nobody is in two teams.", m.User, other)
				}
			}
		}
		p.changed[t.Code] = p.step(t.Line, "participant", t.Code, is.Name, known, known && alike(was, is))
		if at, known := p.at[t.Code]; known {
			p.now[at] = is
		} else {
			p.at[t.Code] = len(p.now)
			p.now = append(p.now, is)
		}
	}
}

// alike reports whether two participants are the same, in whatever order their members are.
func alike(a, b judge.Participant) bool {
	for _, p := range []*judge.Participant{&a, &b} {
		p.Members, p.Groups = slices.Clone(p.Members), slices.Clone(p.Groups)
		slices.SortFunc(p.Members, func(a, b judge.ParticipantMember) int { return strings.Compare(a.User, b.User) })
		slices.Sort(p.Groups)
		if len(p.Members) == 0 {
			p.Members = nil
		}
		if len(p.Groups) == 0 {
			p.Groups = nil
		}
	}
	return reflect.DeepEqual(a, b)
}

// organization is the code of the one that a team names by code or name; one that there is not is made.
func (p *Plan) organization(t Team, known map[string]judge.Organization) string {
	name := strings.TrimSpace(*t.Organization)
	if _, ok := known[name]; ok || name == "" {
		return name
	}
	for _, code := range slices.Sorted(maps.Keys(known)) {
		if o := known[code]; strings.EqualFold(o.Name, name) || strings.EqualFold(o.FormalName, name) {
			return code
		}
	}
	code := free(name, "org", known)
	o := judge.Organization{Code: code, Name: name, Country: t.Country}
	known[code] = o
	p.Organizations = append(p.Organizations, o)
	p.step(t.Line, "organization", code, name, false, false)
	return code
}

// groups are the codes of those that a team names by code or name; ones that there are not are made.
func (p *Plan) groups(t Team, known map[string]judge.TeamGroup) []string {
	out := []string{}
	for _, name := range *t.Groups {
		code := ""
		if _, ok := known[name]; ok {
			code = name
		}
		for _, c := range slices.Sorted(maps.Keys(known)) {
			if code == "" && strings.EqualFold(known[c].Name, name) {
				code = c
			}
		}
		if code == "" {
			code = free(name, "group", known)
			g := judge.TeamGroup{Code: code, Name: name, Ranked: true}
			known[code] = g
			p.Groups = append(p.Groups, g)
			p.step(t.Line, "group", code, name, false, false)
		}
		if !slices.Contains(out, code) {
			out = append(out, code)
		}
	}
	slices.Sort(out)
	return out
}

// free makes a short name of a name that nothing has yet; of one without letters that it may have, of what is named.
func free[T any](name, what string, known map[string]T) string {
	if _, taken := known[name]; !taken && shortName.MatchString(name) {
		return name
	}
	base := short(name)
	if base == "" {
		base = what
	}
	code := base
	for n := 2; ; n++ {
		if _, taken := known[code]; !taken {
			return code
		}
		code = fmt.Sprintf("%s-%d", base, n)
	}
}
