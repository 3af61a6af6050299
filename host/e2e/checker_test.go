package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// numberChecker accepts the whole number of the answer, however it is written.
const numberChecker = `#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int number(FILE *f, long long *n)
{
	char word[64], *end;
	if (fscanf(f, " %63s", word) != 1)
		return 0;
	errno = 0;
	*n = strtoll(word, &end, 10);
	return end != word && *end == 0 && errno == 0;
}

int main(int argc, char **argv)
{
	FILE *output, *answer;
	long long got, want;
	char more;
	if (argc < 4 || !(output = fopen(argv[2], "r")) || !(answer = fopen(argv[3], "r")) || !number(answer, &want))
		return 3;
	if (!number(output, &got) || fscanf(output, " %c", &more) == 1) {
		fprintf(stderr, "the output is not one whole number\n");
		return 1;
	}
	if (got != want) {
		fprintf(stderr, "the number is wrong\n");
		return 1;
	}
	return 0;
}
`

// numberTestlib does the same, with testlib.h.
const numberTestlib = `#include <cerrno>
#include <cstdlib>

#include "testlib.h"

int main(int argc, char **argv)
{
	registerTestlibCmd(argc, argv);
	long long want = ans.readLong();
	std::string word = ouf.readToken();
	char *end;
	errno = 0;
	long long got = strtoll(word.c_str(), &end, 10);
	if (*end || errno)
		quitf(_pe, "the output is not one whole number");
	if (got != want)
		quitf(_wa, "the number is wrong");
	quitf(_ok, "the number is right");
}
`

// folderOfTests is a problem that is nothing but tests, with programs that prove it.
var folderOfTests = map[string]string{
	"1.in": "1\n", "1.out": "2\n", "2.in": "21\n", "2.out": "42\n", "statement.md": "Double it.\n",
	"submissions/accepted/a.py": "print(int(input()) * 2)\n", "submissions/wrong_answer/b.py": "print(2)\n",
}

// initYML is a problem of DMOJ, whose tests are in an archive of their own.
func initYML(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"init.yml": "archive: tests.zip\ntest_cases:\n- {in: 1.in, out: 1.out, points: 40}\n" +
			"- points: 60\n  batched:\n  - {in: 2.in, out: 2.out}\n  - {in: 3.in, out: 3.out}\n",
		"tests.zip": string(zipped(t, map[string]string{
			"1.in": "1\n", "1.out": "2\n", "2.in": "2\n", "2.out": "3\n", "3.in": "3\n", "3.out": "4\n",
		})),
		"statement.md": "Add one.\n", "submissions/accepted/a.py": "print(int(input()) + 1)\n",
	}
}

