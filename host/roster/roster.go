// Package roster reads lists of people, such as those of a course or of a contest, and says what would come of them: which
// accounts are made, who joins which space, and what is wrong in which line. It changes nothing itself.
package roster

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"deepoj/host/judge"
	"deepoj/host/people"
)

// Bounds of a list.
const (
	MaxBytes     = 1 << 20
	MaxRows      = 10_000
	MaxPasswords = 200 // that a list brings along: each takes its time to hash
	maxProblems  = 1000
)

// The columns of a list, by the names that their head may have.
const (
	ColumnName        = "name"
	ColumnDisplayName = "display_name"
	ColumnEmail       = "email"
	ColumnSpace       = "space"
	ColumnRole        = "role"
	ColumnPassword    = "password"
)

var heads = map[string]string{
	"name": ColumnName, "login": ColumnName, "username": ColumnName, "account": ColumnName,
	"display_name": ColumnDisplayName, "displayname": ColumnDisplayName, "full_name": ColumnDisplayName,
	"email": ColumnEmail, "e-mail": ColumnEmail, "mail": ColumnEmail,
	"space": ColumnSpace, "group": ColumnSpace, "course": ColumnSpace, "contest": ColumnSpace,
	"role": ColumnRole, "password": ColumnPassword,
}

// Row is one person of a list.
type Row struct {
	Line int // in the text, from 1 on

	Name, DisplayName, Email string

	Space    string // short name; "" = none
	Role     judge.SpaceRole
	Password string // "" = to be made
}

// Mistake is what is wrong with a line.
type Mistake struct {
	Line   int    `json:"line"` // 0 = the whole list
	Field  string `json:"field,omitempty"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`

	Said *judge.FieldError `json:"-"` // what Detail was made of
}

// List is a list of people as it was read, with all that is wrong with it by itself.
type List struct {
	Rows     []Row
	Problems []Mistake
	More     int // problems beyond those that are listed
}

func (l *List) wrong(line int, field, reason, format string, args ...any) {
	l.mistake(line, judge.Wrong(field, reason, format, args...))
}

// mistake notes what is wrong with a line.
func (l *List) mistake(line int, e *judge.FieldError) {
	if len(l.Problems) == maxProblems {
		l.More++
		return
	}
	l.Problems = append(l.Problems, Mistake{line, e.Field, e.Reason, e.Remedy, e})
}

// OK reports whether nothing is wrong.
func (l *List) OK() bool { return len(l.Problems) == 0 }

// Read reads a list: a table with a head, its fields apart by commas, semicolons or tabs. Where everybody is for one
// space, that is the space of who has none, and no other may be named.
func Read(text []byte, space string) *List {
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
	table := csv.NewReader(bytes.NewReader(text))
	table.Comma, table.FieldsPerRecord = comma(text), -1
	table.TrimLeadingSpace = table.Comma != '\t' // a tab would be space
	columns := l.head(table)
	if columns == nil {
		return l
	}
	for {
		record, err := table.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if e, ok := errors.AsType[*csv.ParseError](err); ok {
			l.wrong(e.Line, "", "invalid", "The line cannot be read: %v.", e.Err)
			break // where the next line begins is not clear
		}
		if err != nil {
			l.wrong(0, "", "invalid", "The list cannot be read: %v.", err)
			break
		}
		line, _ := table.FieldPos(0)
		if len(l.Rows) == MaxRows {
			l.wrong(line, "", "too_many", "A list has up to %d people; import the rest by itself.", MaxRows)
			break
		}
		if len(record) != len(columns) {
			l.wrong(line, "", "invalid", "The line has %d fields, and the head %d.", len(record), len(columns))
			continue
		}
		l.Rows = append(l.Rows, rowOf(line, columns, record, space))
	}
	if len(l.Rows) == 0 && l.OK() {
		l.wrong(0, "", "empty", "The list has nobody in it, only its head.")
	}
	l.check(space)
	return l
}

