package draft

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

const (
	problemYAML = "problem.yaml"
	nativeYAML  = "deepoj.yaml"
	timeLimit   = ".timelimit"
	submissions = "submissions"
)

// icpc makes the changes to a package in a format of ICPC and Kattis.
func (e *editor) icpc(c Changes) {
	if e.pkg.Format != problem.FormatLegacy && e.pkg.Format != problem.Format202307 && e.pkg.Format != problem.Format202509 {
		for _, name := range c.beyondFiles() {
			e.refuse(name, "not_here", "This package has another format than those of ICPC, Kattis and Polygon: change its files under Files.")
		}
		return
	}
	y := e.yaml(problemYAML)
	if l := c.Limits; l != nil {
		e.limits(y, l)
	}
	e.statements(y, c)
	if c.Languages != nil {
		e.languages(y, *c.Languages)
	}
	for i, t := range c.Tests {
		e.test(field("tests", i), t)
	}
	for i, s := range c.Submissions {
		e.submission(field("submissions", i), s)
	}
	if c.Checker != nil {
		e.checker(y, *c.Checker)
	}
	y.save()
}

// beyondFiles are the fields of every change but those of files.
func (c Changes) beyondFiles() (names []string) {
	for name, there := range map[string]bool{
		"limits": c.Limits != nil, "names": c.Names != nil, "languages": c.Languages != nil, "statements": len(c.Statements) > 0,
		"tests": len(c.Tests) > 0, "submissions": len(c.Submissions) > 0, "checker": c.Checker != nil,
	} {
		if there {
			names = append(names, name)
		}
	}
	return names
}

// limits writes limits into problem.yaml.
func (e *editor) limits(y *document, l *Limits) {
	set := func(name, key string, value *int64, most int64) {
		switch {
		case value == nil:
		case *value < 1 || *value > most:
			e.refuse("limits."+name, "invalid", "The limit has to be a whole number from 1 to %d.", most)
		default:
			y.set(strconv.FormatInt(*value, 10), "limits", key)
			e.deep()
		}
	}
	set("memory_mib", "memory", l.MemoryMiB, 64<<10)
	set("output_mib", "output", l.OutputMiB, 4096)
	set("code_kib", "code", l.CodeKiB, 64<<10)
	if l.TimeMillis == nil {
		return
	}
	if *l.TimeMillis < 0 || *l.TimeMillis > 600_000 {
		e.refuse("limits.time_ms", "invalid", "The time limit has to be from 1 to 600,000 milliseconds, or 0, which is as long as the package's programs need.")
		return
	}
	e.drop(timeLimit)
	y.remove("limits", "time_limit")
	if *l.TimeMillis > 0 {
		y.set(strconv.FormatFloat(float64(*l.TimeMillis)/1000, 'g', -1, 64), "limits", "time_limit")
	}
	e.deep()
}

// languages writes which languages may be used.
func (e *editor) languages(y *document, ids []string) {
	for _, id := range ids {
		if !plain.MatchString(id) {
			e.refuse("languages", "invalid", "Name languages by their ids, such as cpp.")
			return
		}
	}
	y.remove("languages")
	if len(ids) > 0 {
		y.list("languages", ids)
	}
	e.deep()
}

// statementFolder is where statements are.
func (e *editor) statementFolder() string {
	if e.pkg.Format == problem.FormatLegacy {
		return "problem_statement"
	}
	return "statement"
}

// StatementFile returns the path of the source of the statement of a version in a
// language; "" if it has none that is text.
func StatementFile(pkg *problem.Package, tag string) string {
	e := &editor{pkg: pkg}
	for _, kind := range []string{"md", "tex"} {
		for _, name := range []string{"problem." + tag + "." + kind, "problem." + kind} {
			if full := path.Join(e.statementFolder(), name); (name != "problem."+kind || tag == "en") && e.kept(full) {
				return full
			}
		}
	}
	return ""
}

