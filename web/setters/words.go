package setters

import (
	"html/template"
	"strings"
)

// Words are what the templates of this room call.
var Words = template.FuncMap{"part": partText, "place": submissionPlaceText, "diffClass": diffClass, "diffWhy": diffWhy}

// partText is what a part of a package is called on the page that edits it.
func partText(part string) string {
	return map[string]string{
		"statement": "Statement", "settings": "Names and limits", "tests": "Tests", "submissions": "Submissions", "checker": "Checker", "files": "Files",
	}[part]
}

// submissionPlaceText says what the submissions in a folder must get.
func submissionPlaceText(folder string) string {
	words, known := map[string]string{
		"accepted": "accepted", "wrong_answer": "wrong answer", "time_limit_exceeded": "time limit exceeded", "run_time_error": "run-time error",
		"partially_accepted": "partly accepted",
	}[folder]
	if !known {
		return folder
	}
	return words
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
func diffWhy(why string) string {
	return map[string]string{
		"binary": "It is no text.", "long": "It is too long to compare its lines.", "many": "Too many files differ to compare the lines of all.",
		"time": "Comparing took too long; the lines of this file were left out.",
	}[why]
}
