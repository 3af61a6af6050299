package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"deepoj/host/judge"
)

// wasm is the shortest module.
const wasm = "\x00asm\x01\x00\x00\x00"

func file(name, data string) judge.PluginFile {
	return judge.PluginFile{Name: name, Data: []byte(data)}
}

// form writes a multipart form, and the header that goes with it.
func form(t *testing.T, fields map[string]string, files ...judge.PluginFile) (body, header string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		part, err := w.CreateFormFile("files", f.Name)
		if err == nil {
			_, err = part.Write(f.Data)
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

// setter adds the account of a setter and returns the header that acts for it.
func (s *stage) setter() string {
	s.Helper()
	token := s.user("sue", "correct horse", judge.RoleSetter)
	s.own("sue", "aplusb", "stairs")
	return "Authorization: Bearer " + token
}

// own gives problems to somebody.
func (s *stage) own(name string, slugs ...string) {
	s.Helper()
	for _, slug := range slugs {
		s.must(s.store.SetProblemOwner(s.Context(), slug, name, "test"))
	}
}

// payload returns what a job carries, as a worker gets it.
func (s *stage) payload(jobID int64) (p judge.PluginPayload) {
	s.Helper()
	job := s.claimJob(jobID)
	s.must(json.Unmarshal(job.Payload, &p))
	return p
}

func TestAnUploadThatIsWrongIsRefusedWithTheNameOfTheField(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	source := file("pair.c", "int main(void) { return 0; }\n")
	many := make([]judge.PluginFile, 65)
	for i := range many {
		many[i] = file(fmt.Sprintf("a%d.c", i), "x")
	}
	named := map[string]string{"name": "org.example.pair", "version": "1.0.0"}
	with := func(changes ...string) map[string]string {
		fields := map[string]string{"name": "org.example.pair", "version": "1.0.0"}
		for i := 0; i < len(changes); i += 2 {
			fields[changes[i]] = changes[i+1]
		}
		return fields
	}
	tests := map[string]struct {
		fields        map[string]string
		files         []judge.PluginFile
		status        int
		field, reason string
	}{
		"no file":                          {named, nil, 422, "files", "empty"},
		"a text that calls itself .wasm":   {named, []judge.PluginFile{file("a.wasm", "int main;")}, 422, "files", "invalid"},
		"a module and a source":            {named, []judge.PluginFile{file("a.wasm", wasm), source}, 422, "files", "mixed"},
		"two modules":                      {named, []judge.PluginFile{file("a.wasm", wasm), file("b.wasm", wasm)}, 422, "files", "mixed"},
		"a module of more than 16 MiB":     {named, []judge.PluginFile{file("a.wasm", wasm+strings.Repeat("x", 16<<20))}, 413, "files", "too_long"},
		"sources of more than 4 MiB":       {named, []judge.PluginFile{source, file("big.h", strings.Repeat("/", 4<<20))}, 413, "files", "too_long"},
		"65 files":                         {named, many, 422, "files", "too_many"},
		"headers alone":                    {named, []judge.PluginFile{file("testlib.h", "x")}, 422, "files", "no_source"},
		"sources of two languages":         {named, []judge.PluginFile{source, file("b.go", "package main")}, 422, "files", "mixed"},
		"a source that is empty":           {named, []judge.PluginFile{file("a.cpp", " \n")}, 422, "files", "empty"},
		"a compiled program as a source":   {named, []judge.PluginFile{file("a.c", "\x7fELF\x00")}, 422, "files", "nul_byte"},
		"two files of one name":            {named, []judge.PluginFile{source, source}, 422, "files.name", "duplicate"},
		"a file name that hides":           {named, []judge.PluginFile{file(".pair.c", "x")}, 422, "files.name", "invalid"},
		"a file name that is an option":    {named, []judge.PluginFile{file("-pair.c", "x")}, 422, "files.name", "invalid"},
		"a file name with markup":          {named, []judge.PluginFile{file("<script>.c", "x")}, 422, "files.name", "invalid"},
		"sources without a name":           {with("name", ""), []judge.PluginFile{source}, 422, "name", "missing"},
		"sources without a version":        {with("version", ""), []judge.PluginFile{source}, 422, "version", "missing"},
		"a name with a slash":              {with("name", "a/b"), []judge.PluginFile{source}, 422, "name", "invalid"},
		"a long version":                   {with("version", strings.Repeat("1", 51)), []judge.PluginFile{source}, 422, "version", "invalid"},
		"a kind that does not exist":       {with("kind", "teacher"), []judge.PluginFile{source}, 422, "kind", "unknown"},
		"a protocol that does not exist":   {with("protocol", "testlib/2"), []judge.PluginFile{source}, 422, "protocol", "unknown"},
		"a protocol of another kind":       {with("kind", "toolchain", "protocol", "testlib/1"), []judge.PluginFile{source}, 422, "protocol", "unknown"},
		"a problem that does not exist":    {with("problem", "nosuch"), []judge.PluginFile{source}, 422, "problem", "unknown"},
		"a field that does not exist":      {with("checker", "x"), []judge.PluginFile{source}, 422, "checker", "unknown"},
		"a key of control characters":      {with("key", "a\x01"), []judge.PluginFile{source}, 422, "key", "invalid"},
		"a module in a field of its own":   {with("files", wasm), nil, 422, "files", "unknown"},
		"a name that is wrong in a module": {with("name", "-"), []judge.PluginFile{file("a.wasm", wasm)}, 422, "name", "invalid"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			body, header := form(t, tt.fields, tt.files...)
			f := document(t, s.do(http.MethodPost, "/api/v1/plugins", body, header, sue))
			if f.Status != tt.status || f.Field != tt.field || f.Reason != tt.reason {
				t.Errorf("got %d %s %s (%s), want %d %s %s", f.Status, f.Field, f.Reason, f.Detail, tt.status, tt.field, tt.reason)
			}
		})
	}
	for name, tt := range map[string]struct {
		body, header string
		status       int
		reason       string
	}{
		"JSON":          {"{}", asJSON, 415, "not_upload"},
		"no type":       {"x", "X-Nothing: 1", 415, "not_upload"},
		"a cut form":    {"--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.c\"\r\n\r\nx", "Content-Type: multipart/form-data; boundary=b", 400, "invalid"},
		"an empty form": {"--b--\r\n", "Content-Type: multipart/form-data; boundary=b", 422, "missing"},
	} {
		if f := document(t, s.do(http.MethodPost, "/api/v1/plugins", tt.body, tt.header, sue)); f.Status != tt.status || f.Reason != tt.reason {
			t.Errorf("%s: got %d %s, want %d %s", name, f.Status, f.Reason, tt.status, tt.reason)
		}
	}
	if jobs, err := s.store.Jobs(t.Context(), []judge.Kind{judge.KindPluginBuild, judge.KindPluginTest}, 0, 10); err != nil || len(jobs) > 0 {
		t.Errorf("a wrong upload was stored: %+v, %v", jobs, err)
	}
}

func TestAnUploadBecomesAJobThatCarriesItsFiles(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	body, header := form(t, map[string]string{"name": "org.example.pair", "version": "1.0.0", "problem": "aplusb"},
		file("pair.cpp", "int main() {}\r\n"), file("testlib.h", "// Latin-1: \xe9\n"))
	r := s.do(http.MethodPost, "/api/v1/plugins", body, header, sue)
	if r.status != http.StatusAccepted || !strings.Contains(r.body, `"url":"/checkers/jobs/1"`) || r.header.Get("Location") != "/api/v1/jobs/1" {
		t.Fatalf("upload: %d %s", r.status, r.body)
	}
	p := s.payload(1)
	if p.SchemaVersion != 1 || p.ContentType != judge.PluginType || p.Op != judge.PluginUpload || p.By != "sue" || p.Kind != "checker" ||
		p.Name != "org.example.pair" || p.Version != "1.0.0" || p.Protocol != "testlib/1" || p.Problem != "aplusb" || len(p.Files) != 2 ||
		p.Files[0].Name != "pair.cpp" || string(p.Files[0].Data) != "int main() {}\r\n" || string(p.Files[1].Data) != "// Latin-1: \xe9\n" {
		t.Errorf("the job carries %+v", p)
	}
	job, err := s.store.Job(t.Context(), 1)
	if err != nil || job.Kind != judge.KindPluginBuild || job.Author != "sue" {
		t.Errorf("job: %+v, %v", job, err)
	}
	r = s.do(http.MethodPost, "/api/v1/plugins?kind=interactor&name=org.example.talk&version=2&protocol=icpc/1", wasm, "Content-Type: application/wasm", sue)
	if r.status != http.StatusAccepted {
		t.Fatalf("upload of a module: %d %s", r.status, r.body)
	}
	if p := s.payload(2); p.Kind != "interactor" || p.Name != "org.example.talk" || p.Protocol != "icpc/1" || len(p.Files) != 1 || string(p.Files[0].Data) != wasm {
		t.Errorf("the job carries %+v", p)
	}
	if job, err := s.store.Job(t.Context(), 2); err != nil || job.Kind != judge.KindPluginTest {
		t.Errorf("a module's job: %+v, %v", job, err)
	}
	if f := document(t, s.do(http.MethodPost, "/api/v1/plugins?title=x", wasm, "Content-Type: application/wasm", sue)); f.Field != "title" {
		t.Errorf("an unknown parameter: %d %s", f.Status, f.Field)
	}
}

func TestOnlyUploadsOfSettersMayBeLarge(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	ann := "Authorization: Bearer " + s.user("ann", "correct horse", judge.RoleContestant)
	cookie := s.login("sue", "correct horse")
	large, refused := wasm+strings.Repeat("x", 15<<20), wasm+strings.Repeat("x", 5<<20)
	const module = "Content-Type: application/wasm"
	for name, tt := range map[string]struct {
		path, body string
		headers    []string
		status     int
	}{
		"a module of 15 MiB":                  {"/api/v1/plugins", large, []string{module, sue}, 202},
		"with a slash and parameters":         {"/api/v1/plugins/?name=a", large, []string{module, sue}, 202},
		"with a cookie":                       {"/api/v1/plugins", large, []string{module, cookie, "X-CSRF-Token: " + s.csrf(cookie)}, 202},
		"more than any module may have":       {"/api/v1/plugins", wasm + strings.Repeat("x", 25<<20), []string{module, sue}, 413},
		"of a contestant":                     {"/api/v1/plugins", refused, []string{module, ann}, 413},
		"of the guest":                        {"/api/v1/plugins", refused, []string{module}, 413},
		"of somebody with an invented token":  {"/api/v1/plugins", refused, []string{module, "Authorization: Bearer x"}, 413},
		"of a small body of a contestant":     {"/api/v1/plugins", wasm, []string{module, ann}, 403},
		"to an address that takes no uploads": {"/api/v1/plugins/rollback", refused, []string{module, sue}, 413},
		"to the submissions":                  {"/api/v1/submissions", refused, []string{asJSON, sue}, 413},
	} {
		t.Run(name, func(t *testing.T) {
			if r := s.do(http.MethodPost, tt.path, tt.body, tt.headers...); r.status != tt.status {
				t.Errorf("status %d, want %d: %.300s", r.status, tt.status, r.body)
			} else if r.status >= 400 {
				document(t, r)
			}
		})
	}
}

// TestALargeUploadDoesNotWidenItsConnection sends a second request over the
// connection of a large upload.
func TestALargeUploadDoesNotWidenItsConnection(t *testing.T) {
	s := newStage(t)
	sue := s.setter()
	send := func(path, kind string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, strings.NewReader(wasm+strings.Repeat("x", 8<<20)))
		s.must(err)
		req.Header.Set("Content-Type", kind)
		name, value, _ := strings.Cut(sue, ": ")
		req.Header.Set(name, value)
		resp, err := http.DefaultClient.Do(req)
		s.must(err)
		defer resp.Body.Close()
		if _, err := new(bytes.Buffer).ReadFrom(resp.Body); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	if status := send("/api/v1/plugins", "application/wasm"); status != http.StatusAccepted {
		t.Fatalf("a large upload: %d", status)
	}
	if status := send("/api/v1/submissions", "application/json"); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large submission after it: %d", status)
	}
}

