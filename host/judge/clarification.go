package judge

import "time"

// Clarification is a question of a participant in a round, or what its jury answers or announces.
type Clarification struct {
	Code     string // its name, which tells nothing of how many there are
	From     string // the code of the participant who asks; "" = the jury speaks
	FromName string
	Teams    []string // of the jury's: the participants whom alone it is for
	Groups   []string // likewise; neither = everybody
	ReplyTo  string   // the code of what it answers; "" = nothing
	AskedBy  int64    // the number of the participant whom it answers; 0 = nobody
	Problem  string   // "" = in general
	Text     string
	By       string // the account
	At       time.Time
	Answered bool
	Closed   *time.Time // since when nobody waits for an answer to a question
}

// Bounds of clarifications.
const (
	MaxClarification = 4000 // bytes of the text
	MaxQuestions     = 20   // of a participant that nobody has answered yet
)
