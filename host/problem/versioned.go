package problem

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deepoj/host/judge"
)

// The names of the formats that have a version, and what is in their packages.
const (
	newStatementDir = "statement"
	includeDir      = "include"
	testGroupYAML   = "test_group.yaml"
	submissionsYAML = submissionsDir + "/submissions.yaml"
)

// formats are the values of problem_format_version.
var formats = map[string]string{
	"": FormatLegacy, "legacy": FormatLegacy, "legacy-icpc": FormatLegacy,
	"2023-07": Format202307, "2023-07-draft": Format202307,
	"2025-09": Format202509, "2025-09-draft": Format202509,
}

// format reads which format the package has.
func (r *reader) format(k *keys) string {
	v, _ := k.text("problem_format_version")
	format, known := formats[v]
	if !known {
		k.refuse("problem_format_version", "is %q: the formats that are read are legacy, 2023-07 and 2025-09", v)
		return FormatLegacy
	}
	return format
}

// plainName is what files and folders are called in the format of 2025-09. Others
// are as if they were not there.
var plainName = regexp.MustCompile(`^([a-zA-Z0-9_][a-zA-Z0-9_.-]{0,254}(/|$))+$`)

// leaveOut takes the files away that the format does not see.
func (r *reader) leaveOut() {
	r.p.Files = slices.DeleteFunc(r.p.Files, func(f File) bool {
		if plainName.MatchString(f.Path) {
			return false
		}
		delete(r.all, f.Path)
		r.warn(f.Path, "", "is left out: names in this format are of letters, digits, _, . and -, and begin with none of the last two")
		return true
	})
}

// moved are keys of the legacy format that would change how a package is judged,
// with what the newer formats have for them.
var moved = []struct{ key, remedy string }{
	{"validation", "put the checker into output_validator/ and write interactive into type"},
	{"validator_flags", "write output_validator_args into " + testGroupYAML},
	{"grading", "write max_score and score_aggregation into " + testGroupYAML},
}

// renamed are keys of the legacy format that only say something, with what the newer
// formats have for them.
var renamed = []struct{ key, remedy string }{
	{"author", "write it into credits"},
	{"source_url", "write it into source"},
}

// readNewProblem reads problem.yaml in a format that has a version.
func (r *reader) readNewProblem(k *keys) {
	p := r.p
	if p.Format == Format202509 {
		r.leaveOut()
	}
	for _, m := range moved {
		if k.node(m.key) != nil {
			k.refuse(m.key, "belongs to the legacy format: %s", m.remedy)
		}
	}
	for _, m := range renamed {
		if k.node(m.key) != nil {
			k.warn(m.key, "belongs to the legacy format and has no effect: %s", m.remedy)
		}
	}
	types := r.readType(k)
	r.names = r.readNames(k)
	uuid, ok := k.text("uuid")
	p.UUID = uuid
	switch missing := !ok || uuid == ""; {
	case missing && p.Format == Format202307: // its drafts did not always ask for one
		k.warn("uuid", "is missing: other programs may want one, such as a new random UUID")
	case missing:
		k.refuse("uuid", "is missing: the format asks for one, such as a new random UUID")
	}
	k.text("version")
	p.Author = r.readCredits(k)
	p.Source = strings.Join(r.named(k, "source", "url"), ", ")
	r.readLicense(k)
	p.Keywords, _ = k.list("keywords", false)
	if langs, ok := k.list("languages", true); ok && !slices.Equal(langs, []string{"all"}) {
		if len(langs) == 0 {
			k.refuse("languages", "is empty: name a language, or write all")
		}
		p.Languages = languageIDs(langs)
	}
	if p.Answers {
		p.Languages = []string{judge.AnswerLanguage}
	}
	p.Writable = k.flag("allow_file_writing", false)
	if s, ok := k.text("embargo_until"); ok {
		if !embargo.MatchString(s) {
			k.refuse("embargo_until", "is %q: it must be a date, such as 2025-09-30 or 2025-09-30T12:00:00Z", s)
		} else {
			k.warn("embargo_until", "is not enforced: publish the problem only when this date has come")
		}
	}
	r.readNewLimits(k.mapping("limits"), slices.Contains(types, "multi-pass"))
	if p.Answers && p.Limits.CPUFrom == "" {
		p.Limits.CPU, p.Limits.CPUFrom = defaultCPU, "nothing is run"
	}
	values := r.constants(k.mapping("constants"))
	k.unknown()
	r.putConstants(values)
}

