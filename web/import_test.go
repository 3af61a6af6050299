package web

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/roster"
	"deepoj/sql/sqltest"
	"deepoj/web/site"
)

// enrolled is the answer to a list that is sent to an address of the API.
func (s *stage) enrolled(token, path, csv string, more ...any) (out struct {
	Imported                   bool
	Made, Filled, Joined, Same int
	Problems                   []roster.Mistake
	Passwords                  []roster.Given
},
) {
	s.Helper()
	fields := map[string]any{"csv": csv}
	for i := 0; i < len(more); i += 2 {
		fields[more[i].(string)] = more[i+1]
	}
	body, err := json.Marshal(fields)
	s.must(err)
	r := s.do(http.MethodPost, path, string(body), asJSON, "Authorization: Bearer "+token)
	if r.status != http.StatusOK {
		s.Fatalf("the import answers %d %s", r.status, r.body)
	}
	s.must(json.Unmarshal([]byte(r.body), &out))
	return out
}

func TestThousandsAreImportedOnceWithAPreview(t *testing.T) {
	s := newStage(t)
	s.admin()
	s.must(s.store.CreateSpace(t.Context(), judge.Space{Slug: "algo", Title: "Algorithms"}, "root"))
	token := s.session("root")
	var csv strings.Builder
	csv.WriteString("name,display_name,email,space,role\n")
	for i := range 3000 {
		fmt.Fprintf(&csv, "student%d,Student %d,s%d@example.org,algo,\n", i, i, i)
	}
	began := time.Now()
	if p := s.enrolled(token, "/api/v1/users/import", csv.String(), "preview", true); p.Imported || p.Made != 3000 || len(p.Problems) != 0 || len(p.Passwords) != 0 {
		t.Errorf("the preview says %+v", p)
	}
	if n := sqltest.One[int64](t, s.store, "SELECT count(*) FROM users"); n != 1 {
		t.Errorf("the preview makes accounts: %d", n)
	}
	done := s.enrolled(token, "/api/v1/users/import", csv.String())
	t.Logf("3,000 accounts took %s", time.Since(began))
	if !done.Imported || done.Made != 3000 || len(done.Passwords) != 3000 {
		t.Fatalf("imported %d, with %d passwords, %v", done.Made, len(done.Passwords), done.Problems)
	}
	if n := sqltest.One[int64](t, s.store, "SELECT count(*) FROM space_members WHERE role = 'contestant'"); n != 3000 {
		t.Errorf("%d members", n)
	}
	if again := s.enrolled(token, "/api/v1/users/import", csv.String()); !again.Imported || again.Same != 3000 || len(again.Passwords) != 0 {
		t.Errorf("the second import makes %d and joins %d", again.Made, again.Joined)
	}
	if n := sqltest.One[int64](t, s.store, "SELECT count(*) FROM audit_log WHERE action = 'user_import'"); n != 1 {
		t.Errorf("%d rows of the log", n)
	}
	// A given password opens the change of it and nothing else, and a wrong one takes as long as one of an own password.
	last := done.Passwords[2999]
	in, err := s.client.Login(t.Context(), last.Name, last.Password)
	s.must(err)
	_, err = s.as(in).Problems(t.Context())
	problemOf(t, err, 403, "one_time_password")
}

func TestAListWithAMistakeChangesNothing(t *testing.T) {
	s := newStage(t)
	s.admin()
	s.someone("eve", judge.RoleContestant)
	_, err := s.store.SetEmail(t.Context(), "eve", "eve@example.org", "test")
	s.must(err)
	token := s.session("root")
	out := s.enrolled(token, "/api/v1/users/import", "name,email,space,password\nann,,,password12\nBob,,,\ncem,eve@example.org,,\ndan,,nosuch,\n")
	var lines []string
	for _, p := range out.Problems {
		lines = append(lines, fmt.Sprint(p.Line, " ", p.Field))
	}
	if want := []string{"2 password", "3 name", "4 email", "5 space"}; out.Imported || !slices.Equal(lines, want) {
		t.Errorf("the mistakes are %q, want %q: %+v", lines, want, out.Problems)
	}
	if n := sqltest.One[int64](t, s.store, "SELECT count(*) FROM users"); n != 2 {
		t.Errorf("%d accounts", n)
	}
}

