package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/web/client"
	"deepoj/web/site"
)

// pk is the beginning of an archive; the server looks no further.
const pk = "PK\x03\x04"

// withBlobs gives the server a blob store.
func withBlobs(t *testing.T) (*blob.Dir, func(*site.Config)) {
	t.Helper()
	dir, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir, func(c *site.Config) { c.Blobs, c.MaxPackage = dir, 6<<20 }
}

// packageForm writes the form of the page: the fields in their order, then a file.
func packageForm(t *testing.T, file, data string, fields ...string) (body, header string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if err := w.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if data != "" {
		part, err := w.CreateFormFile("package", file)
		if err == nil {
			_, err = part.Write([]byte(data))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), "Content-Type: " + w.FormDataContentType()
}

const asZIP = "Content-Type: application/zip"

func TestAPackageIsStreamedIntoTheStoreAndBecomesAJob(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	sue := s.setter()
	archive := pk + strings.Repeat("0123456789abcdef", 5<<16) // more than other bodies may have
	r := s.do(http.MethodPost, "/api/v1/problems?problem=triple&activate=false&title=Three+times&time=1.5&memory=64", archive, asZIP, sue)
	if r.status != http.StatusAccepted || !strings.Contains(r.body, `"url":"/imports/1"`) || r.header.Get("Location") != "/api/v1/jobs/1" {
		t.Fatalf("upload: %d %s", r.status, r.body)
	}
	body, header := packageForm(t, "my triple.zip", archive, "problem", "triple", "activate", "true", "key", "k1", "title", "Three times", "time", "1.5", "memory", "64")
	for _, want := range []string{`"job_id":2,`, `"job_id":2,`} { // the key makes the second the first
		if r = s.do(http.MethodPost, "/api/v1/problems", body, header, sue); r.status != http.StatusAccepted || !strings.Contains(r.body, want) {
			t.Fatalf("upload of a form: %d %s", r.status, r.body)
		}
	}
	for id, activate := range map[int64]bool{1: false, 2: true} {
		job := s.claimJob(id)
		var p judge.PackagePayload
		s.must(json.Unmarshal(job.Payload, &p))
		want := judge.PackagePayload{
			SchemaVersion: 1, ContentType: judge.PackageType, By: "sue", Problem: "triple",
			Archive: string(blob.Of([]byte(archive))), Bytes: int64(len(archive)), Activate: activate,
			Given: judge.Given{Title: "Three times", CPUMillis: 1500, MemoryMiB: 64},
		}
		if job.Kind != judge.KindImport || p != want {
			t.Errorf("job %d is a %s and carries %+v, want %+v", id, job.Kind, p, want)
		}
	}
	if kept, err := blob.ReadAll(t.Context(), blobs, blob.Of([]byte(archive)), 6<<20); err != nil || string(kept) != archive {
		t.Errorf("the store has %d bytes, %v", len(kept), err)
	}
}

func TestEverybodyMayHaveTheFilesThatComeWithAProblem(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	const script = "<script>alert(1)</script>"
	digest, size, err := blobs.Put(t.Context(), strings.NewReader(script))
	s.must(err)
	file := judge.ProblemFile{Name: "tools/a b.html", Bytes: size, Digest: string(digest)}
	s.must(s.store.SaveProblem(t.Context(), judge.Problem{Slug: "aplusb", Title: "A plus B", Version: "sha256:c3", Files: []judge.ProblemFile{file}}, "test"))
	const address = "/problems/aplusb/files/tools/a%20b.html"
	if page := s.do(http.MethodGet, "/problems/aplusb", ""); !strings.Contains(page.body, `href="`+address+`"`) {
		t.Errorf("the page has no link to the file:\n%s", page.body)
	}
	r := s.do(http.MethodGet, address, "")
	if r.status != http.StatusOK || r.body != script || r.header.Get("Content-Type") != "application/octet-stream" ||
		!strings.HasPrefix(r.header.Get("Content-Disposition"), "attachment") || r.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v %q", r.status, r.header, r.body)
	}
	for _, none := range []string{"tools", "tools/", "../aplusb", "a%20b.html", "%2e%2e/x"} {
		if r := s.do(http.MethodGet, "/problems/aplusb/files/"+none, ""); r.status != http.StatusNotFound && r.status != http.StatusBadRequest {
			t.Errorf("%s: %d %q", none, r.status, r.body)
		}
	}
}

