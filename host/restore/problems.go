package restore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

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

// packaged notes where the archive has the package of a problem, by the id that the contest has for it: as a file of the problem, as
// a file that is called as it is, or as a folder, but for some files of that.
func (r *reading) packaged(slug, id string, but []string) {
	folder := "problems/" + id + "/"
	inside, _ := r.inFolder(folder)
	for _, name := range append([]string{"problems/" + id + ".zip", folder + id + ".zip", folder + "package.zip"}, inside...) {
		if _, there := r.files[name]; there && strings.HasSuffix(name, ".zip") && !slices.Contains(but, strings.TrimPrefix(name, folder)) {
			r.out.Packages[slug] = name
			return
		}
	}
	if _, unpacked := r.files[folder+"problem.yaml"]; unpacked {
		r.out.Packages[slug] = folder
	}
}

// Settle says of which version each problem is: of the live one where that is what the contest had, else of one of which nothing is
// known but what the contest says; c.Packages are then those of which versions are to be made. Known are the problems that the server
// has; may says whether whoever imports may give one of those another version.
func (c *Contest) Settle(known map[string]judge.Problem, now time.Time, may func(slug string) (bool, error)) (found []clics.Flaw, err error) {
	for i := range c.Past.Problems {
		p := &c.Past.Problems[i]
		d := c.problems[p.Problem]
		is, there := known[p.Problem]
		alike := there && same(is, d)
		if alike && !c.Foreign && !sameFiles(is, d) { // the log would not be the same
			ok, err := may(p.Problem)
			if err != nil {
				return nil, err
			}
			alike = !ok
		}
		if alike {
			p.Version = is.Version
			delete(c.Packages, p.Problem)
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
		if _, comes := c.Packages[p.Problem]; comes && contest.ClockOf(&c.Past.Round).Started(now) == nil {
			p.Version = "" // what the package makes, by the start
		}
	}
	return found, nil
}

// sameFiles reports whether a version has the files that the log tells of, if it tells of any.
func sameFiles(is judge.Problem, d contest.ProblemData) bool {
	return len(d.Statement)+len(d.Attachments) == 0 || slices.Equal(is.Papers(), d.Statement) && slices.Equal(is.Attachments(), d.Attachments)
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
		Files:     slices.Concat(d.Statement, d.Attachments),
	}
	if len(d.Statement) > 0 {
		p.Statement = "<p>This problem came with a contest that was held elsewhere, with the statement that is among its files. There is no package of it here, so there is nothing to judge by.</p>"
	}
	data, err := json.Marshal(p)
	if err != nil {
		return judge.Problem{}, err
	}
	sum := sha256.Sum256(data)
	p.Version = "sha256:" + hex.EncodeToString(sum[:])
	return p, nil
}
