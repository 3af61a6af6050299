package problem

import "path"

const staticValidator = "static_validator"

// readStatic finds the program that looks at the submitted files.
func (r *reader) readStatic() {
	names, _ := r.children(staticValidator)
	if len(names) == 0 {
		return
	}
	if r.p.Answers {
		r.refuse(staticValidator, "", "looks at programs, but with submit-answer there are none: remove it")
		return
	}
	all := r.programs(staticValidator, r.refuse)
	switch {
	case len(all) == 1:
		r.p.Static = &all[0]
	case len(all) > 1:
		r.refuse(staticValidator, "", "holds %d programs: it may be one, a file or a folder of files", len(all))
	case r.refusals == 0:
		r.refuse(staticValidator, "", "holds no program")
	}
}

// staticCase reads whether the submitted files are a test of g, which holds so many
// others, and what it is worth.
func (r *reader) staticCase(k *keys, g *Group, tests int) {
	const key, argsKey = "static_validation_score", "static_validator_args"
	args, given := k.list(argsKey, false)
	score, asked := k.text(key)
	switch {
	case !asked && given:
		k.refuse(argsKey, "is for no test: write %s too", key)
	case asked && r.p.Static == nil && len(r.below(staticValidator)) == 0:
		k.refuse(key, "asks to look at the submitted files, but %s holds no program", staticValidator)
	}
	if !asked {
		return
	}
	r.hasStatic = true
	t := &Test{Name: path.Join(g.Name, "static_validation"), Sample: g.Name == sampleDir, Flags: args}
	if r.has(path.Join(dataDir, t.Name+".in")) {
		r.refuse(path.Join(dataDir, t.Name+".in"), "", "has the name of the test of the submitted files: give it another")
	}
	g.Items = append(g.Items, Item{Static: t})
	gr := &g.Grading
	switch {
	case score == string(PassFail):
		if r.p.Scoring && gr.Score != PassFail && !t.Sample {
			k.refuse(key, "is pass-fail, but score_aggregation is %s: write a number", gr.Score)
		}
		return
	case !r.p.Scoring || gr.Score == PassFail:
		k.refuse(key, "is %q, but the group passes or fails as a whole: write pass-fail", score)
		return
	}
	top := k.number(key, 0, 0, maxScore)
	t.Points = &top
	switch {
	case top != float64(int64(top)):
		k.refuse(key, "is %q: it must be a whole number or pass-fail", score)
	case gr.High != nil && top > *gr.High:
		k.refuse(key, "is %s, more than the max_score %s of the group", short(top), short(*gr.High))
	case gr.Rule == ScoreBounded && gr.Score == Sum && tests > 0:
		gr.AcceptScore = (*gr.High - top) / float64(tests)
	}
}
