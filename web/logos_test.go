package web

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"strings"
	"testing"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
)

// TestLogosOfOrganizations has staff keep some, by the page and by the API, and programs read them.
func TestLogosOfOrganizations(t *testing.T) {
	s := newStage(t)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	prof, ann, _, _ := s.cup()
	prof.ask("POST", "/api/v1/spaces/cup/organizations", `{"organizations": [{"code": "tu", "name": "TU Delft"}, {"code": "secret", "name": "Secret"}]}`, 200)
	prof.ask("POST", "/api/v1/spaces/cup/participants", `{"participants": [{"code": "red", "name": "Red", "organization": "tu", "members": [{"user": "ann"}]}]}`, 200)
	var picture bytes.Buffer
	s.must(png.Encode(&picture, image.NewGray(image.Rect(0, 0, 56, 56))))
	form := func(code string, data []byte) reply {
		t.Helper()
		cookie := "Cookie: " + peopleroom.SessionCookie + "=" + prof.token
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		s.must(w.WriteField("csrf", s.csrf(cookie)))
		s.must(w.WriteField("code", code))
		f, err := w.CreateFormFile("logo", "x.png")
		s.must(err)
		_, err = f.Write(data)
		s.must(err)
		s.must(w.Close())
		return prof.do("POST", "/spaces/cup/logos", body.String(), "Content-Type: "+w.FormDataContentType(), cookie, "Accept: text/html")
	}
	for code, data := range map[string][]byte{"tu": []byte("hello"), "nobody": picture.Bytes(), "t u": picture.Bytes()} {
		if r := form(code, data); r.status != 422 || !strings.Contains(r.body, `id="fault"`) {
			t.Errorf("%s, %d bytes: %d", code, len(data), r.status)
		}
	}
	if r := form("tu", picture.Bytes()); r.status != 303 {
		t.Fatalf("a logo by the page: %d %s", r.status, r.body)
	}
	post := func(code, data string) reply {
		return prof.do("POST", "/api/v1/spaces/cup/organizations/"+code+"/logos", data, "Authorization: Bearer "+prof.token, "Content-Type: image/svg+xml")
	}
	const evil = `<svg width="160" height="160" xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	for _, code := range []string{"tu", "secret"} {
		if r := post(code, evil); r.status != 200 || !strings.Contains(r.body, `"logo.160x160.svg"`) {
			t.Errorf("a logo by the API: %d %s", r.status, r.body)
		}
	}
	for n, size := range []string{"1", "2", "3"} {
		want := 200
		if n == 2 {
			want = 422 // there are two and two
		}
		if r := post("tu", `<svg width="`+size+`" height="1"/>`); r.status != want {
			t.Errorf("logo %d: %d %s", n+3, r.status, r.body)
		}
	}
	s.record()
	told := ann.reads("/clics/2026-01/contests/final/organizations", 200).body
	if !strings.Contains(told, `"href":"contests/final/organizations/tu/logo.56x56.png","filename":"logo.56x56.png","hash":"`) || !strings.Contains(told, `"width":160,"height":160`) || strings.Contains(told, "secret") {
		t.Errorf("the organizations are %s", told)
	}
	const at = "/clics/2026-01/contests/final/organizations/"
	if r := ann.reads(at+"tu/logo.56x56.png", 200); r.body != picture.String() || r.header.Get("Content-Type") != "image/png" {
		t.Errorf("the picture is %d bytes of %s", len(r.body), r.header.Get("Content-Type"))
	}
	if r := ann.reads(at+"tu/logo.160x160.svg", 200); !strings.Contains(r.header.Get("Content-Security-Policy"), "sandbox") || r.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a browser may run what is in a logo: %v", r.header)
	}
	// Nobody of it takes part, so nobody is told of it.
	for _, name := range []string{"secret/logo.160x160.svg", "tu/logo.1x1.png", "nobody/logo.56x56.png"} {
		if r := ann.reads(at+name, 404); r.status != 404 {
			t.Errorf("%s: %d", name, r.status)
		}
	}
	prof.ask("DELETE", "/api/v1/spaces/cup/organizations/tu/logos", "", 204)
	prof.ask("DELETE", "/api/v1/spaces/cup/organizations/tu/logos", "", 404)
	s.record()
	if told = ann.reads("/clics/2026-01/contests/final/organizations", 200).body; strings.Contains(told, "logo") {
		t.Errorf("after they were removed: %s", told)
	}
}