func TestAPackageThatIsWrongIsRefusedWithTheNameOfTheField(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	sue := s.setter()
	form := func(file, data string, fields ...string) []string {
		body, header := packageForm(t, file, data, fields...)
		return []string{"", body, header}
	}
	late, lateHeader := packageForm(t, "a.zip", pk, "problem", "a")
	boundary := lateHeader[strings.LastIndexByte(lateHeader, '=')+1:]
	late = strings.TrimSuffix(late, "--\r\n") + "\r\nContent-Disposition: form-data; name=\"activate\"\r\n\r\ntrue\r\n--" + boundary + "--\r\n"
	for name, tt := range map[string]struct {
		request       []string // query, body, type
		status        int
		field, reason string
	}{
		"no name":                     {[]string{"", pk, asZIP}, 422, "problem", "missing"},
		"a name with a slash":         {[]string{"?problem=a%2Fb", pk, asZIP}, 422, "problem", "invalid"},
		"a name that hides":           {[]string{"?problem=.git", pk, asZIP}, 422, "problem", "invalid"},
		"a field that does not exist": {[]string{"?problem=a&slug=b", pk, asZIP}, 422, "slug", "unknown"},
		"neither true nor false":      {[]string{"?problem=a&activate=yes!", pk, asZIP}, 422, "activate", "invalid"},
		"no time at all":              {[]string{"?problem=a&time=0", pk, asZIP}, 422, "time", "invalid"},
		"a time of words":             {[]string{"?problem=a&time=long", pk, asZIP}, 422, "time", "invalid"},
		"half a MiB":                  {[]string{"?problem=a&memory=0.5", pk, asZIP}, 422, "memory", "invalid"},
		"too much memory in a form":   {form("a.zip", pk, "memory", "65537"), 422, "memory", "invalid"},
		"a title on two lines":        {[]string{"?problem=a&title=a%0Ab", pk, asZIP}, 422, "title", "invalid"},
		"an endless title":            {form("a.zip", pk, "title", strings.Repeat("x", 201)), 422, "title", "invalid"},
		"no archive":                  {[]string{"?problem=a", "name: A\n", asZIP}, 422, "package", "not_archive"},
		"an empty body":               {[]string{"?problem=a", "", asZIP}, 422, "package", "not_archive"},
		"an archive that is too long": {[]string{"?problem=a", pk + strings.Repeat("x", 6<<20), asZIP}, 413, "package", "too_long"},
		"no file":                     {form("", "", "problem", "a"), 422, "package", "empty"},
		"a file name that is no name": {form("my problem.zip", pk), 422, "problem", "invalid"},
		"a form that is too long":     {form("a.zip", pk+strings.Repeat("x", 6<<20)), 413, "package", "too_long"},
		"a field behind the file":     {[]string{"", late, lateHeader}, 422, "activate", "invalid"},
		"a form with other fields":    {form("a.zip", pk, "checker", "x"), 422, "checker", "unknown"},
		"a cut form":                  {[]string{"", "--b\r\nContent-Disposition: form-data; name=\"problem\"\r\n\r\na", "Content-Type: multipart/form-data; boundary=b"}, 400, "body", "invalid"},
		"JSON":                        {[]string{"", "{}", asJSON}, 415, "", "not_upload"},
	} {
		f := document(t, s.do(http.MethodPost, "/api/v1/problems"+tt.request[0], tt.request[1], tt.request[2], sue))
		if f.Status != tt.status || f.Field != tt.field || f.Reason != tt.reason {
			t.Errorf("%s: got %d %s %s (%s), want %d %s %s", name, f.Status, f.Field, f.Reason, f.Detail, tt.status, tt.field, tt.reason)
		}
	}
	if jobs, err := s.store.Jobs(t.Context(), []judge.Kind{judge.KindImport}, 0, 10); err != nil || len(jobs) > 0 {
		t.Errorf("a wrong upload became a job: %+v, %v", jobs, err)
	}
	if has, err := blobs.Has(t.Context(), blob.Of([]byte("name: A\n"))); err != nil || has {
		t.Errorf("what is no archive was stored: %t, %v", has, err)
	}
}

