package icpc

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// deprecated are the grading keys of problem.yaml, which testdata.yaml replaced.
type deprecated struct {
	onReject string // "", "break" or "continue"
	accept   float64
	reject   float64
	low      *float64
	high     *float64
}

// readProblem reads problem.yaml.
func (r *reader) readProblem(k *source.Keys) {
	p := r.Package
	p.Scoring = k.Choice("type", "pass-fail", "pass-fail", "scoring") == "scoring"
	p.Title, r.names = r.title(k)
	p.UUID, _ = k.Text("uuid")
	p.Author, _ = k.Text("author")
	p.Source, _ = k.Text("source")
	p.License, _ = k.Text("license")
	p.Keywords, _ = k.Words("keywords")
	if langs, ok := k.Words("languages"); ok && !slices.Equal(langs, []string{"all"}) {
		p.Languages = source.LanguageIDs(langs)
	}
	for _, informational := range []string{"source_url", "rights_owner"} {
		k.Text(informational)
	}
	r.readLimits(k.Mapping("limits"))
	r.readValidation(k)
	r.readGradingKeys(k.Mapping("grading"))
	k.WarnUnknown()
}

// title reads name, which is a string or a mapping from language to string. It
// returns the one to show where there is no choice, and all of a mapping.
func (r *reader) title(k *source.Keys) (name string, all map[string]string) {
	n := k.Node("name")
	if n == nil {
		return "", nil
	}
	if n.Kind != yaml.MappingNode {
		name, _ = k.Text("name")
		return name, nil
	}
	names := k.Mapping("name")
	all = map[string]string{}
	for i, lang := range names.Order {
		all[lang], _ = names.Text(lang)
		if i == 0 || lang == "en" {
			name = all[lang]
		}
	}
	return name, all
}

func (r *reader) readLimits(k *source.Keys) {
	l := &r.Package.Limits
	l.Multiplier = k.Number("time_multiplier", 5, 0.001, 1000)
	l.SafetyMargin = k.Number("time_safety_margin", 2, 0.001, 1000)
	r.ReadLimits(k)
	r.readPasses(k)
	k.WarnUnknown()
}

// maxPasses is how often a program may be run on one test.
const maxPasses = 100

// readPasses reads how many passes there may be, for [reader.setPasses].
func (r *reader) readPasses(k *source.Keys) {
	r.Package.Passes = int(k.Number("validation_passes", 2, 1, maxPasses))
}

// setPasses keeps the number of passes in a problem that has several.
func (r *reader) setPasses() {
	if !r.passes {
		r.Package.Passes = 0
		return
	}
	key := "type"
	if r.Package.Format == problem.FormatLegacy {
		key = "validation"
	}
	who := r.Package.Checkers
	if r.Package.Interactor != nil {
		who = append([]problem.Checker{*r.Package.Interactor}, who...)
	}
	if r.Refusals == 0 && (len(who) != 1 || who[0].Standard != "" || who[0].Protocol != "icpc/1") {
		r.Refuse(source.ProblemYAML, key, "asks for several passes: one checker or interactor of the package, of icpc/1, must ask for each")
	}
}

// readValidation reads validation and validator_flags.
func (r *reader) readValidation(k *source.Keys) {
	words, _ := k.Words("validation")
	if len(words) > 0 {
		switch words[0] {
		case "default":
		case "custom":
			r.custom = true
		default:
			k.Refuse("validation", "is %q: it must begin with default or custom", words[0])
		}
		for _, w := range words[1:] {
			switch {
			case w == "score" && r.custom:
				r.points = true
			case w == "interactive" && r.custom:
				r.interactive = true
			case w == "multi-pass" && r.custom:
				r.passes = true
			default:
				k.Refuse("validation", "holds %q, which means nothing", w)
			}
		}
	}
	r.flags, _ = k.Words("validator_flags")
}