var embargo = regexp.MustCompile(`^\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\dZ)?$`)

// readType reads the words of type.
func (r *reader) readType(k *keys) []string {
	types, ok := k.list("type", true)
	if r.p.Format == Format202307 && len(types) == 1 {
		types = strings.Fields(types[0]) // as drafts of it had several
	}
	if ok && len(types) == 0 {
		k.refuse("type", "is empty: write pass-fail or scoring, or leave the key out")
	}
	for i, t := range types {
		switch t {
		case "pass-fail", "interactive":
		case "scoring":
			r.p.Scoring = true
		case "multi-pass":
			r.passes = true
		case "submit-answer":
			r.p.Answers = true
		default:
			k.refuse("type", "holds %q: it must be of pass-fail, scoring, interactive, multi-pass and submit-answer", t)
		}
		if slices.Contains(types[:i], t) {
			k.refuse("type", "holds %q twice: write it once", t)
		}
	}
	if r.p.Scoring && slices.Contains(types, "pass-fail") {
		k.refuse("type", "holds both pass-fail and scoring: leave one of them")
	}
	r.interactive = slices.Contains(types, "interactive")
	if r.p.Answers && (r.interactive || r.passes) {
		k.refuse("type", "holds submit-answer, with which nothing runs, and interactive or multi-pass: leave one of them")
	}
	return types
}

// readNames reads name, and returns the name by language.
func (r *reader) readNames(k *keys) map[string]string {
	title, all := r.title(k)
	if r.p.Title = title; title == "" {
		k.refuse("name", "is missing: the format asks for one")
	}
	if all == nil {
		return map[string]string{"en": title}
	}
	r.titles(all)
	return all
}

