package icpc

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// standing is what the folder of a submission says about it.
type standing struct {
	allowed  []judge.Verdict
	partial  bool
	official bool // annotations in the source are ignored
}

// standings are the folders below submissions: the official ones, and others that packages have.
var standings = map[string]standing{
	"accepted":            {allowed: []judge.Verdict{judge.AC}, official: true},
	"partially_accepted":  {allowed: []judge.Verdict{judge.AC}, partial: true},
	"wrong_answer":        {allowed: []judge.Verdict{judge.WA}, official: true},
	"time_limit_exceeded": {allowed: []judge.Verdict{judge.TLE}, official: true},
	"run_time_error":      {allowed: []judge.Verdict{judge.RE, judge.MLE}, official: true},

	"slow_accepted":         {allowed: []judge.Verdict{judge.AC}},
	"partial":               {allowed: []judge.Verdict{judge.AC}, partial: true},
	"wa":                    {allowed: []judge.Verdict{judge.WA}},
	"no_output":             {allowed: []judge.Verdict{judge.WA}},
	"runtime_error":         {allowed: []judge.Verdict{judge.RE, judge.MLE}},
	"memory_limit":          {allowed: []judge.Verdict{judge.MLE}},
	"memory_limit_exceeded": {allowed: []judge.Verdict{judge.MLE}},
	"output_limit":          {allowed: []judge.Verdict{judge.OLE}},
	"output_limit_exceeded": {allowed: []judge.Verdict{judge.OLE}},
	"compiler_error":        {allowed: []judge.Verdict{judge.CE}},
	"compile_error":         {allowed: []judge.Verdict{judge.CE}},
	"rejected":              {allowed: source.Rejections},
}

// results are the words of @EXPECTED_RESULTS@.
var results = map[string][]judge.Verdict{
	"CORRECT": {judge.AC}, "ACCEPTED": {judge.AC},
	"WRONG-ANSWER": {judge.WA}, "NO-OUTPUT": {judge.WA},
	"TIMELIMIT": {judge.TLE}, "TIME-LIMIT": {judge.TLE}, "TIME-LIMIT-EXCEEDED": {judge.TLE},
	"RUN-ERROR": {judge.RE}, "RUN-TIME-ERROR": {judge.RE},
	"MEMORY-LIMIT": {judge.MLE}, "OUTPUT-LIMIT": {judge.OLE},
	"COMPILER-ERROR": {judge.CE},
}

var (
	expectedResults = regexp.MustCompile(`@EXPECTED_RESULTS@:\s*([A-Za-z_, -]+)`)
	expectedScore   = regexp.MustCompile(`@EXPECTED_SCORE@:\s*(\S+)`)
)

// readSubmissions lists the programs of the package.
func (r *reader) readSubmissions() {
	names, isFolder := r.Children(source.SubmissionsDir)
	accepted := 0
	var rules []*entries
	if r.Package.Format == problem.Format202307 || r.Package.Format == problem.Format202509 {
		rules = r.expectations()
	}
	for _, f := range names {
		dir := path.Join(source.SubmissionsDir, f)
		switch {
		case dir == submissionsYAML && rules != nil, dir == submissionsJSON:
			continue
		case !isFolder[f] && source.Aside(f) != "":
			r.Leave(dir, source.Aside(f))
			continue
		case !isFolder[f]:
			r.Warn(dir, "", "is not a submission: those are in folders such as accepted")
			continue
		}
		names, folder := r.Children(dir)
		for _, name := range names {
			s := problem.Submission{Path: path.Join(dir, name)}
			if s.Files = r.programFiles(s.Path, folder[name], spoken(rules, f+"/"+name)); len(s.Files) == 0 {
				continue
			}
			if rules != nil {
				r.expectNew(&s, rules)
			} else {
				r.expect(&s, f)
			}
			r.Package.Submissions = append(r.Package.Submissions, s)
			if f == "accepted" {
				accepted++
			}
		}
	}
	r.readEntryPoints()
	for _, en := range rules {
		if en.pattern != "" && !en.used {
			r.Warn(submissionsYAML, en.pattern, "is the pattern of no submission")
		}
	}
	if accepted == 0 {
		r.Warn(path.Join(source.SubmissionsDir, "accepted"), "", "is empty: nothing proves that the problem can be solved")
	}
}

// spoken reports whether submissions.yaml says in which language a submission is, so that its ending says nothing.
func spoken(rules []*entries, name string) bool {
	return slices.ContainsFunc(rules, func(en *entries) bool { return en.language != "" && en.match.MatchString(name) })
}

// programFiles returns the files of a submission, none if it is not a program: then it is left out with a warning.
func (r *reader) programFiles(full string, folder, spoken bool) (files []problem.File) {
	switch {
	case !folder && r.Package.Answers:
		if why := source.Aside(path.Base(full)); why != "" {
			r.Leave(full, why)
			return nil
		}
		return []problem.File{r.File(full)}
	case !folder:
		if why := source.NoSubmission(path.Base(full)); why != "" && !spoken {
			r.Leave(full, why)
			return nil
		}
		if r.Binary(full) {
			r.Leave(full, "is no program: it is not text")
			return nil
		}
		return []problem.File{r.File(full)}
	}
	programs := 0
	for _, name := range r.Below(full) {
		why := ""
		for part := range strings.SplitSeq(strings.TrimPrefix(name, full+"/"), "/") {
			if why == "" {
				why = source.Aside(part)
			}
		}
		if why == "" && !r.Package.Answers && r.Binary(name) {
			why = "is no part of a program: it is not text"
		}
		if why != "" {
			r.Leave(name, why)
			continue
		}
		if r.Package.Answers || spoken || source.NoSubmission(path.Base(name)) == "" {
			programs++
		}
		files = append(files, r.File(name))
	}
	if programs == 0 {
		r.Leave(full, "is a folder without a program")
		return nil
	}
	return files
}

// expect sets what a submission in a folder must get.
func (r *reader) expect(s *problem.Submission, folder string) {
	st := standings[folder]
	s.Allowed, s.Partial = st.allowed, st.partial
	if st.official {
		return
	}
	for _, f := range s.Files {
		if f.Size > source.MaxText {
			continue
		}
		text := r.Text(f.Path)
		if m := expectedResults.FindStringSubmatch(text); m != nil {
			s.Allowed, s.Partial = nil, st.partial
			for word := range strings.SplitSeq(m[1], ",") {
				word = strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(word), "_", "-"))
				if v, ok := results[word]; ok {
					s.Allowed = append(s.Allowed, v...)
				} else {
					r.Warn(f.Path, "@EXPECTED_RESULTS@", "holds %q, which is no known result", word)
				}
			}
		}
		if m := expectedScore.FindStringSubmatch(text); m != nil {
			x, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				r.Warn(f.Path, "@EXPECTED_SCORE@", "is %q: it must be a number", m[1])
				continue
			}
			s.Score = &x
		}
	}
	if len(s.Allowed) == 0 {
		r.Warn(s.Path, "", "says nowhere which verdict it must get")
	}
}
