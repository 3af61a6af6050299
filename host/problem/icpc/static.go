package icpc

import (
	"path"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

const staticValidator = "static_validator"

// readStatic finds the program that looks at the submitted files.
func (r *reader) readStatic() {
	names, _ := r.Children(staticValidator)
	if len(names) == 0 {
		return
	}
	if r.Package.Answers {
		r.Refuse(staticValidator, "", "looks at programs, but with submit-answer there are none: remove it")
		return
	}
	all := r.Programs(staticValidator, r.Refuse)
	switch {
	case len(all) == 1:
		r.Package.Static = &all[0]
	case len(all) > 1:
		r.Refuse(staticValidator, "", "holds %d programs: it may be one, a file or a folder of files", len(all))
	case r.Refusals == 0:
		r.Refuse(staticValidator, "", "holds no program")
	}
}

// staticCase reads whether the submitted files are a test of g, which holds so many
// others, and what it is worth.
func (r *reader) staticCase(k *source.Keys, g *problem.Group, tests int) {
	const key, argsKey = "static_validation_score", "static_validator_args"
	args, given := k.List(argsKey, false)
	score, asked := k.Text(key)
	switch {
	case !asked && given:
		k.Refuse(argsKey, "is for no test: write %s too", key)
	case asked && r.Package.Static == nil && len(r.Below(staticValidator)) == 0:
		k.Refuse(key, "asks to look at the submitted files, but %s holds no program", staticValidator)
	}
	if !asked {
		return
	}
	r.hasStatic = true
	t := &problem.Test{Name: path.Join(g.Name, "static_validation"), Sample: g.Name == problem.SampleGroup, Flags: args}
	if r.Has(path.Join(source.DataDir, t.Name+".in")) {
		r.Refuse(path.Join(source.DataDir, t.Name+".in"), "", "has the name of the test of the submitted files: give it another")
	}
	g.Items = append(g.Items, problem.Item{Static: t})
	gr := &g.Grading
	switch {
	case score == string(problem.PassFail):
		if r.Package.Scoring && gr.Score != problem.PassFail && !t.Sample {
			k.Refuse(key, "is pass-fail, but score_aggregation is %s: write a number", gr.Score)
		}
		return
	case !r.Package.Scoring || gr.Score == problem.PassFail:
		k.Refuse(key, "is %q, but the group passes or fails as a whole: write pass-fail", score)
		return
	}
	top := k.Number(key, 0, 0, source.MaxScore)
	t.Points = &top
	switch {
	case top != float64(int64(top)):
		k.Refuse(key, "is %q: it must be a whole number or pass-fail", score)
	case gr.High != nil && top > *gr.High:
		k.Refuse(key, "is %s, more than the max_score %s of the group", source.Short(top), source.Short(*gr.High))
	case gr.Rule == problem.ScoreBounded && gr.Score == problem.Sum && tests > 0:
		gr.AcceptScore = (*gr.High - top) / float64(tests)
	}
}