func TestAPackageWhoseSenderHangsUpIsNotStored(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	sue := s.setter()
	half := pk + strings.Repeat("x", 100_000)
	conn, err := net.Dial("tcp", s.server.Addr())
	s.must(err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /api/v1/problems?problem=a HTTP/1.1\r\nHost: %s\r\n%s\r\n%s\r\nContent-Length: 200000\r\n\r\n%s", s.server.Addr(), sue, asZIP, half)
	s.must(err)
	s.must(conn.(*net.TCPConn).CloseWrite())
	s.must(conn.SetReadDeadline(time.Now().Add(time.Minute)))
	if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil { // whether it arrives is the sender's affair
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("got %d %s", resp.StatusCode, text)
		}
	}
	if jobs, err := s.store.Jobs(t.Context(), []judge.Kind{judge.KindImport}, 0, 10); err != nil || len(jobs) > 0 {
		t.Errorf("half a package became a job: %+v, %v", jobs, err)
	}
	if has, err := blobs.Has(t.Context(), blob.Of([]byte(half))); err != nil || has {
		t.Errorf("half a package was stored: %t, %v", has, err)
	}
}

func TestTheFormOfAPackageWorksWithoutScriptsAndOnlyForItsSession(t *testing.T) {
	_, option := withBlobs(t)
	s := newStage(t, option)
	s.setter()
	cookie := s.login("sue", "correct horse")
	page := s.do(http.MethodGet, "/packages", "", cookie)
	token := s.csrf(cookie)
	if page.status != http.StatusOK || !strings.Contains(page.body, `enctype="multipart/form-data"`) {
		t.Fatalf("page: %d %s", page.status, page.body)
	}
	for name, csrf := range map[string]string{"no token": "", "a wrong one": "x" + token} {
		body, header := packageForm(t, "triple.zip", pk, "csrf", csrf)
		if r := s.do(http.MethodPost, "/packages", body, header, cookie); r.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, r.status)
		}
	}
	body, header := packageForm(t, "triple.zip", "no archive", "csrf", token, "problem", "", "activate", "true")
	if r := s.do(http.MethodPost, "/packages", body, header, cookie); r.status != 422 || !strings.Contains(r.body, `id="fault"`) || !strings.Contains(r.body, "no ZIP archive") {
		t.Errorf("no archive: %d %s", r.status, r.body)
	}
	body, header = packageForm(t, "triple.zip", pk, "csrf", token, "key", "k", "problem", "", "activate", "true")
	r := s.do(http.MethodPost, "/packages", body, header, cookie)
	if r.status != http.StatusSeeOther || r.header.Get("Location") != "/imports/1" {
		t.Fatalf("upload: %d %s", r.status, r.body)
	}
	if r = s.do(http.MethodGet, "/imports/1", "", cookie); r.status != http.StatusOK || !strings.Contains(r.body, "Import of triple") || !strings.Contains(r.body, "Waiting") {
		t.Errorf("the job's page: %d %s", r.status, r.body)
	}
	if r = s.do(http.MethodGet, "/packages", "", cookie); !strings.Contains(r.body, `href="/imports/1"`) {
		t.Errorf("the list does not name the job: %s", r.body)
	}
}

// proof is a report of a job as a worker writes it.
const proofJSON = `{"problem":"triple","version":"sha256:aa11","live":false,"warnings":[{"file":"problem.yaml","key":"x","reason":"is unknown"}],"proof":{"limit_ms":1000,"limit_from":"problem.yaml","slowest_ms":20,"suggested_ms":1000,"checked":3,"rows":[` +
	`{"path":"accepted/right.py","language":"python","allowed":["AC"],"verdict":"AC","usage":{"cpu_ms":20,"memory_kib":9000},"slack":50,"groups":[{"name":"","verdict":"AC"},{"name":"secret","verdict":"AC"}]},` +
	`{"path":"wrong_answer/<lucky>.py","language":"python","allowed":["WA"],"verdict":"AC","usage":{"cpu_ms":18,"memory_kib":9000},"groups":[{"name":"secret","verdict":"AC"}],"problem":"got AC, may get WA"}]}}`

