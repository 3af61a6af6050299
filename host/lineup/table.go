package lineup

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"deepoj/host/judge"
)

// columnNames are the columns of a table.
var columnNames = []string{"code", "name", "display_name", "members", "coaches", "organization", "country", "groups", "room", "label", "icpc_id", "ranked", "hidden", "account", "password"}

// otherNames are what lists call the columns, too.
var otherNames = map[string]string{
	"id": "code", "team": "name", "team_name": "name", "university": "organization", "school": "organization", "institution": "organization", "affiliation": "organization",
	"group": "groups", "category": "groups", "seat": "room", "location": "room", "accounts": "members", "users": "members", "coach": "coaches", "icpcid": "icpc_id", "username": "account", "login": "account",
}

// readTable reads a table: one with a head, or one of DOMjudge, of which the first line says what it is.
func (l *List) readTable(text []byte) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	kind, version, _ := strings.Cut(strings.TrimSpace(string(first)), "\t")
	switch {
	case (kind == "teams" || kind == "File_Version") && version != "":
		l.plainLines(rest, l.domjudgeTeam)
	case kind == "groups" && version != "":
		l.plainLines(rest, func(line int, f []string) {
			if len(f) < 2 {
				l.wrong(line, "", "invalid", "The fields of a line are, apart by a tab: a number and a name.")
				return
			}
			l.Groups = append(l.Groups, Group{line, judge.TeamGroup{Code: f[0], Name: f[1], Ranked: true}})
		})
	case kind == "accounts" && version != "":
		l.plainLines(rest, l.login)
	case kind == "institutions" && version != "":
		l.wrong(1, "", "unknown", "This is a list of %s. Import people with their passwords on the page of members of the space, and teams here.", kind)
	default:
		var columns []string
		l.each(text, func(line int, f []string) {
			switch {
			case columns == nil:
				if columns = l.head(line, f); !l.OK() {
					columns = []string{} // what the fields of the lines are is not clear
				}
			case len(columns) > 0:
				l.row(line, columns, f)
			}
		})
	}
}

// plainLines calls fn with the fields of each line behind the first, apart by tabs, in which nothing is quoted.
func (l *List) plainLines(text []byte, fn func(line int, fields []string)) {
	line := 1
	for raw := range strings.Lines(string(text)) {
		line++
		if line > MaxRows+1 {
			l.wrong(line, "", "too_many", "A list has up to %d teams; import the rest by itself.", MaxRows)
			return
		}
		if strings.TrimSpace(raw) == "" {
			continue
		}
		fields := strings.Split(strings.TrimRight(raw, "\r\n"), "\t")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		fn(line, fields)
	}
}

// each calls fn with the fields of each line of a table.
func (l *List) each(text []byte, fn func(line int, fields []string)) {
	table := csv.NewReader(bytes.NewReader(text))
	table.FieldsPerRecord, table.Comma = -1, ','
	head, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte("\n"))
	switch {
	case bytes.ContainsRune(head, '\t'):
		table.Comma = '\t'
	case bytes.ContainsRune(head, ';') && !bytes.ContainsRune(head, ','):
		table.Comma = ';'
	}
	table.TrimLeadingSpace = table.Comma != '\t' // a tab would be space
	for rows := 0; ; rows++ {
		record, err := table.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if e, ok := errors.AsType[*csv.ParseError](err); ok {
			l.wrong(e.Line, "", "invalid", "The line cannot be read: %v.", e.Err)
			return // where the next line begins is not clear
		}
		if err != nil {
			l.wrong(0, "", "invalid", "The list cannot be read: %v.", err)
			return
		}
		line, _ := table.FieldPos(0)
		if rows > MaxRows {
			l.wrong(line, "", "too_many", "A list has up to %d teams; import the rest by itself.", MaxRows)
			return
		}
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
		}
		fn(line, record)
	}
}

