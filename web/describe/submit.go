//go:build ignore

// Command submit hands a program in, waits for its verdict and prints it, with a client that is generated from the
// description of the API by a stranger's generator, with no more said than the name of the package. It is built with
// that client: see web/web.mk.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"
)

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: submit ADDRESS KEY PROBLEM LANGUAGE SOURCE")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := submit(ctx, os.Args[1], os.Args[2], PostSubmissionsRequest{Problem: os.Args[3], Language: os.Args[4], Source: &os.Args[5]}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func submit(ctx context.Context, address, key string, program PostSubmissionsRequest) error {
	api, err := NewClientWithResponses(address, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
	if err != nil {
		return err
	}
	once := uuid.NewString()
	made, err := api.PostSubmissionsWithResponse(ctx, &PostSubmissionsParams{IdempotencyKey: &once}, program)
	if err != nil {
		return err
	}
	if made.JSON201 == nil {
		return refused(made.ApplicationproblemJSON4XX, made.Status())
	}
	for wait := 20.0; ; {
		asked, err := api.GetSubmissionWithResponse(ctx, made.JSON201.JobId, &GetSubmissionParams{Wait: &wait})
		if err != nil {
			return err
		}
		if asked.JSON200 == nil {
			return refused(asked.ApplicationproblemJSON4XX, asked.Status())
		}
		switch s := asked.JSON200; s.Status {
		case "FINISHED", "CANCELLED", "DEAD":
			verdict, tests := "-", 0
			if s.Result != nil {
				verdict = s.Result.Verdict
				if s.Result.Tests != nil {
					tests = len(*s.Result.Tests)
				}
			}
			fmt.Println(s.JobId, s.Status, verdict, tests)
			return nil
		}
	}
}

func refused(refusal *Refused, status string) error {
	if refusal == nil {
		return fmt.Errorf("%s", status)
	}
	field := ""
	if refusal.Field != nil {
		field = *refusal.Field
	}
	return fmt.Errorf("%d %s: %s %s", refusal.Status, refusal.Reason, field, refusal.Detail)
}
