package site

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzParseFields(f *testing.F) {
	f.Add([]byte(`{"problem": "a", "language": "b", "sources": [{"name": "x", "text": "y"}]}`))
	f.Add([]byte(`{"problem": {"a": [1, {}]}, "x": 1e999}`))
	f.Add([]byte(`{"problem": "\ud83d\ude00", "language": "\ud83d"}`))
	halves := regexp.MustCompile(`(?i)\\ud[89a-f]`) // of pairs, perhaps without the other
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := ParseFields(body, "problem", "language", "sources")
		var want map[string]json.RawMessage
		stdErr := json.Unmarshal(body, &want)
		isObject := stdErr == nil && want != nil && utf8.Valid(body)
		if err == nil && !isObject || err != nil && isObject && !halves.Match(body) {
			t.Fatalf("parseFields(%q): %v; encoding/json: %v, object %t", body, err, stdErr, isObject)
		}
		if err != nil {
			return
		}
		if len(got.Raw) != len(want) {
			t.Fatalf("parseFields(%q) has %d fields, encoding/json %d", body, len(got.Raw), len(want))
		}
		problem := got.Text("problem")
		got.sources("sources")
		var std string
		if json.Unmarshal(want["problem"], &std) == nil && std != problem {
			t.Errorf("problem = %q, encoding/json says %q", problem, std)
		}
	})
}

func TestABodyThatIsNoJSONSaysWhere(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"source": "a\ud83d"}`: "surrogate", `{"source": }`: "offset", `{"source": "a"`: "EOF", ``: "EOF", `["source"]`: "has to be a JSON object",
		`{"source": "a"} x`: "not one JSON object", `{source: "a"}`: "offset",
	} {
		_, err := ParseFields([]byte(body), "source")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is answered with %v, want a word of %q", body, err, want)
		}
	}
}
