package judging_test

import (
	"strings"
	"testing"

	"deepoj/host/judging/judgingtest"
)

// What runs as a program in the place of a plugin is told, with the reason.
func TestAPackageSaysWhichOfItsCheckersRunsAsAProgram(t *testing.T) {
	t.Parallel()
	const plain = "#include <fstream>\n#include <string>\nint main(int, char **v) { std::ifstream a(v[2]); long x = 0, y = 0; std::cin >> x; a >> y; return x == y ? 42 : 43; }\n"
	const catching = "#include <iostream>\n" + plain + "void f() { try { throw 1; } catch (int) {} }\n"
	const only = "#include <iostream>\n#include <thread>\n" + plain + "void f() { std::thread t([]{}); t.join(); }\n"
	for name, tt := range map[string]struct{ source, says string }{
		"a plugin":                {"#include <iostream>\n" + plain, ""},
		"one that catches":        {catching, "The checker output_validators/c.cpp runs as a program and not as a plugin: the checker catches exceptions"},
		"what WASI does not have": {only, "does not compile"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judgingtest.Get(t).Judge
			pkg := legacyPackage(t, "", map[string]string{"output_validators/c.cpp": tt.source})
			said, err := j.Instead(t.Context(), pkg)
			if all := strings.Join(said, "\n"); err != nil || (all == "") != (tt.says == "") || !strings.Contains(all, tt.says) {
				t.Errorf("%q, %v", all, err)
			}
			if r := judged(t, j, python("print(1)\n"), pkg); verdicts(r) != "AC WA" || strings.Contains(r.Checker, "native:") != (tt.says != "") {
				t.Errorf("%s by %s: %s", verdicts(r), r.Checker, r.JudgeNote)
			}
		})
	}
}
