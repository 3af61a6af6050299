package problem

import (
	"bytes"
	"html"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"deepoj/host/judge"
)

const statementDir = "problem_statement"

// statementFile is the name of a statement: group 1 is the language tag, group 2
// the kind of file.
var statementFile = regexp.MustCompile(`^problem(?:\.([a-z]{2,3}(?:-[A-Za-z0-9]+)?))?\.(tex|md|pdf)$`)

// readStatements turns the statements into HTML.
func (r *reader) readStatements() {
	r.p.Statements = map[string]string{}
	names, _ := r.children(statementDir)
	pdf := r.has("problem.pdf")
	for _, name := range names {
		m := statementFile.FindStringSubmatch(name)
		if m == nil {
			continue // pictures and style files
		}
		lang, file := m[1], path.Join(statementDir, name)
		if lang == "" {
			lang = "en"
		}
		switch _, there := r.p.Statements[lang]; {
		case m[2] == "pdf":
			pdf = true
		case there:
			r.warn(file, "", "has no effect: there is another statement in this language")
		case m[2] == "md":
			r.p.Statements[lang] = r.markdown(file)
		default:
			r.p.Statements[lang] = r.tex(file)
		}
	}
	for lang, text := range r.p.Statements {
		if r.p.Statement == "" || lang == "en" {
			r.p.Statement = text
		}
	}
	if len(r.p.Statements) > 1 && r.p.Statements["en"] == "" {
		r.p.Statement = r.p.Statements[firstKey(r.p.Statements)]
	}
	switch {
	case r.p.Statement == "" && pdf:
		r.warn(statementDir, "", "is a PDF only: the page cannot show it")
	case r.p.Statement == "":
		r.warn(statementDir, "", "holds no problem.md or problem.tex: the page will have no statement")
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

// markdown renders a statement. Raw HTML is left out and dangerous links lose
// their target, so the result is safe to show.
func (r *reader) markdown(file string) string {
	text := clean(r.text(file))
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough))
	var out bytes.Buffer
	if err := md.Convert([]byte(text), &out); err != nil {
		r.refuse(file, "", "cannot be rendered: %v", err)
		return ""
	}
	if strings.Contains(out.String(), "<!-- raw HTML omitted -->") {
		r.warn(file, "", "holds HTML, which is left out")
	}
	return r.withoutPictures(file, strings.ReplaceAll(out.String(), "<!-- raw HTML omitted -->", ""))
}

var picture = regexp.MustCompile(`<img [^>]*?>`)

var alternative = regexp.MustCompile(`alt="([^"]*)"`)

// withoutPictures puts the description in the place of each picture.
func (r *reader) withoutPictures(file, text string) string {
	return picture.ReplaceAllStringFunc(text, func(tag string) string {
		r.warn(file, "", "shows a picture, which the page leaves out")
		if m := alternative.FindStringSubmatch(tag); m != nil && m[1] != "" {
			return "<em>[" + m[1] + "]</em>"
		}
		return ""
	})
}

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
		for _, part := range []struct {
			file File
			to   *string
		}{{t.Input, &s.Input}, {t.Answer, &s.Output}} {
			b, err := r.read(part.file.Path, maxSample)
			if err != nil {
				r.refuse(part.file.Path, "", "cannot be read: %v", err)
				continue
			}
			*part.to = clean(string(b))
			if part.file.Size > maxSample {
				*part.to += "…\n"
				r.warn(part.file.Path, "", "is longer than %d KiB: the page shows its beginning", maxSample>>10)
			}
		}
		r.p.Samples = append(r.p.Samples, s)
	}
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
	for _, name := range r.below("attachments") {
		r.p.Attachments = append(r.p.Attachments, r.file(name))
	}
	if files := r.below("include"); len(files) > 0 {
		r.refuse(files[0], "", "is to be compiled with every submission, which this platform cannot do yet")
	}
	known := map[string]bool{
		problemYAML: true, nativeYAML: true, ".timelimit": true, "domjudge-problem.ini": true, "problem.pdf": true,
		statementDir: true, "attachments": true, dataDir: true, "include": true, submissionsDir: true, "output_validators": true,
	}
	seen := map[string]bool{}
	for _, f := range r.p.Files {
		top, _, _ := strings.Cut(f.Path, "/")
		if known[top] || seen[top] {
			continue
		}
		seen[top] = true
		switch top {
		case "input_validators", "input_format_validators":
			r.warn(top, "", "are kept but not run")
		case "graders":
			r.warn(top, "", "are kept but not run: no group asks for a custom grader")
		default:
			r.warn(top, "", "is kept but has no meaning in this format")
		}
	}
}

func escape(s string) string { return html.EscapeString(s) }
