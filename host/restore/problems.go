package restore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
)

// Slugs are the short names of the contest's problems.
func (c *Contest) Slugs() []string {
	out := []string{}
	for _, p := range c.Past.Problems {
		out = append(out, p.Problem)
	}
	return out
}

// problemName is what a problem may be called on a server.
var problemName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Settle says of which version each problem is: of the live one where that is what the contest had, else of one of which nothing is
// known but what the contest says. Known are the problems that the server has; may says whether whoever imports may give one of those
// another version.
func (c *Contest) Settle(known map[string]judge.Problem, may func(slug string) (bool, error)) (found []clics.Flaw, err error) {
	for i := range c.Past.Problems {
		p := &c.Past.Problems[i]
		d := c.problems[p.Problem]
		is, there := known[p.Problem]
		if there && same(is, d) {
			p.Version = is.Version
			continue
		}
		wrong := ""
		if !problemName.MatchString(p.Problem) {
			wrong = "it is no short name of a problem"
		} else if there {
			ok, err := may(p.Problem)
			if err != nil {
				return nil, err
			}
			if !ok {
				wrong = "this server has another problem of that name, which is not yours"
			}
		}
		if wrong != "" {
			found = append(found, clics.Flaw{File: "problems.json", Object: p.Problem, Problem: wrong})
			continue
		}
		made, err := unpacked(p.Problem, d)
		if err != nil {
			return nil, err
		}
		p.Make, p.Version = &made, made.Version
	}
	return found, nil
}

// same reports whether a version is what the log tells of.
func same(is judge.Problem, d contest.ProblemData) bool {
	return is.Title == d.Name && is.CPUMillis == d.CPU && is.MemoryMiB == d.MemoryMiB && is.OutputMiB == d.OutputMiB && is.CodeKiB == d.CodeKiB && is.Tests == d.Tests &&
		is.MaxScore == d.MaxScore
}

// unpacked is a version of a problem of which there is no package: what the contest says of it, and that nothing can be judged.
func unpacked(slug string, d contest.ProblemData) (judge.Problem, error) {
	p := judge.Problem{
		Slug: slug, Title: d.Name, CPUMillis: d.CPU, MemoryMiB: d.MemoryMiB, OutputMiB: d.OutputMiB, CodeKiB: d.CodeKiB, Tests: d.Tests, MaxScore: d.MaxScore,
		Scoring: d.MaxScore > 0, Samples: []judge.Sample{},
		Statement: "<p>This problem came with a contest that was held elsewhere. There is no package of it here, so there is neither a statement nor anything to judge by.</p>",
	}
	data, err := json.Marshal(p)
	if err != nil {
		return judge.Problem{}, err
	}
	sum := sha256.Sum256(data)
	p.Version = "sha256:" + hex.EncodeToString(sum[:])
	return p, nil
}
