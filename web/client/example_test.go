package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// serve answers as a server does whose only submission is judged at once.
func serve() *httptest.Server {
	mux := http.NewServeMux()
	answer := func(pattern, media string, status int, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
	}
	answer("POST /api/v1/submissions", "application/json", 201, `{"job_id": 7, "url": "/submissions/7", "existing": false}`)
	answer("GET /api/v1/submissions/7", "application/json", 200, `{"job_id": 7, "status": "FINISHED", "result": {"verdict": "AC"}}`)
	answer("GET /api/v1/submissions/7/events", "text/event-stream", 200,
		"id: 1\nevent: queued\ndata: {\"id\": 1, \"kind\": \"queued\"}\n\nid: 2\nevent: finished\ndata: {\"id\": 2, \"kind\": \"finished\"}\n\nevent: end\ndata: {}\n\n")
	answer("GET /api/v1/problems/nothing", "application/problem+json", 404,
		`{"title": "Not Found", "detail": "There is no such problem.", "field": "problem", "reason": "unknown", "remedy": "Look at /problems."}`)
	return httptest.NewServer(mux)
}

func Example() {
	server := serve()
	defer server.Close()
	ctx := context.Background()
	c, err := client.New(server.URL, client.WithToken("the secret of a key"))
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := c.Submit(ctx, client.NewSubmission{
		Problem: "aplusb", Language: "python", Sources: []judge.Source{{Name: "sum.py", Text: "print(sum(map(int, input().split())))\n"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	done, err := c.Wait(ctx, receipt.JobID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(done.Status, done.Result.Verdict)
	// Output: FINISHED AC
}

func ExampleClient_Events() {
	server := serve()
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = c.Events(context.Background(), 7, 0, func(e judge.Event) error {
		fmt.Println(e.ID, e.Kind)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 queued
	// 2 finished
}

// A refusal says which field is wrong and how to mend it.
func ExampleProblem() {
	server := serve()
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.GetProblem(context.Background(), "nothing", client.GetProblemParams{})
	if refused, ok := errors.AsType[*client.Problem](err); ok {
		fmt.Println(refused.Status, refused.Field, refused.Reason)
		fmt.Println(refused.Remedy)
	}
	// Output:
	// 404 problem unknown
	// Look at /problems.
}
