package problem

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"deepoj/host/judge"
	"deepoj/host/problem/statement"
)

const statementDir = "problem_statement"

// statementFile is the name of a statement: group 1 is the language tag, group 2
// the kind of file.
var statementFile = regexp.MustCompile(`^problem(?:\.([a-z]{2,3}(?:-[A-Za-z0-9]+)?))?\.(tex|md|pdf)$`)

// readStatements turns the statements in a folder into HTML, and returns in which
// languages there are any.
func (r *reader) readStatements(statementDir string) map[string]bool {
	written := map[string]bool{}
	r.p.Statements = map[string]string{}
	names, _ := r.children(statementDir)
	if r.has("problem.pdf") {
		r.p.Documents = append(r.p.Documents, r.file("problem.pdf"))
	}
	for _, name := range names {
		m := statementFile.FindStringSubmatch(name)
		if m == nil {
			continue // pictures and style files
		}
		lang, file := m[1], path.Join(statementDir, name)
		if lang == "" && statementDir == newStatementDir {
			r.refuse(file, "", "names no language: call it problem.en.%s if it is in English", m[2])
		}
		if lang == "" {
			lang = "en"
		}
		written[lang] = true
		switch _, there := r.p.Statements[lang]; {
		case m[2] == "pdf":
			r.p.Documents = append(r.p.Documents, r.file(file))
		case there:
			r.warn(file, "", "has no effect: there is another statement in this language")
		case m[2] == "md":
			r.p.Statements[lang] = r.markdown(file)
		default:
			r.p.Statements[lang] = r.tex(file)
		}
	}
	r.chooseStatement()
	switch {
	case r.p.Statement == "" && len(r.p.Documents) > 0:
		r.warn(statementDir, "", "is a PDF only: the page has a link to it, and no text")
	case r.p.Statement == "":
		r.warn(statementDir, "", "holds no problem.md or problem.tex: the page will have no statement")
	}
	return written
}

// chooseStatement takes the statement in English, or the first.
func (r *reader) chooseStatement() {
	if r.p.Statement = r.p.Statements["en"]; r.p.Statement == "" {
		r.p.Statement = r.p.Statements[firstKey(r.p.Statements)]
	}
}

func firstKey(m map[string]string) string {
	first := ""
	for k := range m {
		if first == "" || k < first {
			first = k
		}
	}
	return first
}

// markdown renders a statement in Markdown.
func (r *reader) markdown(file string) string {
	return r.rendered(file, func(text string) (string, error) { return r.renderer().Markdown(file, text) })
}

// tex renders a statement in TeX.
func (r *reader) tex(file string) string {
	return r.rendered(file, func(text string) (string, error) { return r.renderer().TeX(file, text) })
}

// rendered turns a file into HTML.
func (r *reader) rendered(file string, by func(text string) (string, error)) string {
	page, err := by(statement.Text([]byte(r.textOf(file, maxStatement, statementRemedy))))
	if err != nil {
		r.refuse(file, "", "%v", err)
	}
	return page
}

// statementRemedy is told of a statement that is too long.
const statementRemedy = ", which is the most that a statement may have in one language: put what is long into attachments/"

// readSamples takes the sample tests for the statement.
func (r *reader) readSamples() {
	if r.p.Root == nil {
		return
	}
	for _, t := range r.p.Root.Tests() {
		if !t.Sample {
			continue
		}
		s := judge.Sample{Name: strings.TrimPrefix(t.Name, sampleDir+"/")}
		input, output := &t.Input, &t.Answer
		if r.p.Format == Format202307 || r.p.Format == Format202509 {
			input, output = r.shown(t)
		}
		for _, part := range []struct {
			file *File
			to   *string
		}{{input, &s.Input}, {output, &s.Output}} {
			if part.file == nil || part.file.Path == "" { // not shown, or still to be made
				continue
			}
			b, err := r.read(part.file.Path, maxSample)
			if err != nil {
				r.refuse(part.file.Path, "", "cannot be read: %v", err)
				continue
			}
			if r.shownBytes += len(b); r.shownBytes > maxSamples {
				r.refuse(part.file.Path, "", "is too much: the page shows at most %d MiB of all samples together", maxSamples>>20)
				return
			}
			if *part.to = shownText(b, part.file.Size); part.file.Size > maxSample {
				r.warn(part.file.Path, "", "is longer than %d KiB: the page shows its beginning", maxSample>>10)
			}
		}
		r.p.Samples = append(r.p.Samples, s)
	}
}

// shownText is what the page shows of a sample that begins so and has size bytes.
func shownText(b []byte, size int64) string {
	if size > int64(len(b)) {
		return clean(string(b)) + "…\n"
	}
	return clean(string(b))
}

// clean makes text that every page and database takes: valid UTF-8 without NUL.
func clean(s string) string {
	if utf8.ValidString(s) && !strings.ContainsRune(s, 0) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// readOthers looks at what is neither judged nor shown.
func (r *reader) readOthers() {
	r.readAttachments()
	known := map[string]bool{
		problemYAML: true, nativeYAML: true, sideLimit: true, sideINI: true, "submissions.json": true, outputValidator: true, "problem.pdf": true,
		statementDir: true, "attachments": true, dataDir: true, includeDir: true, submissionsDir: true, "output_validators": true,
		inputValidators: true, oldValidators: true, gradersDir: true, generatorsDir: len(r.generate) > 0,
	}
	r.others(known, nil)
}

func (r *reader) readAttachments() {
	for _, name := range r.below("attachments") {
		r.p.Attachments = append(r.p.Attachments, r.file(name))
	}
}

// others warns of each file and folder at the top that is not known, with words
// for some of them.
func (r *reader) others(known map[string]bool, words map[string]string) {
	seen := map[string]bool{}
	for _, f := range r.p.Files {
		top, _, _ := strings.Cut(f.Path, "/")
		if known[top] || seen[top] || f.Path == testlibName {
			continue
		}
		seen[top] = true
		why := words[top]
		if why == "" {
			why = "is kept but has no meaning in this format"
		}
		r.warn(top, "", "%s", why)
	}
}