func TestAnImportIsShownWithItsMatrixAndGatesWhatGoesLive(t *testing.T) {
	_, option := withBlobs(t)
	s := newStage(t, option)
	ctx := t.Context()
	sue, stan := s.setter(), "Authorization: Bearer "+s.user("stan", "correct horse", judge.RoleStaff)
	setter, staff := s.as(strings.TrimPrefix(sue, "Authorization: Bearer ")), s.as(strings.TrimPrefix(stan, "Authorization: Bearer "))
	receipt, err := setter.UploadPackage(ctx, client.NewPackage{Problem: "triple"}, strings.NewReader(pk), int64(len(pk)))
	s.must(err)
	a := s.claim(receipt.JobID)
	s.must(s.store.Progress(ctx, a, []judge.Progress{
		{Kind: judge.EventStage, Finding: json.RawMessage(`{"step":"verify","total":2}`)},
		{Kind: judge.EventFinding, Finding: json.RawMessage(`{"row":{"path":"accepted/right.py","verdict":"AC","groups":[{"name":"secret","verdict":"AC"}]}}`)},
	}))
	if r := s.do(http.MethodGet, receipt.URL+"/live", "", sue); !strings.Contains(r.body, "Being proved") || !strings.Contains(r.body, "1 of 2 submissions judged") || !strings.Contains(r.body, "accepted/right.py") {
		t.Errorf("while it is proved: %s", r.body)
	}
	for stage, want := range map[string][]string{
		`{"step":"make","done":3,"total":40,"what":"03"}`:                {"Tests are made", "3 of 40, last 03.", `<progress max="40" value="3"`},
		`{"step":"measure","done":1,"total":2,"what":"accepted/<a>.py"}`: {"The time limit is found", "1 of 2, last accepted/&lt;a&gt;.py"},
		`{"step":"inspect","done":5,"total":9}`:                          {"Inputs are checked", "5 of 9", `<progress max="9" value="5"`},
	} {
		s.must(s.store.Progress(ctx, a, []judge.Progress{{Kind: judge.EventStage, Finding: json.RawMessage(stage)}}))
		r := s.do(http.MethodGet, receipt.URL+"/live", "", sue)
		for _, w := range want {
			if !strings.Contains(r.body, w) {
				t.Errorf("%s is shown without %q: %s", stage, w, r.body)
			}
		}
	}
	s.must(s.store.KeepVersion(ctx, judge.Problem{Slug: "triple", Title: "Triple", Version: "sha256:aa11"}, "sue", receipt.JobID))
	s.must(s.store.ProveVersion(ctx, "triple", "sha256:aa11", false, json.RawMessage(proofJSON), receipt.JobID))
	s.must(s.store.Finalize(ctx, a, judge.Result{Verdict: judge.WA, Report: json.RawMessage(proofJSON)}))
	for _, page := range []string{receipt.URL, "/packages/triple", "/packages/triple?version=sha256:aa11"} {
		r := s.do(http.MethodGet, page, "", sue)
		for _, want := range []string{"accepted/right.py", "&lt;lucky&gt;.py", "got AC, may get WA", "×50<", "20 ms", `<th scope="col">secret</th>`, "The time limit is 1,000 ms"} {
			if r.status != http.StatusOK || !strings.Contains(r.body, want) {
				t.Errorf("%s: %d, without %q:\n%s", page, r.status, want, r.body)
			}
		}
	}
	var kinds []string
	s.must(setter.JobEvents(ctx, receipt.JobID, 0, func(e judge.Event) error { kinds = append(kinds, string(e.Kind)); return nil }))
	if got := strings.Join(kinds, " "); !strings.Contains(got, "stage finding") || !strings.HasSuffix(got, "finished") {
		t.Errorf("the stream tells %s", got)
	}
	if j, err := setter.Job(ctx, receipt.JobID); err != nil || j.URL != receipt.URL || j.Package.Problem != "triple" || !j.Package.Activate || j.Result == nil {
		t.Errorf("job: %+v, %v", j, err)
	}

	refused := func(what string, err error, status int, reason string) {
		t.Helper()
		if p, ok := err.(*client.Problem); !ok || p.Status != status || p.Reason != reason { //nolint:errorlint // it is that or a mistake
			t.Errorf("%s: %v, want %d %s", what, err, status, reason)
		}
	}
	refused("a setter makes live what failed", setter.ActivateVersion(ctx, "triple", "sha256:aa11", false), 422, "not_proved")
	refused("a setter overrides", setter.ActivateVersion(ctx, "triple", "sha256:aa11", true), 403, "forbidden")
	refused("staff do not override", staff.ActivateVersion(ctx, "triple", "sha256:aa11", false), 422, "not_proved")
	refused("another version", staff.ActivateVersion(ctx, "triple", "sha256:bb", true), 404, "not_found")
	s.must(staff.ActivateVersion(ctx, "triple", "sha256:aa11", true))
	if p, err := s.store.Problem(ctx, "triple"); err != nil || p.Version != "sha256:aa11" {
		t.Errorf("live: %+v, %v", p, err)
	}
	_, err = setter.RollBackProblem(ctx, "triple")
	refused("nothing to go back to", err, 409, "no_earlier_version")
	s.must(s.store.KeepVersion(ctx, judge.Problem{Slug: "triple", Title: "Triple 2", Version: "sha256:bb22"}, "sue", 99))
	s.must(s.store.ProveVersion(ctx, "triple", "sha256:bb22", true, json.RawMessage(`{}`), 99))
	s.must(setter.ActivateVersion(ctx, "triple", "sha256:bb22", false))
	_, err = setter.RollBackProblem(ctx, "triple")
	refused("a setter rolls back to what failed", err, 409, "no_earlier_version")
	if v, err := staff.RollBackProblem(ctx, "triple"); err != nil || v != "sha256:aa11" {
		t.Errorf("staff roll back to %q, %v", v, err)
	}
	versions, err := setter.ProblemVersions(ctx, "triple")
	if err != nil || len(versions) != 2 || versions[0].Version != "sha256:bb22" || versions[0].Live || !versions[1].Live {
		t.Errorf("versions: %+v, %v", versions, err)
	}
	again, err := setter.VerifyVersion(ctx, "triple", "sha256:bb22")
	s.must(err)
	var p judge.PackagePayload
	job := s.claimJob(again.JobID)
	s.must(json.Unmarshal(job.Payload, &p))
	if job.Kind != judge.KindVerify || p.Version != "sha256:bb22" || p.Problem != "triple" || p.Activate {
		t.Errorf("another proof is a %s of %+v", job.Kind, p)
	}
}