// named reads names: one or a list of them, each a string or a mapping with the
// key name and perhaps the keys besides.
func (r *reader) named(k *keys, key string, besides ...string) []string {
	n := k.node(key)
	if n == nil {
		return nil
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var names []string
	for _, item := range items {
		switch item = target(item); item.Kind {
		case yaml.ScalarNode:
			names = append(names, strings.TrimSpace(item.Value))
		case yaml.MappingNode:
			m := r.mapping(k.file, k.prefix+key+".", item)
			name, _ := m.text("name")
			if name == "" {
				m.refuse("name", "is missing: each entry needs one")
			}
			for _, other := range besides {
				m.text(other)
			}
			m.unknown()
			names = append(names, name)
		case yaml.DocumentNode, yaml.SequenceNode, yaml.AliasNode:
			k.refuse(key, "must be a name, a mapping with the key name, or a list of these")
		}
	}
	return names
}

// readCredits returns the authors.
func (r *reader) readCredits(k *keys) string {
	n := k.node("credits")
	if n == nil || n.Kind == yaml.ScalarNode {
		author, _ := k.text("credits")
		return author
	}
	person := []string{"email", "orcid", "kattis"}
	c := k.mapping("credits")
	authors := r.named(c, "authors", person...)
	for _, others := range []string{"contributors", "testers", "packagers", "acknowledgements"} {
		r.named(c, others, person...)
	}
	if t := c.mapping("translators"); t != nil {
		for _, lang := range t.order {
			r.named(t, lang, person...)
		}
	}
	c.unknown()
	return strings.Join(authors, ", ")
}

func (r *reader) readLicense(k *keys) {
	r.p.License = k.choice("license", "unknown", "unknown", "public domain", "cc0", "cc by", "cc by-sa", "educational", "permission")
	owner, owned := k.text("rights_owner")
	switch r.p.License {
	case "unknown":
	case "public domain":
		if owned && owner != "" {
			k.refuse("rights_owner", "is given, but the license is public domain: remove one of them")
		}
	default:
		if owner == "" && r.p.Author == "" && r.p.Source == "" {
			k.refuse("rights_owner", "is missing, as are authors and source: the license %q needs an owner", r.p.License)
		}
	}
}

// languageIDs returns our ids of languages that a package names. What we do not
// have keeps its name.
func languageIDs(codes []string) []string {
	ids := slices.Clone(codes)
	for i, code := range ids {
		if code == "python3" {
			ids[i] = "python"
		}
	}
	return ids
}

func (r *reader) readNewLimits(k *keys, passes bool) {
	for _, old := range []string{"time_multiplier", "time_safety_margin"} {
		if k.node(old) != nil {
			k.refuse(old, "belongs to the legacy format: write time_multipliers")
		}
	}
	l := &r.p.Limits
	m := k.mapping("time_multipliers")
	l.Multiplier = m.number("ac_to_time_limit", 2, 1, 1000)
	l.SafetyMargin = m.number("time_limit_to_tle", 1.5, 1, 1000)
	m.unknownRefused()
	l.Resolution = seconds(k.number("time_resolution", 1, 0.001, maxCPUSeconds))
	r.readCommonLimits(k)
	if k.node("validation_passes") != nil && !passes {
		k.refuse("validation_passes", "has a meaning in multi-pass problems only: remove it")
	}
	r.readPasses(k)
	k.unknownRefused()
}

// readIncludes lists the files that are compiled with every submission.
func (r *reader) readIncludes() {
	languages, folder := r.children(includeDir)
	for _, code := range languages {
		dir := path.Join(includeDir, code)
		if !folder[code] {
			r.refuse(dir, "", "is in no folder: the files for all languages are in include/default")
			continue
		}
		in := Include{Language: languageIDs([]string{code})[0]}
		for _, f := range r.below(dir) {
			switch {
			case aside(path.Base(f)) != "":
				r.leave(f, aside(path.Base(f)))
			case r.all[f] > maxInclude:
				r.refuse(f, "", "is longer than %d KiB: it is compiled with every submission", maxInclude>>10)
			default:
				in.Files = append(in.Files, r.file(f))
			}
		}
		r.p.Includes = append(r.p.Includes, in)
	}
}

// maxInclude bounds a file that is compiled with every submission, in bytes.
const maxInclude = 1 << 20

// readNewOthers looks at what is neither judged nor shown, and refuses what this
// platform would have to run.
func (r *reader) readNewOthers() {
	r.readAttachments()
	for _, refused := range []struct{ dir, remedy string }{
		{statementDir, "belongs to the legacy format: move the statement to " + newStatementDir},
		{"output_validators", "belongs to the legacy format: move its one program to " + outputValidator},
		{"graders", "belongs to the legacy format: write score_aggregation into " + testGroupYAML},
	} {
		if len(r.below(refused.dir)) > 0 {
			r.refuse(refused.dir, "", "%s", refused.remedy)
		}
	}
	known := map[string]bool{
		problemYAML: true, nativeYAML: true, sideINI: true, sideLimit: true, "submissions.json": true, "problem.pdf": true,
		newStatementDir: true, "attachments": true, dataDir: true, includeDir: true, submissionsDir: true, outputValidator: true,
		inputValidators: true, staticValidator: true, generatorsDir: len(r.generate) > 0,
	}
	r.others(known, map[string]string{
		"input_visualizer": "is kept but not run", "output_visualizer": "is kept but not run",
		"generators": "are kept but not run: the tests are in the package", "solution": "is kept for staff",
	})
}

// checkStatements compares the languages of the statements with those of name.
func (r *reader) checkStatements(written map[string]bool) {
	have, named := slices.Sorted(maps.Keys(written)), slices.Sorted(maps.Keys(r.names))
	switch {
	case len(have) == 0:
		r.refuse(newStatementDir, "", "holds no statement: it needs a file such as problem.en.md")
	case !slices.Equal(have, named):
		r.refuse(problemYAML, "name", "is given for %s, but %s is in %s: name each language of the statement and no other",
			strings.Join(named, ", "), newStatementDir, strings.Join(have, ", "))
	}
}