// readGradingKeys reads the grading mapping of problem.yaml.
func (r *reader) readGradingKeys(k *source.Keys) {
	r.Package.Minimize = k.Choice("objective", "max", "max", "min") == "min"
	switch k.Choice("on_reject", "", "break", "continue", "first_error", "worst_error", "grade") {
	case "break", "first_error":
		r.old.onReject = "break"
	case "continue", "worst_error", "grade":
		r.old.onReject = "continue"
	}
	r.old.accept = k.Number("accept_score", 1, -source.MaxScore, source.MaxScore)
	r.old.reject = k.Number("reject_score", 0, -source.MaxScore, source.MaxScore)
	r.old.low, r.old.high = k.Scores("range")
	if custom, ok := k.Text("custom_scoring"); ok {
		r.points = r.points || strings.EqualFold(custom, "true") || strings.EqualFold(custom, "yes")
	}
	k.Text("show_test_data_groups") // how results are shown is the platform's choice
	k.WarnUnknown()
}

// legacyResolution is the step of a time limit that the legacy format leaves to whoever
// installs the problem, and its least value.
const legacyResolution = time.Second

// The side files that other judges have beside problem.yaml.
const (
	sideLimit = ".timelimit"
	sideINI   = "domjudge-problem.ini"
)

// readTimeLimit takes the time limit from the side files, unless problem.yaml has it.
func (r *reader) readTimeLimit() {
	const side, ini = sideLimit, sideINI
	l := &r.Package.Limits
	take := func(file, key, value string) {
		s, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(s >= 0.001 && s <= problem.MaxCPUSeconds) {
			r.Refuse(file, key, "is %q: it must be a number of seconds from 0.001 to %d", strings.TrimSpace(value), problem.MaxCPUSeconds)
			return
		}
		if l.CPUFrom != "" {
			r.Warn(file, key, "has no effect: the time limit comes from %s", l.CPUFrom)
			return
		}
		l.CPU, l.CPUFrom = source.Seconds(s), strings.TrimSuffix(file+": "+key, ": ")
	}
	if r.Has(side) {
		take(side, "", r.Text(side))
	}
	if r.Has(ini) {
		for key, value := range r.ini(ini) {
			switch key {
			case "timelimit":
				take(ini, key, value)
			case "name":
				r.Package.Title = cmp.Or(r.Package.Title, value)
			case "short-name", "externalid":
				if r.Package.Slug == "" || key == "short-name" {
					r.Package.Slug = value
				}
			case "special_run":
				r.Refuse(ini, key, "names a program outside the package: %q", value)
			case "special_compare":
				if !r.custom {
					r.Refuse(ini, key, "names a program outside the package: %q", value)
				}
			case "allow_submit", "allow_judge", "points", "color":
				r.Warn(ini, key, "belongs to a contest and has no effect on the problem")
			default:
				r.Warn(ini, key, "is not known and has no effect")
			}
		}
	}
	if l.CPUFrom == "" {
		l.CPU, l.CPUFrom = source.DefaultCPU, "default"
		if r.Package.Format == problem.FormatLegacy {
			l.Resolution = legacyResolution
			r.Warn(source.ProblemYAML, "limits.time_limit", "is missing, as is %s: it is inferred from the submissions, as time_multiplier (%g) times what the slowest of submissions/accepted takes",
				side, l.Multiplier)
		} else {
			r.Warn(source.ProblemYAML, "limits.time_limit", "is missing: it is inferred from the submissions")
		}
	}
}

// ini yields the key and value of each line of the form key = value, in order.
func (r *reader) ini(file string) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(r.Text(file)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.ContainsAny(line[:1], ";#[") {
				continue
			}
			key, value, ok := strings.Cut(line, "=")
			if !ok {
				r.Refuse(file, "", "has a line that is not key = value: %q", line)
				continue
			}
			value = strings.TrimSpace(value)
			if len(value) >= 2 && strings.ContainsAny(value[:1], `'"`) && value[0] == value[len(value)-1] {
				value = value[1 : len(value)-1]
			}
			if !yield(strings.TrimSpace(key), value) {
				return
			}
		}
	}
}

// native reads deepoj.yaml, which binds a checker and an interactor by name,
// digest or file, and says who reads what they say. What it does not bind is nil.
func (r *reader) native() (checker, interactor *problem.Checker) {
	k := r.YAML(problem.NativeYAML)
	defer k.WarnUnknown()
	if r.Package.Format == problem.FormatLegacy {
		r.scoringSaid = k.Choice(scoringKey, "", scoringKattis, scoringDOMjudge)
	}
	return r.Bindings(k, r.points, r.flags)
}

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
