package web

import (
	"fmt"
	"strings"

	"deepoj/host/judge"
)

// waitingText says where a job stands that no worker has begun: its state in the
// queue, its tries and its place, which may be nil. Besides is added to the sentence
// about a failure.
func waitingText(state string, tries, maxTries int32, place *judge.Place, besides string) (headline, detail string) {
	switch {
	case tries > 0:
		headline = "Waiting for another try"
		detail = fmt.Sprintf("Try %d of %d failed on our side%s.", tries, maxTries, besides)
	case state == "D":
		headline, detail = "Next", "A worker is about to take it."
	default:
		headline = "Waiting"
	}
	if place != nil && state != "D" {
		detail = strings.TrimSpace(detail + " " + waitSentence(*place))
	}
	return headline, detail
}

// ending is what is said of a job that ended without a result.
type ending struct {
	What      string // the word for it
	Blameless string // what is not at fault
	Remedy    string // what to do about one that was given up
}

// of says why a job ended without a result; "" if it did not.
func (e ending) of(status judge.Status, lastError, author string, v viewer) string {
	switch status {
	case judge.Cancelled:
		return cancelledText(e.What, lastError, author, v)
	case judge.Dead:
		text := "The judging system failed on every try. This is not the " + e.Blameless + "'s fault; " + e.Remedy + "."
		if v.Staff() && lastError != "" {
			text += " Last failure: " + lastError
		}
		return text
	case judge.Pending, judge.Running, judge.Finished:
	}
	return ""
}

// sendAgain is the remedy for jobs that count for nobody.
const sendAgain = "send it again, or tell whoever runs this server"