func TestTeachersMakeAccountsForTheirOwnSpaceOnly(t *testing.T) {
	s := newStage(t)
	for _, slug := range []string{"algo", "other"} {
		s.must(s.store.CreateSpace(t.Context(), judge.Space{Slug: slug, Title: "Space " + slug}, "test"))
	}
	s.someone("teacher", judge.RoleContestant)
	s.someone("ann", judge.RoleContestant)
	algo, err := s.store.Space(t.Context(), "algo", "")
	s.must(err)
	_, err = s.store.PutSpaceMembers(t.Context(), algo.ID, []string{"teacher"}, judge.SpaceStaff, "test")
	s.must(err)
	token := s.session("teacher")
	s.store.Exec(t, "UPDATE sessions SET proved_at = NULL")
	out := s.enrolled(token, "/api/v1/spaces/algo/import", "name,display_name,email\nann,Queen,queen@example.org\nbob,Bob,bob@example.org\n")
	if !out.Imported || out.Made != 1 || out.Joined != 1 || len(out.Passwords) != 1 {
		t.Errorf("imported %+v", out)
	}
	if u, err := s.store.User(t.Context(), "ann"); err != nil || u.DisplayName != "" || u.Email != "" {
		t.Errorf("a teacher gave the account of somebody else an address: %+v, %v", u, err)
	}
	if out := s.enrolled(token, "/api/v1/spaces/algo/import", "name,space\ncem,other\n"); out.Imported || len(out.Problems) != 1 || out.Problems[0].Field != "space" {
		t.Errorf("another space: %+v", out)
	}
	list := `{"csv": "name,role\ncem,staff\n"}`
	for path, want := range map[string]int{"/api/v1/spaces/algo/import": 403, "/api/v1/spaces/other/import": 404, "/api/v1/users/import": 403} {
		if r := s.do(http.MethodPost, path, list, asJSON, "Authorization: Bearer "+token); r.status != want {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	if r := s.do(http.MethodPost, "/api/v1/spaces/algo/import", list, asJSON, "Authorization: Bearer "+s.session("ann")); r.status != 403 && r.status != 404 {
		t.Errorf("a contestant imports: %d %s", r.status, r.body)
	}
}

func TestAListIsImportedOnThePageWithoutJavaScript(t *testing.T) {
	post, with := mailed(t, site.RegisterOff)
	s := newStage(t, with)
	s.user("root", "correct horse", judge.RoleAdmin)
	root := s.person()
	root.post("/login", "/login", url.Values{"name": {"root"}, "password": {"correct horse"}})
	send := func(fields ...string) reply {
		t.Helper()
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		token := csrfField.FindStringSubmatch(root.get("/users/import").body)[1]
		for i := 0; i < len(fields); i += 2 {
			if fields[i] == "list" {
				file, err := form.CreateFormFile("list", "people.csv")
				s.must(err)
				_, _ = file.Write([]byte(fields[i+1]))
				continue
			}
			s.must(form.WriteField(fields[i], fields[i+1]))
		}
		s.must(form.WriteField("csrf", token))
		s.must(form.Close())
		var cookies []string
		for name, value := range root.jar {
			cookies = append(cookies, name+"="+value)
		}
		return s.do(http.MethodPost, "/users/import", body.String(), "Content-Type: "+form.FormDataContentType(), "Cookie: "+strings.Join(cookies, "; "), "Accept: text/html")
	}
	csv := "name,display_name,email\nann,<script>alert(1)</script>,ann@example.org\nbob,=1+1,\n"
	s.shows(send("list", csv, "passwords", "invite"), 200, "2 accounts are new")
	s.shows(send("text", "name\nAnn\n"), 422, "Nothing is imported")
	page := send("list", csv)
	if strings.Contains(page.body, "<script>alert") {
		t.Error("a display name is markup")
	}
	done := send("text", csv, "passwords", "invite", "step", "import")
	s.shows(done, 201, `download="passwords.csv"`)
	found := regexp.MustCompile(`href="data:text/csv;charset=utf-8;base64,([^"]*)"`).FindStringSubmatch(done.body)
	if found == nil {
		t.Fatal("the page has no file")
	}
	table, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(found[1], "&#43;", "+"))
	if text := string(table); err != nil || strings.Contains(text, "ann") || !strings.Contains(text, "bob,'=1+1,") {
		t.Errorf("the file has %q, %v", text, err)
	}
	l := post.Next(0)
	if l.To != "ann@example.org" || !strings.Contains(l.Text, "ann was made for you") {
		t.Errorf("the letter is %+v", l)
	}
	ann := s.person()
	s.shows(ann.get(l.Link()), 200, "For the account ann")
	s.shows(ann.post("/login/link", "/login/link", url.Values{"new": {"battery staple"}, "again": {"battery staple"}}), 200, "has the new password")
	if _, err := s.client.Login(t.Context(), "ann", "battery staple"); err != nil {
		t.Errorf("the chosen password: %v", err)
	}
}

func TestALinkInvitesIntoASpace(t *testing.T) {
	s := newStage(t, func(c *site.Config) { c.PublicURL, c.Registration = "http://judge.test", site.RegisterInvitation })
	s.user("prof", "correct horse", judge.RoleStaff)
	s.user("ann", "correct horse", judge.RoleContestant)
	s.must(s.store.CreateSpace(t.Context(), judge.Space{Slug: "algo", Title: "Algorithms"}, "prof"))
	prof := s.person()
	prof.post("/login", "/login", url.Values{"name": {"prof"}, "password": {"correct horse"}})
	invite := func(most string) string {
		t.Helper()
		r := prof.post("/spaces/algo/members", "/spaces/algo/invitations", url.Values{"label": {"class"}, "days": {"7"}, "most": {most}})
		found := regexp.MustCompile(`http://judge\.test(/join\?t=[0-9a-f]{32})`).FindStringSubmatch(r.body)
		if r.status != 201 || found == nil {
			t.Fatalf("got %d %s", r.status, r.body)
		}
		return found[1]
	}
	s.shows(prof.post("/spaces/algo/members", "/spaces/algo/invitations", url.Values{"label": {"class"}, "days": {"7"}, "most": {"0"}}), 422, "people may come")
	link := invite("2")

	// Who has an account logs in; who has none makes one, which needs no letter here.
	ann := s.person()
	s.shows(ann.get(link), 200, "Make an account")
	s.shows(ann.post("/login", "/login", url.Values{"name": {"ann"}, "password": {"correct horse"}, "next": {"/join"}}), 200, "Take part as ann")
	s.shows(ann.post("/join", "/join", url.Values{}), 200, "Algorithms")
	s.shows(ann.get(link), 200, "Take part as ann")
	s.shows(ann.post("/join", "/join", url.Values{}), 200, "Algorithms") // again: nothing is used up
	bob := s.person()
	bob.get(link)
	s.shows(bob.get("/register"), 200, "You are invited to")
	form := url.Values{"name": {"ann"}, "display_name": {"Bob"}, "new": {"battery staple"}, "again": {"battery staple"}}
	s.shows(bob.post("/register", "/register", form), 422, "is taken")
	form.Set("name", "bob")
	s.shows(bob.post("/register", "/register", form), 200, "Algorithms")
	s.shows(s.person().get(link), 410, "does not work") // two came
	members, err := s.store.SpaceMembers(t.Context(), 1, "", 10)
	if err != nil || len(members) != 2 || members[0].Role != judge.SpaceContestant {
		t.Errorf("the members are %+v, %v", members, err)
	}
	s.shows(s.person().get("/register"), 200, "without an invitation")
	s.shows(s.person().open(http.MethodPost, "/register", form.Encode()), 404, "without an invitation")

	next := invite("5")
	prof.post("/spaces/algo/members", "/spaces/algo/invitations/2/revoke", url.Values{})
	s.shows(s.person().get(next), 410, "does not work")
	if r := ann.post("/spaces/algo", "/spaces/algo/invitations", url.Values{"label": {"x"}, "days": {"7"}, "most": {"5"}}); r.status != 403 {
		t.Errorf("a contestant invites: %d", r.status)
	}
}

func TestADisplayNameIsShownBesideTheNameAndIsNoMarkup(t *testing.T) {
	s := newStage(t)
	s.user("prof", "correct horse", judge.RoleStaff)
	s.someone("ann", judge.RoleContestant)
	s.must(s.store.CreateSpace(t.Context(), judge.Space{Slug: "algo", Title: "Algorithms"}, "prof"))
	_, err := s.store.PutSpaceMembers(t.Context(), 1, []string{"ann"}, judge.SpaceContestant, "test")
	s.must(err)
	ann := s.session("ann")
	if r := s.do(http.MethodPatch, "/api/v1/account", `{"display_name": "Ann <i>Lee</i>"}`, asJSON, "Authorization: Bearer "+ann); r.status != 200 || !strings.Contains(r.body, `"name":"ann"`) {
		t.Errorf("the name is set with %d %s", r.status, r.body)
	}
	cookie := s.login("prof", "correct horse")
	for _, path := range []string{"/spaces/algo", "/spaces/algo/members"} {
		s.shows(s.do(http.MethodGet, path, "", cookie), 200, `ann`)
		s.shows(s.do(http.MethodGet, path, "", cookie), 200, `<span class="muted">Ann &lt;i&gt;Lee&lt;/i&gt;</span>`)
	}
}
