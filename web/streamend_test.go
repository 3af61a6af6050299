package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/client"
	"deepoj/web/site"
)

// TestAnOpenStreamEndsWithWhatLetItsReaderIn opens every kind of stream in every way
// in which somebody may be known, and takes that way away.
func TestAnOpenStreamEndsWithWhatLetItsReaderIn(t *testing.T) {
	s := newStage(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // only a hang takes so long
	defer cancel()
	root := s.admin()
	type reader struct {
		name, token string
		end         func()
	}
	var readers []reader
	add := func(name, role string, key bool, end func(name, token string)) {
		t.Helper()
		s.must(s.store.CreateUser(ctx, sql.NewUser{Name: name, PasswordHash: "x", Role: judge.Role(role)}))
		token := s.session(name)
		if key {
			token = s.keyOf(name, judge.ScopeSubmit)
		}
		readers = append(readers, reader{name, token, func() { end(name, token) }})
	}
	disable := func(name, _ string) { s.must(root.DisableUser(ctx, name, true)) }
	add("disabled", "contestant", false, disable)
	add("disabled-with-a-key", "contestant", true, disable)
	add("logged-out", "contestant", false, func(_, token string) { s.must(s.store.DeleteSession(ctx, people.HashToken(token))) })
	add("reset", "contestant", false, func(name, _ string) { s.must(s.store.ResetPassword(ctx, name, "y", "root")) })
	add("revoked", "contestant", true, func(name, _ string) {
		keys, err := s.store.Keys(ctx, name, 0, 10)
		s.must(err)
		s.must(root.DeleteUserKey(ctx, name, keys[0].ID))
	})
	add("demoted", "staff", false, func(name, _ string) { s.must(root.SetRole(ctx, name, "contestant")) })
	add("untouched", "contestant", false, func(string, string) {})
	add("untouched-with-a-key", "contestant", true, func(string, string) {})

	type opened struct {
		reader reader
		what   string
		ended  chan struct{}
		seen   *bufio.Reader
	}
	var all []opened
	var waiting []chan reply
	program := client.NewSubmission{Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "a.cpp", Text: "x"}}}
	for _, r := range readers {
		c := s.as(r.token)
		sub, err := c.Submit(ctx, program)
		s.must(err)
		ran := s.do(http.MethodPost, "/api/v1/runs", `{"language": "cpp", "source": "x"}`, asJSON, "Authorization: Bearer "+r.token)
		_, run, _ := strings.Cut(ran.body, `"job_id":`)
		run, _, _ = strings.Cut(run, ",")
		for _, path := range []string{
			site.SubmissionURL(sub.JobID) + "/events", fmt.Sprintf("/api/v1/submissions/%d/events", sub.JobID), "/runs/" + run + "/events", "/api/v1/runs/" + run + "/events",
		} {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
			s.must(err)
			req.Header.Set("Authorization", "Bearer "+r.token)
			resp, err := http.DefaultClient.Do(req)
			s.must(err)
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%s as %s: %d", path, r.name, resp.StatusCode)
			}
			o := opened{r, r.name + " at " + path, make(chan struct{}), bufio.NewReader(resp.Body)}
			next(t, o.seen, "submitted")
			go func() {
				defer close(o.ended)
				_, _ = io.Copy(io.Discard, o.seen)
			}()
			all = append(all, o)
		}
		if !strings.HasPrefix(r.name, "untouched") {
			answer := make(chan reply, 1)
			go func() {
				answer <- s.do(http.MethodGet, fmt.Sprintf("/api/v1/submissions/%d?wait=6", sub.JobID), "", "Authorization: Bearer "+r.token)
			}()
			waiting = append(waiting, answer)
		}
	}
	s.eventually("all who wait do so", func() bool {
		return s.server.job.OpenStreams() == len(all)+len(waiting)
	})
	for _, r := range readers {
		r.end()
	}
	for _, o := range all {
		if strings.HasPrefix(o.reader.name, "untouched") {
			continue
		}
		select {
		case <-o.ended:
		case <-ctx.Done():
			t.Fatalf("the stream of %s goes on", o.what)
		}
	}
	for _, answer := range waiting {
		if r := <-answer; r.status != http.StatusUnauthorized {
			t.Errorf("whoever waited for an answer and may not have it any more got %d %s", r.status, r.body)
		}
	}
	for _, o := range all {
		if strings.HasPrefix(o.reader.name, "untouched") {
			select {
			case <-o.ended:
				t.Errorf("the stream of %s ended", o.what)
			default:
			}
		}
	}
}
