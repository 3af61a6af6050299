package grading

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/judging/runner"
)

// graderWords are the verdicts as custom graders of the legacy format spell them.
var graderWords = map[judge.Verdict]string{
	judge.AC: "AC", judge.WA: "WA", judge.PE: "PE", judge.TLE: "TLE", judge.MLE: "MLE", judge.OLE: "OLE", judge.RE: "RTE",
}

// ResultLines is what a grader is given: a line for each result, with verdict and score.
func ResultLines(marks []Mark) string {
	var lines strings.Builder
	for _, sub := range marks {
		fmt.Fprintf(&lines, "%s %s\n", graderWords[sub.Verdict], strconv.FormatFloat(sub.Score, 'g', -1, 64))
	}
	return lines.String()
}

// ReadGrade reads what a grader says: one line with a verdict and a score.
func ReadGrade(text string) (Mark, error) {
	words := strings.Fields(text)
	if len(words) != 2 || strings.Count(strings.TrimSpace(text), "\n") > 0 {
		return Mark{}, fmt.Errorf("it printed %q and not one line with a verdict and a score", runner.Cut(text, 200))
	}
	score, err := strconv.ParseFloat(words[1], 64)
	if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
		return Mark{}, fmt.Errorf("it printed the score %q, which is no number", words[1])
	}
	for v, word := range graderWords {
		if word == words[0] {
			return Mark{Verdict: v, Score: score}, nil
		}
	}
	return Mark{}, fmt.Errorf("it printed the verdict %q, which is none of AC, WA, PE, TLE, MLE, OLE and RTE", words[0])
}
