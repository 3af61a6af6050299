package problem

import (
	"path"
	"strings"
)

// drafted reports whether a package of 2023-07 has its groups in testdata.yaml, as the
// drafts of that format had, which the legacy format describes.
func (r *reader) drafted() bool {
	if r.p.Format != Format202307 {
		return false
	}
	old := false
	for _, f := range r.below(dataDir) {
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
	for _, f := range r.below(dataDir) {
		if path.Base(f) != testdataYAML {
			continue
		}
		if first {
			r.warn(f, "", "is read as in the legacy format, with which drafts of this one agreed; later ones have %s", testGroupYAML)
			first = false
		}
		if k := r.yaml(f); k.node("scoring") != nil {
			k.refuse("scoring", "is of a draft that no tool reads: write accept_score, range and grader_flags, or a %s", testGroupYAML)
		}
	}
	r.old.accept = 1
	r.readData()
	for _, dir := range []string{invalidInput, invalidOutput, validOutput} {
		if len(r.below(path.Join(dataDir, dir))) > 0 {
			r.ownTests(dir)
		}
	}
}

// saysNothing reports whether a file holds comments at most.
func (r *reader) saysNothing(file string) bool {
	for line := range strings.Lines(r.text(file)) {
		if line = strings.TrimSpace(line); line != "" && line != "---" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}
