package icpc

import (
	"maps"
	"path"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// readShownAlone takes the samples that are shown and not judged: those that have no
// input, and are an interaction, or texts for the statement in place of input and answer.
func (r *reader) readShownAlone() {
	for _, f := range r.Below(path.Join(source.DataDir, problem.SampleGroup)) {
		stem, text, ok := strings.Cut(f, ".interaction")
		if !ok {
			stem, text, ok = strings.Cut(f, ".in.statement")
		}
		if !ok || text != "" || r.Has(stem+".in") || filesFolder.MatchString(f) {
			continue
		}
		s := judge.Sample{Name: strings.TrimPrefix(stem, path.Join(source.DataDir, problem.SampleGroup)+"/")}
		shows := map[string]*string{f: &s.Output}
		if answer := stem + ".ans.statement"; strings.HasSuffix(f, ".in.statement") {
			if r.Has(stem + ".interaction") {
				r.Refuse(f, "", "is there beside %s.interaction, which is shown alone: remove one of them", path.Base(stem))
				continue
			}
			if shows[f] = &s.Input; r.Has(answer) {
				shows[answer] = &s.Output
			}
		}
		for _, file := range slices.Sorted(maps.Keys(shows)) {
			b, err := r.Read(file, problem.MaxSample)
			if err != nil {
				r.Refuse(file, "", "cannot be read: %v", err)
				continue
			}
			if r.ShowsTooMuch(b) {
				r.Refuse(file, "", "is too much: the page shows at most %d MiB of all samples together", problem.MaxSamples>>20)
				return
			}
			*shows[file] = problem.ShownText(b, r.Sizes[file])
		}
		r.Package.Samples = append(r.Package.Samples, s)
	}
	slices.SortStableFunc(r.Package.Samples, func(a, b judge.Sample) int { return strings.Compare(a.Name, b.Name) })
}

// shownAlone reports whether a file of a sample is one of those that have no input and
// are shown, so that nothing is judged.
func (r *reader) shownAlone(stem string) bool {
	return strings.HasPrefix(stem, path.Join(source.DataDir, problem.SampleGroup)+"/") && (r.Has(stem+".interaction") || r.Has(stem+".in.statement"))
}
