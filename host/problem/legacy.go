package problem

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"deepoj/host/judge"
)

// The defaults of the legacy format, and what this platform can honour.
const (
	defaultCPU       = 2 * time.Second
	maxCPUSeconds    = 600
	defaultMemoryMiB = 2048
	maxMemoryMiB     = 64 << 10
	maxOutputMiB     = 4096
	maxCodeKiB       = 64 << 10
)

const problemYAML = "problem.yaml"

// deprecated are the grading keys of problem.yaml, which testdata.yaml replaced.
type deprecated struct {
	onReject string // "", "break" or "continue"
	accept   float64
	reject   float64
	low      *float64
	high     *float64
}

// readProblem reads problem.yaml.
func (r *reader) readProblem(k *keys) {
	p := r.p
	p.Scoring = k.choice("type", "pass-fail", "pass-fail", "scoring") == "scoring"
	p.Title, r.names = r.title(k)
	p.UUID, _ = k.text("uuid")
	p.Author, _ = k.text("author")
	p.Source, _ = k.text("source")
	p.License, _ = k.text("license")
	p.Keywords, _ = k.words("keywords")
	if langs, ok := k.words("languages"); ok && !slices.Equal(langs, []string{"all"}) {
		p.Languages = languageIDs(langs)
	}
	for _, informational := range []string{"source_url", "rights_owner"} {
		k.text(informational)
	}
	r.readLimits(k.mapping("limits"))
	r.readValidation(k)
	r.readGradingKeys(k.mapping("grading"))
	k.unknown()
}

// title reads name, which is a string or a mapping from language to string. It
// returns the one to show where there is no choice, and all of a mapping.
func (r *reader) title(k *keys) (name string, all map[string]string) {
	n := k.node("name")
	if n == nil {
		return "", nil
	}
	if n.Kind != yaml.MappingNode {
		name, _ = k.text("name")
		return name, nil
	}
	names := k.mapping("name")
	all = map[string]string{}
	for i, lang := range names.order {
		all[lang], _ = names.text(lang)
		if i == 0 || lang == "en" {
			name = all[lang]
		}
	}
	return name, all
}

func (r *reader) readLimits(k *keys) {
	l := &r.p.Limits
	l.Multiplier = k.number("time_multiplier", 5, 0.001, 1000)
	l.SafetyMargin = k.number("time_safety_margin", 2, 0.001, 1000)
	r.readCommonLimits(k)
	r.readPasses(k)
	k.unknown()
}

// maxPasses is how often a program may be run on one test.
const maxPasses = 100

// readPasses reads how many passes there may be, for [reader.setPasses].
func (r *reader) readPasses(k *keys) {
	r.p.Passes = int(k.number("validation_passes", 2, 1, maxPasses))
}

// setPasses keeps the number of passes in a problem that has several.
func (r *reader) setPasses() {
	if !r.passes {
		r.p.Passes = 0
		return
	}
	key := "type"
	if r.p.Format == FormatLegacy {
		key = "validation"
	}
	who := r.p.Checkers
	if r.p.Interactor != nil {
		who = append([]Checker{*r.p.Interactor}, who...)
	}
	if r.refusals == 0 && (len(who) != 1 || who[0].Standard != "" || who[0].Protocol != "icpc/1") {
		r.refuse(problemYAML, key, "asks for several passes: one checker or interactor of the package, of icpc/1, must ask for each")
	}
}

// readCommonLimits reads the limits that mean the same in every format.
func (r *reader) readCommonLimits(k *keys) {
	l := &r.p.Limits
	if k.node("time_limit") != nil {
		l.CPU = seconds(k.number("time_limit", defaultCPU.Seconds(), 0.001, maxCPUSeconds))
		l.CPUFrom = problemYAML + ": limits.time_limit"
	}
	l.MemoryMiB = int64(k.number("memory", defaultMemoryMiB, 1, maxMemoryMiB))
	l.OutputMiB = int64(k.number("output", 8, 1, maxOutputMiB))
	l.CodeKiB = int64(k.number("code", 128, 1, maxCodeKiB))
	l.CompileCPU = seconds(k.number("compilation_time", 60, 0.1, maxCPUSeconds))
	l.CompileMemoryMiB = int64(k.number("compilation_memory", 2048, 16, maxMemoryMiB))
	l.CheckCPU = seconds(k.number("validation_time", 60, 0.1, maxCPUSeconds))
	l.CheckMemoryMiB = int64(k.number("validation_memory", 2048, 16, maxMemoryMiB))
	l.CheckOutputMiB = int64(k.number("validation_output", 8, 1, maxOutputMiB))
}

