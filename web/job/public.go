package job

import (
	"context"
	"encoding/json"
	"fmt"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// PublicResult returns what v may see of a result. Contestants never see what judges wrote to each other, which worker
// it was, the names of secret tests or what a program printed on them, and of what checkers said only what told lets
// them.
func PublicResult(r *judge.Result, v site.Viewer, told judge.CheckerMessages) *judge.Result {
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

// PublicSamples returns what v may see of the samples of a submission that has no result for them yet.
func PublicSamples(sub *judge.Submission, v site.Viewer) []judge.TestResult {
	if r := PublicResult(&judge.Result{Tests: sub.Samples}, v, sub.Told); len(r.Tests) > 0 {
		return r.Tests
	}
	return nil
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

// eventData is what is known of the data of events. What is not listed here does not leave the server.
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

// seenEvents returns what somebody may see of the events of a job after the given one: all that pages, streams and the
// API show of events comes from here. Which events those are the database says (see [sql.Reader]), and publicEvent what
// of each.
func (s *Room) seenEvents(ctx context.Context, v site.Viewer, jobID, after int64) ([]judge.Event, error) {
	events, err := s.Store.For(v.Staff()).Events(ctx, jobID, after, eventPage)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	if len(events) == 0 {
		return nil, nil
	}
	told, err := s.told(ctx, v, jobID)
	if err == nil && told.Feedback.Veils() { // events of which somebody is told have other numbers then
		events, err = s.Store.EventsVeiled(ctx, jobID, after, told.Feedback, eventPage)
	}
	if err != nil {
		return nil, err
	}
	for i, e := range events {
		events[i] = publicEvent(e, v, told)
	}
	return events, nil
}

// told is how much of a job's events v is told.
func (s *Room) told(ctx context.Context, v site.Viewer, jobID int64) (told judge.JobTold, err error) {
	if v.Staff() {
		return told, nil
	}
	if told, err = s.Store.ToldOfJob(ctx, jobID); err != nil || !told.Feedback.Veils() {
		return told, err
	}
	manages, err := s.ManagesSpace(ctx, v, told.SpaceID)
	if manages {
		told.Feedback = judge.FeedbackFull
	}
	return told, err
}

// publicEvent returns what v may see of an event.
func publicEvent(e judge.Event, v site.Viewer, told judge.JobTold) judge.Event {
	d := readEvent(e)
	if !v.Staff() {
		d.Worker, d.By, d.Error = "", "", ""
		if !told.Feedback.Verdict() {
			d.Verdict, d.Score = "", nil
		}
		if d.Test != nil {
			t := publicTest(*d.Test, told.Messages)
			d.Test = &t
		}
	}
	e.Data = nil
	if b, err := json.Marshal(d); err == nil && string(b) != "{}" {
		e.Data = b
	}
	return e
}

// SubmissionJSON is a submission as /api/v1 shows it.
type SubmissionJSON struct {
	StandingJSON

	Problem    string             `json:"problem"`
	Title      string             `json:"title"`
	Language   string             `json:"language"`
	Sources    []judge.Source     `json:"sources,omitempty"`
	Result     *judge.Result      `json:"result"`
	Feedback   judge.Feedback     `json:"feedback,omitempty"` // how much of the result a round tells its participants now; left out where it hides nothing
	Samples    []judge.TestResult `json:"samples,omitempty"`  // with feedback public, in the place of a result: what became of the samples
	Space      string             `json:"space,omitempty"`
	Unofficial bool               `json:"unofficial,omitempty"` // of somebody who prepares the space
}

// PublicSubmission returns what v may see of a submission. Place may be nil.
func PublicSubmission(sub *judge.Submission, place *judge.Place, v site.Viewer) SubmissionJSON {
	out := SubmissionJSON{
		StandingJSON: PublicStanding(sub, place, v), Problem: sub.Problem, Title: sub.Title, Language: sub.Language,
		Sources: sub.Sources, Result: PublicResult(sub.Result, v, sub.Told), Space: sub.Space, Unofficial: sub.Unofficial,
		Samples: PublicSamples(sub, v),
	}
	if sub.Feedback.Veils() {
		out.Feedback = sub.Feedback
	}
	return out
}
