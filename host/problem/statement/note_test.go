package statement_test

import (
	"strings"
	"testing"
	"time"

	"deepoj/host/problem/statement"
	"deepoj/host/problem/statement/safe"
)

func TestANoteIsMarkdownWithoutHTMLAndPictures(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"**chapter 1**\nat https://example.org/a?b=1": `<p><strong>chapter 1</strong><br>` + "\n" + `at <a href="https://example.org/a?b=1">https://example.org/a?b=1</a></p>`,
		"| a | b |\n|--:|---|\n| 1 | 2 |":             `<td class="right">1</td>`,
		"- one\n- two":                                "<li>two</li>",
		"[x](javascript:alert(1))":                    "<p>",
		"a < b & c":                                   "a &lt; b &amp; c",
		"":                                            "",
	} {
		if got := statement.Note(text); !strings.Contains(got, want) {
			t.Errorf("%q is\n%s", text, got)
		}
	}
	for _, text := range []string{"<script>alert(1)</script>", "<b onclick=x>y</b>", "![p](https://example.org/p.png)", "[x](javascript:alert(1))", strings.Repeat("*", 5000) + "<i>"} {
		got := statement.Note(text)
		for _, bad := range []string{"<script", "onclick", "<img", "javascript:", "<i>"} {
			if strings.Contains(got, bad) {
				t.Errorf("%.50q is\n%.200s", text, got)
			}
		}
	}
	for _, part := range []string{"www.a.", "http://a/(", "a@b.", "[a](", "> ", "|-"} {
		began := time.Now()
		if statement.Note(strings.Repeat(part, 20_000/len(part))); time.Since(began) > 3*time.Second {
			t.Errorf("20,000 bytes of %q take %s", part, time.Since(began))
		}
	}
}

func FuzzNote(f *testing.F) {
	f.Add("**a** <b>c</b> www.example.org [x](y)")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 20_000 {
			return
		}
		if err := safe.Check(statement.Note(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
