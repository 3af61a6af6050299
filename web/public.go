package web

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"deepoj/host/judge"
)

// publicResult returns what v may see of a result. Contestants never see what
// judges wrote to each other, which worker it was, the names of secret tests or
// what a program printed on them, and of what checkers said only what told lets
// them.
func publicResult(r *judge.Result, v viewer, told judge.CheckerMessages) *judge.Result {
	if r == nil || v.Staff() {
		return r
	}
	out := *r
	out.JudgeNote, out.Worker = "", ""
	if out.Message = told.Sentence(r); out.Message != r.Message {
		out.MessageBy = ""
	}
	out.Tests = make([]judge.TestResult, len(r.Tests))
	for i, t := range r.Tests {
		out.Tests[i] = publicTest(t, told)
	}
	return &out
}

func publicTest(t judge.TestResult, told judge.CheckerMessages) judge.TestResult {
	t.JudgeNote = ""
	if !told.Tells(t) {
		t.Say("", "")
	}
	if !t.Sample {
		t.Name, t.Output = "", ""
	}
	return t
}

// eventData is what is known of the data of events. What is not listed here does
// not leave the server.
type eventData struct {
	Compile *judge.Compile    `json:"compile,omitempty"` // of compiled
	Test    *judge.TestResult `json:"test,omitempty"`    // of test
	Total   int               `json:"total,omitempty"`   // of test: how many will be judged
	Verdict judge.Verdict     `json:"verdict,omitempty"` // of finished
	Score   *float64          `json:"score,omitempty"`   // of finished
	Finding json.RawMessage   `json:"finding,omitempty"` // of finding and stage

	// For staff.
	Worker string `json:"worker,omitempty"`
	By     string `json:"by,omitempty"`
	Why    string `json:"why,omitempty"` // of cancelled: for everybody
	Error  string `json:"error,omitempty"`
}

// readEvent reads the data of an event. Data that cannot be read is none.
func readEvent(e judge.Event) eventData {
	var d eventData
	if len(e.Data) > 0 && json.Unmarshal(e.Data, &d) != nil {
		return eventData{}
	}
	return d
}

// seenEvents returns what somebody may see of the events of a job after the given
// one: all that pages, streams and the API show of events comes from here. Which
// events those are the database says (see [sql.Reader]), and publicEvent what of
// each.
func (s *Server) seenEvents(ctx context.Context, v viewer, jobID, after int64) ([]judge.Event, error) {
	events, err := s.store.For(v.Staff()).Events(ctx, jobID, after, eventPage)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	told := judge.ToldNobody
	if !v.Staff() && slices.ContainsFunc(events, func(e judge.Event) bool { return e.Kind == judge.EventTest }) {
		if told, err = s.store.MessagesOfJob(ctx, jobID); err != nil {
			return nil, err
		}
	}
	for i, e := range events {
		events[i] = publicEvent(e, v, told)
	}
	return events, nil
}

// publicEvent returns what v may see of an event.
func publicEvent(e judge.Event, v viewer, told judge.CheckerMessages) judge.Event {
	d := readEvent(e)
	if !v.Staff() {
		d.Worker, d.By, d.Error = "", "", ""
		if d.Test != nil {
			t := publicTest(*d.Test, told)
			d.Test = &t
		}
	}
	e.Data = nil
	if b, err := json.Marshal(d); err == nil && string(b) != "{}" {
		e.Data = b
	}
	return e
}

// submissionJSON is a submission as /api/v1 shows it.
type submissionJSON struct {
	JobID      int64          `json:"job_id"`
	URL        string         `json:"url"`
	Problem    string         `json:"problem"`
	Title      string         `json:"title"`
	Language   string         `json:"language"`
	Author     string         `json:"author"`
	Status     string         `json:"status"`
	Generation int32          `json:"generation"`
	AttemptID  int32          `json:"attempt_id"`
	Tries      int32          `json:"tries"`
	MaxTries   int32          `json:"max_tries"`
	Created    time.Time      `json:"created_at"`
	Started    *time.Time     `json:"started_at"`
	Finished   *time.Time     `json:"finished_at"`
	Place      *placeJSON     `json:"place,omitempty"`
	Sources    []judge.Source `json:"sources,omitempty"`
	Result     *judge.Result  `json:"result"`
	Error      *string        `json:"error"`
	Space      string         `json:"space,omitempty"`
	Unofficial bool           `json:"unofficial,omitempty"` // of somebody who prepares the space
}

func publicSubmission(sub *judge.Submission, v viewer) submissionJSON {
	out := submissionJSON{
		JobID: sub.JobID, URL: submissionURL(sub.JobID), Problem: sub.Problem, Title: sub.Title,
		Language: sub.Language, Author: sub.Author, Status: sub.Shown(), Generation: sub.Generation, AttemptID: sub.AttemptID,
		Tries: sub.Tries, MaxTries: sub.MaxTries, Created: sub.Created, Started: sub.Started, Finished: sub.Finished,
		Sources: sub.Sources, Result: publicResult(sub.Result, v, sub.Told),
		Space: sub.Space, Unofficial: sub.Unofficial,
	}
	if text := endedWithout(sub, v); text != "" {
		out.Error = &text
	}
	return out
}

// endedWithout says why a submission ended without a result; "" if it did not.
func endedWithout(sub *judge.Submission, v viewer) string {
	return ending{"submission", "program", "staff can have it judged again"}.of(sub.Status, sub.LastError, sub.Author, v)
}
