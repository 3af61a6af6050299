package judge

// Feedback is how much of the result of a submission its participant is told while a round hides something of it.
type Feedback string

// How much, the most first. Staff are told everything, and so is everybody once nothing is hidden any more.
const (
	FeedbackFull   Feedback = "full"
	FeedbackGroups Feedback = "groups" // verdict, score and groups of tests; of single tests the samples
	FeedbackPublic Feedback = "public" // the samples alone
	FeedbackNone   Feedback = "none"
)

// Feedbacks lists them, the most first.
var Feedbacks = []Feedback{FeedbackFull, FeedbackGroups, FeedbackPublic, FeedbackNone}

// Veils reports whether something of a result is not told. No feedback is that of what is in no round, which is all.
func (f Feedback) Veils() bool { return f != "" && f != FeedbackFull }

// Verdict reports whether the verdict and the score are told.
func (f Feedback) Verdict() bool { return !f.Veils() || f == FeedbackGroups }

// Test reports whether what became of a test is told.
func (f Feedback) Test(t TestResult) bool { return !f.Veils() || t.Sample && f != FeedbackNone }

// JobTold is what is told of a submission or run to who is no staff.
type JobTold struct {
	Messages CheckerMessages
	Feedback Feedback
	SpaceID  int64 // whose staff are told everything; 0 = none
}

// Veil leaves of a submission what its feedback tells.
func (s *Submission) Veil() {
	if !s.Feedback.Veils() || s.Result == nil {
		return
	}
	s.Veiled = true
	var told []TestResult
	for _, t := range s.Result.Tests {
		if s.Feedback.Test(t) {
			told = append(told, t)
		}
	}
	if !s.Feedback.Verdict() {
		s.Result, s.Samples = nil, told
		return
	}
	r := *s.Result
	r.Tests, r.Usage = told, Usage{}
	r.Message, r.MessageBy, r.JudgeNote = "", "", "" // of a test that may not be told
	s.Result = &r
}
