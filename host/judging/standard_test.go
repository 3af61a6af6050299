package judging_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
)

// The standard checkers of Polygon accept and reject here what they do there: the
// vectors are what the programs of those names say of an output and an answer.
func TestStandardCheckersOfPolygonDecideAsTheirNamesSay(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../plugins/vectors/polygon.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name, Output, Answer string
		Accepted             bool
		Differs              bool // the checker lines stands in, of which the package is warned
	}
	if err := json.Unmarshal(b, &vectors); err != nil || len(vectors) < 200 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	packages := map[string]*problem.Package{}
	m := judgingtest.Get(t)
	file := func(text string) problem.File {
		t.Helper()
		d, n, err := m.Blobs.Put(t.Context(), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return problem.File{Path: "text", Size: n, Digest: d}
	}
	for _, v := range vectors {
		pkg := packages[v.Name]
		if pkg == nil {
			pkg = polygon(t, "", `<tests><test method="manual"/></tests>`, ` name="`+v.Name+`">`, []string{"1\n"}, nil)
			packages[v.Name] = pkg
		}
		says, why, err := m.Judge.Opinion(t.Context(), pkg, problem.CheckerTest{Input: file("\n"), Output: file(v.Output), Answer: file(v.Answer)})
		if err != nil || says == "failed" || (says == "accepted") != (v.Accepted != v.Differs) {
			t.Errorf("%s of output %q, answer %q: %s (%s), want accepted %t, differs %t: %v", v.Name, v.Output, v.Answer, says, why, v.Accepted, v.Differs, err)
		}
	}
}