// statements writes statements and the names of the problem, which in the newer formats go together.
func (e *editor) statements(y *document, c Changes) {
	names := y.names()
	changed := len(c.Names) > 0
	for tag, name := range c.Names {
		switch {
		case !language.MatchString(tag):
			e.refuse("names", "invalid", "Name languages by their tags, such as en, not %q.", tag)
		case len(name) > 500 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
			e.refuse("names", "invalid", "A name is one line of at most 500 bytes.")
		case strings.TrimSpace(name) == "":
			delete(names, tag)
		default:
			names[tag] = strings.TrimSpace(name)
		}
	}
	for i, s := range c.Statements {
		at := field("statements", i)
		if !language.MatchString(s.Language) {
			e.refuse(at+".language", "invalid", "Name a language by its tag, such as en.")
			continue
		}
		before := StatementFile(e.pkg, s.Language)
		kind := s.Format
		if kind == "" {
			kind = strings.TrimPrefix(path.Ext(before), ".")
		}
		kind = cmp.Or(kind, "md")
		switch {
		case kind != "md" && kind != "tex":
			e.refuse(at+".format", "invalid", "A statement is md or tex.")
			continue
		case s.Remove && before == "":
			e.refuse(at+".language", "unknown", "There is no statement in this language.")
			continue
		case s.Remove:
			e.drop(before)
			delete(names, s.Language)
			changed = true
			continue
		}
		after := path.Join(e.statementFolder(), "problem."+s.Language+"."+kind)
		if strings.HasSuffix(before, "."+kind) {
			after = before
		} else if before != "" {
			e.drop(before)
		}
		e.put(at, after, []byte(s.Text))
		if e.pkg.Format != problem.FormatLegacy && names[s.Language] == "" {
			names[s.Language], changed = e.pkg.Title, true
		}
	}
	if changed {
		y.setNames(names)
	}
}

// parts are the ends of the files of a test.
var parts = []string{".in", ".ans", ".out", ".hint", ".desc", ".interaction", ".yaml", ".in.statement", ".ans.statement", ".in.download", ".ans.download", ".png", ".jpg", ".jpeg", ".svg"}

// test changes the files of a test.
func (e *editor) test(at string, t Test) {
	if t.Command != "" {
		e.refuse(at+".command", "not_here", "Packages of this format hold their tests: only those of Polygon say how to make one. Send the input.")
		return
	}
	name := t.Name
	if name == "" {
		name = e.nextTest()
	}
	first, _, _ := strings.Cut(name, "/")
	if first != "sample" && first != "secret" || first == name || !goodPath(name) {
		e.refuse(at+".name", "invalid", "A test is called after its group, such as sample/1 or secret/03.")
		return
	}
	stem := "data/" + name
	there := e.has(stem + ".in")
	switch {
	case t.Remove && !there:
		e.refuse(at+".name", "unknown", "There is no test %q.", name)
		return
	case t.Remove:
		for _, part := range parts {
			if e.has(stem + part) {
				e.drop(stem + part)
			}
		}
	case !there && t.Input == nil:
		e.refuse(at+".input", "missing", "A new test needs an input.")
		return
	case !there && t.Answer == nil:
		e.refuse(at+".answer", "missing", "A new test needs an answer.")
		return
	}
	if t.Input != nil && !t.Remove {
		e.put(at+".name", stem+".in", []byte(*t.Input))
	}
	if t.Answer != nil && !t.Remove {
		e.put(at+".name", stem+".ans", []byte(*t.Answer))
	}
	e.deep()
}

// nextTest is the name of a secret test that is not there.
func (e *editor) nextTest() string {
	for n := 1; ; n++ {
		name := "secret/" + strconv.Itoa(n)
		if n < 10 {
			name = "secret/0" + strconv.Itoa(n)
		}
		if !e.has("data/" + name + ".in") {
			return name
		}
	}
}

// Places are the folders of submissions that every format knows.
var Places = []string{"accepted", "wrong_answer", "time_limit_exceeded", "run_time_error", "partially_accepted"}

// place reports whether a folder may hold submissions: a usual one, or one that the version has.
func (e *editor) place(name string) bool {
	return plain.MatchString(name) && (slices.Contains(Places, name) || name == "rejected" || name == "brute_force" || len(e.below(path.Join(submissions, name))) > 0)
}

