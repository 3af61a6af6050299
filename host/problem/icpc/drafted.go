package icpc

import (
	"path"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// drafted reports whether a package of 2023-07 has its groups in testdata.yaml, as the
// drafts of that format had, which the legacy format describes.
func (r *reader) drafted() bool {
	if r.Package.Format != problem.Format202307 {
		return false
	}
	old := false
	for _, f := range r.Below(source.DataDir) {
		if path.Base(f) == testGroupYAML || filesFolder.MatchString(f) {
			return false
		}
		old = old || path.Base(f) == testdataYAML
	}
	return old
}

// readDrafted reads the groups and tests of such a package.
func (r *reader) readDrafted() {
	first := true
	for _, f := range r.Below(source.DataDir) {
		if path.Base(f) != testdataYAML {
			continue
		}
		if first {
			r.Warn(f, "", "is read as in the legacy format, with which drafts of this one agreed; later ones have %s", testGroupYAML)
			first = false
		}
		if k := r.YAML(f); k.Node("scoring") != nil {
			k.Refuse("scoring", "is of a draft that no tool reads: write accept_score, range and grader_flags, or a %s", testGroupYAML)
		}
	}
	r.old.accept = 1
	r.readData()
	for _, dir := range []string{invalidInput, invalidOutput, validOutput} {
		if len(r.Below(path.Join(source.DataDir, dir))) > 0 {
			r.ownTests(dir)
		}
	}
}

// saysNothing reports whether a file holds comments at most.
func (r *reader) saysNothing(file string) bool {
	for line := range strings.Lines(r.Text(file)) {
		if line = strings.TrimSpace(line); line != "" && line != "---" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}