// head reads which columns there are, or notes what is wrong and returns none.
func (l *List) head(line int, record []string) []string {
	columns := []string{}
	for _, head := range record {
		column := strings.ReplaceAll(strings.ToLower(head), " ", "_")
		if other, ok := otherNames[column]; ok {
			column = other
		}
		switch {
		case !slices.Contains(columnNames, column):
			l.wrong(line, "", "unknown", "There is no column %.64q; there are %s.", head, strings.Join(columnNames, ", "))
		case slices.Contains(columns, column):
			l.wrong(line, column, "duplicate", "The column %s is there twice.", column)
		}
		columns = append(columns, column)
	}
	if l.OK() && !slices.Contains(columns, "code") {
		l.wrong(line, "code", "missing", "The column code is missing: the short name of each team, which stays.")
	}
	return columns
}

// row reads a line of a table with a head.
func (l *List) row(line int, columns, record []string) {
	if len(record) != len(columns) {
		l.wrong(line, "", "invalid", "The line has %d fields, and the head %d.", len(record), len(columns))
		return
	}
	t := Team{Line: line}
	texts := map[string]**string{"name": &t.Name, "display_name": &t.DisplayName, "organization": &t.Organization, "room": &t.Room, "label": &t.Label, "icpc_id": &t.ICPCID}
	truths := map[string]**bool{"ranked": &t.Ranked, "hidden": &t.Hidden}
	for i, column := range columns {
		value := record[i]
		switch column {
		case "code":
			t.Code = value
		case "account":
			t.Account = value
		case "password":
			t.Password = value
		case "country":
			t.Country = strings.ToUpper(value)
		case "groups":
			t.Groups = new(several(value, ";|"))
		case "members":
			l.addMembers(&t, value, judge.MemberContestant)
		case "coaches":
			l.addMembers(&t, value, judge.MemberCoach)
		case "ranked", "hidden":
			truth, known := truthOf[strings.ToLower(value)]
			switch {
			case known:
				*truths[column] = &truth
			case value != "":
				l.wrong(line, column, "invalid", "The field has to be yes or no, not %.64q.", value)
			}
		default:
			*texts[column] = &value
		}
	}
	l.Teams = append(l.Teams, t)
}

// truthOf are the words for yes and no.
var truthOf = map[string]bool{"yes": true, "true": true, "1": true, "x": true, "no": false, "false": false, "0": false}

// several are the parts of a field.
func several(value, apart string) []string {
	out := []string{}
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(apart, r) }) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// addMembers adds people to a team by the names of their accounts.
func (l *List) addMembers(t *Team, value string, role judge.ParticipantRole) {
	if t.Members == nil {
		t.Members = new([]judge.ParticipantMember)
	}
	for _, user := range several(value, ";|, ") {
		*t.Members = append(*t.Members, judge.ParticipantMember{User: user, Role: role})
	}
}

// domjudgeTeam reads a line of a teams.tsv: number, external id, group, name, institution, its short name, its country, and its id.
func (l *List) domjudgeTeam(line int, f []string) {
	const least, most = 5, 8
	if len(f) < least || len(f) > most {
		l.wrong(line, "", "invalid", "The fields of a line are, apart by tabs: number, external id, group, name, institution, its short name, its country, its id.")
		return
	}
	f = append(f, make([]string, most-len(f))...)
	t := Team{Line: line, Code: f[0], Label: &f[0], ICPCID: &f[1], Name: &f[3], Groups: new(several(f[2], ","))}
	if f[4] != "" {
		t.Organization, t.Country = &f[4], f[6]
		code := strings.TrimPrefix(f[7], "INST-")
		if code == "" {
			code = firstOf(short(f[5]), short(f[4]), fmt.Sprintf("org-%d", line))
		}
		if !slices.ContainsFunc(l.Organizations, func(o Organization) bool { return o.Code == code }) {
			l.Organizations = append(l.Organizations, Organization{line, judge.Organization{Code: code, Name: firstOf(f[5], f[4]), FormalName: f[4], Country: f[6]}})
		}
		t.Organization = &code
	}
	l.Teams = append(l.Teams, t)
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