// comma is what stands between the fields of the head.
func comma(text []byte) rune {
	head, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte("\n"))
	for _, c := range ";\t" {
		if bytes.ContainsRune(head, c) {
			return c
		}
	}
	return ','
}

// head reads which columns there are, or notes what is wrong and returns nil.
func (l *List) head(table *csv.Reader) []string {
	record, err := table.Read()
	if err != nil {
		l.wrong(0, "", "empty", "The list is empty; its first line names the columns: name, display_name, email, space, role, password.")
		return nil
	}
	var columns []string
	for _, head := range record {
		column := heads[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(head)), " ", "_")]
		switch {
		case column == "":
			l.wrong(1, "", "unknown", "There is no column %.64q; there are name, display_name, email, space, role and password.", head)
		case slices.Contains(columns, column):
			l.wrong(1, column, "duplicate", "The column %s is there twice.", column)
		}
		columns = append(columns, column)
	}
	if l.OK() && !slices.Contains(columns, ColumnName) {
		l.wrong(1, ColumnName, "missing", "The column name is missing.")
	}
	if !l.OK() {
		return nil
	}
	return columns
}

func rowOf(line int, columns, record []string, space string) Row {
	r := Row{Line: line, Space: space}
	for i, column := range columns {
		value := strings.TrimSpace(record[i])
		switch column {
		case ColumnName:
			r.Name = value
		case ColumnDisplayName:
			r.DisplayName = people.CleanDisplayName(value)
		case ColumnEmail:
			r.Email = people.CleanEmail(value)
		case ColumnSpace:
			if value != "" {
				r.Space = value
			}
		case ColumnRole:
			r.Role = judge.SpaceRole(value)
		case ColumnPassword:
			r.Password = record[i] // as it is typed
		}
	}
	if r.Role == "" && r.Space != "" {
		r.Role = judge.SpaceContestant
	}
	return r
}

// check notes what is wrong with the rows by themselves, and with each other.
func (l *List) check(space string) {
	names, emails, passwords := map[string]Row{}, map[string]int{}, 0
	joined := map[[2]string]bool{}
	for _, r := range l.Rows {
		add := func(e *judge.FieldError) {
			if e != nil {
				l.mistake(r.Line, e)
			}
		}
		add(people.CheckUserName(r.Name))
		add(people.CheckDisplayName(r.DisplayName))
		if r.Email != "" {
			add(people.CheckEmail(r.Email))
		}
		switch {
		case space != "" && r.Space != space:
			l.wrong(r.Line, ColumnSpace, "not_allowed", "This list is for the space %s only.", space)
		case r.Space == "" && r.Role != "":
			l.wrong(r.Line, ColumnSpace, "missing", "A role needs the space that it is in.")
		case r.Role != "" && !slices.Contains(judge.SpaceRoles, r.Role):
			l.wrong(r.Line, ColumnRole, "unknown", "There is no role %.64q; the roles are contestant, setter and staff.", string(r.Role))
		}
		before, twice := names[r.Name]
		switch {
		case twice && (r.Space == "" || joined[[2]string{r.Name, r.Space}]):
			l.wrong(r.Line, ColumnName, "duplicate", "%s is in line %d already.", r.Name, before.Line)
		case twice && (before.DisplayName != r.DisplayName || before.Email != r.Email || before.Password != r.Password):
			l.wrong(r.Line, ColumnName, "duplicate", "%s is in line %d already, and different.", r.Name, before.Line)
		case !twice:
			names[r.Name] = r
			if at, taken := emails[r.Email]; taken && r.Email != "" {
				l.wrong(r.Line, ColumnEmail, "duplicate", "The address is in line %d already.", at)
			}
			emails[r.Email] = r.Line
			if r.Password != "" {
				if passwords++; passwords == MaxPasswords+1 {
					l.wrong(r.Line, ColumnPassword, "too_many", "A list brings up to %d passwords; leave the others empty, and they are made.", MaxPasswords)
				}
			}
		}
		joined[[2]string{r.Name, r.Space}] = true
	}
}
