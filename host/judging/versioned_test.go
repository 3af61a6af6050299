package judging_test

import (
	"maps"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

// scorer accepts an output that begins with yes, and writes a score and a part of
// the highest score if two more words give them.
const scorer = `#include <stdio.h>
#include <string.h>
static void put(const char *folder, const char *name, const char *text)
{
	char path[128];
	if (!strcmp(text, "-"))
		return;
	snprintf(path, sizeof path, "%s%s", folder, name);
	FILE *f = fopen(path, "w");
	fprintf(f, "%s\n", text);
	fclose(f);
}
int main(int argc, char **argv)
{
	char word[16] = "", score[16] = "-", part[16] = "-";
	scanf("%15s %15s %15s", word, score, part);
	put(argv[3], "score.txt", score);
	put(argv[3], "score_multiplier.txt", part);
	return strcmp(word, "yes") ? 43 : 42;
}`

// versioned is a scoring package with two secret groups.
func versioned(files map[string]string) map[string]string {
	all := map[string]string{
		"problem.yaml": "problem_format_version: 2025-09\nname: Echo\nuuid: 1\ntype: scoring\nlimits: {time_limit: 1}\n", ".timelimit": "",
		"statement/problem.en.md": "x\n", "output_validator/scorer.c": scorer,
		"data/sample/1.in": "yes 3 0.5\n", "data/secret/1.in": "", "data/secret/1.ans": "",
		"data/secret/a/1.in": "yes\n", "data/secret/a/1.ans": "\n", "data/secret/a/test_group.yaml": "max_score: 40\n",
		"data/secret/b/1.in": "yes - 0.5\n", "data/secret/b/1.ans": "\n", "data/secret/b/2.in": "yes 7\n", "data/secret/b/2.ans": "\n",
		"data/secret/b/3.in": "no\n", "data/secret/b/3.ans": "\n",
		"data/secret/b/test_group.yaml": "max_score: 60\nscore_aggregation: sum\nrequire_pass: [secret/a]\n",
	}
	maps.Copy(all, files)
	return all
}

func TestACheckerGivesScoresAndPartsOfThem(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	r := judged(t, j, python(cat), echo(t, versioned(nil)))
	if r.Verdict != judge.PA || r.Score == nil || *r.Score != 57 || r.MaxScore == nil || *r.MaxScore != 100 {
		t.Errorf("verdict %s, score %v of %v: %s", r.Verdict, r.Score, r.MaxScore, r.JudgeNote)
	}
	r = judged(t, j, python(cat), echo(t, versioned(map[string]string{"data/secret/a/1.in": "no\n"})))
	if r.Score == nil || *r.Score != 0 || r.Verdict != judge.WA || verdicts(r) != "AC WA - - -" {
		t.Errorf("without the group that is required: %s, verdict %s, score %v", verdicts(r), r.Verdict, r.Score)
	}
	r = judged(t, j, python(cat), echo(t, versioned(map[string]string{"data/secret/b/2.in": "no 1\n"})))
	if r.Verdict != judge.JE || !strings.Contains(r.JudgeNote, "does not accept") {
		t.Errorf("with a score of a rejected test: verdict %s, note %q", r.Verdict, r.JudgeNote)
	}
}

// The package's file takes the place of a submitted one, and the code limit does
// not count it.
func TestIncludedFilesAreCompiledWithASubmission(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{
		"include/python3/main.py": "#" + strings.Repeat("x", 5000) + "\nimport part\npart.run()\n", "include/default/main.py": "raise SystemExit(1)\n",
		"include/cpp/main.cpp": "none\n",
	})
	p := judge.Payload{Problem: "echo", Language: "python", Sources: []judge.Source{
		{Name: "part.py", Text: "import sys\ndef run(): sys.stdout.write(sys.stdin.read())\n"}, {Name: "main.py", Text: "nothing\n"},
	}}
	if r := judged(t, judgingtest.Get(t).Judge, p, pkg); r.Verdict != judge.AC {
		t.Errorf("verdict %s: %s %+v", r.Verdict, r.Message, r.Compile)
	}
}