// submission changes a program.
func (e *editor) submission(at string, s Submission) {
	if !e.place(s.Place) {
		e.refuse(at+".place", "unknown", "A submission is in one of %s.", judge.Names(Places))
		return
	}
	if !plain.MatchString(s.Name) {
		e.refuse(at+".name", "invalid", "The name is that of a file, such as brute.py.")
		return
	}
	full := path.Join(submissions, s.Place, s.Name)
	folder := e.below(full)
	there := e.has(full) || len(folder) > 0
	if !there && (s.Remove || s.Text == nil) {
		e.refuse(at+".name", "unknown", "There is no submission %q.", full)
		return
	}
	files := folder
	if len(folder) == 0 {
		files = []string{full}
	}
	switch {
	case s.Text != nil && len(folder) > 0:
		e.refuse(at+".text", "invalid", "This submission has several files: change them under Files.")
		return
	case s.Text != nil:
		e.put(at+".name", full, []byte(*s.Text))
	}
	switch {
	case s.Remove:
		for _, f := range files {
			e.drop(f)
		}
	case s.To != "" && s.To != s.Place:
		if !e.place(s.To) {
			e.refuse(at+".to", "unknown", "A submission is in one of %s.", judge.Names(Places))
			return
		}
		for _, f := range files {
			e.move(at+".to", f, path.Join(submissions, s.To)+strings.TrimPrefix(f, path.Join(submissions, s.Place)))
		}
	}
	e.deep()
}

// move gives a file another path.
func (e *editor) move(at, from, to string) {
	content, changed := e.rev.Files[from]
	switch {
	case e.has(to):
		e.refuse(at, "duplicate", "There is %q already.", to)
		return
	case changed:
		e.put(at, to, bytes.Clone(content))
	default:
		e.rev.Copies[to] = from
	}
	e.drop(from)
}

// checker writes who decides on outputs.
func (e *editor) checker(y *document, c Checker) {
	dir := "output_validator"
	if e.pkg.Format == problem.FormatLegacy {
		dir = "output_validators"
	}
	switch {
	case e.pkg.Interactor != nil:
		e.refuse("checker", "not_here", "The problem is interactive: change its interactor under Files.")
		return
	case c.Standard == "" && c.Name == "":
		e.refuse("checker", "missing", "Choose one that comes with the platform, or send a program.")
		return
	case c.Standard != "" && !slices.Contains(problem.Standard, c.Standard):
		e.refuse("checker.standard", "unknown", "The checkers that come with the platform are %s.", judge.Names(problem.Standard))
		return
	case c.Standard == "" && (!plain.MatchString(c.Name) || strings.TrimSpace(c.Text) == ""):
		e.refuse("checker.name", "invalid", "Send a source file with a name such as check.cpp.")
		return
	case len(c.Flags) > 0 && (c.Standard != "default" || e.pkg.Format != problem.FormatLegacy):
		e.refuse("checker.flags", "not_here", "Flags are those of the checker default in the legacy format.")
		return
	}
	for _, f := range e.below(dir) {
		e.drop(f)
	}
	n := e.yaml(nativeYAML)
	n.remove("checker")
	legacy := e.pkg.Format == problem.FormatLegacy
	if legacy {
		y.remove("validator_flags")
		y.set("default", "validation")
	}
	switch {
	case c.Standard == "default":
		if len(c.Flags) > 0 {
			y.set(strings.Join(c.Flags, " "), "validator_flags")
		}
	case c.Standard != "":
		n.set(c.Standard, "checker", "name")
	default:
		if legacy {
			words := "custom"
			if slices.ContainsFunc(e.pkg.Checkers, func(c problem.Checker) bool { return c.Points }) {
				words = "custom score"
			}
			y.set(words, "validation")
		}
		e.put("checker.name", path.Join(dir, c.Name), []byte(c.Text))
	}
	n.save()
	e.rev.Unbound = true
	e.deep()
}