// readValidation reads validation and validator_flags.
func (r *reader) readValidation(k *keys) {
	words, _ := k.words("validation")
	if len(words) > 0 {
		switch words[0] {
		case "default":
		case "custom":
			r.custom = true
		default:
			k.refuse("validation", "is %q: it must begin with default or custom", words[0])
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
				k.refuse("validation", "holds %q, which means nothing", w)
			}
		}
	}
	r.flags, _ = k.words("validator_flags")
}

// readGradingKeys reads the grading mapping of problem.yaml.
func (r *reader) readGradingKeys(k *keys) {
	r.p.Minimize = k.choice("objective", "max", "max", "min") == "min"
	switch k.choice("on_reject", "", "break", "continue", "first_error", "worst_error", "grade") {
	case "break", "first_error":
		r.old.onReject = "break"
	case "continue", "worst_error", "grade":
		r.old.onReject = "continue"
	}
	r.old.accept = k.number("accept_score", 1, -maxScore, maxScore)
	r.old.reject = k.number("reject_score", 0, -maxScore, maxScore)
	r.old.low, r.old.high = k.scores("range")
	if custom, ok := k.text("custom_scoring"); ok {
		r.points = r.points || strings.EqualFold(custom, "true") || strings.EqualFold(custom, "yes")
	}
	k.text("show_test_data_groups") // how results are shown is the platform's choice
	k.unknown()
}

// maxScore is the largest score: beyond it sums would not be exact.
const maxScore = 1e12

// legacyResolution is the step of a time limit that the legacy format leaves to whoever
// installs the problem, and its least value.
const legacyResolution = time.Second

// The side files that other judges have beside problem.yaml.
const (
	sideLimit = ".timelimit"
	sideINI   = "domjudge-problem.ini"
)

// readTimeLimit takes the time limit from the side files, unless problem.yaml
// has it.
func (r *reader) readTimeLimit() {
	const side, ini = sideLimit, sideINI
	l := &r.p.Limits
	take := func(file, key, value string) {
		s, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(s >= 0.001 && s <= maxCPUSeconds) {
			r.refuse(file, key, "is %q: it must be a number of seconds from 0.001 to %d", strings.TrimSpace(value), maxCPUSeconds)
			return
		}
		if l.CPUFrom != "" {
			r.warn(file, key, "has no effect: the time limit comes from %s", l.CPUFrom)
			return
		}
		l.CPU, l.CPUFrom = seconds(s), strings.TrimSuffix(file+": "+key, ": ")
	}
	if r.has(side) {
		take(side, "", r.text(side))
	}
	if r.has(ini) {
		for key, value := range r.ini(ini) {
			switch key {
			case "timelimit":
				take(ini, key, value)
			case "name":
				if r.p.Title == "" {
					r.p.Title = value
				}
			case "short-name", "externalid":
				if r.p.Slug == "" || key == "short-name" {
					r.p.Slug = value
				}
			case "special_run":
				r.refuse(ini, key, "names a program outside the package: %q", value)
			case "special_compare":
				if !r.custom {
					r.refuse(ini, key, "names a program outside the package: %q", value)
				}
			case "allow_submit", "allow_judge", "points", "color":
				r.warn(ini, key, "belongs to a contest and has no effect on the problem")
			default:
				r.warn(ini, key, "is not known and has no effect")
			}
		}
	}
	if l.CPUFrom == "" {
		l.CPU, l.CPUFrom = defaultCPU, "default"
		if r.p.Format == FormatLegacy {
			l.Resolution = legacyResolution
			r.warn(problemYAML, "limits.time_limit", "is missing, as is %s: it is inferred from the submissions, as time_multiplier (%g) times what the slowest of submissions/accepted takes",
				side, l.Multiplier)
		} else {
			r.warn(problemYAML, "limits.time_limit", "is missing: it is inferred from the submissions")
		}
	}
}

