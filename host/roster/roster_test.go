package roster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/roster"
	"deepoj/sql"
)

func TestAListOfPeopleIsReadAsProgramsForTablesWriteIt(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"commas":     "name,Display Name,E-Mail,group,role\nann,\"Lee, Ann\",Ann@Example.org,algo,\nbob,,,algo,staff\n",
		"semicolons": "\ufeffUsername;full name;mail;Course;role\r\nann;\"Lee, Ann\";ann@example.org;algo;\r\n\r\nbob;;;algo;staff\r\n",
		"tabs":       "role\tspace\tlogin\temail\tdisplay_name\n\talgo\tann\tann@example.org\tLee,  Ann\nstaff\talgo\tbob\t\t\n",
	} {
		l := roster.Read([]byte(text), "")
		if !l.OK() || len(l.Rows) != 2 {
			t.Errorf("%s: %+v", what, l)
			continue
		}
		ann, bob := l.Rows[0], l.Rows[1]
		if ann.Name != "ann" || ann.DisplayName != "Lee, Ann" || ann.Email != "ann@example.org" || ann.Space != "algo" || ann.Role != judge.SpaceContestant || bob.Role != judge.SpaceStaff || ann.Line != 2 {
			t.Errorf("%s: %+v, %+v", what, ann, bob)
		}
	}
}

func TestEveryMistakeIsSaidWithItsLine(t *testing.T) {
	t.Parallel()
	l := roster.Read([]byte("name,display_name,email,space,role\nAnn,,,,\nbob,x\u202ey,nope,algo,emperor\nbob,,,,\nzoe,,zoe@example.org,,staff\nzed,,zoe@example.org,,\nshort\n"), "")
	var got []string
	for _, p := range l.Problems {
		got = append(got, fmt.Sprintf("%d %s %s", p.Line, p.Field, p.Reason))
	}
	slices.Sort(got)
	want := []string{"2 name invalid", "3 display_name invalid", "3 email invalid", "3 role unknown", "4 name duplicate", "5 space missing", "6 email duplicate", "7  invalid"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for text, line := range map[string]int{
		"": 0, "name\n": 0, "email\nx@y.org\n": 1, "name,colour\nann,red\n": 1, "name,name\nann,ann\n": 1, "name\nann\n\"bob\n": 3,
		"name\n\xff\n": 0, "name\n" + strings.Repeat("x", roster.MaxBytes): 0,
	} {
		if l := roster.Read([]byte(text), ""); len(l.Problems) != 1 || l.Problems[0].Line != line {
			t.Errorf("%.20q: %+v", text, l.Problems)
		}
	}
	if l := roster.Read([]byte("name,space\nann,\nbob,other\n"), "algo"); len(l.Problems) != 1 || l.Problems[0].Line != 3 || l.Rows[0].Space != "algo" {
		t.Errorf("a list of one space: %+v", l)
	}
	many := &strings.Builder{}
	many.WriteString("name\n")
	for i := range roster.MaxRows + 1 {
		fmt.Fprintf(many, "u%d\n", i)
	}
	if l := roster.Read([]byte(many.String()), ""); len(l.Problems) != 1 || l.Problems[0].Line != roster.MaxRows+2 {
		t.Errorf("one too many: %+v", l.Problems)
	}
	passwords := &strings.Builder{}
	passwords.WriteString("name,password\n")
	for i := range roster.MaxPasswords + 2 {
		fmt.Fprintf(passwords, "u%d,battery staple\n", i)
	}
	if l := roster.Read([]byte(passwords.String()), ""); len(l.Problems) != 1 || l.Problems[0].Line != roster.MaxPasswords+2 || l.Problems[0].Field != "password" {
		t.Errorf("passwords without end: %+v", l.Problems)
	}
	if l := roster.Read([]byte("name,email,space\nann,ann@example.org,algo\nann,ann@example.org,other\nann,eve@example.org,third\n"), ""); len(l.Problems) != 1 ||
		l.Problems[0].Line != 4 || l.Problems[0].Field != "name" {
		t.Errorf("somebody in three spaces, once with another address: %+v", l.Problems)
	}
}

func TestAListChangesNothingThatThereIs(t *testing.T) {
	t.Parallel()
	l := roster.Read([]byte("name,display_name,email,space,role,password\nann,Ann,ann@example.org,algo,,\nbob,Robert,bob@new.example,algo,staff,battery staple\ncem,,eve@example.org,,,\n"), "")
	known := sql.Known{
		Accounts: map[string]judge.User{"bob": {Name: "bob", Email: "bob@example.org"}}, Owners: map[string]string{"eve@example.org": "eve"},
		Spaces: map[string]bool{"algo": true}, Members: map[sql.Membership]judge.SpaceRole{{Space: "algo", User: "bob"}: judge.SpaceContestant},
	}
	for fill, does := range map[bool]string{false: roster.Stays, true: roster.Fills} {
		p := l.Plan(known, fill)
		if p.Steps[0].Does != roster.Makes || p.Steps[1].Does != does || p.Steps[1].Note == nil || p.Staff {
			t.Errorf("the plan is %+v", p.Steps)
		}
		if len(p.Problems) != 1 || p.Problems[0].Line != 4 || p.Problems[0].Field != "email" {
			t.Errorf("the address of another is taken: %+v", p.Problems)
		}
	}
	if p := l.Plan(sql.Known{}, false); len(p.Problems) != 2 || !p.Staff {
		t.Errorf("a space that there is not: %+v", p.Problems)
	}
}

func TestNoCellOfATableIsAFormula(t *testing.T) {
	t.Parallel()
	out := string(roster.Passwords([]roster.Given{{Name: "ann", DisplayName: `=HYPERLINK("http://x")`, Password: "-2+3"}, {Name: "bob", DisplayName: "@SUM(1)", Password: "+1"}, {Name: "cem", DisplayName: "Cem, =1", Password: "x"}}))
	want := "name,display_name,password\nann,\"'=HYPERLINK(\"\"http://x\"\")\",'-2+3\nbob,'@SUM(1),'+1\ncem,\"Cem, =1\",x\n"
	if out != want {
		t.Errorf("got %q", out)
	}
}
