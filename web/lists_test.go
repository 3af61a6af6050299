package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// noLists are answers with lists in them that are no lists themselves: why.
var noLists = map[string]string{
	"GET /api/v1/submissions/batch": "whoever asks says which, and at most fifty",
	"GET /api/v1/invariants":        "the same few questions each time",
	"GET /api/v1/dlq/:id":           "one dead letter with its few attempts",
	"GET /api/v1/feed":              "as many slots as PostgreSQL allows, which are few",

	"GET /api/v1/rounds/:round/awards": "medals, the first of each problem and the few ranks that get something",
}

// listOf is the member of the answer of an operation that is a list; "" = none is.
func listOf(op operation) (name string) {
	members, _ := op.Out.(fiber.Map)
	for member, value := range members {
		if t := reflect.TypeOf(value); t != nil && t.Kind() == reflect.Slice && member != "matrix" {
			name = strings.TrimPrefix(member, "?")
		}
	}
	return name
}

func TestEveryListHasACursor(t *testing.T) {
	store, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, func(c *site.Config) { c.Blobs = store })
	token := "Authorization: Bearer " + s.user("root", "correct horse", judge.RoleAdmin)
	for i := range 3 {
		id := s.submitAs("root", "aplusb", "cpp", fmt.Sprint("int main() {} //", i))
		s.finish(id, judge.Result{Verdict: judge.WA})
		_, err := s.store.StartRejudge(t.Context(), sql.RejudgeRequest{JobIDs: []int64{id}, Reason: "why not", By: "root"})
		s.must(err)
		s.finish(id, judge.Result{Verdict: judge.AC})
	}
	for i := range 3 { // which wait, and were given up twice each
		id := s.submitAs("root", "stairs", "cpp", fmt.Sprint("int main() { return 1; } //", i))
		for range 2 {
			s.must(s.store.Bury(t.Context(), s.claim(id), judge.ReasonPayload, "schema_version 7"))
			_, err := s.store.Replay(t.Context(), id, "root")
			s.must(err)
		}
	}
	s.must(s.store.CreateSpace(t.Context(), judge.Space{Slug: "course", Title: "A course"}, "root"))
	for _, problem := range []string{"aplusb", "stairs"} {
		if r := s.do(http.MethodPost, "/api/v1/spaces/course/problems", `{"problem": "`+problem+`"}`, token, asJSON); r.status != http.StatusOK {
			t.Fatal(r.body)
		}
	}
	names := strings.NewReplacer(":space", "course", "/users/:name", "/users/root", "/rejudgings/:id", "/rejudgings/1", ":slug", "aplusb", ":version", "sha256:00", ":id", "1")
	least := map[string]int{"/api/v1/queue": 3, "/api/v1/dlq": 6} // whose cursors are places
	walked, longest := 0, 0
	for _, op := range operations(s.server.addresses()) {
		list := listOf(op)
		if op.Method() != http.MethodGet || list == "" || noLists[op.Route] != "" {
			continue
		}
		members, _ := op.Out.(fiber.Map)
		query := strings.Fields(op.Query)
		cursor := "before"
		if slices.Contains(query, "after") {
			cursor = "after"
		}
		_, there := members["next"]
		if _, perhaps := members["?next"]; !there && !perhaps || !slices.Contains(query, "limit") || !slices.Contains(query, cursor) {
			t.Errorf("%s lists %s without next, limit or a cursor", op.Route, list)
			continue
		}
		page := func(q url.Values) (rows []any, next any, ok bool) {
			t.Helper()
			switch op.Path() {
			case "/api/v1/queue":
				q.Set("group", "root") // without, it is figures
			case "/api/v1/dlq":
				q.Set("all", "true")
			}
			r := s.do(http.MethodGet, names.Replace(op.Path())+"?"+q.Encode(), "", token)
			var answer map[string]any
			s.must(json.Unmarshal([]byte(r.body), &answer))
			rows, _ = answer[list].([]any)
			for _, row := range rows {
				if m, _ := row.(map[string]any); m != nil {
					delete(m, "now") // of a space
				}
			}
			return rows, answer["next"], r.status == http.StatusOK
		}
		whole, next, ok := page(url.Values{"limit": {"200"}})
		if !ok {
			continue // there is none of what it is about
		}
		if next != nil {
			t.Errorf("%s: there is a page behind the last one", op.Route)
		}
		if len(whole) < least[op.Path()] {
			t.Errorf("%s has %d rows, want at least %d to walk through", op.Route, len(whole), least[op.Path()])
		}
		var all []any
		for q := (url.Values{"limit": {"1"}}); len(all) <= len(whole); {
			rows, next, ok := page(q)
			if len(rows) > 1 || !ok {
				t.Errorf("%s: a page of one has %d rows", op.Route, len(rows))
			}
			all = append(all, rows...)
			if next == nil {
				break
			}
			text, _ := next.(string)
			if n, number := next.(float64); number {
				text = fmt.Sprintf("%.0f", n)
			}
			q.Set(cursor, text)
		}
		if walked, longest = walked+1, max(longest, len(whole)); !reflect.DeepEqual(all, whole) && len(all)+len(whole) > 0 {
			t.Errorf("%s page by page gives %d rows of %d", op.Route, len(all), len(whole))
		}
	}
	var first, then, whole struct {
		Waiting []struct {
			JobID int64 `json:"job_id"`
		}
		Next string
	}
	waits := func(query string, into any) {
		s.must(json.Unmarshal([]byte(s.do(http.MethodGet, "/api/v1/queue?group=root"+query, "", token).body), into))
	}
	waits("", &whole)
	waits("&limit=1", &first)
	s.claim(first.Waiting[0].JobID) // so that it waits no more
	waits("&limit=1&after="+first.Next, &then)
	if len(then.Waiting) != 1 || then.Waiting[0] != whole.Waiting[1] {
		t.Errorf("behind %s, which is gone, comes %+v; all are %+v", first.Next, then.Waiting, whole.Waiting)
	}
	for _, wrong := range []string{"queue?group=root&after=7", "queue?group=root&after=1.2.3.4.x", "dlq?before=x", "dlq?before=1.2.3", "dlq?before=-1"} {
		if r := s.do(http.MethodGet, "/api/v1/"+wrong, "", token); r.status != http.StatusUnprocessableEntity {
			t.Errorf("%s is answered with %d: %s", wrong, r.status, r.body)
		}
	}
	if walked < 18 || longest < 3 {
		t.Errorf("only %d lists were read, the longest of %d rows", walked, longest)
	}
}
