package web

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
)

// wrongHeaders says what of the header fields of a request that was taken, and of its answer, is not as it is described.
func wrongHeaders(op map[string]any, asked http.Header, resp *http.Response) (wrong []string) {
	list, _ := op["parameters"].([]any)
	for name := range sent {
		described := slices.ContainsFunc(list, func(p any) bool { return dig(p, "in") == "header" && dig(p, "name") == name })
		if asked.Get(name) != "" && !described {
			wrong = append(wrong, "the header "+name+" that is sent is not in the description")
		}
	}
	described, _ := dig(op, "responses", fmt.Sprint(resp.StatusCode), "headers").(map[string]any)
	for name := range given {
		if resp.Header.Get(name) != "" && described[name] == nil {
			wrong = append(wrong, fmt.Sprintf("the header %s of the answer %d is not in the description", name, resp.StatusCode))
		}
		if (name == "Location" || name == "ETag") && described[name] != nil && resp.Header.Get(name) == "" {
			wrong = append(wrong, "the header "+name+" of the description is missing")
		}
	}
	return wrong
}

// eachOperation calls fn for every operation of a description, webhooks too.
func eachOperation(document map[string]any, fn func(name string, op map[string]any)) {
	for _, list := range []string{"paths", "webhooks"} {
		items, _ := document[list].(map[string]any)
		for address, item := range items {
			methods, _ := item.(map[string]any)
			for method, op := range methods {
				op, _ := op.(map[string]any)
				fn(strings.ToUpper(method)+" "+address, op)
			}
		}
	}
}

// rulesBroken says what of a description strangers' tools would stumble over, as far as redocly does not say it.
func rulesBroken(document map[string]any) (broken []string) {
	say := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	if servers, _ := document["servers"].([]any); len(servers) == 0 {
		say("there is no server")
	}
	components, _ := document["components"].(map[string]any)
	kinds := map[string]string{} // generators make one type of each, whatever kind of component it is
	for kind, list := range components {
		members, _ := list.(map[string]any)
		for name := range members {
			if other, taken := kinds[strings.ToLower(name)]; taken && kind != "securitySchemes" && other != "securitySchemes" {
				say("%s is in %s and in %s", name, kind, other)
			}
			kinds[strings.ToLower(name)] = kind
		}
	}
	seen := map[any]string{}
	eachOperation(document, func(name string, op map[string]any) {
		if other := seen[op["operationId"]]; op["operationId"] == nil || other != "" {
			say("%s is called %v, as %s is", name, op["operationId"], other)
		}
		seen[op["operationId"]] = name
		if op["security"] == nil {
			say("%s says nothing of security", name)
		}
		if dig(op, "responses", "4XX") == nil {
			say("%s is never refused", name)
		}
		list, _ := op["parameters"].([]any)
		for _, p := range list {
			if dig(p, "in") == "path" && regexp.MustCompile(`(^|_)id$`).MatchString(fmt.Sprint(dig(p, "name"))) &&
				dig(p, "schema", "type") != "integer" && !strings.Contains(name, "/languages/") {
				say("%s: %v is no number", name, dig(p, "name"))
			}
		}
	})
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case []any:
			for i, item := range v {
				walk(item, fmt.Sprintf("%s/%d", at, i))
			}
		case map[string]any:
			kinds, _ := v["type"].([]any)
			whole, broken := v["type"] == "integer" || slices.Contains(kinds, any("integer")), v["type"] == "number" || slices.Contains(kinds, any("number"))
			if format := v["format"]; whole && format != "int64" && format != "int32" || broken && format != "double" {
				say("%s is a number of format %v", at, format)
			}
			for name, member := range v {
				if name != "properties" || v["type"] != nil { // a property may be called type
					walk(member, at+"/"+name)
				}
			}
		}
	}
	walk(document, "")
	return broken
}

func TestTheDescriptionStumblesNobody(t *testing.T) {
	t.Parallel()
	document, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range rulesBroken(document) {
		t.Error(wrong)
	}
	wrong := map[string]any{
		"components": map[string]any{"schemas": map[string]any{"Problem": map[string]any{"type": "integer"}}, "responses": map[string]any{"problem": nil}},
		"paths": map[string]any{"/jobs/{id}": map[string]any{"get": map[string]any{
			"parameters": []any{map[string]any{"name": "id", "in": "path", "schema": map[string]any{"type": "string"}}},
			"responses":  map[string]any{"200": map[string]any{"schema": map[string]any{"type": []any{"number", "null"}}}},
		}}},
	}
	if found := rulesBroken(wrong); len(found) != 8 {
		t.Errorf("a description with eight faults has %d: %s", len(found), strings.Join(found, "; "))
	}
}

// made is a program that `make test` makes of the description, or ends the test.
func made(t *testing.T, file string) string {
	t.Helper()
	file = path.Join("..", file)
	if _, err := os.Stat(file); err != nil {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatalf("%v: `make test` makes it", err)
		}
		t.Skipf("%v: `make test` makes it", err)
	}
	return file
}

// judged gives the newest submission of somebody a result as soon as it is there.
func (s *stage) judged(ctx context.Context, author string, r judge.Result) error {
	for ctx.Err() == nil {
		found, err := s.store.Submissions(ctx, sql.Filter{Author: author, Limit: 1})
		if err != nil {
			return err
		}
		if len(found) == 1 {
			s.finish(found[0].JobID, r)
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return ctx.Err()
}

func TestClientsOfStrangersGeneratorsSubmitAndWait(t *testing.T) {
	s := newStage(t)
	for author, command := range map[string][]string{
		"gopher": {made(t, ".build/client/submit")},
		"typist": {"node", made(t, "web/describe/generated/submit.mjs")},
	} {
		t.Run(author, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			token := s.user(author, "correct horse", judge.RoleContestant)
			run := func(problem string) (string, error) {
				args := append(slices.Clone(command[1:]), s.url, token, problem, "cpp", "int main() {}")
				out, err := exec.CommandContext(ctx, command[0], args...).CombinedOutput()
				return strings.TrimSpace(string(out)), err
			}
			done := make(chan error, 1)
			go func() {
				done <- s.judged(ctx, author, judge.Result{Verdict: judge.WA, Tests: []judge.TestResult{{Index: 1, Name: "secret/1", Verdict: judge.WA}}})
			}()
			said, err := run("aplusb")
			if err != nil || !regexp.MustCompile(`^\d+ FINISHED WA 1$`).MatchString(said) {
				t.Errorf("a submission: %q, %v", said, err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			if said, err := run("nosuch"); err == nil || !strings.Contains(said, "422 unknown: problem") {
				t.Errorf("a refusal: %q, %v", said, err)
			}
		})
	}
}
