package web

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
)

func TestSeveralFilesAreHandedInByTheForm(t *testing.T) {
	s := newStage(t)
	field := func(name, value string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	file := func(name, text string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r\nContent-Type: text/plain\r\n\r\n" + text + "\r\n"
	}
	send := func(parts ...string) reply {
		t.Helper()
		return s.do(http.MethodPost, "/problems/aplusb", field("language", "cpp")+strings.Join(parts, "")+"--b--\r\n", "Content-Type: multipart/form-data; boundary=b")
	}
	for i, tt := range []struct {
		name  string
		parts []string
		want  []judge.Source
	}{
		{
			"two files, which go before the text",
			[]string{field("source", "a draft"), file("main.cpp", "int main() { f(); }"), file("dir/f.cpp", "void f() {}\r\n")},
			[]judge.Source{{Name: "main.cpp", Text: "int main() { f(); }"}, {Name: "f.cpp", Text: "void f() {}\n"}},
		},
		{
			"two texts with names",
			[]string{field("name", "main.cpp"), field("source", "int main() {}"), field("name", " f.h "), field("source", "void f();")},
			[]judge.Source{{Name: "main.cpp", Text: "int main() {}"}, {Name: "f.h", Text: "void f();"}},
		},
		{
			"two texts of which one is empty",
			[]string{field("name", "old.cpp"), field("source", " "), field("name", "b.cpp"), field("source", "int main() {}")},
			[]judge.Source{{Name: "main.cpp", Text: "int main() {}"}},
		},
		{"one file, which the language names", []string{field("source", ""), file("x y.txt", "int main() {}")}, []judge.Source{{Name: "main.cpp", Text: "int main() {}"}}},
	} {
		if r := send(tt.parts...); r.status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", tt.name, r.status, r.body)
		}
		sub, err := s.client.Get(t.Context(), int64(i+1))
		s.must(err)
		if !slices.Equal(sub.Sources, tt.want) {
			t.Errorf("%s: stored are %+v, want %+v", tt.name, sub.Sources, tt.want)
		}
	}
	edit := s.do(http.MethodGet, "/problems/aplusb?from=2", "").body
	for _, want := range []string{`value="main.cpp"`, ">\nint main() {}<", `value="f.h"`, ">\nvoid f();<"} {
		if !strings.Contains(edit, want) {
			t.Errorf("the form of a submission that is edited lacks %q", want)
		}
	}
	again := send(field("name", "a.cpp"), field("source", "int main() {}"), field("name", ""), field("source", "void f();"))
	for _, want := range []string{"Not submitted", "needs a name", `value="a.cpp"`, ">\nvoid f();<"} {
		if !strings.Contains(again.body, want) {
			t.Errorf("the refused form (%d) does not show %q", again.status, want)
		}
	}
}

func TestSeveralFilesAreDroppedAndWrittenInTheBrowser(t *testing.T) {
	s := newStage(t)
	ctx, console := browser(t)
	run := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		s.must(chromedp.Do(ctx, actions...))
	}
	until := func(expression string) {
		t.Helper()
		_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression))
		s.must(err)
	}
	const values = `[...document.querySelectorAll('[name="name"]:enabled, [name="source"]')].map((e) => e.value).join("|")`
	run(chromedp.Navigate(s.url+"/problems/aplusb"), chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	_, err := chromedp.Run(ctx, chromedp.Evaluate[any](`(() => {
		const data = new DataTransfer();
		data.items.add(new File(["int main() { f(); }\n"], "main.cpp"));
		data.items.add(new File(["void f() {}\n"], "f.cpp"));
		document.querySelector(".cm-content").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
	})()`))
	s.must(err)
	until(values + ` === "main.cpp|int main() { f(); }\n|f.cpp|void f() {}\n"`)
	s.must(click(ctx, "#add-file"))
	run(chromedp.SendKeys(chromedp.CSS(".another:nth-child(2) input"), "f.h"), chromedp.SendKeys(chromedp.CSS(".another:nth-child(2) textarea"), "void f();"))
	until(`document.getElementById("size").textContent.startsWith("41 bytes")`)
	until(`Object.keys(localStorage).some((key) => key.startsWith("deepoj:draft:") && localStorage[key].includes("void f();"))`)
	run(chromedp.Navigate(s.url+"/problems/aplusb"), chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	until(values + ` === "main.cpp|int main() { f(); }\n|f.cpp|void f() {}\n|f.h|void f();"`)
	s.must(click(ctx, ".another:first-child .remove"))
	until(values + ` === "main.cpp|int main() { f(); }\n|f.h|void f();"`)
	s.must(click(ctx, "#send"))
	s.must(see(ctx, ".headline", "Waiting"))
	sub, err := s.client.Get(t.Context(), 1)
	s.must(err)
	if want := []judge.Source{{Name: "main.cpp", Text: "int main() { f(); }\n"}, {Name: "f.h", Text: "void f();"}}; !slices.Equal(sub.Sources, want) {
		t.Errorf("stored are %+v, want %+v", sub.Sources, want)
	}
	if said := console.take(); len(said) > 0 {
		t.Errorf("the console complains: %s", strings.Join(said, "; "))
	}
}

// The adapters' manifests and the editor agree on what they call a language.
func TestEveryLanguageHasAModeInTheEditor(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("editor/editor.js")
	if err != nil {
		t.Fatal(err)
	}
	modes, _, _ := strings.Cut(string(script), "// Colours")
	folders, err := os.ReadDir("../plugins/languages")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, folder := range folders {
		source, err := os.ReadFile("../plugins/languages/" + folder.Name() + "/adapter.go")
		if err != nil {
			continue // no adapter
		}
		m := regexp.MustCompile(`Editor:\s+"(\w+)"`).FindSubmatch(source)
		if m == nil || !regexp.MustCompile(`(?m)^  `+string(m[1])+`: `).MatchString(modes) {
			t.Errorf("the language %s has no mode in the editor: %s", folder.Name(), m)
		}
		found++
	}
	if found < 10 {
		t.Errorf("there are %d adapters only", found)
	}
}
