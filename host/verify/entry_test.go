package verify_test

import (
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/verify"
)

// What a file called main does beside the entry point is wrong, so that only a program
// that starts where the package says is accepted.
func TestASubmissionStartsAtItsEntryPointBesideAMain(t *testing.T) {
	t.Parallel()
	pkg := stored(t, map[string]string{
		"problem.yaml": "problem_format_version: 2025-09\nname: Double\nuuid: 00000000-0000-4000-8000-000000000000\n" +
			"limits: {time_limit: 5}\n",
		"statement/problem.en.md": "Double it.\n", "data/sample/1.in": "1\n", "data/sample/1.ans": "2\n",
		"data/secret/1.in": "7\n", "data/secret/1.ans": "14\n",

		"submissions/submissions.yaml": "accepted/py: {entrypoint: start.py}\naccepted/js: {entrypoint: start.js}\n" +
			"accepted/ts: {entrypoint: start.ts}\naccepted/java: {entrypoint: Start}\naccepted/rs: {entrypoint: start.rs}\n",
		"submissions/accepted/py/main.py":  "print(-1)\n",
		"submissions/accepted/py/start.py": right,
		"submissions/accepted/js/main.js":  "console.log(-1)\n",
		"submissions/accepted/js/start.js": "console.log(2 * Number(require('fs').readFileSync(0)))\n",
		"submissions/accepted/ts/main.ts":  "console.log(-1)\nexport {}\n",
		"submissions/accepted/ts/start.ts": "import * as fs from 'fs'\nconsole.log(2 * Number(fs.readFileSync(0)))\n",
		"submissions/accepted/java/Main.java": "public class Main {\n" +
			"    public static void main(String[] args) { System.out.println(-1); }\n}\n",
		"submissions/accepted/java/Start.java": "class Start {\n    public static void main(String[] args) {\n" +
			"        System.out.println(2 * new java.util.Scanner(System.in).nextInt());\n    }\n}\n",
		"submissions/accepted/rs/main.rs": "fn main() { println!(\"-1\"); }\n",
		"submissions/accepted/rs/start.rs": "fn main() {\n    let mut s = String::new();\n" +
			"    std::io::stdin().read_line(&mut s).unwrap();\n    println!(\"{}\", 2 * s.trim().parse::<i64>().unwrap());\n}\n",
	})
	r, err := verify.Run(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, pkg)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if row.Problem != "" || row.Verdict != "AC" {
			t.Errorf("%s: %s %s", row.Path, row.Verdict, row.Problem)
		}
	}
	if len(r.Rows) != 5 {
		t.Errorf("%d submissions are judged", len(r.Rows))
	}
}
