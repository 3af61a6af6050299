package plugins

import (
	"html/template"
	"strings"

	"deepoj/host/judge"
	"deepoj/web/locale"
)

// Words are what the templates of this room call.
var Words = template.FuncMap{"kindName": kindText, "findingSeverity": severityText, "proofStage": stageText}

// kindText is what a kind of plugins is called; one that is not known keeps its name.
func kindText(kind string) any {
	switch kind {
	case "checker":
		return locale.Word("checker")
	case "interactor":
		return locale.Word("interactor")
	case "toolchain":
		return locale.Word("language adapter")
	}
	return kind
}

// severityText says what a finding means for a plugin.
func severityText(s judge.Severity) locale.Word {
	if s == judge.SeverityWarning {
		return "warning"
	}
	return "error"
}

// stageText is what a stage of a proof is called; one that is not known keeps its name.
func stageText(name string) any {
	words, known := map[string]locale.Word{
		"admission": "admission", "manifest": "manifest", "own-tests": "own tests", "oracle": "oracle", "submissions": "submissions",
		"determinism": "determinism", "hostile": "hostile outputs", "conversation": "conversation", "equal-accepts": "equal accepts", "mutants": "mutants",
		"messages": "messages", "cost": "cost", "plan": "plan", "run": "running programs",
	}[name]
	if !known {
		return strings.ReplaceAll(name, "-", " ")
	}
	return words
}
