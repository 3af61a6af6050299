package lineup_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/lineup"
)

// said is what a plan would write, in short.
func said(p *lineup.Plan) string {
	var out []string
	for _, o := range p.Organizations {
		out = append(out, fmt.Sprintf("organization %s=%s/%s %s", o.Code, o.Name, o.FormalName, o.Country))
	}
	for _, g := range p.Groups {
		out = append(out, fmt.Sprintf("group %s=%s ranked %t", g.Code, g.Name, g.Ranked))
	}
	for _, v := range p.Participants {
		var members []string
		for _, m := range v.Members {
			members = append(members, m.User+":"+string(m.Role))
		}
		out = append(out, fmt.Sprintf("team %s=%s(%s) of %q in %v members %v label %q icpc %q room %q hidden %t", v.Code, v.Name, v.DisplayName, v.Organization, v.Groups, members, v.Label, v.ICPCID, v.Room, v.Hidden))
	}
	for _, a := range p.Accounts {
		out = append(out, fmt.Sprintf("account %s %q %q of %s in %q", a.Name, a.DisplayName, a.Password, a.Team, a.Room))
	}
	for _, m := range p.Problems {
		out = append(out, fmt.Sprintf("line %d %s: %s", m.Line, m.Field, m.Reason))
	}
	return strings.Join(out, "\n")
}

