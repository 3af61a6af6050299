package importing

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// restore gives the package what an export says of its version.
func restore(r *source.Reader) {
	if !r.WasExported {
		return
	}
	var x problem.Exported
	if err := json.Unmarshal([]byte(r.Text(problem.VersionFile)), &x); err != nil {
		r.Refuse(problem.VersionFile, "", "is no export that can be read: %v; remove it to import the files alone", err)
		return
	}
	if l := &r.Package.Limits; x.CPU > 0 && x.CPU <= problem.MaxCPUSeconds*time.Second && l.CPUFrom == "default" {
		l.CPU, l.CPUFrom = x.CPU, problem.Inferred
	} else if x.Default && l.CPUFrom == "default" && r.Package.Format == problem.FormatLegacy {
		l.Resolution = 0
	}
	if x.Given != nil && r.Package.Given() != nil {
		regive(r, *x.Given)
	}
	made := false
	for _, t := range r.Package.Tests() {
		m := x.Tests[t.Name]
		for _, part := range []struct {
			file *problem.File
			path string
		}{{&t.Input, m.Input}, {&t.Answer, m.Answer}} {
			if part.file.Path == "" && part.path != "" && problem.IsMade(part.path) && r.Has(part.path) {
				*part.file, made = r.File(part.path), true
			}
		}
	}
	if made {
		if err := r.Package.ShowSamples(context.Background(), r.Package.Open); err != nil {
			r.Refuse(problem.VersionFile, "tests", "names a sample that cannot be read: %v", err)
		}
	}
	if c := x.Checker; c != nil {
		rebind(r, c, "checker", func(c problem.Checker) { r.Package.Checkers = []problem.Checker{c} })
	}
	if c := x.Talker; c != nil && r.Package.Interactor != nil {
		rebind(r, c, "interactor", func(c problem.Checker) { r.Package.Interactor = &c })
	}
}

// rebind gives the package an uploaded plugin as its checker or interactor.
func rebind(r *source.Reader, c *problem.Checker, key string, set func(problem.Checker)) {
	protocol := c.Protocol == "icpc/1" || c.Protocol == "testlib/1"
	if !c.Bound() || c.Plugin != "" && c.Digest != "" || !protocol || c.Digest != "" && !source.PluginDigest.MatchString(c.Digest) {
		r.Refuse(problem.VersionFile, key, "must name an uploaded plugin by its name or digest, and its protocol")
		return
	}
	set(problem.Checker{Plugin: c.Plugin, Digest: c.Digest, Protocol: c.Protocol, Flags: c.Flags, Points: c.Points})
}

// regive gives a package what an export says was given.
func regive(r *source.Reader, g judge.Given) {
	if field, err := g.Check(); err != nil {
		r.Refuse(problem.VersionFile, "given."+field, "cannot be used: %v", err)
		return
	}
	r.Package.Title = cmp.Or(r.Package.Title, g.Title)
	g.Title = ""
	r.Package.Give("", g)
}

// checkMessages refuses that everybody reads what checkers say that nobody has looked
// at. Those that were uploaded have a report, which those read who take the package in.
func checkMessages(r *source.Reader) {
	if r.Package.CheckerMessages != judge.ToldAll {
		return
	}
	all := r.Package.Checkers
	if r.Package.Interactor != nil {
		all = append(slices.Clone(all), *r.Package.Interactor)
	}
	for _, c := range all {
		if c.Standard == "" && !c.Bound() {
			r.Refuse(problem.NativeYAML, source.MessagesKey, "is all, and nobody has shown that %s gives no answer away: choose samples, or upload the checker as a plugin and bind it by its name "+
				"when its report has no warning of the kind leak; what it writes to teammessage.txt the team always reads", c.Name())
		}
	}
}
