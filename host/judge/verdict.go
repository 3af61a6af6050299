package judge

import (
	"math"
	"slices"
)

// Verdict is what is said of a submission, or of one of its tests.
type Verdict string

// The verdicts. AC to CE are about the contestant's program; PA is of a whole submission or group that has scores, and
// in package formats it is an AC. JE and SE never are: JE means that a checker, interactor or package failed, SE that
// the platform did. An SE is never stored as a result: the job is tried again and finally dead.
const (
	AC  Verdict = "AC"
	PA  Verdict = "PA" // accepted, for less than the highest score
	WA  Verdict = "WA"
	PE  Verdict = "PE"
	TLE Verdict = "TLE"
	MLE Verdict = "MLE"
	OLE Verdict = "OLE"
	RE  Verdict = "RE"
	CE  Verdict = "CE"
	JE  Verdict = "JE"
	SE  Verdict = "SE"
)

// Verdicts lists every verdict.
var Verdicts = []Verdict{AC, PA, WA, PE, TLE, MLE, OLE, RE, CE, JE, SE}

var verdictNames = map[Verdict]string{
	AC:  "Accepted",
	PA:  "Partly accepted",
	WA:  "Wrong answer",
	PE:  "Presentation error",
	TLE: "Time limit exceeded",
	MLE: "Memory limit exceeded",
	OLE: "Output limit exceeded",
	RE:  "Run-time error",
	CE:  "Compile error",
	JE:  "Judging error",
	SE:  "System error",
}

// Name returns the long name of v, such as "Wrong answer".
func (v Verdict) Name() string {
	if n, ok := verdictNames[v]; ok {
		return n
	}
	return string(v)
}

// Valid reports whether v is one of [Verdicts].
func (v Verdict) Valid() bool { return slices.Contains(Verdicts, v) }

// Counts reports whether v is about the contestant's program and not about us.
func (v Verdict) Counts() bool { return v.Valid() && v != JE && v != SE }

// Final reports whether v may be stored as the verdict of a result.
func (v Verdict) Final() bool { return v.Valid() && v != SE }

// badness orders verdicts for "the worst error decides", worst first. The order
// is that of the ICPC legacy package format's default grader.
var badness = []Verdict{JE, CE, RE, MLE, TLE, OLE, WA, PE, PA, AC}

// Worst returns the worst of vs by the order of the ICPC legacy default grader, and AC when vs is empty.
func Worst(vs ...Verdict) Verdict {
	worst := AC
	for _, v := range vs {
		if slices.Index(badness, v) < slices.Index(badness, worst) {
			worst = v
		}
	}
	return worst
}

// rounding is how much a score may differ from the highest one for the way that numbers are stored.
const rounding = 1e-9

// Named returns v, or [PA] if it is an acceptance for less than the highest score. Nil is no score, or no highest one.
func (v Verdict) Named(score, highest *float64) Verdict {
	if v == AC && score != nil && highest != nil && *score < *highest-rounding*(1+math.Abs(*highest)) {
		return PA
	}
	return v
}

// InPackage returns v as package formats call it, which know no [PA].
func (v Verdict) InPackage() Verdict {
	if v == PA {
		return AC
	}
	return v
}

// Named returns the result with the verdicts that scores say, of itself and its groups.
func (r Result) Named() Result {
	r.Groups = slices.Clone(r.Groups)
	r.NamePartial()
	return r
}

// NamePartial is [Result.Named] in place.
func (r *Result) NamePartial() {
	r.Verdict = r.Verdict.Named(r.Score, r.MaxScore)
	for i := range r.Groups {
		g := &r.Groups[i]
		g.Verdict = g.Verdict.Named(g.Score, g.MaxScore)
	}
}
