package job

import (
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// This file says where a job stands, in the same words for jobs of every kind.

// waitingText says where a job stands that no worker has begun: its state in the
// queue, its tries and its place, which may be nil.
func waitingText(j *judge.Job, place *judge.Place, v site.Viewer) (headline, detail string) {
	switch {
	case j.Tries > 0 && (j.Kind == judge.KindSubmission || j.Kind == judge.KindDraft):
		headline = v.Say("Waiting for another try")
		detail = v.Say("Try %d of %d failed on our side; this does not count against you.", j.Tries, j.MaxTries)
	case j.Tries > 0:
		headline = v.Say("Waiting for another try")
		detail = v.Say("Try %d of %d failed on our side.", j.Tries, j.MaxTries)
	case j.QueueState == "D":
		headline, detail = v.Say("Next"), v.Say("A worker is about to take it.")
	default:
		headline = v.Say("Waiting")
	}
	if place != nil && j.QueueState != "D" {
		detail = strings.TrimSpace(detail + " " + waitSentence(*place, v))
	}
	return headline, detail
}

// endedWithout says why a job ended without a result; "" if it did not.
func endedWithout(j *judge.Job, v site.Viewer) string {
	switch j.Status {
	case judge.Cancelled:
		return cancelledText(j, v)
	case judge.Dead:
		text := givenUpText(j.Kind, v)
		if v.Staff() && j.LastError != "" {
			text += " " + v.Say("Last failure: %s", j.LastError)
		}
		return text
	case judge.Pending, judge.Running, judge.Finished:
	}
	return ""
}

// givenUpText says of a job of a kind that it was given up, and what to do about it.
func givenUpText(kind judge.Kind, v site.Viewer) string {
	//exhaustive:ignore
	switch kind {
	case judge.KindRun:
		return v.Say("The judging system failed on every try. This is not the program's fault; send it again, or tell whoever runs this server.")
	case judge.KindPluginBuild, judge.KindPluginTest:
		return v.Say("The judging system failed on every try. This is not the plugin's fault; send it again, or tell whoever runs this server.")
	case judge.KindImport, judge.KindVerify:
		return v.Say("The judging system failed on every try. This is not the package's fault; send it again, or tell whoever runs this server.")
	case judge.KindRender:
		return v.Say("The judging system failed on every try. This is not the statement's fault; send it again, or tell whoever runs this server.")
	}
	return v.Say("The judging system failed on every try. This is not the program's fault; staff can have it judged again.")
}

// StandingJSON is where a job of any kind stands, as /api/v1 shows it. Each kind adds its part.
type StandingJSON struct {
	JobID      int64      `json:"job_id"`
	URL        string     `json:"url,omitempty"` // of its page
	Kind       judge.Kind `json:"kind"`
	Author     string     `json:"author"`
	Status     string     `json:"status"`
	Generation int32      `json:"generation"`
	AttemptID  int32      `json:"attempt_id"`
	Tries      int32      `json:"tries"`
	MaxTries   int32      `json:"max_tries"`
	Created    time.Time  `json:"created_at"`
	Started    *time.Time `json:"started_at"`
	Finished   *time.Time `json:"finished_at"`
	Place      *PlaceJSON `json:"place,omitempty"` // while it waits
	Error      *string    `json:"error"`           // why it ended without a result
}

// PublicStanding returns what v may see of where a job stands. Place may be nil.
func PublicStanding(one Job, place *judge.Place, v site.Viewer) StandingJSON {
	j := one.Standing()
	out := StandingJSON{
		JobID: j.JobID, URL: PageOf(one), Kind: j.Kind, Author: j.Author, Status: j.Shown(), Generation: j.Generation, AttemptID: j.AttemptID,
		Tries: j.Tries, MaxTries: j.MaxTries, Created: j.Created, Started: j.Started, Finished: j.Finished,
	}
	if place != nil {
		out.Place = PublicPlace(*place)
	}
	if text := endedWithout(j, v); text != "" {
		out.Error = &text
	}
	return out
}

// StandingView is what the page of a job of any kind shows of where it stands. The
// part that changes while it works is the template "live".
type StandingView struct {
	Job       *judge.Job
	At        string // address of the page
	LastEvent int64  // the stream continues after it
	Moving    bool   // not done yet
	Cancel    bool   // the viewer may end it

	Verdict  judge.Verdict // whose colour and shape it has; "" while there is none
	Coded    bool          // the verdict is told by its code, too
	Trial    bool          // it counts for nothing, so it must not look like what does
	Headline string
	Detail   string
	Message  string // why it came to nothing, or of the checker or the judge
	Note     string // for staff

	Compile  *judge.Compile
	HasMarks bool // the page shows the sources, and in them where the compiler complains
	History  []historyLine
	Eventful bool // there is more to tell than the usual

	Provenance string // what judged it

	viewer site.Viewer // who looks
}

// Say returns a sentence as whoever looks reads it.
func (view *StandingView) Say(key locale.Word, args ...any) string {
	return view.viewer.Say(key, args...)
}

// SayAll returns sentences that follow each other; one without words is left out.
func (view *StandingView) SayAll(sentences ...locale.Sentence) string {
	var said []string
	for _, one := range sentences {
		if one.Key != "" {
			said = append(said, view.viewer.Locale.Said(one))
		}
	}
	return strings.Join(said, " ")
}

// ShowStanding says where a job stands that waits, or has ended without a result.
// What a worker does, and what came of it, its kind says.
func ShowStanding(one Job, events []judge.Event, place *judge.Place, v site.Viewer) StandingView {
	j := one.Standing()
	view := StandingView{Job: j, At: PageOf(one), Moving: !j.Status.Terminal(), viewer: v}
	if len(events) > 0 {
		view.LastEvent = events[len(events)-1].ID
	}
	view.History, view.Eventful = history(events, v)
	view.Cancel = view.Moving && (j.Kind == judge.KindSubmission || v.MaySee(j.Author))
	switch j.Status {
	case judge.Pending:
		view.Headline, view.Detail = waitingText(j, place, v)
	case judge.Cancelled:
		view.Headline, view.Detail = v.Say("Cancelled"), endedWithout(j, v)
	case judge.Dead:
		view.Verdict, view.Headline, view.Detail = judge.SE, v.Say("Given up"), endedWithout(j, v)
	case judge.Running, judge.Finished:
	}
	return view
}

// Announce is what a screen reader is told when it changes.
func (view *StandingView) Announce() string {
	if view.Coded {
		return strings.TrimSpace(view.Headline + " " + string(view.Verdict))
	}
	return view.Headline
}

// Titled is the title of the page, which begins with where the job stands: it is read in the tab of a browser.
func (view *StandingView) Titled(name string) string {
	if view.Coded && view.Verdict != "" {
		return string(view.Verdict) + " · " + name
	}
	return view.Headline + " · " + name
}

// Live returns what changes of a page while it is looked at.
func (view *StandingView) Live() *StandingView { return view }

// Fresh reports whether the page is most likely that of whoever has handed the job in just now.
func (view *StandingView) Fresh() bool { return fresh(view.Job) }

// Refresh returns after how many seconds a page without script is loaded again; 0 = never.
func (view *StandingView) Refresh() int {
	if view.Moving {
		return 2
	}
	return 0
}
