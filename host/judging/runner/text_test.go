package runner

import "testing"

func TestTextIsCleanedAndCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	if got := Clean("a\x00b\xffc\r\nd\te\x1b"); got != "a\uFFFDb\uFFFDc\nd\te\uFFFD" {
		t.Errorf("clean gives %q", got)
	}
	if got := Cut("äöü", 3); got != "ä…" {
		t.Errorf("cut gives %q", got)
	}
}
