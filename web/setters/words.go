package setters

import (
	"html/template"
	"math"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// Words are what the templates of this room call.
var Words = template.FuncMap{
	"part": partText, "place": submissionPlaceText, "setting": settingText, "settingValue": settingValue, "fileChange": fileChangeText, "diffClass": diffClass, "diffWhy": diffWhy,
	"limitFrom": limitFromText, "more": moreText, "codes": codes, "tenth": tenth, "state": site.StateName[judge.Status],
}

// asItIs is a text of a package, which stays the same where a catalogue happens to have it.
func asItIs(text string) locale.Sentence { return locale.Sentence{Key: "%s", Args: []any{text}} }

// codes are words of a package in a row.
func codes(names []string) template.HTML {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = "<code>" + string(site.Escape(name)) + "</code>"
	}
	return template.HTML(strings.Join(out, " "))
}

// partText is what a part of a package is called on the page that edits it.
func partText(part string) locale.Word {
	return map[string]locale.Word{
		"statement": "Statement", "settings": "Names and limits", "tests": "Tests", "submissions": "Submissions", "checker": "Checker", "files": "Files",
	}[part]
}

// submissionPlaceText says what the submissions in a folder must get; a folder of the package's own keeps its name.
func submissionPlaceText(folder string) any {
	words, known := map[string]locale.Word{
		"accepted": "accepted", "wrong_answer": "wrong answer", "time_limit_exceeded": "time limit exceeded", "run_time_error": "run-time error",
		"partially_accepted": "partly accepted",
	}[folder]
	if !known {
		return asItIs(folder)
	}
	return words
}

// settingText is what a setting is called by whose change versions differ.
func settingText(name string) any {
	words, known := map[string]locale.Word{
		"title": "title", "format": "format", "time limit": "time limit", "memory": "memory", "output": "output", "source": "source code", "languages": "languages",
		"checker": "checker", "scoring": "scoring", "source of the problem": "source of the problem", "author": "author", "keywords": "keywords",
		"submissions": "submissions",
	}[name]
	if !known {
		return asItIs(name)
	}
	return words
}

// settingValue is what a setting is in a version: what the package itself does not say is put into words.
func settingValue(name, value string) any {
	whole, known := strings.CutSuffix(value, ")")
	limit, from, apart := strings.Cut(whole, " (")
	switch {
	case name == "languages" && value == "all":
		return locale.Word("all languages")
	case name == "scoring" && value == "true":
		return locale.Word("with points")
	case name == "scoring":
		return locale.Word("without points")
	case name == "time limit" && known && apart:
		return locale.Sentence{Key: "%s, from: %s", Args: []any{limit, limitFromText(from)}}
	}
	return asItIs(value)
}

// tenth is a figure that is shown with one digit behind the point.
func tenth(x float64) float64 { return math.Round(x*10) / 10 }

// limitFromText says where a limit comes from: a file and key of the package are said as they are.
func limitFromText(from string) any {
	switch from {
	case problem.Unsaid:
		return locale.Word("the default")
	case "nothing is run":
		return locale.Word("nothing is run")
	case problem.Inferred:
		return locale.Word("inferred from the submissions")
	case problem.GivenWith:
		return locale.Word("given with the package")
	}
	return from
}

// moreText says which other files have the same fault.
func moreText(f judge.Finding) locale.Sentence {
	names := slices.Clone(f.Also)
	if f.Count > len(f.Also)+1 {
		names = append(names, "…")
	}
	return locale.Sentence{Key: "%d files like this: also %s", Args: []any{f.Count, judge.Names(names)}}
}

// fileChangeText says what became of a file.
func fileChangeText(change string) locale.Word {
	return map[string]locale.Word{"added": "added", "removed": "removed", "changed": "changed"}[change]
}

// diffClass is the look of a line of a unified diff.
func diffClass(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return "added"
	case strings.HasPrefix(line, "-"):
		return "removed"
	case strings.HasPrefix(line, "@@"):
		return "place"
	}
	return ""
}

// diffWhy says why the lines of a file are not compared.
func diffWhy(why string) locale.Word {
	return map[string]locale.Word{
		"binary": "It is no text.", "long": "It is too long to compare its lines.", "many": "Too many files differ to compare the lines of all.",
		"time": "Comparing took too long; the lines of this file were left out.",
	}[why]
}