func TestAnUploadThatIsSentTwiceIsStoredOnce(t *testing.T) {
	s := newStage(t)
	s.setter()
	cookie := s.login("sue", "correct horse")
	fields := map[string]string{"name": "org.example.pair", "version": "1", "key": "k1", "csrf": s.csrf(cookie)}
	body, header := form(t, fields, file("pair.c", "int main(void) { return 0; }\n"))
	first := s.do(http.MethodPost, "/checkers", body, header, cookie)
	second := s.do(http.MethodPost, "/checkers", body, header, cookie)
	if first.status != http.StatusSeeOther || first.header.Get("Location") != "/checkers/jobs/1" || second.header.Get("Location") != "/checkers/jobs/1" {
		t.Errorf("first %d to %q, second %d to %q", first.status, first.header.Get("Location"), second.status, second.header.Get("Location"))
	}
	other, header := form(t, fields, file("pair.c", "int main(void) { return 1; }\n"))
	again := s.do(http.MethodPost, "/checkers", other, header, cookie)
	if again.status != http.StatusUnprocessableEntity || !strings.Contains(again.body, "Not uploaded") {
		t.Errorf("another upload under the same key: %d", again.status)
	}
	delete(fields, "csrf")
	body, header = form(t, fields, file("pair.c", "int main(void) { return 0; }\n"))
	if r := s.do(http.MethodPost, "/checkers", body, header, cookie); r.status != http.StatusForbidden {
		t.Errorf("without a CSRF token: %d", r.status)
	}
	if jobs, err := s.store.Jobs(t.Context(), []judge.Kind{judge.KindPluginBuild, judge.KindPluginTest}, 0, 10); err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

func TestARefusedUploadFormKeepsWhatWasTyped(t *testing.T) {
	s := newStage(t)
	s.setter()
	cookie := s.login("sue", "correct horse")
	body, header := form(t, map[string]string{
		"kind": "interactor", "name": `"><script>alert(1)</script>`, "version": "1.2.3", "protocol": "icpc/1", "problem": "stairs", "key": "k1", "csrf": s.csrf(cookie),
	}, file("<script>alert(2)</script>.c", "x"))
	r := s.do(http.MethodPost, "/checkers", body, header, cookie)
	if r.status != http.StatusUnprocessableEntity {
		t.Fatalf("status %d", r.status)
	}
	for _, want := range []string{
		"Not uploaded", `value="1.2.3"`, `value="interactor" selected`, `value="icpc/1" selected`, `value="stairs" selected`, `aria-invalid="true"`, "is not a plain file name",
	} {
		if !strings.Contains(r.body, want) {
			t.Errorf("the form lacks %s", want)
		}
	}
	if strings.Contains(r.body, "<script>alert") || strings.Contains(r.body, `value="k1"`) {
		t.Error("the form has markup that people wrote, or the key of the refused upload")
	}
}