// takesIn uploads a package and waits until it is proved and live.
func takesIn(t *testing.T, c *client.Client, slug string, files map[string]string) {
	t.Helper()
	archive := zipped(t, files)
	receipt, err := c.UploadPackage(t.Context(), client.NewPackage{Problem: slug}, bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	j, err := c.WaitJob(t.Context(), receipt.JobID)
	if err != nil || j.Result == nil || j.Result.Verdict != judge.AC {
		text, _ := json.Marshal(j)
		t.Fatalf("the upload of %s: %s, %v", slug, text, err)
	}
	versions, err := c.ProblemVersions(t.Context(), slug)
	if err != nil || len(versions) != 1 || !versions[0].Live {
		t.Fatalf("versions of %s: %+v, %v", slug, versions, err)
	}
}

// doubling writes its answer in a way that comparing text would refuse.
const doubling = "print('+00%d' % (int(input()) * 2))\n"

// TestACheckerThatIsUploadedInTheBrowserJudges takes a checker in as a setter
// would, with testlib.h as it has it: it is compiled and proved before the setter's
// eyes, activated, used for a problem, and decides on the next submission. The problem
// is a folder of tests; one of DMOJ is there as well, and is judged.
func TestACheckerThatIsUploadedInTheBrowserJudges(t *testing.T) {
	needRoot(t)
	p, url, _ := up(t, filepath.Join(folder(t), "data"), nil)
	c, _, password := firstAdmin(t, p, url)
	b := browser(t)
	upload := func(version, problem, source string, more ...string) {
		t.Helper()
		begin := time.Now()
		name := "number.c"
		if len(more) > 0 {
			name = "number.cpp"
		}
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		b.do("upload version "+version, chromedp.Navigate(url+"/checkers"),
			chromedp.SetUploadFiles(css("#files"), append([]string{file}, more...)),
			chromedp.SendKeys(css("#name"), "org.example.number"), chromedp.SendKeys(css("#version"), version),
			script(`document.querySelector("#problem").value = "`+problem+`"`), chromedp.Click(css(".panel button")),
			chromedp.WaitVisible(css("#live")), script(`window.untouched = true`), chromedp.WaitVisible(css("[data-done]")))
		if !b.holds(`window.untouched === true`) {
			t.Error("the page was loaded again instead of being updated live")
		}
		t.Logf("version %s: %s after %s", version, b.text(".headline"), time.Since(begin).Round(time.Millisecond))
	}

	b.do("log in", chromedp.Navigate(url+"/login?next=/checkers"), chromedp.WaitVisible(css("form.stack")),
		chromedp.SendKeys(css(`[name="name"]`), "admin"), chromedp.SendKeys(css(`[name="password"]`), password+"\r"), chromedp.WaitVisible(css("#upload")))
	takesIn(t, c, "double", folderOfTests)
	takesIn(t, c, "addone", initYML(t))
	half, err := c.Submit(t.Context(), client.NewSubmission{Problem: "addone", Language: "python", Sources: []judge.Source{{Name: "a.py", Text: "print(min(int(input()), 2) + 1)\n"}}})
	if err != nil {
		t.Fatal(err)
	}
	if sub, err := c.Wait(t.Context(), half.JobID); err != nil || sub.Result == nil || sub.Result.Verdict == judge.AC || sub.Result.Score == nil || *sub.Result.Score != 40 {
		text, _ := json.Marshal(sub)
		t.Errorf("want 40 of 100 points, got %s, %v", text, err)
	}
	upload("0.1.0", "double", "int main(void)\n{\n\treturn undeclared;\n}\n")
	if headline, said := b.text(".headline"), b.text(".diagnostics"); headline != "Does not compile" || !strings.Contains(said, "number.c line 3") || !strings.Contains(said, "undeclared") {
		t.Errorf("headline %q, diagnostics %q: want line 3 of number.c", headline, said)
	}
	upload("0.2.0", "", "int main(void)\n{\n\treturn 42;\n}\n")
	if headline, errs := b.text(".headline"), b.text(".diagnostics .d-error"); headline != "Does not conform" || !strings.Contains(errs, "Remedy:") {
		t.Errorf("a checker with an exit code of its own: headline %q, findings %q", headline, errs)
	}
	if b.holds(`document.querySelector('form[action$="/activate"]') !== null`) {
		t.Error("what does not conform can be activated")
	}
	b.picture("checker-wrong")
	header, err := filepath.Abs(filepath.Join("..", "..", "plugins", "sdk", "cpp", "testdata", "testlib.h"))
	if err != nil {
		t.Fatal(err)
	}
	upload("1.0.0", "double", numberTestlib, header)
	if headline := b.text(".headline"); headline != "Conforms" {
		t.Fatalf("headline %q, the page says:\n%s", headline, b.text("main"))
	}
	b.picture("checker-right")

	// What the page showed is what the stream tells whoever comes later.
	plugins, err := c.Plugins(t.Context(), "checker", "org.example.number")
	if err != nil || len(plugins) != 2 || plugins[0].Version != "1.0.0" || !plugins[0].Conforms || plugins[1].Conforms {
		t.Fatalf("kept %+v, %v", plugins, err)
	}
	told, err := c.Job(t.Context(), plugins[0].JobID)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"stage":"submissions","outcome":"passed"`, `"stage":"hostile","outcome":"passed"`, `"conforms":true`} {
		if !bytes.Contains(told.Result.Report, []byte(want)) {
			t.Errorf("the report on the checker with testlib.h lacks %s:\n%s", want, told.Result.Report)
		}
	}
	var kinds []string
	err = c.JobEvents(t.Context(), plugins[1].JobID, 0, func(e judge.Event) error {
		kinds = append(kinds, string(e.Kind))
		return nil
	})
	if err != nil || !slices.Contains(kinds, "compiled") || !slices.Contains(kinds, "stage") || !slices.Contains(kinds, "finding") || kinds[len(kinds)-1] != "finished" {
		t.Errorf("the stream of the report tells %q, %v", kinds, err)
	}

	b.do("activate it", chromedp.Click(css(`form[action$="/activate"] button`)), chromedp.WaitVisible(css(".version.active")))
	b.do("use it for the problem", script(`document.querySelector('.version.active select[name="problem"]').value = "double"`),
		chromedp.Click(css(`.version.active button[formaction$="/bind"]`)), chromedp.WaitVisible(css("[data-done]")))
	if headline := b.text(".headline"); headline != "In use" {
		t.Fatalf("headline %q, the page says:\n%s", headline, b.text("main"))
	}
	b.picture("checker-bound")
	receipt, err := c.Submit(t.Context(), client.NewSubmission{Problem: "double", Language: "python", Sources: []judge.Source{{Name: "a.py", Text: doubling}}})
	if err != nil {
		t.Fatal(err)
	}
	sub, err := c.Wait(t.Context(), receipt.JobID)
	if err != nil {
		t.Fatal(err)
	}
	if r := sub.Result; r == nil || r.Verdict != judge.AC || r.Checker != plugins[0].Digest {
		text, _ := json.Marshal(sub)
		t.Errorf("want AC by %s, got %s", plugins[0].Digest, text)
	}

	// A preview judges it again beside its verdict.
	b.do("preview the checker on the problem", chromedp.Navigate(url+"/checkers/checker/org.example.number"),
		script(`document.querySelector('.version.active select[name="problem"]').value = "double"`),
		chromedp.Click(css(`.version.active form.choices button:not([formaction])`)), chromedp.WaitVisible(css("[data-done]")))
	if headline, detail := b.text(".headline"), b.text("#detail"); headline != "Nothing changes" || !strings.Contains(detail, "1 past submission") {
		t.Errorf("the preview says %q, %q", headline, detail)
	}

	// The next version fails where an output begins with a plus, which no answer of
	// the package does. Rolling it back and a click make the verdict right.
	upload("1.1.0", "", strings.Replace(numberChecker, "	if (!number(output", faint+"	if (!number(output", 1))
	if headline := b.text(".headline"); headline != "Conforms" {
		t.Fatalf("headline %q, the page says:\n%s", headline, b.text("main"))
	}
	b.do("activate it", chromedp.Click(css(`form[action$="/activate"] button`)), chromedp.WaitVisible(css(".version.active")))
	receipt, err = c.Submit(t.Context(), client.NewSubmission{Problem: "double", Language: "python", Sources: []judge.Source{{Name: "a.py", Text: doubling}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(t.Context(), receipt.JobID); err != nil {
		t.Fatal(err)
	}
	page := fmt.Sprintf("%s/submissions/%d", url, receipt.JobID)
	b.do("look at the judging error", chromedp.Navigate(page), chromedp.WaitVisible(css("[data-done]")))
	if said := b.text("main"); !strings.Contains(said, "not your fault") || !strings.Contains(said, "FOR STAFF") && !strings.Contains(said, "for staff") || !strings.Contains(said, "a plus is beyond me") {
		t.Errorf("the page of a judging error says:\n%s", said)
	}
	b.picture("checker-failed")
	b.do("roll back", chromedp.Navigate(url+"/checkers/checker/org.example.number"), chromedp.Click(css(`form[action$="/rollback"] button`)),
		chromedp.WaitVisible(css(`.version.active .digest[title="`+plugins[0].Digest+`"]`)))
	b.do("judge it again", chromedp.Navigate(page), chromedp.Click(css(`form[action$="/rejudge"] button`)),
		chromedp.WaitVisible(css(".verdict-card.v-ac[data-done]")))
	sub, err = c.Wait(t.Context(), receipt.JobID)
	if err != nil {
		t.Fatal(err)
	}
	if r := sub.Result; sub.Generation != 2 || r == nil || r.Verdict != judge.AC || r.Checker != plugins[0].Digest {
		text, _ := json.Marshal(sub)
		t.Errorf("want AC by %s in generation 2, got %s", plugins[0].Digest, text)
	}
}

// faint makes the checker fail.
const faint = `	char first[3];
	if (fread(first, 1, 3, output) == 3 && first[0] == '+' && first[1] == '0' && first[2] == '0') {
		fprintf(stderr, "a plus is beyond me\n");
		return 3;
	}
	rewind(output);
`
