// Package icpc reads packages in the formats of ICPC and Kattis: legacy, which has no version, 2023-07 and 2025-09.
//
// Its files:
//
//	icpc.go         the order in which a package is read, its statements and its other files
//	legacy.go       problem.yaml of the legacy format and of the drafts of 2023-07, and the time limit
//	versioned.go    problem.yaml of 2023-07 and 2025-09, and what is compiled with submissions
//	domjudge.go     DOMjudge's dialect: its settings and scores
//	data.go         tests and groups of the legacy format
//	groups.go       tests and groups of the newer ones
//	constants.go    constants of a package, put into its files
//	checkers.go     who decides on outputs
//	validators.go   validators of inputs, static ones, and tests of the package's own programs
//	submissions.go  the package's own submissions, and what their folders mean
//	expect.go       what each of them must get, as submissions.yaml says
//	title.go        the title, where only a statement has it, and samples that are shown and not judged
package icpc

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// Read reads a package of the formats legacy, 2023-07 and 2025-09, which it tells apart by problem_format_version.
func Read(in *source.Reader) {
	r := &reader{Reader: in}
	k := r.YAML(source.ProblemYAML)
	if r.Package.Format = r.format(k); r.Package.Format == problem.FormatLegacy {
		r.readLegacy(k)
	} else {
		r.readVersioned(k)
	}
}

// Submissions lists the programs in the folder submissions of a package that is of
// another format and says as the legacy one what they must get.
func Submissions(in *source.Reader) {
	r := &reader{Reader: in}
	r.readSubmissions()
}

// reader reads one package.
type reader struct {
	*source.Reader

	hasStatic   bool     // a group asks to look at the submitted files
	custom      bool     // validation: custom
	passes      bool     // programs may be run several times on a test
	interactive bool     // the custom validator talks with the program
	points      bool     // validation: custom score
	flags       []string // validator_flags
	scoringSaid string   // whose arithmetic deepoj.yaml asks for; "" = it does not say
	old         deprecated
	names       map[string]string // of the problem, by language
}

// readLegacy reads the rest of a package of the legacy format.
func (r *reader) readLegacy(k *source.Keys) {
	r.readProblem(k)
	r.readTimeLimit()
	r.readCheckers()
	r.setPasses()
	r.readValidators()
	r.readIncludes()
	r.readGrader()
	r.readData()
	r.readSubmissions()
	r.readStatements(StatementDir)
	r.ReadPictures()
	r.readTitle()
	r.ReadSamples()
	r.readShownAlone()
	r.readOthers()
}

// readVersioned reads the rest of a package of a format that has a version.
func (r *reader) readVersioned(k *source.Keys) {
	r.readNewProblem(k)
	r.readTimeLimit()
	r.readNewCheckers()
	r.setPasses()
	r.readValidators()
	r.readStatic()
	r.readIncludes()
	if r.drafted() {
		r.readDrafted()
	} else {
		r.readGroups()
	}
	r.readSubmissions()
	r.checkStatements(r.readStatements(NewStatementDir))
	r.ReadPictures()
	r.ReadSamples()
	r.readShownAlone()
	r.readNewOthers()
}

// readStatements turns the statements in a folder into HTML, and returns in which languages there are any.
func (r *reader) readStatements(statementDir string) map[string]bool {
	written := map[string]bool{}
	r.Package.Statements = map[string]string{}
	names, _ := r.Children(statementDir)
	if r.Has("problem.pdf") {
		r.Package.Documents = append(r.Package.Documents, r.File("problem.pdf"))
	}
	for _, name := range names {
		m := problem.StatementFile.FindStringSubmatch(name)
		if m == nil {
			continue // pictures and style files
		}
		lang, file := m[1], path.Join(statementDir, name)
		if lang == "" && statementDir == NewStatementDir {
			r.Refuse(file, "", "names no language: call it problem.en.%s if it is in English", m[2])
		}
		lang = cmp.Or(lang, "en")
		written[lang] = true
		switch _, there := r.Package.Statements[lang]; {
		case m[2] == "pdf":
			r.Package.Documents = append(r.Package.Documents, r.File(file))
		case there:
			r.Warn(file, "", "has no effect: there is another statement in this language")
		case m[2] == "md":
			r.Package.Statements[lang] = r.Markdown(file)
		default:
			r.Package.Statements[lang] = r.TeX(file)
		}
	}
	r.ChooseStatement()
	switch {
	case r.Package.Statement == "" && len(r.Package.Documents) > 0:
		r.Warn(statementDir, "", "is a PDF only: the page has a link to it, and no text")
	case r.Package.Statement == "":
		r.Warn(statementDir, "", "holds no problem.md or problem.tex: the page will have no statement")
	}
	return written
}

// readOthers looks at what is neither judged nor shown.
func (r *reader) readOthers() {
	r.ReadAttachments()
	known := map[string]bool{
		source.ProblemYAML: true, problem.NativeYAML: true, sideLimit: true, sideINI: true, "submissions.json": true, outputValidator: true, "problem.pdf": true,
		StatementDir: true, "attachments": true, source.DataDir: true, problem.IncludeDir: true, source.SubmissionsDir: true, "output_validators": true,
		inputValidators: true, oldValidators: true, gradersDir: true, source.GeneratorsDir: r.Generates(),
	}
	r.others(known, nil)
}

// others warns of each file and folder at the top that is not known, with words for some of them.
func (r *reader) others(known map[string]bool, words map[string]string) {
	seen := map[string]bool{}
	for _, f := range r.Package.Files {
		top, _, _ := strings.Cut(f.Path, "/")
		if known[top] || seen[top] || f.Path == source.TestlibName || problem.Derived(f.Path) {
			continue
		}
		seen[top] = true
		why := words[top]
		why = cmp.Or(why, "is kept but has no meaning in this format")
		r.Warn(top, "", "%s", why)
	}
}

// Unnamed reports whether the folder is a package of ICPC that lacks its problem.yaml
// and would be another problem without it.
func Unnamed(r *source.Reader) bool {
	for _, dir := range []string{StatementDir, "output_validators", outputValidator, path.Join(source.DataDir, problem.SecretGroup)} {
		if len(r.Below(dir)) > 0 {
			return true
		}
	}
	return false
}

// Reads reports whether a file of this name would be read.
func Reads(name string) bool {
	top, rest, _ := strings.Cut(name, "/")
	switch top {
	case source.ProblemYAML, problem.NativeYAML, sideLimit, sideINI:
		return true
	case source.DataDir:
		folder, _, _ := strings.Cut(rest, "/")
		return folder != problem.SampleGroup && folder != problem.SecretGroup && folder != invalidInput && folder != invalidOutput && folder != validOutput ||
			slices.Contains([]string{"", ".in", ".ans", ".out", ".yaml"}, path.Ext(name)) || filesFolder.MatchString(name)
	case StatementDir, NewStatementDir:
		return rest == "" || problem.StatementFile.MatchString(rest)
	case source.SubmissionsDir:
		return rest == "" || source.NoSubmission(path.Base(name)) == ""
	case inputValidators, oldValidators, outputValidator, outputValidators, problem.IncludeDir, gradersDir, staticValidator:
		return source.Aside(path.Base(name)) == ""
	}
	return false
}

// StatementDir is the folder of statements in the legacy format.
const StatementDir = "problem_statement"
