// Package lineup reads lists of teams, of their organizations and of their groups as organisers have them, and says line by
// line what would come of them. It changes nothing itself.
//
// It reads tables with a head, the teams.tsv, groups.tsv and accounts.tsv of DOMjudge, and the teams.json, organizations.json,
// groups.json and accounts.json of the ICPC's Contest API and its registration system.
//
// Its files:
//
//	lineup.go    what a list is, and what is wrong with it
//	table.go     tables
//	json.go      JSON
//	plan.go      what would come of a list
//	accounts.go  accounts of teams
//
// Source: the Contest API, release 2026-01, and the file formats of the CCS Requirements of the ICPC.
package lineup

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"deepoj/host/judge"
	"deepoj/host/roster"
)

// Bounds of a list.
const (
	MaxBytes    = 4 << 20
	MaxRows     = 10_000
	maxProblems = 1000
	maxName     = 200 // bytes
	maxShort    = 100 // bytes
	maxMembers  = 100
)

// Team is a participant as a list has it. Fields that the list does not have are nil, and stay as they are.
type Team struct {
	Line int // in the text, or the place in the list; from 1 on
	Code string

	Name, DisplayName, ICPCID, Label, Room *string

	Organization *string // its code, or its name
	Country      string  // of the organization, should it be made; "" = unknown
	Groups       *[]string
	Members      *[]judge.ParticipantMember
	Ranked       *bool
	Hidden       *bool

	Account, Password string // by which all of the team take part; "" = the list names none
}

// Organization is one as a list has it.
type Organization struct {
	Line int
	judge.Organization
}

// Group is a group of participants as a list has it.
type Group struct {
	Line int
	judge.TeamGroup
}

// List is what was read, with all that is wrong with it by itself.
type List struct {
	Teams         []Team
	Organizations []Organization
	Groups        []Group
	Logins        []Login
	Problems      []roster.Mistake
	More          int // problems beyond those that are listed
}

// OK reports whether nothing is wrong.
func (l *List) OK() bool { return len(l.Problems) == 0 }

func (l *List) wrong(line int, field, reason, format string, args ...any) {
	if len(l.Problems) == maxProblems {
		l.More++
		return
	}
	l.add(line, judge.Wrong(field, reason, format, args...))
}

// mistake is wrong with an error that was made elsewhere.
func (l *List) mistake(line int, e *judge.FieldError) {
	if len(l.Problems) == maxProblems {
		l.More++
		return
	}
	l.add(line, e)
}

func (l *List) add(line int, e *judge.FieldError) {
	l.Problems = append(l.Problems, roster.Mistake{Line: line, Field: e.Field, Reason: e.Reason, Detail: e.Remedy, Said: e})
}

// Read reads a list in any of the forms, which it tells apart.
func Read(text []byte) *List {
	l := &List{}
	if len(text) > MaxBytes {
		l.wrong(0, "", "too_long", "The list is larger than %d MiB; import it in parts.", MaxBytes>>20)
		return l
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) || bytes.ContainsRune(text, 0) {
		l.wrong(0, "", "not_utf8", "The list is not UTF-8; save it as “CSV UTF-8”.")
		return l
	}
	switch trimmed := bytes.TrimSpace(text); {
	case len(trimmed) == 0:
		l.wrong(0, "", "empty", "The list is empty; its first line names the columns: %s.", strings.Join(columnNames, ", "))
		return l
	case trimmed[0] == '[' || trimmed[0] == '{':
		l.readJSON(trimmed)
	default:
		l.readTable(text)
	}
	if l.OK() && len(l.Teams)+len(l.Organizations)+len(l.Groups)+len(l.Logins) == 0 {
		l.wrong(0, "", "empty", "The list has nobody in it, only its head.")
	}
	l.check()
	return l
}

var (
	shortName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,35}$`)
	country   = regexp.MustCompile(`^[A-Z]{3}$`)
)

// check notes what is wrong with the things by themselves, and with each other.
func (l *List) check() {
	seen := map[string]int{}
	named := func(kind string, line int, code, name string) {
		switch at, twice := seen[kind+code]; {
		case !shortName.MatchString(code):
			l.wrong(line, "code", "invalid", "%.64q is no short name: that has up to 36 letters, digits, _, . and -, and begins with a letter, a digit or _.", code)
		case twice:
			l.wrong(line, "code", "duplicate", "%s is in line %d already.", code, at)
		default:
			seen[kind+code] = line
		}
		l.text(line, "name", name, maxName)
		if strings.TrimSpace(name) == "" {
			l.wrong(line, "name", "missing", "The name is missing.")
		}
	}
	in := map[string]int{}
	for _, t := range l.Teams {
		name := "x" // it may stay as it is
		if t.Name != nil {
			name = *t.Name
		}
		named("team ", t.Line, t.Code, name)
		for field, text := range map[string]*string{"display_name": t.DisplayName, "room": t.Room, "organization": t.Organization} {
			if text != nil {
				l.text(t.Line, field, *text, maxName)
			}
		}
		for field, text := range map[string]*string{"icpc_id": t.ICPCID, "label": t.Label} {
			if text != nil {
				l.text(t.Line, field, *text, maxShort)
			}
		}
		if t.Country != "" && !country.MatchString(t.Country) {
			l.wrong(t.Line, "country", "invalid", "The country is three capital letters, such as NLD.")
		}
		l.members(t, in)
	}
	for _, o := range l.Organizations {
		named("organization ", o.Line, o.Code, o.Name)
		l.text(o.Line, "formal_name", o.FormalName, maxName)
		if o.Country != "" && !country.MatchString(o.Country) {
			l.wrong(o.Line, "country", "invalid", "The country is three capital letters, such as NLD.")
		}
	}
	for _, g := range l.Groups {
		named("group ", g.Line, g.Code, g.Name)
	}
	for _, a := range l.Logins {
		l.text(a.Line, "name", a.DisplayName, maxName)
		if a.Name == "" {
			l.wrong(a.Line, "account", "missing", "The name of the account is missing.")
		}
	}
}

// members refuses who is in two teams of the list; in has the line of each.
func (l *List) members(t Team, in map[string]int) {
	if t.Members == nil {
		return
	}
	if len(*t.Members) > maxMembers {
		l.wrong(t.Line, "members", "too_many", "A participant has at most %d members and groups.", maxMembers)
	}
	here := map[string]bool{}
	for _, m := range *t.Members {
		if here[m.User] {
			l.wrong(t.Line, "members", "duplicate", "%s is there twice.", m.User)
		}
		here[m.User] = true
		if m.Role != judge.MemberContestant {
			continue
		}
		if at, two := in[m.User]; two {
			l.wrong(t.Line, "members", "in_two", "%s is in the team of line %d already: nobody is in two teams.", m.User, at)
		}
		in[m.User] = t.Line
	}
}

// text refuses what cannot be shown in one line.
func (l *List) text(line int, field, text string, most int) {
	if len(text) > most || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		l.wrong(line, field, "invalid", "The field has up to %d bytes and no control characters.", most)
	}
}

// short makes a short name of a name: of its letters and digits that one may have, which may be none.
func short(name string) string {
	var out strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
		if out.Len() == 28 {
			break
		}
	}
	return strings.Trim(out.String(), "-")
}
