package job

import (
	"fmt"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// This file says where a job stands, in the same words for jobs of every kind.

// kindWords is how one speaks of a job of a kind.
type kindWords struct {
	What      string // the word for it
	Blameless string // what is not at fault when we fail
	Besides   string // added to what is said of a try that failed on our side
	Remedy    string // what to do about one that was given up
}

// sendAgain is the remedy for jobs that count for nobody.
const sendAgain = "send it again, or tell whoever runs this server"

// wordsOf returns how one speaks of jobs of a kind.
func wordsOf(kind judge.Kind) kindWords {
	//exhaustive:ignore
	switch kind {
	case judge.KindRun:
		return kindWords{"run", "program", "", sendAgain}
	case judge.KindPluginBuild, judge.KindPluginTest:
		return kindWords{"job", "plugin", "", sendAgain}
	case judge.KindImport, judge.KindVerify:
		return kindWords{"job", "package", "", sendAgain}
	case judge.KindRender:
		return kindWords{"job", "statement", "", sendAgain}
	}
	return kindWords{"submission", "program", "; this does not count against you", "staff can have it judged again"}
}

// waitingText says where a job stands that no worker has begun: its state in the
// queue, its tries and its place, which may be nil.
func waitingText(j *judge.Job, place *judge.Place) (headline, detail string) {
	switch {
	case j.Tries > 0:
		headline = "Waiting for another try"
		detail = fmt.Sprintf("Try %d of %d failed on our side%s.", j.Tries, j.MaxTries, wordsOf(j.Kind).Besides)
	case j.QueueState == "D":
		headline, detail = "Next", "A worker is about to take it."
	default:
		headline = "Waiting"
	}
	if place != nil && j.QueueState != "D" {
		detail = strings.TrimSpace(detail + " " + waitSentence(*place))
	}
	return headline, detail
}

// endedWithout says why a job ended without a result; "" if it did not.
func endedWithout(j *judge.Job, v site.Viewer) string {
	w := wordsOf(j.Kind)
	switch j.Status {
	case judge.Cancelled:
		return cancelledText(w.What, j.Withdrawal(), j.Author, v)
	case judge.Dead:
		text := "The judging system failed on every try. This is not the " + w.Blameless + "'s fault; " + w.Remedy + "."
		if v.Staff() && j.LastError != "" {
			text += " Last failure: " + j.LastError
		}
		return text
	case judge.Pending, judge.Running, judge.Finished:
	}
	return ""
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
}

// ShowStanding says where a job stands that waits, or has ended without a result.
// What a worker does, and what came of it, its kind says.
func ShowStanding(one Job, events []judge.Event, place *judge.Place, v site.Viewer) StandingView {
	j := one.Standing()
	view := StandingView{Job: j, At: PageOf(one), Moving: !j.Status.Terminal()}
	if len(events) > 0 {
		view.LastEvent = events[len(events)-1].ID
	}
	view.History, view.Eventful = history(events, v)
	view.Cancel = view.Moving && (j.Kind == judge.KindSubmission || v.MaySee(j.Author))
	switch j.Status {
	case judge.Pending:
		view.Headline, view.Detail = waitingText(j, place)
	case judge.Cancelled:
		view.Headline, view.Detail = "Cancelled", endedWithout(j, v)
	case judge.Dead:
		view.Verdict, view.Headline, view.Detail = judge.SE, "Given up", endedWithout(j, v)
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

// Refresh returns after how many seconds a page without script is loaded again; 0 = never.
func (view *StandingView) Refresh() int {
	if view.Moving {
		return 2
	}
	return 0
}
