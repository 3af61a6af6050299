package icpc

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// readTitle takes the name of a legacy package from its statements, if problem.yaml has none: from \problemname{…}, or,
// if that is not plain text, from the comment "%% plainproblemname: …" that says it plainly. Without any, whoever takes
// the package in calls it by its short name.
func (r *reader) readTitle() {
	found := map[string]string{}
	names, _ := r.Children(StatementDir)
	for _, name := range names {
		m := problem.StatementFile.FindStringSubmatch(name)
		if m == nil || m[2] == "pdf" {
			continue
		}
		lang := m[1]
		lang = cmp.Or(lang, "en")
		text, err := r.Read(path.Join(StatementDir, name), source.MaxStatement)
		if title := statementTitle(string(text)); err == nil && title != "" && found[lang] == "" {
			found[lang] = title
		}
	}
	if r.Package.Title == "" {
		if r.Package.Title = found["en"]; r.Package.Title == "" {
			r.Package.Title = found[source.FirstKey(found)]
		}
	}
	if r.Package.Title == "" {
		r.Warn(source.ProblemYAML, "name", "is missing, and no statement has \\problemname: the problem is called by its short name")
	}
	if len(r.names) > 0 {
		found = r.names
	}
	r.SetTitles(found)
}

var saidPlainly = regexp.MustCompile(`(?m)^%%[ \t]*plainproblemname:[ \t]*(.*?)[ \t\r]*$`)

// statementTitle returns the name of the problem that a statement has, or "".
func statementTitle(text string) string {
	name, plain := plainTitle(problemName(text))
	if name != "" && plain {
		return name
	}
	if m := saidPlainly.FindStringSubmatch(text); m != nil && m[1] != "" {
		return problem.Clean(m[1])
	}
	return name
}

// problemName returns what stands between the braces of \problemname.
func problemName(text string) string {
	const command = `\problemname`
	var kept strings.Builder
	for line := range strings.Lines(text) {
		kept.WriteString(uncommented(line))
	}
	_, rest, found := strings.Cut(kept.String(), command)
	rest = strings.TrimSpace(rest)
	if !found || !strings.HasPrefix(rest, "{") {
		return ""
	}
	depth := 0
	for i := 0; i < len(rest) && i < maxTitle; i++ {
		switch rest[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return rest[1:i]
			}
		}
	}
	return ""
}

// maxTitle bounds the name of a problem in a statement, in bytes.
const maxTitle = 500

// uncommented returns a line of TeX without its comment.
func uncommented(line string) string {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '%':
			return line[:i]
		}
	}
	return line
}

// What TeX writes for characters.
var (
	texAccent  = regexp.MustCompile("\\\\([`'^\"~=.]|[cvuHrk](?:[ \t]+|\\b|\\{))[ \t]*\\{?(\\\\?[A-Za-z])\\}?")
	texAccents = map[string]string{
		"`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307", `"`: "\u0308",
		"r": "\u030a", "H": "\u030b", "v": "\u030c", "c": "\u0327", "k": "\u0328",
	}
	texLetter  = regexp.MustCompile(`\\(aa|AA|ae|AE|oe|OE|o|O|l|L|ss|i|j|dots|ldots|textendash|textemdash|TeX|LaTeX)(?:\{\}|[ \t]+|\b)`)
	texLetters = map[string]string{
		"aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ss": "ß", "i": "i", "j": "j",
		"dots": "…", "ldots": "…", "textendash": "–", "textemdash": "—", "TeX": "TeX", "LaTeX": "LaTeX",
	}
	texWord  = regexp.MustCompile(`\\(?:textbf|textit|textsc|texttt|textrm|textsf|emph|mbox|text|url)\s*\{([^{}\\$]*)\}`)
	texSigns = strings.NewReplacer(`\&`, "&", `\%`, "%", `\#`, "#", `\_`, "_", `\{`, "{", `\}`, "}", `\$`, "$", `\ `, " ", `\,`, " ", `\-`, "", `\/`, "",
		"---", "—", "--", "–", "``", "“", "''", "”", "~", " ", "{", "", "}", "")
)

// plainTitle returns a line of TeX as plain text, and whether nothing of it is lost.
func plainTitle(s string) (text string, plain bool) {
	s = texAccent.ReplaceAllStringFunc(s, func(found string) string {
		m := texAccent.FindStringSubmatch(found)
		return norm.NFC.String(strings.TrimPrefix(m[2], `\`) + texAccents[strings.TrimRight(m[1], "{ \t")])
	})
	s = texLetter.ReplaceAllStringFunc(s, func(found string) string { return texLetters[texLetter.FindStringSubmatch(found)[1]] })
	s = texWord.ReplaceAllString(s, "$1")
	escaped := strings.NewReplacer(`\$`, "", `\&`, "", `\%`, "", `\#`, "", `\_`, "", `\{`, "", `\}`, "", `\ `, "", `\,`, "", `\-`, "", `\/`, "").Replace(s)
	plain = !strings.ContainsAny(escaped, `\$`)
	if plain {
		s = texSigns.Replace(s)
	}
	return problem.Clean(strings.Join(strings.Fields(s), " ")), plain
}

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