// ini yields the key and value of each line of the form key = value, in order.
func (r *reader) ini(file string) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(r.text(file)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.ContainsAny(line[:1], ";#[") {
				continue
			}
			key, value, ok := strings.Cut(line, "=")
			if !ok {
				r.refuse(file, "", "has a line that is not key = value: %q", line)
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
func (r *reader) native() (checker, interactor *Checker) {
	k := r.yaml(nativeYAML)
	defer k.unknown()
	if r.p.Format == FormatLegacy {
		r.scoringSaid = k.choice(scoringKey, "", scoringKattis, scoringDOMjudge)
	}
	return r.bindings(k)
}

// bindings reads the keys of deepoj.yaml that every format has.
func (r *reader) bindings(k *keys) (checker, interactor *Checker) {
	if k.node("checker") != nil {
		checker = r.binding(k.mapping("checker"), Standard)
	}
	if k.node("interactor") != nil {
		interactor = r.binding(k.mapping("interactor"), nil)
		if checker != nil && interactor.Protocol == "icpc/1" {
			k.refuse("checker", "has nothing to decide: an interactor of icpc/1 decides alone")
		}
	}
	choices := make([]string, len(judge.ToldChoices))
	for i, c := range judge.ToldChoices {
		choices[i] = string(c)
	}
	r.readGenerate(k)
	r.p.CheckerMessages = judge.CheckerMessages(k.choice(messagesKey, "", choices...))
	return checker, interactor
}

const messagesKey = "checker_messages"

// checkMessages refuses that everybody reads what checkers say that nobody has looked
// at. Those that were uploaded have a report, which those read who take the package in.
func (r *reader) checkMessages() {
	if r.p.CheckerMessages != judge.ToldAll {
		return
	}
	all := r.p.Checkers
	if r.p.Interactor != nil {
		all = append(slices.Clone(all), *r.p.Interactor)
	}
	for _, c := range all {
		if c.Standard == "" && !c.bound() {
			r.refuse(nativeYAML, messagesKey, "is all, and nobody has shown that %s gives no answer away: choose samples, or upload the checker as a plugin and bind it by its name "+
				"when its report has no warning of the kind leak; what it writes to teammessage.txt the team always reads", c.Name())
		}
	}
}

// binding reads which plugin is meant. Standard are the names of those that come
// with the platform.
func (r *reader) binding(b *keys, standard []string) *Checker {
	defer b.unknown()
	c := &Checker{Points: r.points}
	c.Protocol = b.choice("protocol", "icpc/1", "icpc/1", "testlib/1")
	c.Flags, _ = b.words("args")
	if c.Flags == nil {
		c.Flags = r.flags
	}
	name, named := b.text("name")
	file, filed := b.text("file")
	digest, pinned := b.text("digest")
	switch {
	case named && filed || filed && pinned || named && pinned || !named && !filed && !pinned:
		b.refuse("", "needs one of name, digest and file")
	case pinned && !pluginDigest.MatchString(digest):
		b.refuse("digest", "is %q: the digest of a plugin is sha256: and 64 hexadecimal digits", digest)
	case pinned:
		c.Digest = digest
	case named && strings.Contains(name, "."):
		c.Plugin = name
	case named && !slices.Contains(standard, name):
		b.refuse("name", "is %q: the standard checkers are %s, and the name of an uploaded plugin has a dot", name, strings.Join(Standard, ", "))
	case named:
		c.Standard = name
	case !r.has(file) || !checkerFile.MatchString(file):
		b.refuse("file", "is %q: it must be a C, C++ or .wasm file of the package", file)
	case path.Ext(file) == ".wasm":
		f := r.file(file)
		c.Wasm = &f
	default:
		c.Sources = []File{r.file(file)}
	}
	return c
}

var (
	checkerFile  = regexp.MustCompile(`\.(c|cc|cpp|cxx|wasm)$`)
	pluginDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
}
