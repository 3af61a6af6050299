package judge

import (
	"regexp"
	"slices"
	"strings"
)

// CheckerMessages says who, beside staff, reads what a problem's checkers say.
type CheckerMessages string

// Who reads what checkers say.
const (
	ToldNobody  CheckerMessages = "nobody"
	ToldSamples CheckerMessages = "samples" // the contestant, of samples: the default
	ToldAll     CheckerMessages = "all"     // the contestant, of every test
)

// ToldChoices lists them, the least first.
var ToldChoices = []CheckerMessages{ToldNobody, ToldSamples, ToldAll}

// Valid reports whether c is one of [ToldChoices].
func (c CheckerMessages) Valid() bool { return slices.Contains(ToldChoices, c) }

// Speaker wrote the message of a test. It may hold pieces of the answer if a checker
// wrote it for whom it may concern, but not if it is the judge's or for the team.
type Speaker string

// Who wrote the message of a test. Results from before this was noted have none.
const (
	ByJudge   Speaker = "judge"   // Deep-OJ itself: which limit was met, how a program ended
	ByTeam    Speaker = "team"    // a checker, in teammessage.txt, for whoever handed in
	ByChecker Speaker = "checker" // a checker, to whom it may concern
)

// Say gives the test a message of somebody. No words are nobody's.
func (t *TestResult) Say(words string, by Speaker) {
	if words == "" {
		by = ""
	}
	t.Message, t.MessageBy = words, by
}

// Tells reports whether the contestant may read the message of a test.
func (c CheckerMessages) Tells(t TestResult) bool {
	return c == ToldAll || c != ToldNobody && t.Sample || !ofChecker(t.MessageBy, t.Verdict)
}

// ofChecker reports whether a message is a checker's. Of those that do not tell, one
// on a program that broke a limit or failed is the judge's.
func ofChecker(by Speaker, v Verdict) bool {
	switch by {
	case ByJudge, ByTeam:
		return false
	case ByChecker:
		return true
	}
	return !slices.Contains([]Verdict{TLE, MLE, OLE, RE, CE, JE}, v)
}

// sentence is the beginning of a result's message that names the test that decided,
// with the name of a sample in parentheses.
var sentence = regexp.MustCompile(`(?s)^[A-Z][a-z -]+ on test \d+ of \d+( \(.*?\))?(: |$)`)

// Sentence returns what the contestant may read of a result's message: without
// what a checker says of the test that decided, if that is not for them.
func (c CheckerMessages) Sentence(r *Result) string {
	m := sentence.FindStringSubmatchIndex(r.Message)
	if m == nil {
		if r.Verdict == WA && r.MessageBy != ByJudge && r.MessageBy != ByTeam && c == ToldNobody {
			return "" // of a run of the samples, whose message stands alone
		}
		return r.Message
	}
	if c.Tells(TestResult{Sample: m[2] >= 0, MessageBy: r.MessageBy, Verdict: r.Verdict}) {
		return r.Message
	}
	return strings.TrimSuffix(r.Message[:m[1]], ": ")
}
