package web

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
)

// listed returns what a pattern finds in a part of a file.
func listed(t *testing.T, file, after, before, pattern string) (found []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), after)
	text, _, whole := strings.Cut(text, before)
	if !whole {
		t.Fatalf("%s has nothing between %q and %q", file, after, before)
	}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

func TestEveryKindOfEventIsKnownToThePageAndTheGuide(t *testing.T) {
	var want []string
	for _, k := range judge.EventKinds() {
		want = append(want, string(k))
	}
	slices.Sort(want)
	for where, found := range map[string][]string{
		"live.js":                listed(t, "static/js/live.js", "const kinds = [", "]", `"([a-z_]+)"`),
		"the table of the guide": listed(t, "../host/docs/api.md", "\n## Events\n", "\n## ", "(?m)^\\| `([a-z_]+)` \\|"),
	} {
		slices.Sort(found)
		if !slices.Equal(found, want) {
			t.Errorf("%s has %q, want %q", where, found, want)
		}
	}
}

func TestEveryKindOfEventOfWebhooksIsKnownToThePageAndTheGuide(t *testing.T) {
	found := listed(t, "../host/docs/api.md", "\n## Webhooks\n", "\n## ", "`(submission\\.[a-z_]+)`[,| ]")
	for _, kind := range judge.WebhookKinds {
		if !slices.Contains(found, kind) {
			t.Errorf("the guide says nothing of %s", kind)
		}
		if peopleroom.WebhookKindText(kind) == "" {
			t.Errorf("the page has no words for %s", kind)
		}
		if !slices.Contains(judge.EventKinds(), judge.EventKind(strings.TrimPrefix(kind, judge.WebhookKind("")))) {
			t.Errorf("%s is no event", kind)
		}
	}
	for _, kind := range found {
		if !slices.Contains(judge.WebhookKinds, kind) {
			t.Errorf("the guide tells of %s, which there is not", kind)
		}
	}
}
