package problem

import (
	"path"
	"slices"
	"strings"

	"deepoj/host/judge"
)

// readShownAlone takes the samples that are shown and not judged: those that are an
// interaction and have no input.
func (r *reader) readShownAlone() {
	for _, f := range r.below(path.Join(dataDir, sampleDir)) {
		stem, ok := strings.CutSuffix(f, ".interaction")
		if !ok || r.has(stem+".in") || filesFolder.MatchString(f) {
			continue
		}
		b, err := r.read(f, maxSample)
		if err != nil {
			r.refuse(f, "", "cannot be read: %v", err)
			continue
		}
		if r.shownBytes += len(b); r.shownBytes > maxSamples {
			r.refuse(f, "", "is too much: the page shows at most %d MiB of all samples together", maxSamples>>20)
			return
		}
		r.p.Samples = append(r.p.Samples, judge.Sample{
			Name: strings.TrimPrefix(stem, path.Join(dataDir, sampleDir)+"/"), Output: shownText(b, r.all[f]),
		})
	}
	slices.SortStableFunc(r.p.Samples, func(a, b judge.Sample) int { return strings.Compare(a.Name, b.Name) })
}

// shownAlone reports whether a file of a sample is one of an interaction that has no
// input, so that nothing is judged.
func (r *reader) shownAlone(stem string) bool {
	return strings.HasPrefix(stem, path.Join(dataDir, sampleDir)+"/") && r.has(stem+".interaction")
}
