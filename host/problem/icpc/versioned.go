package icpc

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// NewStatementDir is the folder of statements in the formats that have a version.
const NewStatementDir = "statement"

// What else is in their packages.
const (
	testGroupYAML   = "test_group.yaml"
	submissionsYAML = source.SubmissionsDir + "/submissions.yaml"
)

// formats are the values of problem_format_version.
var formats = map[string]string{
	"": problem.FormatLegacy, "legacy": problem.FormatLegacy, "legacy-icpc": problem.FormatLegacy,
	"2023-07": problem.Format202307, "2023-07-draft": problem.Format202307,
	"2025-09": problem.Format202509, "2025-09-draft": problem.Format202509,
}

// format reads which format the package has.
func (r *reader) format(k *source.Keys) string {
	v, _ := k.Text("problem_format_version")
	format, known := formats[v]
	if !known {
		k.Refuse("problem_format_version", "is %q: the formats that are read are legacy, 2023-07 and 2025-09", v)
		return problem.FormatLegacy
	}
	return format
}

// leaveOut takes the files away that the format does not see.
func (r *reader) leaveOut() {
	r.Package.Files = slices.DeleteFunc(r.Package.Files, func(f problem.File) bool {
		if source.PlainName.MatchString(f.Path) {
			return false
		}
		delete(r.Sizes, f.Path)
		r.Warn(f.Path, "", "is left out: names in this format are of letters, digits, _, . and -, and begin with none of the last two")
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

// renamed are keys of the legacy format that only say something, with what the newer formats have for them.
var renamed = []struct{ key, remedy string }{
	{"author", "write it into credits"},
	{"source_url", "write it into source"},
}

// readNewProblem reads problem.yaml in a format that has a version.
func (r *reader) readNewProblem(k *source.Keys) {
	p := r.Package
	if p.Format == problem.Format202509 {
		r.leaveOut()
	}
	for _, m := range moved {
		if k.Node(m.key) != nil {
			k.Refuse(m.key, "belongs to the legacy format: %s", m.remedy)
		}
	}
	for _, m := range renamed {
		if k.Node(m.key) != nil {
			k.Warn(m.key, "belongs to the legacy format and has no effect: %s", m.remedy)
		}
	}
	types := r.readType(k)
	r.names = r.readNames(k)
	uuid, ok := k.Text("uuid")
	p.UUID = uuid
	switch missing := !ok || uuid == ""; {
	case missing && p.Format == problem.Format202307: // its drafts did not always ask for one
		k.Warn("uuid", "is missing: other programs may want one, such as a new random UUID")
	case missing:
		k.Refuse("uuid", "is missing: the format asks for one, such as a new random UUID")
	}
	k.Text("version")
	p.Author = r.readCredits(k)
	p.Source = strings.Join(r.named(k, "source", "url"), ", ")
	r.readLicense(k)
	p.Keywords, _ = k.List("keywords", false)
	if langs, ok := k.List("languages", true); ok && !slices.Equal(langs, []string{"all"}) {
		if len(langs) == 0 {
			k.Refuse("languages", "is empty: name a language, or write all")
		}
		p.Languages = source.LanguageIDs(langs)
	}
	if p.Answers {
		p.Languages = []string{judge.AnswerLanguage}
	}
	p.Writable = k.Flag("allow_file_writing", false)
	if s, ok := k.Text("embargo_until"); ok {
		if !embargo.MatchString(s) {
			k.Refuse("embargo_until", "is %q: it must be a date, such as 2025-09-30 or 2025-09-30T12:00:00Z", s)
		} else {
			k.Warn("embargo_until", "is not enforced: publish the problem only when this date has come")
		}
	}
	r.readNewLimits(k.Mapping("limits"), slices.Contains(types, "multi-pass"))
	if p.Answers && p.Limits.CPUFrom == "" {
		p.Limits.CPU, p.Limits.CPUFrom = source.DefaultCPU, "nothing is run"
	}
	values := r.constants(k.Mapping("constants"))
	k.WarnUnknown()
	r.putConstants(values)
}

var embargo = regexp.MustCompile(`^\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\dZ)?$`)

// readType reads the words of type.
func (r *reader) readType(k *source.Keys) []string {
	types, ok := k.List("type", true)
	if words := strings.Fields(strings.Join(types, " ")); len(types) == 1 && len(words) > 1 { // as drafts had several
		if r.Package.Format != problem.Format202307 {
			k.Warn("type", "is several words: it is read as the list [%s]", strings.Join(words, ", "))
		}
		types = words
	}
	if ok && len(types) == 0 {
		k.Refuse("type", "is empty: write pass-fail or scoring, or leave the key out")
	}
	for i, t := range types {
		switch t {
		case "pass-fail", "interactive":
		case "scoring":
			r.Package.Scoring = true
		case "multi-pass":
			r.passes = true
		case "submit-answer":
			r.Package.Answers = true
		default:
			k.Refuse("type", "holds %q: it must be of pass-fail, scoring, interactive, multi-pass and submit-answer", t)
		}
		if slices.Contains(types[:i], t) {
			k.Refuse("type", "holds %q twice: write it once", t)
		}
	}
	if r.Package.Scoring && slices.Contains(types, "pass-fail") {
		k.Refuse("type", "holds both pass-fail and scoring: leave one of them")
	}
	r.interactive = slices.Contains(types, "interactive")
	if r.Package.Answers && (r.interactive || r.passes) {
		k.Refuse("type", "holds submit-answer, with which nothing runs, and interactive or multi-pass: leave one of them")
	}
	return types
}

// readNames reads name, and returns the name by language.
func (r *reader) readNames(k *source.Keys) map[string]string {
	title, all := r.title(k)
	if r.Package.Title = title; title == "" {
		k.Refuse("name", "is missing: the format asks for one")
	}
	if all == nil {
		return map[string]string{"en": title}
	}
	r.SetTitles(all)
	return all
}

// named reads names: one or a list of them, each a string or a mapping with the key name and perhaps the keys besides.
func (r *reader) named(k *source.Keys, key string, besides ...string) []string {
	n := k.Node(key)
	if n == nil {
		return nil
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var names []string
	for _, item := range items {
		switch item = source.Target(item); item.Kind {
		case yaml.ScalarNode:
			names = append(names, strings.TrimSpace(item.Value))
		case yaml.MappingNode:
			m := r.Mapping(k.File, k.Prefix+key+".", item)
			name, _ := m.Text("name")
			if name == "" {
				m.Refuse("name", "is missing: each entry needs one")
			}
			for _, other := range besides {
				m.Text(other)
			}
			m.WarnUnknown()
			names = append(names, name)
		case yaml.DocumentNode, yaml.SequenceNode, yaml.AliasNode:
			k.Refuse(key, "must be a name, a mapping with the key name, or a list of these")
		}
	}
	return names
}

// readCredits returns the authors.
func (r *reader) readCredits(k *source.Keys) string {
	n := k.Node("credits")
	if n == nil || n.Kind == yaml.ScalarNode {
		author, _ := k.Text("credits")
		return author
	}
	person := []string{"email", "orcid", "kattis"}
	c := k.Mapping("credits")
	authors := r.named(c, "authors", person...)
	for _, others := range []string{"contributors", "testers", "packagers", "acknowledgements"} {
		r.named(c, others, person...)
	}
	if t := c.Mapping("translators"); t != nil {
		for _, lang := range t.Order {
			r.named(t, lang, person...)
		}
	}
	c.WarnUnknown()
	return strings.Join(authors, ", ")
}

func (r *reader) readLicense(k *source.Keys) {
	r.Package.License = k.Choice("license", "unknown", "unknown", "public domain", "cc0", "cc by", "cc by-sa", "educational", "permission")
	owner, owned := k.Text("rights_owner")
	switch r.Package.License {
	case "unknown":
	case "public domain":
		if owned && owner != "" {
			k.Refuse("rights_owner", "is given, but the license is public domain: remove one of them")
		}
	default:
		if owner == "" && r.Package.Author == "" && r.Package.Source == "" {
			k.Refuse("rights_owner", "is missing, as are authors and source: the license %q needs an owner", r.Package.License)
		}
	}
}

func (r *reader) readNewLimits(k *source.Keys, passes bool) {
	for _, old := range []string{"time_multiplier", "time_safety_margin"} {
		if k.Node(old) != nil {
			k.Refuse(old, "belongs to the legacy format: write time_multipliers")
		}
	}
	l := &r.Package.Limits
	m := k.Mapping("time_multipliers")
	l.Multiplier = m.Number("ac_to_time_limit", 2, 1, 1000)
	l.SafetyMargin = m.Number("time_limit_to_tle", 1.5, 1, 1000)
	m.RefuseUnknown()
	l.Resolution = source.Seconds(k.Number("time_resolution", 1, 0.001, problem.MaxCPUSeconds))
	r.ReadLimits(k)
	if k.Node("validation_passes") != nil && !passes {
		k.Refuse("validation_passes", "has a meaning in multi-pass problems only: remove it")
	}
	r.readPasses(k)
	k.RefuseUnknown()
}

// readIncludes lists the files that are compiled with every submission.
func (r *reader) readIncludes() {
	languages, folder := r.Children(problem.IncludeDir)
	for _, code := range languages {
		dir := path.Join(problem.IncludeDir, code)
		if !folder[code] {
			r.Refuse(dir, "", "is in no folder: the files for all languages are in include/default")
			continue
		}
		in := problem.Include{Language: source.LanguageIDs([]string{code})[0]}
		for _, f := range r.Below(dir) {
			switch {
			case source.Aside(path.Base(f)) != "":
				r.Leave(f, source.Aside(path.Base(f)))
			case r.Sizes[f] > source.MaxInclude:
				r.Refuse(f, "", "is longer than %d KiB: it is compiled with every submission", source.MaxInclude>>10)
			default:
				in.Files = append(in.Files, r.File(f))
			}
		}
		r.Package.Includes = append(r.Package.Includes, in)
	}
}

// readNewOthers looks at what is neither judged nor shown, and refuses what this platform would have to run.
func (r *reader) readNewOthers() {
	r.ReadAttachments()
	for _, refused := range []struct{ dir, remedy string }{
		{StatementDir, "belongs to the legacy format: move the statement to " + NewStatementDir},
		{"output_validators", "belongs to the legacy format: move its one program to " + outputValidator},
		{"graders", "belongs to the legacy format: write score_aggregation into " + testGroupYAML},
	} {
		if len(r.Below(refused.dir)) > 0 {
			r.Refuse(refused.dir, "", "%s", refused.remedy)
		}
	}
	known := map[string]bool{
		source.ProblemYAML: true, problem.NativeYAML: true, sideINI: true, sideLimit: true, "submissions.json": true, "problem.pdf": true,
		NewStatementDir: true, "attachments": true, source.DataDir: true, problem.IncludeDir: true, source.SubmissionsDir: true, outputValidator: true,
		inputValidators: true, staticValidator: true, source.GeneratorsDir: r.Generates(),
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
		r.Refuse(NewStatementDir, "", "holds no statement: it needs a file such as problem.en.md")
	case !slices.Equal(have, named):
		r.Refuse(source.ProblemYAML, "name", "is given for %s, but %s is in %s: name each language of the statement and no other",
			strings.Join(named, ", "), NewStatementDir, strings.Join(have, ", "))
	}
}

// submissionsJSON is where DOMjudge has what it wants to know of submissions. It may lie at the top, too.
const submissionsJSON = source.SubmissionsDir + "/submissions.json"

// readEntryPoints reads which files of submissions are started, as DOMjudge's submissions.json says.
func (r *reader) readEntryPoints() {
	for _, file := range []string{"submissions.json", submissionsJSON} {
		if !r.Has(file) {
			continue
		}
		k := r.YAML(file) // of which JSON is a part
		for _, name := range k.Order {
			m := k.Mapping(name)
			entry, given := m.Text("entry_point")
			m.Text("team") // whose submission it is shown as
			m.WarnUnknown()
			full := path.Clean(name)
			at := slices.IndexFunc(r.Package.Submissions, func(s problem.Submission) bool { return s.Path == full })
			switch {
			case at < 0:
				r.Warn(file, name, "is no submission of the package")
			case given:
				r.startWith(&r.Package.Submissions[at], entry, file, name+".entry_point")
			}
		}
	}
}

// startWith makes a file of a submission its entry point, which is a file or a class.
// The file comes first, too: so an adapter sees it that is not told of entry points.
func (r *reader) startWith(s *problem.Submission, entry, file, key string) {
	if len(s.Files) == 1 {
		return // it is this one, whatever it is called
	}
	at := slices.IndexFunc(s.Files, func(f problem.File) bool { return starts(strings.TrimPrefix(f.Path, s.Path+"/"), f.Path, entry) })
	if at < 0 {
		r.Refuse(file, key, "is %q, which is no file and no class of %s", entry, s.Path)
		return
	}
	first := s.Files[at]
	s.Entry = strings.TrimPrefix(first.Path, s.Path+"/")
	s.Files = slices.Insert(slices.Delete(s.Files, at, at+1), 0, first)
}

// starts reports whether an entry point means a file: its path in the submission, its name, or its class.
func starts(inside, full, entry string) bool {
	name := path.Base(full)
	class := strings.ReplaceAll(entry, ".", "/")
	stem := strings.TrimSuffix(inside, path.Ext(inside))
	return entry == inside || entry == name || class == stem || path.Base(class) == strings.TrimSuffix(name, path.Ext(name)) && path.Ext(entry) != path.Ext(name)
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