func TestListsThatOrganisersHaveAreRead(t *testing.T) {
	t.Parallel()
	known := lineup.Known{
		Accounts: map[string]bool{"ann": true, "bob": true, "kim": true},
		Groups:   []judge.TeamGroup{{ID: 1, Code: "1200", Name: "Universities", Ranked: true}},
	}
	for _, tt := range []struct{ name, list, want string }{
		{
			"a table", "code,name,members,coaches,organization,country,groups,room\nred,\"Red, the\",ann;bob,kim,TU Delft,nld,Universities|Guests,K1\n",
			"organization TU-Delft=TU Delft/ NLD\ngroup Guests=Guests ranked true\nteam red=Red, the() of \"TU-Delft\" in [1200 Guests] members [ann:contestant bob:contestant kim:coach] label \"\" icpc \"\" room \"K1\" hidden false",
		},
		{
			"a table of another program", "\ufeffID;Team name;University\r\n7;Blau;清华大学\r\n",
			"organization org=清华大学/ \nteam 7=Blau() of \"org\" in [] members [] label \"\" icpc \"\" room \"\" hidden false",
		},
		{
			"teams.tsv", "teams\t1\n12\t447047\t1200\tå ☠\tLund University\tLU\tSWE\tINST-42\n13\t447048\t1200\t\"Quoted\tLund University\tLU\tSWE\tINST-42\n",
			"organization 42=LU/Lund University SWE\nteam 12=å ☠() of \"42\" in [1200] members [] label \"12\" icpc \"447047\" room \"\" hidden false\nteam 13=\"Quoted() of \"42\" in [1200] members [] label \"13\" icpc \"447048\" room \"\" hidden false",
		},
		{"groups.tsv", "groups\t1\n3\tEurope\n", "group 3=Europe ranked true"},
		{
			"teams.json", `[{"id": 5, "icpc_id": 99, "name": "Five", "display_name": "Team Five", "label": "L5", "group_ids": ["1200"], "organization_id": "lu", "location": {"description": "K9"}, "photo": []}]`,
			"organization lu=lu/ \nteam 5=Five(Team Five) of \"lu\" in [1200] members [] label \"L5\" icpc \"99\" room \"K9\" hidden false",
		},
		{"organizations.json", `[{"id": "lu", "name": "LU", "formal_name": "Lund University", "country": "SWE"}]`, "organization lu=LU/Lund University SWE"},
		{"groups.json", `[{"id": "9", "name": "Observers", "hidden": true}]`, "group 9=Observers ranked false"},
	} {
		if got := said(lineup.Read([]byte(tt.list)).Plan(known, lineup.Making{Prefix: "cup"})); got != tt.want {
			t.Errorf("%s says\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

func TestEveryMistakeOfALineupIsSaidWithItsLine(t *testing.T) {
	t.Parallel()
	known := lineup.Known{
		Accounts:     map[string]bool{"ann": true, "bob": true},
		Participants: []judge.Participant{{ID: 1, Code: "old", Name: "Old", Members: []judge.ParticipantMember{{User: "bob", Role: judge.MemberContestant}}}},
	}
	for list, want := range map[string]string{
		"code,name,colour\nred,Red,x\n":                      "line 1 : unknown",
		"name\nRed\n":                                        "line 1 code: missing",
		"code,pin\nred,x\n":                                  "line 1 : unknown",
		"code,name\nred,Red\nred,Again\n":                    "line 3 code: duplicate",
		"code,name\nr d,Red\n":                               "line 2 code: invalid",
		"code,name\nred,\n":                                  "line 2 name: missing",
		"code,name,country\nred,Red,Netherlands\n":           "line 2 country: invalid",
		"code,name,members\nred,Red,ann ann\n":               "line 2 members: duplicate\nline 2 members: in_two",
		"code,name,members\nred,Red,ann\nblue,Blue,ann\n":    "line 3 members: in_two",
		"code,name,members\nred,Red,bob\n":                   "line 2 members: in_two",
		"code,name,members\nred,Red,eve\n":                   "line 2 members: unknown",
		"code,room\nnew,K1\n":                                "line 2 name: missing",
		"code,hidden,name\nred,maybe,Red\n":                  "line 2 hidden: invalid",
		"code,name\nred\n":                                   "line 2 : invalid",
		"teams\t1\n12\t3\n":                                  "line 2 : invalid",
		"accounts\t1\nteam\tRed\tteam-07\tsecret\n":          "line 2 team: unknown",
		"accounts\t1\nteam\tRed\n":                           "line 2 : invalid",
		"accounts\t1\njudge\tJo\t\tsecret\n":                 "line 2 account: missing",
		"institutions\t1\nx\ty\n":                            "line 1 : unknown",
		`[{"id": "1", "username": "ann", "password": "x"}]`:  "line 1 type: missing",
		"code,name,account\nred,Red,Ann!\n":                  "line 2 account: invalid",
		"code,name,account\nred,Red,bob\n":                   "line 2 account: in_two",
		"code,name,account\nred,Red,x\npink,Pink,x\n":        "line 3 account: duplicate",
		"code,name,password\nred,Red,short\n":                "line 2 password: invalid",
		`{"teams": []}`:                                      "line 0 : invalid",
		`[{"id": [], "name": "x"}]`:                          "line 1 : invalid\nline 1 code: invalid\nline 1 name: missing",
		"":                                                   "line 0 : empty",
		"code,name\n":                                        "line 0 : empty",
		"code,name\n\xff,x\n":                                "line 0 : not_utf8",
		"code,name\n" + strings.Repeat("x", lineup.MaxBytes): "line 0 : too_long",
	} {
		p := lineup.Read([]byte(list)).Plan(known, lineup.Making{Prefix: "cup"})
		if err := p.CheckPasswords(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range p.Problems {
			got = append(got, fmt.Sprintf("line %d %s: %s", m.Line, m.Field, m.Reason))
		}
		slices.Sort(got)
		if strings.Join(got, "\n") != want {
			t.Errorf("%.60q says\n%s\nwant\n%s", list, strings.Join(got, "\n"), want)
		}
	}
}

func TestTeamsGetAccountsOfTheirOwn(t *testing.T) {
	t.Parallel()
	member := []judge.ParticipantMember{{User: "ann", Role: judge.MemberContestant}}
	known := lineup.Known{
		Accounts:     map[string]bool{"ann": true, "coach": true, "kim": true, "cup-taken": true},
		Participants: []judge.Participant{{ID: 1, Code: "007", Name: "Seven", DisplayName: "Team Seven", Room: "K7"}, {ID: 2, Code: "red", Name: "Red", Members: member}},
	}
	for _, tt := range []struct {
		name, list string
		all        bool
		want       []string
	}{
		{
			"an account for each team without a contestant", "code,name,members,coaches,room\nred,Red,ann,,\nBlue,Blue,,coach,K1\nwhite,White,,,\n", true,
			[]string{`account cup-blue "Blue" "" of Blue in "K1"`, `account cup-white "White" "" of white in ""`, "Blue: coach cup-blue", "white: cup-white"},
		},
		{"none where nobody asks for it", "code,name\nblue,Blue\n", false, []string{"blue:"}},
		{
			"names and passwords of the list", "code,name,username,password\nblue,Blue,azure,a long secret 1\nwhite,White,,a long secret 2\ngrey,Grey,kim,\n", false,
			[]string{`account azure "Blue" "a long secret 1" of blue in ""`, `account cup-white "White" "a long secret 2" of white in ""`, "blue: azure", "white: cup-white", "grey: kim"},
		},
		{"a name that somebody has, made up", "code,name\ntaken,Taken\n", true, []string{"taken:", "line 2 account: duplicate"}},
		{
			"accounts.tsv", "accounts\t1\nteam\tSeven\tteam-007\ta long secret 7\njudge\tJo\tjo\tsecret\nteam\tRed\tann\tignored\n", false,
			[]string{`account team-007 "Team Seven" "a long secret 7" of 007 in "K7"`, "007: team-007"},
		},
		{
			"accounts.json", `[{"id": "1", "username": "seven", "type": "team", "team_id": "007", "password": "a long secret 7"}, {"id": "2", "username": "root", "type": "admin"}]`, false,
			[]string{`account seven "Team Seven" "a long secret 7" of 007 in "K7"`, "007: seven"},
		},
	} {
		p := lineup.Read([]byte(tt.list)).Plan(known, lineup.Making{All: tt.all, Prefix: "cup"})
		if err := p.CheckPasswords(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range p.Accounts {
			got = append(got, fmt.Sprintf("account %s %q %q of %s in %q", a.Name, a.DisplayName, a.Password, a.Team, a.Room))
		}
		for _, v := range p.Participants {
			if v.Code == "red" {
				continue
			}
			var members []string
			for _, m := range v.Members {
				members = append(members, m.User)
			}
			got = append(got, strings.TrimSpace(v.Code+": "+strings.Join(members, " ")))
		}
		for _, m := range p.Problems {
			got = append(got, fmt.Sprintf("line %d %s: %s", m.Line, m.Field, m.Reason))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

func TestWhatALineupDoesNotSayStays(t *testing.T) {
	t.Parallel()
	was := judge.Participant{
		ID: 1, Code: "red", Name: "Red", Label: "7", Room: "K1", Ranked: true, Hidden: true, Status: judge.ParticipantBanned, Reason: "x", Groups: []string{"uni"},
		Members: []judge.ParticipantMember{{User: "bob", Role: judge.MemberContestant}, {User: "ann", Role: judge.MemberContestant}},
	}
	known := lineup.Known{Participants: []judge.Participant{was}, Groups: []judge.TeamGroup{{ID: 2, Code: "uni", Name: "Uni", Ranked: true}}, Accounts: map[string]bool{"ann": true, "bob": true}}
	p := lineup.Read([]byte("code,name,members,groups\nred,Red,ann bob,Uni\n")).Plan(known, lineup.Making{Prefix: "cup"})
	if len(p.Participants) != 0 || p.Counts[lineup.Stays] != 1 {
		t.Errorf("the same list changes %s", said(p))
	}
	p = lineup.Read([]byte("code,room\nred,K2\n")).Plan(known, lineup.Making{Prefix: "cup"})
	if len(p.Participants) != 1 {
		t.Fatalf("another room changes %s", said(p))
	}
	want := was
	want.Room = "K2"
	if got := fmt.Sprint(p.Participants[0]); got != fmt.Sprint(want) {
		t.Errorf("another room changes\n%s\nto\n%s", fmt.Sprint(was), got)
	}
	// Somebody goes from one team of a list to another.
	known.Participants = append(known.Participants, judge.Participant{ID: 2, Code: "blue", Name: "Blue"})
	if p = lineup.Read([]byte("code,members\nred,bob\nblue,ann\n")).Plan(known, lineup.Making{Prefix: "cup"}); !p.OK() || len(p.Participants) != 2 {
		t.Errorf("a change of teams: %s", said(p))
	}
}

// FuzzRead holds that whatever is uploaded is either refused with a line, or gives things with names that are allowed.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"code,name\nred,Red\n", "teams\t1\n1\t2\t3\tx\ty\n", "groups\t1\n1\tx\n", `[{"id":1,"name":"x","country":"SWE"}]`, "id;team\n1;\"", "\t\n", `[null]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p := lineup.Read(text).Plan(lineup.Known{}, lineup.Making{})
		if p.OK() && len(p.Steps) == 0 {
			t.Fatalf("%q is no list, and nothing is wrong with it", text)
		}
		seen := map[string]bool{}
		for _, v := range p.Participants {
			if p.OK() && (v.Code == "" || v.Name == "" || seen[v.Code]) {
				t.Fatalf("%q makes %+v", text, v)
			}
			seen[v.Code] = true
			if i := slices.IndexFunc(p.Organizations, func(o judge.Organization) bool { return o.Code == v.Organization }); p.OK() && v.Organization != "" && i < 0 {
				t.Fatalf("%q puts %s into %q, which there is not", text, v.Code, v.Organization)
			}
		}
	})
}
