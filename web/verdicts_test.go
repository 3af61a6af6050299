package web

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/plugins/languagestest"
	"deepoj/web/site"
)

// shapeShown is the shape of a verdict wherever one is shown.
func shapeShown(v judge.Verdict) string {
	m := regexp.MustCompile(`href="#s-([a-z]+)"`).FindStringSubmatch(string(site.Badge(nil, v)))
	if m == nil {
		return ""
	}
	return m[1]
}

func TestEveryVerdictHasItsShapeAndColour(t *testing.T) {
	style, err := os.ReadFile("static/app.css")
	if err != nil {
		t.Fatal(err)
	}
	drawn := listed(t, "templates/_shapes.html", `{{define "shapes"}}`, "{{end}}", `<symbol id="s-([a-z]+)"`)
	for _, v := range append([]judge.Verdict{""}, judge.Verdicts...) {
		if shape := shapeShown(v); !slices.Contains(drawn, shape) {
			t.Errorf("%s has the shape %q, which is not drawn", v, shape)
		}
		if class := ".v-" + strings.ToLower(string(v)); !strings.Contains(string(style), class+" ") && !strings.Contains(string(style), class+",") {
			t.Errorf("app.css has no %s", class)
		}
		if v != "" && v.Name() == string(v) {
			t.Errorf("%s has no name", v)
		}
	}
}

func TestTheEditorKnowsEveryLanguage(t *testing.T) {
	modes := listed(t, "editor/editor.js", "const modes = {", "};", `(?m)^  ([a-z]+):`)
	for _, l := range languagestest.All(t) {
		if !slices.Contains(modes, l.Editor) {
			t.Errorf("the editor has no mode %q, which %s asks for", l.Editor, l.ID)
		}
	}
}