func TestOnlySettersAndStaffSeePackages(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	carl := "Authorization: Bearer " + s.user("carl", "correct horse", judge.RoleContestant)
	s.must(s.store.KeepVersion(t.Context(), judge.Problem{Slug: "triple", Version: "sha256:aa11"}, "sue", 1))
	for _, who := range []string{carl, "X-Nobody: 1"} {
		for _, get := range []string{"/packages", "/packages/triple", "/api/v1/problems/triple/versions", "/api/v1/problems/triple/versions/sha256:aa11", "/api/v1/problems/triple/package?version=sha256:aa11", "/packages/triple/package"} {
			if r := s.do(http.MethodGet, get, "", who); r.status != http.StatusForbidden {
				t.Errorf("GET %s: %d", get, r.status)
			}
		}
		archive := pk + strings.Repeat("x", 1<<20)
		body, header := packageForm(t, "a.zip", archive)
		for _, post := range [][]string{
			{"/packages", body, header},
			{"/api/v1/problems", body, header},
			{"/api/v1/problems?problem=a", archive, asZIP},
			{"/api/v1/problems/triple/versions/sha256:aa11/activate", "{}", asJSON},
			{"/api/v1/problems/triple/versions/sha256:aa11/verify", "", asJSON},
			{"/api/v1/problems/triple/rollback", "", asJSON},
		} {
			if r := s.do(http.MethodPost, post[0], post[1], post[2], who); r.status != http.StatusForbidden {
				t.Errorf("POST %s: %d", post[0], r.status)
			}
		}
		if has, err := blobs.Has(t.Context(), blob.Of([]byte(archive))); err != nil || has {
			t.Errorf("a contestant filled the store: %t, %v", has, err)
		}
	}
}
